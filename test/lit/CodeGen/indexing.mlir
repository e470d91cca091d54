// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s

// Ops that only rename the index. Division and remainder are by constants, and
// what was split joins again.

// The new dimensions do not count.
// CHECK-LABEL: namespace infer_broadcast {
// CHECK: MN_FN void operator()(mn::Element i) const { y[i] = x0[i / 4 % 3]; }
func.func @infer_broadcast(%in0: tensor<3xf32> {mnist.name = "x0"}) -> tensor<2x3x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<3xf32>):
    %0 = mnist.broadcast %a along [1] : tensor<3xf32> -> tensor<2x3x4xf32>
    plan.yield %0 : tensor<2x3x4xf32>
  } : (tensor<3xf32>) -> (tensor<2x3x4xf32>)
  return %y : tensor<2x3x4xf32>
}

// A tensor of one element.
// CHECK-LABEL: namespace infer_scalar {
// CHECK: MN_FN void operator()(mn::Element i) const { y[i] = x0[0]; }
func.func @infer_scalar(%in0: tensor<f32> {mnist.name = "x0"}) -> tensor<2x3xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<f32>):
    %0 = mnist.broadcast %a along [] : tensor<f32> -> tensor<2x3xf32>
    plan.yield %0 : tensor<2x3xf32>
  } : (tensor<f32>) -> (tensor<2x3xf32>)
  return %y : tensor<2x3xf32>
}

// The last tensor needs no test.
// CHECK-LABEL: namespace infer_concat {
// CHECK: y[i] = i % 9 < 3   ? x0[i / 9 * 3 + i % 9]
// CHECK-NEXT: : i % 9 < 8 ? x1[i / 9 * 5 + i % 9 - 3]
// CHECK-NEXT: : x2[i / 9 + i % 9 - 8];
func.func @infer_concat(%in0: tensor<2x3xf32> {mnist.name = "x0"}, %in1: tensor<2x5xf32> {mnist.name = "x1"}, %in2: tensor<2x1xf32> {mnist.name = "x2"}) -> tensor<2x9xf32> {
  %y = plan.step "y" on kernel (%in0, %in1, %in2) {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>, %c: tensor<2x1xf32>):
    %0 = mnist.concat %a, %b, %c dim 1 : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>) -> tensor<2x9xf32>
    plan.yield %0 : tensor<2x9xf32>
  } : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x1xf32>) -> (tensor<2x9xf32>)
  return %y : tensor<2x9xf32>
}

// Along the first dimension the index only moves.
// CHECK-LABEL: namespace infer_concat_rows {
// CHECK: y[i] = i / 3 < 2 ? x0[i] : x1[i - 6];
func.func @infer_concat_rows(%in0: tensor<2x3xf32> {mnist.name = "x0"}, %in1: tensor<5x3xf32> {mnist.name = "x1"}) -> tensor<7x3xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<5x3xf32>):
    %0 = mnist.concat %a, %b dim 0 : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<7x3xf32>
    plan.yield %0 : tensor<7x3xf32>
  } : (tensor<2x3xf32>, tensor<5x3xf32>) -> (tensor<7x3xf32>)
  return %y : tensor<7x3xf32>
}

// Negative indices count from the end, others are clamped.
// CHECK-LABEL: namespace infer_gather {
// CHECK: const int64_t index = x1[i / 3];
// CHECK-NEXT: const int64_t counted = index < 0 ? index + 9 : index;
// CHECK-NEXT: const mn::Index chosen = mn::max<int64_t>(0, mn::min<int64_t>(counted, 8));
// CHECK-NEXT: y[i] = x0[chosen * 3 + i % 3];
func.func @infer_gather(%in0: tensor<9x3xf32> {mnist.name = "x0"}, %in1: tensor<4xi64> {mnist.name = "x1"}) -> tensor<4x3xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<9x3xf32>, %b: tensor<4xi64>):
    %0 = mnist.gather %a, %b dim 0 : (tensor<9x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
    plan.yield %0 : tensor<4x3xf32>
  } : (tensor<9x3xf32>, tensor<4xi64>) -> (tensor<4x3xf32>)
  return %y : tensor<4x3xf32>
}

// A constant around it.
// CHECK-LABEL: namespace infer_pad {
// CHECK: y[i] = i % 5 >= 1 && i % 5 < 4 ? x0[i / 5 * 3 + i % 5 - 1] : 0.5f;
func.func @infer_pad(%in0: tensor<2x3xf32> {mnist.name = "x0"}) -> tensor<2x5xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xf32>):
    %0 = mnist.pad constant %a low [0, 1] value 0.5 : tensor<2x3xf32> -> tensor<2x5xf32>
    plan.yield %0 : tensor<2x5xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x5xf32>)
  return %y : tensor<2x5xf32>
}

// Nothing is added, so nothing is tested.
// CHECK-LABEL: namespace infer_crop {
// CHECK:      MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT:   y[i] = x0[i / 3 * 5 + i % 3 + 1];
// CHECK-NEXT: }
func.func @infer_crop(%in0: tensor<2x5xf32> {mnist.name = "x0"}) -> tensor<2x3xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x5xf32>):
    %0 = mnist.pad constant %a low [0, -1] : tensor<2x5xf32> -> tensor<2x3xf32>
    plan.yield %0 : tensor<2x3xf32>
  } : (tensor<2x5xf32>) -> (tensor<2x3xf32>)
  return %y : tensor<2x3xf32>
}

// Mirrored.
// CHECK-LABEL: namespace infer_reflect {
// CHECK: const mn::Index at = mn::abs(i % 7 - 2);
// CHECK-NEXT: const mn::Index at_2 = at < 3 ? at : 4 - at;
// CHECK-NEXT: y[i] = x0[i / 7 * 3 + at_2];
func.func @infer_reflect(%in0: tensor<2x3xf32> {mnist.name = "x0"}) -> tensor<2x7xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xf32>):
    %0 = mnist.pad reflect %a low [0, 2] : tensor<2x3xf32> -> tensor<2x7xf32>
    plan.yield %0 : tensor<2x7xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x7xf32>)
  return %y : tensor<2x7xf32>
}

// The border, repeated.
// CHECK-LABEL: namespace infer_edge {
// CHECK: const mn::Index at =
// CHECK-NEXT: mn::max<mn::Index>(0, mn::min<mn::Index>(i / 5 - 1, 1));
// CHECK-NEXT: const mn::Index at_2 =
// CHECK-NEXT: mn::max<mn::Index>(0, mn::min<mn::Index>(i % 5 - 1, 2));
// CHECK-NEXT: y[i] = x0[at * 3 + at_2];
func.func @infer_edge(%in0: tensor<2x3xf32> {mnist.name = "x0"}) -> tensor<4x5xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xf32>):
    %0 = mnist.pad edge %a low [1, 1] : tensor<2x3xf32> -> tensor<4x5xf32>
    plan.yield %0 : tensor<4x5xf32>
  } : (tensor<2x3xf32>) -> (tensor<4x5xf32>)
  return %y : tensor<4x5xf32>
}

// The tensor, repeated.
// CHECK-LABEL: namespace infer_wrap {
// CHECK: y[i] = x0[i / 5 * 3 + ((i % 5 - 1) % 3 + 3) % 3];
func.func @infer_wrap(%in0: tensor<2x3xf32> {mnist.name = "x0"}) -> tensor<2x5xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xf32>):
    %0 = mnist.pad wrap %a low [0, 1] : tensor<2x3xf32> -> tensor<2x5xf32>
    plan.yield %0 : tensor<2x5xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x5xf32>)
  return %y : tensor<2x5xf32>
}

// Of a middle dimension.
// CHECK-LABEL: namespace infer_slice {
// CHECK: y[i] = x0[i / 8 * 12 + i % 8 + 4];
func.func @infer_slice(%in0: tensor<2x3x4xf32> {mnist.name = "x0"}) -> tensor<2x2x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x4xf32>):
    %0 = mnist.slice %a starts [0, 1, 0] steps [1, 1, 1] : tensor<2x3x4xf32> -> tensor<2x2x4xf32>
    plan.yield %0 : tensor<2x2x4xf32>
  } : (tensor<2x3x4xf32>) -> (tensor<2x2x4xf32>)
  return %y : tensor<2x2x4xf32>
}

// Of the first dimension.
// CHECK-LABEL: namespace infer_slice_rows {
// CHECK: MN_FN void operator()(mn::Element i) const { y[i] = x0[i + 12]; }
func.func @infer_slice_rows(%in0: tensor<8x4xf32> {mnist.name = "x0"}) -> tensor<5x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<8x4xf32>):
    %0 = mnist.slice %a starts [3, 0] steps [1, 1] : tensor<8x4xf32> -> tensor<5x4xf32>
    plan.yield %0 : tensor<5x4xf32>
  } : (tensor<8x4xf32>) -> (tensor<5x4xf32>)
  return %y : tensor<5x4xf32>
}

// Backwards.
// CHECK-LABEL: namespace infer_reverse {
// CHECK: y[i] = x0[31 - i / 4 * 8 - i % 4];
func.func @infer_reverse(%in0: tensor<8x4xf32> {mnist.name = "x0"}) -> tensor<4x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<8x4xf32>):
    %0 = mnist.slice %a starts [7, 3] steps [-2, -1] : tensor<8x4xf32> -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> (tensor<4x4xf32>)
  return %y : tensor<4x4xf32>
}

// Dimensions 1 and 2 stay neighbours.
// CHECK-LABEL: namespace infer_transpose {
// CHECK: MN_FN void operator()(mn::Element i) const { y[i] = x0[i % 6 * 4 + i / 6]; }
func.func @infer_transpose(%in0: tensor<2x3x4xf32> {mnist.name = "x0"}) -> tensor<4x2x3xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x4xf32>):
    %0 = mnist.transpose %a perm [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
    plan.yield %0 : tensor<4x2x3xf32>
  } : (tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>)
  return %y : tensor<4x2x3xf32>
}

// There and back is where it was.
// CHECK-LABEL: namespace infer_there_and_back {
// CHECK: MN_FN void operator()(mn::Element i) const { y[i] = x0[i]; }
func.func @infer_there_and_back(%in0: tensor<2x12xf32> {mnist.name = "x0"}) -> tensor<24xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x12xf32>):
    %n = mnist.reshape %a : tensor<2x12xf32> -> tensor<2x3x4xf32>
    %t = mnist.transpose %n perm [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
    %u = mnist.transpose %t perm [0, 2, 1] : tensor<2x4x3xf32> -> tensor<2x3x4xf32>
    %0 = mnist.reshape %u : tensor<2x3x4xf32> -> tensor<24xf32>
    plan.yield %0 : tensor<24xf32>
  } : (tensor<2x12xf32>) -> (tensor<24xf32>)
  return %y : tensor<24xf32>
}

// A position is a number.
// CHECK-LABEL: namespace infer_iota {
// CHECK: y[i] = mn::add(x0[i], static_cast<int64_t>(i % 3));
func.func @infer_iota(%in0: tensor<2x3xi64> {mnist.name = "x0"}) -> tensor<2x3xi64> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3xi64>):
    %n = mnist.iota dim 1 : tensor<2x3xi64>
    %0 = mnist.add %a, %n : tensor<2x3xi64>
    plan.yield %0 : tensor<2x3xi64>
  } : (tensor<2x3xi64>) -> (tensor<2x3xi64>)
  return %y : tensor<2x3xi64>
}

// A random number is a function of what it is for.
// CHECK-LABEL: namespace infer_random {
// CHECK: const bool holds = x0[i] < mn::randomUniform(seed[0], 3, step[0], i);
func.func @infer_random(%in0: tensor<4x2xf32> {mnist.name = "x0"}, %in1: tensor<i64> {mnist.name = "seed"}, %in2: tensor<i64> {mnist.name = "step"}) -> tensor<4x2xf32> {
  %y = plan.step "y" on kernel (%in0, %in1, %in2) {
  ^bb0(%x: tensor<4x2xf32>, %s: tensor<i64>, %t: tensor<i64>):
    %u = mnist.random_uniform %s, %t stream 3 : (tensor<i64>, tensor<i64>) -> tensor<4x2xf32>
    %less = mnist.compare lt %x, %u : tensor<4x2xf32> -> tensor<4x2xi1>
    %zero = mnist.constant dense<0.0> : tensor<4x2xf32>
    %0 = mnist.select %less, %x, %zero : tensor<4x2xi1>, tensor<4x2xf32>
    plan.yield %0 : tensor<4x2xf32>
  } : (tensor<4x2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Behind another shape a coordinate may need all of those before it: rows of
// four of six are not the same part of rows of eight.
// CHECK-LABEL: namespace infer_reshaped {
// CHECK: const mn::Index at = i / 4 * 6 + i % 4 + 1;
// CHECK-NEXT: y[i] = x0[at % 8 * 3 + at / 8];
func.func @infer_reshaped(%in0: tensor<8x3xf32> {mnist.name = "x0"}) -> tensor<4x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<8x3xf32>):
    %0 = mnist.transpose %a perm [1, 0] : tensor<8x3xf32> -> tensor<3x8xf32>
    %1 = mnist.reshape %0 : tensor<3x8xf32> -> tensor<4x6xf32>
    %2 = mnist.slice %1 starts [0, 1] steps [1, 1] : tensor<4x6xf32> -> tensor<4x4xf32>
    plan.yield %2 : tensor<4x4xf32>
  } : (tensor<8x3xf32>) -> (tensor<4x4xf32>)
  return %y : tensor<4x4xf32>
}
