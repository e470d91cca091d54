// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=tf32 | FileCheck %s

// In tf32 our kernels are faster with windows of 3 x 3, and where a window
// covers an image; of gradients of filters it is the other way round.

// CHECK-LABEL: @small_windows
// CHECK:         plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @small_windows(%x: tensor<128x256x14x14xf32>, %w: tensor<256x256x3x3xf32>) -> tensor<128x256x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<128x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<128x256x14x14xf32>
  return %y : tensor<128x256x14x14xf32>
}

// CHECK-LABEL: @covering_windows
// CHECK:         plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @covering_windows(%x: tensor<128x256x7x7xf32>, %w: tensor<256x256x7x7xf32>) -> tensor<128x256x7x7xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [3, 3, 3, 3] dilations [1, 1] groups 1
      : (tensor<128x256x7x7xf32>, tensor<256x256x7x7xf32>) -> tensor<128x256x7x7xf32>
  return %y : tensor<128x256x7x7xf32>
}

// CHECK-LABEL: @large_windows
// CHECK:         plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
func.func @large_windows(%x: tensor<128x256x14x14xf32>, %w: tensor<256x256x7x7xf32>) -> tensor<128x256x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [3, 3, 3, 3] dilations [1, 1] groups 1
      : (tensor<128x256x14x14xf32>, tensor<256x256x7x7xf32>) -> tensor<128x256x14x14xf32>
  return %y : tensor<128x256x14x14xf32>
}

// CHECK-LABEL: @covering_filter
// CHECK:         plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
func.func @covering_filter(%x: tensor<128x256x7x7xf32>, %dy: tensor<128x256x7x7xf32>) -> tensor<256x256x7x7xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [3, 3, 3, 3] dilations [1, 1] groups 1
      : (tensor<128x256x7x7xf32>, tensor<128x256x7x7xf32>) -> tensor<256x256x7x7xf32>
  return %y : tensor<256x256x7x7xf32>
}

// CHECK-LABEL: @large_filter
// CHECK:         plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @large_filter(%x: tensor<128x256x14x14xf32>, %dy: tensor<128x256x14x14xf32>) -> tensor<256x256x7x7xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [3, 3, 3, 3] dilations [1, 1] groups 1
      : (tensor<128x256x14x14xf32>, tensor<128x256x14x14xf32>) -> tensor<256x256x7x7xf32>
  return %y : tensor<256x256x7x7xf32>
}

// CHECK-LABEL: @middle_filter
// CHECK:         plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
func.func @middle_filter(%x: tensor<128x256x14x14xf32>, %dy: tensor<128x256x14x14xf32>) -> tensor<256x256x5x5xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<128x256x14x14xf32>, tensor<128x256x14x14xf32>) -> tensor<256x256x5x5xf32>
  return %y : tensor<256x256x5x5xf32>
}
