// RUN: mnist-opt %s --mnist-choose-layout=layout=nhwc | FileCheck %s
// RUN: mnist-opt %s --mnist-choose-layout | FileCheck %s --check-prefix=AUTO
// RUN: mnist-opt %s --mnist-choose-layout=prefer=nchw | FileCheck %s --check-prefix=PREFER
// RUN: mnist-opt %s --mnist-choose-layout=gain=2 | FileCheck %s --check-prefix=GAIN
// RUN: not mnist-opt %s --mnist-choose-layout=layout=chwn 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not mnist-opt %s --mnist-choose-layout=prefer=auto 2>&1 | FileCheck %s --check-prefix=NO-PREFERENCE

// LAYOUT:        error: expected the layout auto, nchw or nhwc, got 'chwn'
// NO-PREFERENCE: error: expected to prefer nchw or nhwc, got 'auto'

// Images and filters are transposed before, results after.

// CHECK-LABEL: @conv
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x8x8xf32>, %[[W:.*]]: tensor<4x3x5x5xf32>)
// CHECK-DAG:     %[[XT:.*]] = mnist.transpose %[[X]] perm [0, 2, 3, 1]
// CHECK-DAG:     %[[WT:.*]] = mnist.transpose %[[W]] perm [0, 2, 3, 1]
// CHECK:         %[[YT:.*]] = mnist.conv nhwc %[[XT]], %[[WT]] {{.*}}-> tensor<2x4x4x4xf32>
// CHECK-NEXT:    %[[Y:.*]] = mnist.transpose %[[YT]] perm [0, 3, 1, 2]
// CHECK-NEXT:    return %[[Y]]
func.func @conv(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x5x5xf32>) -> tensor<2x4x4x4xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x3x8x8xf32>, tensor<4x3x5x5xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// A constant filter becomes another constant.

// CHECK-LABEL: @constant_filter
// CHECK:         %[[W:.*]] = mnist.constant dense<{{\[\[\[}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]]]> : tensor<1x1x2x2xf32>
// CHECK:         mnist.conv nhwc %{{.*}}, %[[W]]
func.func @constant_filter(%x: tensor<2x2x1x2xf32>) -> tensor<2x1x1x1xf32> {
  %w = mnist.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]]]> : tensor<1x2x1x2xf32>
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<2x1x1x1xf32>
  return %y : tensor<2x1x1x1xf32>
}

// The result of this op is a filter; so is its transpose.

// CHECK-LABEL: @filter_grad
// CHECK:         %[[DW:.*]] = mnist.conv_filter_grad nhwc {{.*}} -> tensor<4x5x5x3xf32>
// CHECK-NEXT:    mnist.transpose %[[DW]] perm [0, 3, 1, 2] : tensor<4x5x5x3xf32> -> tensor<4x3x5x5xf32>
func.func @filter_grad(%x: tensor<2x3x8x8xf32>, %dy: tensor<2x4x4x4xf32>) -> tensor<4x3x5x5xf32> {
  %dw = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x3x8x8xf32>, tensor<2x4x4x4xf32>) -> tensor<4x3x5x5xf32>
  return %dw : tensor<4x3x5x5xf32>
}

// One dimension, and three.

// CHECK-LABEL: @other_ranks
// CHECK:         mnist.max_pool nhwc {{.*}} tensor<2x4x3xf32> -> tensor<2x2x3xf32>
// CHECK:         mnist.avg_pool nhwc {{.*}} tensor<2x4x4x4x3xf32> -> tensor<2x2x2x2x3xf32>
func.func @other_ranks(%x: tensor<2x3x4xf32>, %z: tensor<2x3x4x4x4xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2x2x2xf32>) {
  %y = mnist.max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<2x3x4xf32> -> tensor<2x3x2xf32>
  %w = mnist.avg_pool nchw %z kernel [2, 2, 2] strides [2, 2, 2] pads [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] : tensor<2x3x4x4x4xf32> -> tensor<2x3x2x2x2xf32>
  return %y, %w : tensor<2x3x2xf32>, tensor<2x3x2x2x2xf32>
}

// auto: transposes of all that the pool reads and writes are too much for what
// nhwc is preferred for.

// AUTO-LABEL: @too_dear
// AUTO-NEXT:    mnist.max_pool nchw
// AUTO-NEXT:    return
func.func @too_dear(%x: tensor<2x3x4x4xf32>) -> tensor<2x3x2x2xf32> {
  %y = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x3x4x4xf32> -> tensor<2x3x2x2xf32>
  return %y : tensor<2x3x2x2xf32>
}

// auto: an image of one channel has both layouts, and what is summed over
// needs none.

// AUTO-LABEL: @free
// AUTO:         mnist.conv nhwc
// AUTO:         mnist.max_pool nhwc
// PREFER-LABEL: @free
// PREFER-NOT:   mnist.transpose
// PREFER:       mnist.max_pool nchw
func.func @free(%x: tensor<2x1x8x8xf32>, %w: tensor<4x1x5x5xf32>) -> tensor<2x4xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x1x8x8xf32>, tensor<4x1x5x5xf32>) -> tensor<2x4x4x4xf32>
  %r = mnist.relu %c : tensor<2x4x4x4xf32>
  %p = mnist.max_pool nchw %r kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x4x4x4xf32> -> tensor<2x4x2x2xf32>
  %y = mnist.reduce_sum %p over [2, 3] : tensor<2x4x2x2xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @nhwc_already
// CHECK-NEXT:    mnist.max_pool nhwc
// CHECK-NEXT:    return
func.func @nhwc_already(%x: tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32> {
  %y = mnist.max_pool nhwc %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x4x4x3xf32> -> tensor<2x2x2x3xf32>
  return %y : tensor<2x2x2x3xf32>
}

// auto: 8192 bytes of transposes are more than half of all images, 6144 bytes,
// but less than twice the convolution's, 4096, and half of the pool's.

// AUTO-LABEL: @between_transposes
// AUTO:         mnist.conv nchw
// AUTO:         mnist.max_pool nchw
// GAIN-LABEL: @between_transposes
// GAIN:         mnist.conv nhwc
// GAIN:         mnist.max_pool nhwc
func.func @between_transposes(%x: tensor<2x6x8x8xf32>, %w: tensor<2x6x1x1xf32>) -> tensor<2x2x8x8xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x6x8x8xf32>, tensor<2x6x1x1xf32>) -> tensor<2x2x8x8xf32>
  %p = mnist.max_pool nchw %y kernel [1, 1] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x2x8x8xf32> -> tensor<2x2x8x8xf32>
  return %p : tensor<2x2x8x8xf32>
}
