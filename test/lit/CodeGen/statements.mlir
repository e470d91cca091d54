// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s

// A body is a graph: what its statements are.

// What is used twice gets a name; a result may be an operand of another.
// CHECK-LABEL: namespace infer_shared {
// CHECK: MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT: const float sum = x0[i] + x1[i];
// CHECK-NEXT: const float weight = mn::exp(sum);
// CHECK-NEXT: y[i] = weight * sum;
// CHECK-NEXT: z[i] = -weight;
// CHECK-NEXT: }
func.func @infer_shared(%in0: tensor<4x6xf32> {mnist.name = "x0"}, %in1: tensor<4x6xf32> {mnist.name = "x1"}) -> tensor<4x6xf32> {
  %y:2 = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
    %s = mnist.add %a, %b : tensor<4x6xf32>
    %e = mnist.exp %s : tensor<4x6xf32> loc("weight")
    %0 = mnist.mul %e, %s : tensor<4x6xf32>
    %1 = mnist.neg %e : tensor<4x6xf32> loc("z")
    plan.yield %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
  } : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %y#0 : tensor<4x6xf32>
}

// Parentheses where the operators need them, and nowhere else.
// CHECK-LABEL: namespace infer_precedence {
// CHECK: MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT: y[i] = (x0[i] - (x0[i] - x1[i])) * (x0[i] / x1[i]);
// CHECK-NEXT: }
func.func @infer_precedence(%in0: tensor<4x6xf32> {mnist.name = "x0"}, %in1: tensor<4x6xf32> {mnist.name = "x1"}) -> tensor<4x6xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
    %s = mnist.sub %a, %b : tensor<4x6xf32>
    %e = mnist.sub %a, %s : tensor<4x6xf32>
    %m = mnist.div %a, %b : tensor<4x6xf32>
    %0 = mnist.mul %e, %m : tensor<4x6xf32>
    plan.yield %0 : tensor<4x6xf32>
  } : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>)
  return %y : tensor<4x6xf32>
}

// A long operand gets a name.
// CHECK-LABEL: namespace infer_long {
// CHECK: MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT: const float product =
// CHECK-NEXT: mn::tanh((mn::softplus(x0[i]) + x1[i]) / x0[i]) * x1[i];
// CHECK-NEXT: y[i] = mn::relu(product);
// CHECK-NEXT: }
func.func @infer_long(%in0: tensor<4x6xf32> {mnist.name = "x0"}, %in1: tensor<4x6xf32> {mnist.name = "x1"}) -> tensor<4x6xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
    %s = mnist.softplus %a : tensor<4x6xf32>
    %e = mnist.add %s, %b : tensor<4x6xf32>
    %m = mnist.div %e, %a : tensor<4x6xf32>
    %n = mnist.tanh %m : tensor<4x6xf32>
    %o = mnist.mul %n, %b : tensor<4x6xf32>
    %0 = mnist.relu %o : tensor<4x6xf32>
    plan.yield %0 : tensor<4x6xf32>
  } : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>)
  return %y : tensor<4x6xf32>
}

// What may be outside of a tensor is computed only inside.
// CHECK-LABEL: namespace infer_guarded {
// CHECK: MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT: float element = 0.0f;
// CHECK-NEXT: if (i % 5 >= 1 && i % 5 < 4) {
// CHECK-NEXT: const float power = mn::exp(x0[i / 5 * 3 + i % 5 - 1]);
// CHECK-NEXT: element = power * power;
// CHECK-NEXT: }
// CHECK-NEXT: y[i] = mn::relu(element);
// CHECK-NEXT: }
func.func @infer_guarded(%in0: tensor<2x3xf32> {mnist.name = "x0"}) -> tensor<2x5xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xf32>):
    %e = mnist.exp %a : tensor<2x3xf32>
    %s = mnist.mul %e, %e : tensor<2x3xf32>
    %p = mnist.pad constant %s low [0, 1] value 0.0 : tensor<2x3xf32> -> tensor<2x5xf32>
    %0 = mnist.relu %p : tensor<2x5xf32>
    plan.yield %0 : tensor<2x5xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x5xf32>)
  return %y : tensor<2x5xf32>
}
