// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=libraries=none \
// RUN:   --plan-choose-schedules --plan-join-unpools | FileCheck %s

// Few weights: windows are read instead of what would be placed.

// CHECK-LABEL: func.func @first
// CHECK:         plan.step "sub" on kernel schedule(#plan.weights<channels = 8, split = {{[0-9]+}}>)(%arg1, %arg2, %arg0, %arg3)
// CHECK:           %[[GRAD:.*]] = mnist.max_unpool nchw {{.*}} {plan.inline}
// CHECK:           mnist.conv_filter_grad nchw %{{.*}}, %[[GRAD]]
// CHECK:           mnist.sub
// CHECK-NOT:     plan.step
func.func @first(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x14x14xf32>, %i: tensor<64x32x14x14xui8>, %w: tensor<32x1x3x3xf32>) -> tensor<32x1x3x3xf32> {
  %0 = mnist.max_unpool nchw %dy, %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<64x32x14x14xf32>, tensor<64x32x14x14xui8>) -> tensor<64x32x28x28xf32>
  %1 = mnist.conv_filter_grad nchw %x, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  %2 = mnist.sub %w, %1 : tensor<32x1x3x3xf32>
  return %2 : tensor<32x1x3x3xf32>
}

// Bands and patches, both where both read it.

// CHECK-LABEL: func.func @many
// CHECK-NOT:     plan.step "max_unpool"
// CHECK:         plan.step "conv_filter_grad" on kernel schedule(#plan.bands
// CHECK:           mnist.max_unpool {{.*}} {plan.inline}
// CHECK:         plan.step "conv_input_grad" on kernel schedule(#plan.patches
// CHECK:           mnist.max_unpool {{.*}} {plan.inline}
func.func @many(%x: tensor<64x32x14x14xf32>, %w: tensor<64x32x3x3xf32>, %dy: tensor<64x64x7x7xf32>, %i: tensor<64x64x7x7xui8>) -> (tensor<64x32x3x3xf32>, tensor<64x32x14x14xf32>) {
  %0 = mnist.max_unpool nchw %dy, %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<64x64x7x7xf32>, tensor<64x64x7x7xui8>) -> tensor<64x64x14x14xf32>
  %1 = mnist.conv_filter_grad nchw %x, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x64x14x14xf32>) -> tensor<64x32x3x3xf32>
  %2 = mnist.conv_input_grad nchw %0, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x64x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x32x14x14xf32>
  return %1, %2 : tensor<64x32x3x3xf32>, tensor<64x32x14x14xf32>
}

// Not where a kernel cannot, where a column has no whole window, or where
// others read the elements too.

// CHECK-LABEL: func.func @columns
// CHECK:         plan.step "max_unpool"
// CHECK:         plan.step "conv_input_grad" on kernel schedule(#plan.columns
// CHECK-NOT:     plan.inline
func.func @columns(%w: tensor<8x4x3x3xf32>, %dy: tensor<2x8x7x7xf32>, %i: tensor<2x8x7x7xui8>) -> tensor<2x4x14x14xf32> {
  %0 = mnist.max_unpool nchw %dy, %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<2x8x7x7xf32>, tensor<2x8x7x7xui8>) -> tensor<2x8x14x14xf32>
  %1 = mnist.conv_input_grad nchw %0, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x8x14x14xf32>, tensor<8x4x3x3xf32>) -> tensor<2x4x14x14xf32>
  return %1 : tensor<2x4x14x14xf32>
}

// CHECK-LABEL: func.func @tall
// CHECK:         plan.step "max_unpool"
// CHECK:         plan.step "conv_filter_grad"
// CHECK-NOT:     plan.inline
func.func @tall(%x: tensor<8x1x28x28xf32>, %dy: tensor<8x32x4x14xf32>, %i: tensor<8x32x4x14xui8>) -> tensor<32x1x3x3xf32> {
  %0 = mnist.max_unpool nchw %dy, %i kernel [7, 2] strides [7, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<8x32x4x14xf32>, tensor<8x32x4x14xui8>) -> tensor<8x32x28x28xf32>
  %1 = mnist.conv_filter_grad nchw %x, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<8x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %1 : tensor<32x1x3x3xf32>
}

// CHECK-LABEL: func.func @shared
// CHECK:         plan.step "max_unpool"
// CHECK:         plan.step "conv_filter_grad"
// CHECK-NOT:     plan.inline
func.func @shared(%x: tensor<8x1x28x28xf32>, %dy: tensor<8x32x14x14xf32>, %i: tensor<8x32x14x14xui8>) -> (tensor<32x1x3x3xf32>, tensor<8x32x28x28xf32>) {
  %0 = mnist.max_unpool nchw %dy, %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>) -> tensor<8x32x28x28xf32>
  %1 = mnist.conv_filter_grad nchw %x, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<8x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %1, %0 : tensor<32x1x3x3xf32>, tensor<8x32x28x28xf32>
}
