// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=target=cpu | FileCheck %s

// Gradients of depthwise filters are oneDNN's only where windows have up to
// three columns.

// CHECK-LABEL: @wide_windows
// CHECK: plan.step "{{.*}}" on kernel(
func.func @wide_windows(%x: tensor<4x32x7x7xf32>, %dy: tensor<4x32x7x7xf32>) -> tensor<32x1x5x5xf32> {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 32 : (tensor<4x32x7x7xf32>, tensor<4x32x7x7xf32>) -> tensor<32x1x5x5xf32>
  return %0 : tensor<32x1x5x5xf32>
}

// CHECK-LABEL: @usual_windows
// CHECK: plan.step "{{.*}}" on onednn(
func.func @usual_windows(%x: tensor<4x32x7x7xf32>, %dy: tensor<4x32x7x7xf32>) -> tensor<32x1x3x3xf32> {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 32 : (tensor<4x32x7x7xf32>, tensor<4x32x7x7xf32>) -> tensor<32x1x3x3xf32>
  return %0 : tensor<32x1x3x3xf32>
}

// CHECK-LABEL: @two_channels
// CHECK: plan.step "{{.*}}" on onednn(
func.func @two_channels(%x: tensor<4x32x7x7xf32>, %dy: tensor<4x32x7x7xf32>) -> tensor<32x2x5x5xf32> {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 16 : (tensor<4x32x7x7xf32>, tensor<4x32x7x7xf32>) -> tensor<32x2x5x5xf32>
  return %0 : tensor<32x2x5x5xf32>
}

// CHECK-LABEL: @one_group
// CHECK: plan.step "{{.*}}" on onednn(
func.func @one_group(%x: tensor<4x1x7x7xf32>, %dy: tensor<4x32x7x7xf32>) -> tensor<32x1x5x5xf32> {
  %0 = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1 : (tensor<4x1x7x7xf32>, tensor<4x32x7x7xf32>) -> tensor<32x1x5x5xf32>
  return %0 : tensor<32x1x5x5xf32>
}
