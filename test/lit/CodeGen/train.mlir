// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda | FileCheck %s

// A plan that trains. What the runtime launches between its runs:

// CHECK:      train_4: 6 steps, 3.0 KiB of arena, 1.5 KiB of parameters
// CHECK:      #include "mnistrt/generated.h"
// CHECK-EMPTY:
// CHECK-NEXT: MN_TRANSFER_KERNEL
// CHECK-NEXT: MN_NEXT_BATCH_KERNEL

// The new weights are what follows the product that is their gradient.

// CHECK-LABEL: struct Fc_weight_new {
// CHECK:      MN_FN ElementValues elements(mn::Index i) const { return {fc_weight[i]}; }
// CHECK-NEXT: MN_FN float result(auto, float v, const ElementValues &e) const {
// CHECK-NEXT:   return e.fc_weight - v * 0.1f;
// CHECK:      MN_FN void store(mn::Index i, float v) const { fc_weight_new[i] = v; }
// CHECK:      MN_MATMUL_KERNEL(train_4_fc_weight_new, float, Fc_weight_new,

// All other updates are one step: of the bias, and of numbers that are computed
// alike.

// CHECK-LABEL: struct Fc_bias_new {
// CHECK:      MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT:   fc_bias_new[i] = fc_bias[i] - bias_grad[i] * 0.1f;
// CHECK-NEXT: }
// CHECK-LABEL: struct Mn_batch_new {
// CHECK:      MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT:   mn_batch_new[i] = mn::add(mn_batch[0], int64_t{1});
// CHECK-NEXT: }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Elements<3> fc_bias_new_elements{{[{][{]}}2, 1, 1}};
// CHECK-NEXT: MN_SEGMENTS_KERNEL(train_4_fc_bias_new, fc_bias_new_elements,
// CHECK-NEXT:   mn::Table<Fc_bias_new, 1>, mn::Table<Mn_batch_new, 2>)

// Parameters are at the same address in every plan, updated in place.

// CHECK-LABEL: namespace infer_4 {
// CHECK:      const auto *fc_weight = ctx.at<float>(256);

// CHECK-LABEL: namespace train_4 {
// CHECK:      // 5. weight_grad [3, 2]: matmul mul sub
// CHECK-NEXT: static void step_5(mn::Context &ctx) {
// CHECK-NEXT:   auto *fc_weight_new = ctx.at<float>(256);
// CHECK:        const auto *fc_weight = ctx.at<float>(256);
// CHECK:      // 6. update 4 elements: mul sub add
// CHECK:        const Fc_bias_new segments[] = {
// CHECK-NEXT:     {fc_bias_new, fc_bias, bias_grad},
// CHECK-NEXT:   };
// CHECK-NEXT:   const Mn_batch_new segments_2[] = {
// CHECK-NEXT:     {mn_batch_new, mn_batch},
// CHECK-NEXT:     {mn_step_new, mn_step},
// CHECK-NEXT:   };
// CHECK-NEXT:   mn::segments(ctx, "train_4_fc_bias_new", fc_bias_new_elements, segments,
// CHECK-NEXT:     segments_2);

// They are no inputs and outputs. What the plan computes is behind the inputs,
// where the next batch may come while it runs.

// CHECK:      static const mn::Tensor inputs[] = {
// CHECK-NEXT:   {"x", mn::Type::f32, 2, shape_4x3, 1536},
// CHECK-NEXT:   {"mn.labels", mn::Type::f32, 2, shape_4x2, 1792},
// CHECK-NEXT:   {"mn.valid", mn::Type::i32, 0, nullptr, 2048},
// CHECK-NEXT: };
// CHECK-NEXT: static const mn::Tensor outputs[] = {
// CHECK-NEXT:   {"mn.loss", mn::Type::f32, 0, nullptr, 2560},
// CHECK-NEXT: };
// CHECK:      {"update", mn::Type::f32, 1, shape_2, 1280},
// CHECK-NEXT: {"mn_batch_new", mn::Type::i64, 0, nullptr, 768},

// The model's tables.

// CHECK:      extern "C" const unsigned char mn_parameters[];
// CHECK:      {"infer_4", 4, {{[0-9]+}}, 0, infer_4::inputs, 1, infer_4::outputs, 1, infer_4::steps, 1},
// CHECK-NEXT: {"train_4", 4, {{[0-9]+}}, 0, train_4::inputs, 3, train_4::outputs, 1, train_4::steps, 6, nullptr, 0, true},
// CHECK:      static const mn::Parameter parameters[] = {
// CHECK-NEXT:   {{[{][{]}}"mn.seed", mn::Type::i64, 0, nullptr, 0}, mn::Role::state},
// CHECK:        {{[{][{]}}"fc.weight", mn::Type::f32, 2, shape_3x2, 256}, mn::Role::parameter},
// CHECK:      static const mn::Recipe recipe = {"mean squared error", "sgd", "torch", "none", "values", "masked", {0.1, 0.0, 0.0, 0.9, 0.999, 1e-08, 0.0, 0.0, 1.0, 1.0}};
// CHECK:      .parameters = parameters,
// CHECK-NEXT: .parameterCount = 6,
// CHECK-NEXT: .parameterBytes = 1536,
// CHECK-NEXT: .initial = mn_parameters,
// CHECK-NEXT: .initialBytes = 512,
// CHECK-NEXT: .recipe = &recipe,
// CHECK-NEXT: .onnx = nullptr,
// CHECK-NEXT: .onnxBytes = 0,

module attributes {
  mnist.recipe = {accumulate = 1 : i64, clip = "none", convention = "torch", loss = "mean squared error",
                  numbers = array<f64: 0.1, 0.0, 0.0, 0.9, 0.999, 1.0e-8, 0.0, 0.0, 1.0, 1.0>,
                  optimizer = "sgd", partial = "masked", targets = "values"}} {
  ml_program.global private mutable @mn.seed(dense<7> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
  ml_program.global private mutable @mn.epoch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
  ml_program.global private mutable @mn.batch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
  ml_program.global private mutable @mn.step(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
  ml_program.global private mutable @fc.weight(dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]> : tensor<3x2xf32>) : tensor<3x2xf32> {mnist.role = "parameter"}
  ml_program.global private mutable @fc.bias(dense<0.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}

  func.func @infer_4(%x: tensor<4x3xf32> {mnist.name = "x"},
      %w: tensor<3x2xf32> {mnist.parameter = "fc.weight"},
      %b: tensor<2xf32> {mnist.parameter = "fc.bias"})
      -> (tensor<4x2xf32> {mnist.name = "y"}) {
    %y = plan.step "y" on kernel (%x, %w, %b) {
    ^bb0(%i: tensor<4x3xf32>, %j: tensor<3x2xf32>, %k: tensor<2xf32>):
      %0 = mnist.matmul %i, %j : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
      %1 = mnist.broadcast %k along [1] : tensor<2xf32> -> tensor<4x2xf32>
      %2 = mnist.add %0, %1 : tensor<4x2xf32>
      plan.yield %2 : tensor<4x2xf32>
    } : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    return %y : tensor<4x2xf32>
  }

  func.func @train_4(%x: tensor<4x3xf32> {mnist.name = "x"},
      %labels: tensor<4x2xf32> {mnist.name = "mn.labels"},
      %valid: tensor<i32> {mnist.name = "mn.valid"},
      %w: tensor<3x2xf32> {mnist.parameter = "fc.weight"},
      %b: tensor<2xf32> {mnist.parameter = "fc.bias"},
      %batch: tensor<i64> {mnist.parameter = "mn.batch"},
      %step: tensor<i64> {mnist.parameter = "mn.step"})
      -> (tensor<f32> {mnist.name = "mn.loss"},
          tensor<3x2xf32> {mnist.parameter = "fc.weight"},
          tensor<2xf32> {mnist.parameter = "fc.bias"},
          tensor<i64> {mnist.parameter = "mn.batch"},
          tensor<i64> {mnist.parameter = "mn.step"}) {
    %y = plan.step "y" on kernel (%x, %w, %b) {
    ^bb0(%i: tensor<4x3xf32>, %j: tensor<3x2xf32>, %k: tensor<2xf32>):
      %0 = mnist.matmul %i, %j : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
      %1 = mnist.broadcast %k along [1] : tensor<2xf32> -> tensor<4x2xf32>
      %2 = mnist.add %0, %1 : tensor<4x2xf32>
      plan.yield %2 : tensor<4x2xf32>
    } : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    // The gradient of each element, 0 beyond the rows that count.
    %error = plan.step "error" on kernel (%y, %labels, %valid) {
    ^bb0(%i: tensor<4x2xf32>, %j: tensor<4x2xf32>, %k: tensor<i32>):
      %row = mnist.iota dim 0 : tensor<4x2xi32>
      %rows = mnist.broadcast %k along [] : tensor<i32> -> tensor<4x2xi32>
      %counts = mnist.compare lt %row, %rows : tensor<4x2xi32> -> tensor<4x2xi1>
      %0 = mnist.sub %i, %j : tensor<4x2xf32>
      %zero = mnist.constant dense<0.0> : tensor<4x2xf32>
      %1 = mnist.select %counts, %0, %zero : tensor<4x2xi1>, tensor<4x2xf32>
      %f = mnist.cast %rows : tensor<4x2xi32> -> tensor<4x2xf32>
      %2 = mnist.div %1, %f : tensor<4x2xf32>
      plan.yield %2 : tensor<4x2xf32>
    } : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<i32>) -> tensor<4x2xf32>
    %loss = plan.step "mn.loss" on kernel (%error) {
    ^bb0(%i: tensor<4x2xf32>):
      %0 = mnist.mul %i, %i : tensor<4x2xf32>
      %1 = mnist.reduce_sum %0 over [0, 1] : tensor<4x2xf32> -> tensor<f32>
      plan.yield %1 : tensor<f32>
    } : (tensor<4x2xf32>) -> tensor<f32>
    %bias_grad = plan.step "bias_grad" on kernel (%error) {
    ^bb0(%i: tensor<4x2xf32>):
      %0 = mnist.reduce_sum %i over [0] : tensor<4x2xf32> -> tensor<2xf32>
      plan.yield %0 : tensor<2xf32>
    } : (tensor<4x2xf32>) -> tensor<2xf32>
    %new_w = plan.step "weight_grad" on kernel (%x, %error, %w) {
    ^bb0(%i: tensor<4x3xf32>, %j: tensor<4x2xf32>, %k: tensor<3x2xf32>):
      %0 = mnist.matmul %i, %j transposed [true, false] : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
      %lr = mnist.constant dense<0.1> : tensor<3x2xf32>
      %1 = mnist.mul %0, %lr : tensor<3x2xf32>
      %2 = mnist.sub %k, %1 : tensor<3x2xf32>
      plan.yield %2 : tensor<3x2xf32>
    } : (tensor<4x3xf32>, tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %update:3 = plan.step "update" on kernel (%b, %bias_grad, %batch, %step) {
    ^bb0(%i: tensor<2xf32>, %j: tensor<2xf32>, %k: tensor<i64>, %l: tensor<i64>):
      %lr = mnist.constant dense<0.1> : tensor<2xf32>
      %0 = mnist.mul %j, %lr : tensor<2xf32>
      %1 = mnist.sub %i, %0 : tensor<2xf32>
      %one = mnist.constant dense<1> : tensor<i64>
      %2 = mnist.add %k, %one : tensor<i64>
      %3 = mnist.add %l, %one : tensor<i64>
      plan.yield %1, %2, %3 : tensor<2xf32>, tensor<i64>, tensor<i64>
    } : (tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<i64>) -> (tensor<2xf32>, tensor<i64>, tensor<i64>)
    return %loss, %new_w, %update#0, %update#1, %update#2 : tensor<f32>, tensor<3x2xf32>, tensor<2xf32>, tensor<i64>, tensor<i64>
  }
}
