// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=libraries=none \
// RUN:   --plan-choose-schedules --plan-join-unpools --plan-join-biases | FileCheck %s

// Few weights: what they read is summed on the way, each result with what
// follows it.

// CHECK-LABEL: func.func @first
// CHECK:         %[[GRADS:.*]]:2 = plan.step "sub.sub" on kernel schedule(#plan.weights<channels = 8, split = {{[0-9]+}}>)(%arg0, %arg1, %arg2, %arg3)
// CHECK:           mnist.conv_filter_grad nchw
// CHECK:           mnist.sub
// CHECK:           mnist.reduce_sum %{{.*}} over [0, 2, 3]
// CHECK:           mnist.sub
// CHECK-NOT:     plan.step
// CHECK:         return %[[GRADS]]#0, %[[GRADS]]#1
func.func @first(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x28x28xf32>, %w: tensor<32x1x3x3xf32>, %b: tensor<32xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  %1 = mnist.sub %w, %0 : tensor<32x1x3x3xf32>
  %2 = mnist.reduce_sum %dy over [0, 2, 3] : tensor<64x32x28x28xf32> -> tensor<32xf32>
  %3 = mnist.sub %b, %2 : tensor<32xf32>
  return %1, %3 : tensor<32x1x3x3xf32>, tensor<32xf32>
}

// Of the windows of a pool, where these are read.

// CHECK-LABEL: func.func @windows
// CHECK:         plan.step "conv_filter_grad" on kernel schedule(#plan.weights
// CHECK:           mnist.max_unpool {{.*}} {plan.inline}
// CHECK:           mnist.conv_filter_grad
// CHECK:           mnist.reduce_sum {{.*}} : tensor<64x32x14x14xf32> -> tensor<32xf32>
// CHECK-NOT:     plan.step
func.func @windows(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x14x14xf32>, %i: tensor<64x32x14x14xui8>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>) {
  %0 = mnist.max_unpool nchw %dy, %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<64x32x14x14xf32>, tensor<64x32x14x14xui8>) -> tensor<64x32x28x28xf32>
  %1 = mnist.conv_filter_grad nchw %x, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  %2 = mnist.reduce_sum %dy over [0, 2, 3] : tensor<64x32x14x14xf32> -> tensor<32xf32>
  return %1, %2 : tensor<32x1x3x3xf32>, tensor<32xf32>
}

// Not of another tensor, nor over other dimensions, nor where the kernel reads
// elements several times, nor where a channel has one weight: its new value
// could take the place of the bias.

// CHECK-LABEL: func.func @other
// CHECK:         plan.step "conv_filter_grad"
// CHECK:         plan.step "reduce_sum"
func.func @other(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x28x28xf32>, %dz: tensor<64x32x28x28xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  %1 = mnist.reduce_sum %dz over [0, 2, 3] : tensor<64x32x28x28xf32> -> tensor<32xf32>
  return %0, %1 : tensor<32x1x3x3xf32>, tensor<32xf32>
}

// CHECK-LABEL: func.func @elsewhere
// CHECK:         plan.step "conv_filter_grad"
// CHECK:         plan.step "add"
func.func @elsewhere(%x: tensor<1x1x1x1xf32>, %dy: tensor<1x4x1x1xf32>, %dz: tensor<64x4x7x7xf32>) -> (tensor<4x1x3x3xf32>, tensor<4xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1x1x1x1xf32>, tensor<1x4x1x1xf32>) -> tensor<4x1x3x3xf32>
  %1 = mnist.reduce_sum %dz over [0, 2, 3] : tensor<64x4x7x7xf32> -> tensor<4xf32>
  %2 = mnist.reshape %dy : tensor<1x4x1x1xf32> -> tensor<4xf32>
  %3 = mnist.add %1, %2 : tensor<4xf32>
  return %0, %3 : tensor<4x1x3x3xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK:         plan.step "conv_filter_grad"
// CHECK:         plan.step "reduce_sum"
func.func @rows(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x28x28x28xf32>) -> (tensor<28x1x3x3xf32>, tensor<28xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x28x28x28xf32>) -> tensor<28x1x3x3xf32>
  %1 = mnist.reduce_sum %dy over [0, 1, 3] : tensor<64x28x28x28xf32> -> tensor<28xf32>
  return %0, %1 : tensor<28x1x3x3xf32>, tensor<28xf32>
}

// CHECK-LABEL: func.func @many
// CHECK:         plan.step "conv_filter_grad"
// CHECK:         plan.step "reduce_sum"
func.func @many(%x: tensor<64x32x14x14xf32>, %dy: tensor<64x64x14x14xf32>) -> (tensor<64x32x3x3xf32>, tensor<64xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x64x14x14xf32>) -> tensor<64x32x3x3xf32>
  %1 = mnist.reduce_sum %dy over [0, 2, 3] : tensor<64x64x14x14xf32> -> tensor<64xf32>
  return %0, %1 : tensor<64x32x3x3xf32>, tensor<64xf32>
}

// CHECK-LABEL: func.func @one
// CHECK:         plan.step "conv_filter_grad"
// CHECK:         plan.step "reduce_sum"
func.func @one(%x: tensor<64x8x14x14xf32>, %dy: tensor<64x8x14x14xf32>) -> (tensor<8x1x1x1xf32>, tensor<8xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 8 : (tensor<64x8x14x14xf32>, tensor<64x8x14x14xf32>) -> tensor<8x1x1x1xf32>
  %1 = mnist.reduce_sum %dy over [0, 2, 3] : tensor<64x8x14x14xf32> -> tensor<8xf32>
  return %0, %1 : tensor<8x1x1x1xf32>, tensor<8xf32>
}

// In the place of the last of them where the sum needs what is made between,
// and not at all where that needs the gradient.

// CHECK-LABEL: func.func @between
// CHECK:         plan.step "exp"
// CHECK:         plan.step "mul" on kernel schedule(#plan.weights
// CHECK-NOT:     plan.step
func.func @between(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x28x28xf32>, %w: tensor<32x1x3x3xf32>, %b: tensor<32xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>, tensor<32xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  %1 = mnist.mul %0, %w : tensor<32x1x3x3xf32>
  %2 = mnist.exp %b : tensor<32xf32>
  %3 = mnist.reduce_sum %dy over [0, 2, 3] : tensor<64x32x28x28xf32> -> tensor<32xf32>
  %4 = mnist.sub %3, %2 : tensor<32xf32>
  return %1, %4, %2 : tensor<32x1x3x3xf32>, tensor<32xf32>, tensor<32xf32>
}

// CHECK-LABEL: func.func @needed
// CHECK:         plan.step "conv_filter_grad"
// CHECK:         plan.step "reduce_max"
// CHECK:         plan.step "mul"
func.func @needed(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x28x28xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>) {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  %1 = mnist.reduce_max %0 over [1, 2, 3] : tensor<32x1x3x3xf32> -> tensor<32xf32>
  %2 = mnist.reduce_sum %dy over [0, 2, 3] : tensor<64x32x28x28xf32> -> tensor<32xf32>
  %3 = mnist.mul %2, %1 : tensor<32xf32>
  return %0, %3 : tensor<32x1x3x3xf32>, tensor<32xf32>
}
