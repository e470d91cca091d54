// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s
// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --explain | FileCheck %s --check-prefix=EXPLAIN

// Steps that pool what they compute.

// What is pooled, and stored for others; then the pool and the indices.
// CHECK-LABEL: namespace infer_conv {
// CHECK: MN_FN float tile(auto i, float v) const {
// CHECK-NEXT: const float sum = v + x2[i / 784 % 32];
// CHECK-NEXT: add[i] = sum;
// CHECK-NEXT: return mn::relu(sum);
// CHECK-NEXT: }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { y[i] = v; }
// CHECK-NEXT: MN_FN void storeIndex(mn::Index i, int64_t v) const {
// CHECK-NEXT: {{.*}}[i] = static_cast<uint8_t>(v);
// CHECK-NEXT: }
// CHECK: .pool = {.kernel = {2, 2, 1}, .out = {14, 14, 1}},
// CHECK-NEXT: .schedule = {.way = mn::Way::columns, .height = 2, .width = 8},
// CHECK: MN_CONV_KERNEL(infer_conv_y, float, Y, y_shape)

// EXPLAIN: infer_conv
// EXPLAIN: kernel conv + add + relu + max_
module attributes {plan.target = "cuda"} {
func.func @infer_conv(%in0: tensor<8x1x28x28xf32> {mnist.name = "x0"}, %in1: tensor<32x1x3x3xf32> {mnist.name = "x1"}, %in2: tensor<32xf32> {mnist.name = "x2"}) -> (tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>, tensor<8x32x28x28xf32>) {
  %y:3 = plan.step "y" on kernel schedule(#plan.columns<height = 2, width = 8>) (%in0, %in1, %in2) {
  ^bb0(%a: tensor<8x1x28x28xf32>, %b: tensor<32x1x3x3xf32>, %c: tensor<32xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32>
    %1 = mnist.broadcast %c along [1] : tensor<32xf32> -> tensor<8x32x28x28xf32>
    %2 = mnist.add %0, %1 : tensor<8x32x28x28xf32>
    %3 = mnist.relu %2 : tensor<8x32x28x28xf32>
    %4 = mnist.max_pool nchw %3 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xf32>
    %5 = mnist.arg_max_pool nchw %3 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xui8>
    plan.yield %4, %5, %2 : tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>, tensor<8x32x28x28xf32>
  } : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> (tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>, tensor<8x32x28x28xf32>)
  return %y#0, %y#1, %y#2 : tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>, tensor<8x32x28x28xf32>
}

// Of what is in memory.
// CHECK-LABEL: namespace infer_memory {
// CHECK: MN_FN float load(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { z[i] = mn::relu(v); }
// CHECK-NEXT: MN_FN void storeIndex(mn::Index i, int64_t v) const {
// CHECK: .inWindow = true,
// CHECK: MN_MAX_POOL_KERNEL(infer_memory_z, float, Z, z_shape)
func.func @infer_memory(%in0: tensor<8x3x4x4xf32> {mnist.name = "x0"}) -> (tensor<8x3x2x2xf32>, tensor<8x3x2x2xui8>) {
  %z:2 = plan.step "z" on kernel (%in0) {
  ^bb0(%a: tensor<8x3x4x4xf32>):
    %0 = mnist.max_pool nchw %a kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x3x4x4xf32> -> tensor<8x3x2x2xf32>
    %1 = mnist.arg_max_pool nchw %a kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x3x4x4xf32> -> tensor<8x3x2x2xui8>
    %2 = mnist.relu %0 : tensor<8x3x2x2xf32>
    plan.yield %2, %1 : tensor<8x3x2x2xf32>, tensor<8x3x2x2xui8>
  } : (tensor<8x3x4x4xf32>) -> (tensor<8x3x2x2xf32>, tensor<8x3x2x2xui8>)
  return %z#0, %z#1 : tensor<8x3x2x2xf32>, tensor<8x3x2x2xui8>
}

// A gradient of few weights that reads windows: a value and an index of each.
// CHECK-LABEL: namespace infer_windows {
// CHECK: MN_FN const float &loadInput(mn::Index i) const { return x0[i]; }
// CHECK-NEXT: MN_FN const float &loadOutputGrad(mn::Index i) const { return x1[i]; }
// CHECK-NEXT: MN_FN const uint8_t &loadIndex(mn::Index i) const { return x2[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { w[i] = mn::relu(v); }
// CHECK: .pool = {.kernel = {2, 3, 1}, .out = {5, 3, 1}},
// CHECK-NEXT: .schedule = {.split = 3, .way = mn::Way::weights, .channels = 4},
// CHECK: MN_CONV_FILTER_GRAD_KERNEL(infer_windows_w, float, W, w_shape)

// EXPLAIN: infer_windows
// EXPLAIN: kernel max_unpool + conv_filter
func.func @infer_windows(%in0: tensor<6x1x11x9xf32> {mnist.name = "x0"}, %in1: tensor<6x4x5x3xf32> {mnist.name = "x1"}, %in2: tensor<6x4x5x3xui8> {mnist.name = "x2"}) -> tensor<4x1x3x3xf32> {
  %w = plan.step "w" on kernel schedule(#plan.weights<channels = 4, split = 3>) (%in0, %in1, %in2) {
  ^bb0(%a: tensor<6x1x11x9xf32>, %b: tensor<6x4x5x3xf32>, %c: tensor<6x4x5x3xui8>):
    %0 = mnist.max_unpool nchw %b, %c kernel [2, 3] strides [2, 3] pads [0, 0, 0, 0] dilations [1, 1] {plan.inline} : (tensor<6x4x5x3xf32>, tensor<6x4x5x3xui8>) -> tensor<6x4x11x9xf32>
    %1 = mnist.conv_filter_grad nchw %a, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x1x11x9xf32>, tensor<6x4x11x9xf32>) -> tensor<4x1x3x3xf32>
    %2 = mnist.relu %1 : tensor<4x1x3x3xf32>
    plan.yield %2 : tensor<4x1x3x3xf32>
  } : (tensor<6x1x11x9xf32>, tensor<6x4x5x3xf32>, tensor<6x4x5x3xui8>) -> tensor<4x1x3x3xf32>
  return %w : tensor<4x1x3x3xf32>
}
}
