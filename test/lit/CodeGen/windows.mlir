// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | grep -v -e "^#if MN_IN_PART" -e "^#endif$" | FileCheck %s

// Convolutions and pools: a functor, the sizes that are not usual, a kernel.
// (Which of two parts a kernel is in: kernel-parts.mlir.)

// A convolution.
// CHECK-LABEL: namespace infer_conv {
// CHECK: MN_FN const float &loadInput(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN const float &loadFilter(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Conv y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .inChannels = 3,
// CHECK-NEXT: .outChannels = 4,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {3, 3, 1},
// CHECK-NEXT: .out = {8, 8, 1},
// CHECK-NEXT: .pads = {1, 1, 0},
// CHECK-NEXT: .padsAfter = {1, 1, 0},
// CHECK-NEXT: .schedule = {.split = 2, .way = mn::Way::columns},
// CHECK-NEXT: };
// CHECK-NEXT: MN_CONV_KERNEL(infer_conv_y, float, Y, y_shape)
func.func @infer_conv(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}, %in1: tensor<4x3x3x3xf32> {mnist.name = "x1"}) -> tensor<2x4x8x8xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x3x8x8xf32>, %b: tensor<4x3x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
    plan.yield %0 : tensor<2x4x8x8xf32>
  } : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> (tensor<2x4x8x8xf32>)
  return %y : tensor<2x4x8x8xf32>
}

// In one dimension, channels last.
// CHECK-LABEL: namespace infer_conv_nhwc {
// CHECK: constexpr mn::Conv y_shape{
// CHECK-NEXT: .layout = mn::Layout::nhwc,
// CHECK-NEXT: .spatial = 1,
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .inChannels = 3,
// CHECK-NEXT: .outChannels = 4,
// CHECK-NEXT: .in = {8, 1, 1},
// CHECK-NEXT: .kernel = {3, 1, 1},
// CHECK-NEXT: .out = {4, 1, 1},
// CHECK-NEXT: .strides = {2, 1, 1},
// CHECK-NEXT: .pads = {1, 0, 0},
// CHECK-NEXT: .schedule = {.way = mn::Way::direct},
// CHECK-NEXT: };
// CHECK-NEXT: MN_CONV_KERNEL(infer_conv_nhwc_y, float, infer_conv::Y, y_shape)
func.func @infer_conv_nhwc(%in0: tensor<2x8x3xf32> {mnist.name = "x0"}, %in1: tensor<4x3x3xf32> {mnist.name = "x1"}) -> tensor<2x4x4xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x8x3xf32>, %b: tensor<4x3x3xf32>):
    %0 = mnist.conv nhwc %a, %b strides [2] pads [1, 0] dilations [1] groups 1 : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
    plan.yield %0 : tensor<2x4x4xf32>
  } : (tensor<2x8x3xf32>, tensor<4x3x3xf32>) -> (tensor<2x4x4xf32>)
  return %y : tensor<2x4x4xf32>
}

// The gradients of a convolution have its sizes.
// CHECK-LABEL: namespace infer_conv_filter_grad {
// CHECK: MN_FN const float &loadInput(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN const float &loadOutputGrad(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Conv y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .inChannels = 3,
// CHECK-NEXT: .outChannels = 4,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {3, 3, 1},
// CHECK-NEXT: .out = {8, 8, 1},
// CHECK-NEXT: .pads = {1, 1, 0},
// CHECK-NEXT: .padsAfter = {1, 1, 0},
// CHECK-NEXT: .schedule = {.way = mn::Way::weights, .channels = 2},
// CHECK-NEXT: };
// CHECK-NEXT: MN_CONV_FILTER_GRAD_KERNEL(infer_conv_filter_grad_y, float, Y, y_shape)
func.func @infer_conv_filter_grad(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}, %in1: tensor<2x4x8x8xf32> {mnist.name = "x1"}) -> tensor<4x3x3x3xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x3x8x8xf32>, %b: tensor<2x4x8x8xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<4x3x3x3xf32>
    plan.yield %0 : tensor<4x3x3x3xf32>
  } : (tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> (tensor<4x3x3x3xf32>)
  return %y : tensor<4x3x3x3xf32>
}

// The same.
// CHECK-LABEL: namespace infer_conv_input_grad {
// CHECK: MN_FN const float &loadOutputGrad(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN const float &loadFilter(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Conv y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .inChannels = 3,
// CHECK-NEXT: .outChannels = 4,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {3, 3, 1},
// CHECK-NEXT: .out = {8, 8, 1},
// CHECK-NEXT: .pads = {1, 1, 0},
// CHECK-NEXT: .padsAfter = {1, 1, 0},
// CHECK-NEXT: .schedule = {.split = 4, .way = mn::Way::columns},
// CHECK-NEXT: };
// CHECK-NEXT: MN_CONV_INPUT_GRAD_KERNEL(infer_conv_input_grad_y, float, Y, y_shape)
func.func @infer_conv_input_grad(%in0: tensor<2x4x8x8xf32> {mnist.name = "x0"}, %in1: tensor<4x3x3x3xf32> {mnist.name = "x1"}) -> tensor<2x3x8x8xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x4x8x8xf32>, %b: tensor<4x3x3x3xf32>):
    %0 = mnist.conv_input_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x3x8x8xf32>
    plan.yield %0 : tensor<2x3x8x8xf32>
  } : (tensor<2x4x8x8xf32>, tensor<4x3x3x3xf32>) -> (tensor<2x3x8x8xf32>)
  return %y : tensor<2x3x8x8xf32>
}

// What comes before and after rides along. What takes something of memory is
// computed before it is stored.
// CHECK-LABEL: namespace infer_fused {
// CHECK: MN_FN float loadInput(mn::Index i) const { return mn::relu(x0[i]); }
// CHECK-NEXT: MN_FN const float &loadFilter(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: struct ElementValues {
// CHECK-NEXT: float x3;
// CHECK-NEXT: };
// CHECK-NEXT: MN_FN ElementValues elements(mn::Index i) const { return {x3[i]}; }
// CHECK-NEXT: MN_FN float result(auto i, float v, const ElementValues &e) const {
// CHECK-NEXT: return mn::relu(v + x2[i / 64 % 4] + e.x3);
// CHECK-NEXT: }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Conv y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .inChannels = 3,
// CHECK-NEXT: .outChannels = 4,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {3, 3, 1},
// CHECK-NEXT: .out = {8, 8, 1},
// CHECK-NEXT: .pads = {1, 1, 0},
// CHECK-NEXT: .padsAfter = {1, 1, 0},
// CHECK-NEXT: .schedule = {.split = 2, .way = mn::Way::columns},
// CHECK-NEXT: };
// CHECK-NEXT: MN_CONV_KERNEL(infer_fused_y, float, Y, y_shape)
func.func @infer_fused(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}, %in1: tensor<4x3x3x3xf32> {mnist.name = "x1"}, %in2: tensor<4xf32> {mnist.name = "x2"}, %in3: tensor<2x4x8x8xf32> {mnist.name = "x3"}) -> tensor<2x256xf32> {
  %y = plan.step "y" on kernel (%in0, %in1, %in2, %in3) {
  ^bb0(%a: tensor<2x3x8x8xf32>, %b: tensor<4x3x3x3xf32>, %c: tensor<4xf32>, %d: tensor<2x4x8x8xf32>):
    %p = mnist.relu %a : tensor<2x3x8x8xf32>
    %0 = mnist.conv nchw %p, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
    %bb = mnist.broadcast %c along [1] : tensor<4xf32> -> tensor<2x4x8x8xf32>
    %1 = mnist.add %0, %bb : tensor<2x4x8x8xf32>
    %2 = mnist.add %1, %d : tensor<2x4x8x8xf32>
    %3 = mnist.relu %2 : tensor<2x4x8x8xf32>
    %4 = mnist.reshape %3 : tensor<2x4x8x8xf32> -> tensor<2x256xf32>
    plan.yield %4 : tensor<2x256xf32>
  } : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<2x4x8x8xf32>) -> (tensor<2x256xf32>)
  return %y : tensor<2x256xf32>
}

// Pools.
// CHECK-LABEL: namespace infer_max_pool {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Pool y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .channels = 3,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {2, 2, 1},
// CHECK-NEXT: .out = {4, 4, 1},
// CHECK-NEXT: .strides = {2, 2, 1},
// CHECK-NEXT: };
// CHECK-NEXT: MN_MAX_POOL_KERNEL(infer_max_pool_y, float, Y, y_shape)
func.func @infer_max_pool(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}) -> tensor<2x3x4x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x8x8xf32>):
    %0 = mnist.max_pool nchw %a kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x3x8x8xf32> -> tensor<2x3x4x4xf32>
    plan.yield %0 : tensor<2x3x4x4xf32>
  } : (tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xf32>)
  return %y : tensor<2x3x4x4xf32>
}

// The same.
// CHECK-LABEL: namespace infer_avg_pool {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Pool y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .channels = 3,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {2, 2, 1},
// CHECK-NEXT: .out = {4, 4, 1},
// CHECK-NEXT: .strides = {2, 2, 1},
// CHECK-NEXT: .countPads = true,
// CHECK-NEXT: };
// CHECK-NEXT: MN_AVG_POOL_KERNEL(infer_avg_pool_y, float, Y, y_shape)
func.func @infer_avg_pool(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}) -> tensor<2x3x4x4xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x8x8xf32>):
    %0 = mnist.avg_pool nchw %a kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] count_pads : tensor<2x3x8x8xf32> -> tensor<2x3x4x4xf32>
    plan.yield %0 : tensor<2x3x4x4xf32>
  } : (tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xf32>)
  return %y : tensor<2x3x4x4xf32>
}

// The same.
// CHECK-LABEL: namespace infer_arg_max_pool {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, int64_t v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Pool y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .channels = 3,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {2, 2, 1},
// CHECK-NEXT: .out = {4, 4, 1},
// CHECK-NEXT: .strides = {2, 2, 1},
// CHECK-NEXT: .columnMajor = true,
// CHECK-NEXT: };
// CHECK-NEXT: MN_ARG_MAX_POOL_KERNEL(infer_arg_max_pool_y, float, Y, y_shape)
func.func @infer_arg_max_pool(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}) -> tensor<2x3x4x4xi64> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x8x8xf32>):
    %0 = mnist.arg_max_pool nchw %a kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] column_major : tensor<2x3x8x8xf32> -> tensor<2x3x4x4xi64>
    plan.yield %0 : tensor<2x3x4x4xi64>
  } : (tensor<2x3x8x8xf32>) -> (tensor<2x3x4x4xi64>)
  return %y : tensor<2x3x4x4xi64>
}

// Each value goes to one element of its window.
// CHECK-LABEL: namespace infer_max_unpool {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN uint8_t loadIndex(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK: .strides = {2, 2, 1},
// CHECK-NEXT: .inWindow = true,
// CHECK: MN_MAX_UNPOOL_KERNEL(infer_max_unpool_y, float, Y, y_shape)
func.func @infer_max_unpool(%in0: tensor<2x3x4x4xf32> {mnist.name = "x0"}, %in1: tensor<2x3x4x4xui8> {mnist.name = "x1"}) -> tensor<2x3x8x8xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x3x4x4xf32>, %b: tensor<2x3x4x4xui8>):
    %0 = mnist.max_unpool nchw %a, %b kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xui8>) -> tensor<2x3x8x8xf32>
    plan.yield %0 : tensor<2x3x8x8xf32>
  } : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xui8>) -> (tensor<2x3x8x8xf32>)
  return %y : tensor<2x3x8x8xf32>
}

// The same.
// CHECK-LABEL: namespace infer_max_pool_grad {
// CHECK: MN_FN float loadInput(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN float loadOutputGrad(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Pool y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .channels = 3,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {2, 2, 1},
// CHECK-NEXT: .out = {4, 4, 1},
// CHECK-NEXT: .strides = {2, 2, 1},
// CHECK-NEXT: };
// CHECK-NEXT: MN_MAX_POOL_GRAD_KERNEL(infer_max_pool_grad_y, float, Y, y_shape)
func.func @infer_max_pool_grad(%in0: tensor<2x3x8x8xf32> {mnist.name = "x0"}, %in1: tensor<2x3x4x4xf32> {mnist.name = "x1"}) -> tensor<2x3x8x8xf32> {
  %y = plan.step "y" on kernel (%in0, %in1) {
  ^bb0(%a: tensor<2x3x8x8xf32>, %b: tensor<2x3x4x4xf32>):
    %0 = mnist.max_pool_grad nchw %a, %b kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<2x3x8x8xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x8x8xf32>
    plan.yield %0 : tensor<2x3x8x8xf32>
  } : (tensor<2x3x8x8xf32>, tensor<2x3x4x4xf32>) -> (tensor<2x3x8x8xf32>)
  return %y : tensor<2x3x8x8xf32>
}

// The same.
// CHECK-LABEL: namespace infer_avg_pool_grad {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Pool y_shape{
// CHECK-NEXT: .batch = 2,
// CHECK-NEXT: .channels = 3,
// CHECK-NEXT: .in = {8, 8, 1},
// CHECK-NEXT: .kernel = {2, 2, 1},
// CHECK-NEXT: .out = {4, 4, 1},
// CHECK-NEXT: .strides = {2, 2, 1},
// CHECK-NEXT: };
// CHECK-NEXT: MN_AVG_POOL_GRAD_KERNEL(infer_avg_pool_grad_y, float, Y, y_shape)
func.func @infer_avg_pool_grad(%in0: tensor<2x3x4x4xf32> {mnist.name = "x0"}) -> tensor<2x3x8x8xf32> {
  %y = plan.step "y" on kernel (%in0) {
  ^bb0(%a: tensor<2x3x4x4xf32>):
    %0 = mnist.avg_pool_grad nchw %a kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x3x4x4xf32> -> tensor<2x3x8x8xf32>
    plan.yield %0 : tensor<2x3x8x8xf32>
  } : (tensor<2x3x4x4xf32>) -> (tensor<2x3x8x8xf32>)
  return %y : tensor<2x3x8x8xf32>
}
