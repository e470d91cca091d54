// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s

// Products, softmax and reductions: a functor, its sizes, a kernel.

// A stack of products.
// CHECK-LABEL: namespace infer_matmul {
// CHECK: MN_FN const float &loadA(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN const float &loadB(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Matmul y_shape{
// CHECK-NEXT: .batch = 5,
// CHECK-NEXT: .m = 4,
// CHECK-NEXT: .n = 2,
// CHECK-NEXT: .k = 6,
// CHECK-NEXT: .schedule = {.tile = {16, 32, 6}, .warps = {4, 1}},
// CHECK-NEXT: };
// CHECK-NEXT: MN_MATMUL_KERNEL(infer_matmul_y, float, Y, y_shape)
func.func @infer_matmul(%in0: tensor<5x4x6xf32> {mnist.name = "x0"}, %in1: tensor<5x6x2xf32> {mnist.name = "x1"}) -> tensor<5x4x2xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<5x4x6xf32>, %b: tensor<5x6x2xf32>):
    %0 = mnist.matmul %a, %b : (tensor<5x4x6xf32>, tensor<5x6x2xf32>) -> tensor<5x4x2xf32>
    plan.yield %0 : tensor<5x4x2xf32>
  } : (tensor<5x4x6xf32>, tensor<5x6x2xf32>) -> (tensor<5x4x2xf32>)
  return %y : tensor<5x4x2xf32>
}

// The last dimension.
// CHECK-LABEL: namespace infer_softmax {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Softmax y_shape{.outer = 4, .size = 6};
// CHECK-NEXT: MN_SOFTMAX_KERNEL(infer_softmax_y, float, Y, y_shape)
func.func @infer_softmax(%in0: tensor<4x6xf32> {mnist.name = "x0"}) -> tensor<4x6xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4x6xf32>):
    %0 = mnist.softmax %a dim 1 : tensor<4x6xf32>
    plan.yield %0 : tensor<4x6xf32>
  } : (tensor<4x6xf32>) -> (tensor<4x6xf32>)
  return %y : tensor<4x6xf32>
}

// The first.
// CHECK-LABEL: namespace infer_log_softmax {
// CHECK: constexpr mn::Softmax y_shape{.size = 4, .inner = 6, .log = true};
// CHECK-NEXT: MN_SOFTMAX_KERNEL(infer_log_softmax_y, float, infer_softmax::Y, y_shape)
func.func @infer_log_softmax(%in0: tensor<4x6xf32> {mnist.name = "x0"}) -> tensor<4x6xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4x6xf32>):
    %0 = mnist.log_softmax %a dim 0 : tensor<4x6xf32>
    plan.yield %0 : tensor<4x6xf32>
  } : (tensor<4x6xf32>) -> (tensor<4x6xf32>)
  return %y : tensor<4x6xf32>
}

// What is summed is adjacent.
// CHECK-LABEL: namespace infer_reduce_sum {
// CHECK: MN_FN float load(mn::Index o, mn::Index r) const { return x0[o * 64 + r]; }
// CHECK-NEXT: MN_FN void store(mn::Index o, float v) const { y[o] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Reduce y_shape{.outputs = 6, .size = 64};
// CHECK-NEXT: MN_REDUCE_KERNEL(infer_reduce_sum_y, mn::Sum, float, Y, y_shape)
func.func @infer_reduce_sum(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}) -> tensor<2x3xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x8x8xf32>):
    %0 = mnist.reduce_sum %a over [2, 3] : tensor<2x3x8x8xf32> -> tensor<2x3xf32>
    plan.yield %0 : tensor<2x3xf32>
  } : (tensor<2x3x8x8xf32>) -> (tensor<2x3xf32>)
  return %y : tensor<2x3xf32>
}

// What is compared is not adjacent.
// CHECK-LABEL: namespace infer_reduce_max {
// CHECK: MN_FN float load(mn::Index o, mn::Index r) const {
// CHECK-NEXT: return x0[r / 64 * 192 + o * 64 + r % 64];
// CHECK-NEXT: }
// CHECK-NEXT: MN_FN void store(mn::Index o, float v) const { y[o] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Reduce y_shape{
// CHECK-NEXT:   .outputs = 3,
// CHECK-NEXT:   .size = 128,
// CHECK-NEXT:   .contiguous = false,
// CHECK-NEXT:   .run = 64,
// CHECK-NEXT: };
// CHECK-NEXT: MN_REDUCE_KERNEL(infer_reduce_max_y, mn::Max, float, Y, y_shape)
func.func @infer_reduce_max(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}) -> tensor<3xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x8x8xf32>):
    %0 = mnist.reduce_max %a over [0, 2, 3] : tensor<2x3x8x8xf32> -> tensor<3xf32>
    plan.yield %0 : tensor<3xf32>
  } : (tensor<2x3x8x8xf32>) -> (tensor<3xf32>)
  return %y : tensor<3xf32>
}

// Of integers.
// CHECK-LABEL: namespace infer_reduce_min {
// CHECK: MN_FN int64_t load(mn::Index o, mn::Index r) const { return x0[r * 6 + o]; }
// CHECK-NEXT: MN_FN void store(mn::Index o, int64_t v) const { y[o] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Reduce y_shape{.outputs = 6, .size = 4, .contiguous = false};
// CHECK-NEXT: MN_REDUCE_KERNEL(infer_reduce_min_y, mn::Min, int64_t, Y, y_shape)
func.func @infer_reduce_min(%in0: tensor<4x6xi64> {mnist.name = "x0"}) -> tensor<6xi64> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4x6xi64>):
    %0 = mnist.reduce_min %a over [0] : tensor<4x6xi64> -> tensor<6xi64>
    plan.yield %0 : tensor<6xi64>
  } : (tensor<4x6xi64>) -> (tensor<6xi64>)
  return %y : tensor<6xi64>
}

// To one boolean: the number of the result is not used.
// CHECK-LABEL: namespace infer_reduce_all {
// CHECK: MN_FN bool load(mn::Index, mn::Index r) const { return x0[r]; }
// CHECK-NEXT: MN_FN void store(mn::Index o, bool v) const { y[o] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Reduce y_shape{.size = 24};
// CHECK-NEXT: MN_REDUCE_KERNEL(infer_reduce_all_y, mn::Max, bool, Y, y_shape)
func.func @infer_reduce_all(%in0: tensor<4x6xi1> {mnist.name = "x0"}) -> tensor<i1> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4x6xi1>):
    %0 = mnist.reduce_max %a over [0, 1] : tensor<4x6xi1> -> tensor<i1>
    plan.yield %0 : tensor<i1>
  } : (tensor<4x6xi1>) -> (tensor<i1>)
  return %y : tensor<i1>
}

// An index comes as 64 bits.
// CHECK-LABEL: namespace infer_arg_max {
// CHECK: MN_FN float load(mn::Index o, mn::Index r) const { return x0[o * 6 + r]; }
// CHECK-NEXT: MN_FN void store(mn::Index o, int64_t v) const {
// CHECK-NEXT: y[o] = static_cast<int32_t>(v);
// CHECK-NEXT: }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Reduce y_shape{.outputs = 4, .size = 6};
// CHECK-NEXT: MN_REDUCE_KERNEL(infer_arg_max_y, mn::ArgMaxLast, float, Y, y_shape)
func.func @infer_arg_max(%in0: tensor<4x6xf32> {mnist.name = "x0"}) -> tensor<4xi32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<4x6xf32>):
    %0 = mnist.arg_max %a over 1 last : tensor<4x6xf32> -> tensor<4xi32>
    plan.yield %0 : tensor<4xi32>
  } : (tensor<4x6xf32>) -> (tensor<4xi32>)
  return %y : tensor<4xi32>
}
