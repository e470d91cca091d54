// RUN: mnist-opt %s --mnist-round-operands | FileCheck %s
// RUN: mnist-opt %s --mnist-round-operands="libraries=none" | FileCheck %s --check-prefix=NONE
// RUN: mnist-opt %s --mnist-round-operands="target=cpu" | FileCheck %s --check-prefix=NONE
// RUN: mnist-opt %s --mnist-round-operands="push-transposes=false" | FileCheck %s --check-prefix=KEPT
// RUN: not mnist-opt %s --mnist-round-operands="target=tpu" 2>&1 | FileCheck %s --check-prefix=TARGET
// NONE-NOT: bf16
// TARGET: error: expected a target of cuda or cpu, got 'tpu'

// A tensor is rounded once, where it is made, whoever multiplies it; others
// read it in f32.

// CHECK-LABEL: func.func @once
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: tensor<64x16x512xf32>, %[[W:[a-z0-9]*]]: tensor<512x1024xf32>)
// CHECK-DAG:     %[[XR:.*]] = mnist.cast %[[X]] : tensor<64x16x512xf32> -> tensor<64x16x512xbf16>
// CHECK-DAG:     %[[WR:.*]] = mnist.cast %[[W]] : tensor<512x1024xf32> -> tensor<512x1024xbf16>
// CHECK-DAG:     %[[ROWS:.*]] = mnist.reshape %[[XR]] : tensor<64x16x512xbf16> -> tensor<1024x512xbf16>
// CHECK:         %[[Y:.*]] = mnist.matmul %[[ROWS]], %[[WR]] : (tensor<1024x512xbf16>, tensor<512x1024xbf16>) -> tensor<1024x1024xf32>
// CHECK:         %[[YR:.*]] = mnist.cast %[[Y]] : tensor<1024x1024xf32> -> tensor<1024x1024xbf16>
// CHECK:         mnist.matmul %{{.*}}, %[[YR]] transposed [true, false] : (tensor<1024x512xbf16>, tensor<1024x1024xbf16>) -> tensor<512x1024xf32>
// CHECK:         mnist.neg %[[Y]]
// CHECK-NOT:     mnist.cast
// CHECK:         return
func.func @once(%x: tensor<64x16x512xf32>, %w: tensor<512x1024xf32>) -> (tensor<512x1024xf32>, tensor<1024x1024xf32>) {
  %a = mnist.reshape %x : tensor<64x16x512xf32> -> tensor<1024x512xf32>
  %y = mnist.matmul %a, %w : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  %dw = mnist.matmul %a, %y transposed [true, false] : (tensor<1024x512xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %n = mnist.neg %y : tensor<1024x1024xf32>
  return %dw, %n : tensor<512x1024xf32>, tensor<1024x1024xf32>
}

// Small products, doubles and constants stay as they are.

// CHECK-LABEL: func.func @others
// CHECK-NOT:     bf16
func.func @others(%x: tensor<1024x512xf32>, %w: tensor<512x64xf32>, %d: tensor<1024x512xf64>, %e: tensor<512x1024xf64>) -> (tensor<1024x64xf32>, tensor<1024x1024xf64>, tensor<1024x1024xf32>) {
  %c = mnist.constant dense<0.5> : tensor<512x1024xf32>
  %y = mnist.matmul %x, %w : (tensor<1024x512xf32>, tensor<512x64xf32>) -> tensor<1024x64xf32>
  %z = mnist.matmul %d, %e : (tensor<1024x512xf64>, tensor<512x1024xf64>) -> tensor<1024x1024xf64>
  %k = mnist.matmul %x, %c : (tensor<1024x512xf32>, tensor<512x1024xf32>) -> tensor<1024x1024xf32>
  return %y, %z, %k : tensor<1024x64xf32>, tensor<1024x1024xf64>, tensor<1024x1024xf32>
}

// A convolution and its gradients are in channels last, and so are their
// results, in bf16, too: each is cast for those that read it. What is between
// them stays in that layout: three tensors and the three results are transposed.

// KEPT-LABEL:  func.func @conv
// KEPT:          mnist.relu %{{.*}} : tensor<256x128x14x14xf32>
// CHECK-LABEL: func.func @conv
// CHECK-SAME:    (%[[X:[a-z0-9]*]]: tensor<256x128x14x14xf32>, %[[W:[a-z0-9]*]]: tensor<128x128x3x3xf32>, %[[DY:[a-z0-9]*]]
// CHECK-DAG:     %[[XT:.*]] = mnist.transpose %[[X]] perm [0, 2, 3, 1]
// CHECK-DAG:     %[[WT:.*]] = mnist.transpose %[[W]] perm [0, 2, 3, 1]
// CHECK-DAG:     %[[DYR:.*]] = mnist.cast %[[DY]] : tensor<256x128x14x14xf32> -> tensor<256x128x14x14xbf16>
// CHECK-DAG:     %[[DYT:.*]] = mnist.transpose %[[DYR]] perm [0, 2, 3, 1]
// CHECK-DAG:     %[[XR:.*]] = mnist.cast %[[XT]] : tensor<256x14x14x128xf32> -> tensor<256x14x14x128xbf16>
// CHECK-DAG:     %[[WR:.*]] = mnist.cast %[[WT]] : tensor<128x3x3x128xf32> -> tensor<128x3x3x128xbf16>
// CHECK-DAG:     mnist.relu %[[XT]]
// CHECK-DAG:     mnist.neg %[[WT]]
// CHECK:         %[[Y:.*]] = mnist.conv nhwc %[[XR]], %[[WR]] {{.*}} -> tensor<256x14x14x128xbf16>
// CHECK-NEXT:    %[[YT:.*]] = mnist.transpose %[[Y]] perm [0, 3, 1, 2]
// CHECK-NEXT:    mnist.cast %[[YT]] : tensor<256x128x14x14xbf16> -> tensor<256x128x14x14xf32>
// CHECK:         mnist.conv_filter_grad nhwc %{{.*}}, %[[DYT]] {{.*}} -> tensor<128x3x3x128xbf16>
// CHECK-NEXT:    mnist.transpose
// CHECK:         mnist.conv_input_grad nhwc %[[DYT]], {{.*}} -> tensor<256x14x14x128xbf16>
// CHECK-NEXT:    mnist.transpose
// CHECK-NOT:     mnist.transpose
// CHECK:         return
func.func @conv(%x: tensor<256x128x14x14xf32>, %w: tensor<128x128x3x3xf32>, %dy: tensor<256x128x14x14xf32>)
    -> (tensor<256x128x14x14xf32>, tensor<128x128x3x3xf32>, tensor<256x128x14x14xf32>) {
  %r = mnist.relu %x : tensor<256x128x14x14xf32>
  %n = mnist.neg %w : tensor<128x128x3x3xf32>
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<256x128x14x14xf32>, tensor<128x128x3x3xf32>) -> tensor<256x128x14x14xf32>
  %dw = mnist.conv_filter_grad nchw %r, %dy strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<256x128x14x14xf32>, tensor<256x128x14x14xf32>) -> tensor<128x128x3x3xf32>
  %dx = mnist.conv_input_grad nchw %dy, %n strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<256x128x14x14xf32>, tensor<128x128x3x3xf32>) -> tensor<256x128x14x14xf32>
  return %y, %dw, %dx : tensor<256x128x14x14xf32>, tensor<128x128x3x3xf32>, tensor<256x128x14x14xf32>
}

// Nor what libraries have no engine for, as far as is known: other padding
// before than after in the gradient of a filter, dilations, and three
// dimensions.

// CHECK-LABEL: func.func @others_convs
// CHECK-NOT:     bf16
func.func @others_convs(%x: tensor<256x128x14x14xf32>, %dy: tensor<256x128x13x13xf32>, %w: tensor<128x128x3x3xf32>, %u: tensor<64x128x14x14x4xf32>, %v: tensor<128x128x3x3x3xf32>)
    -> (tensor<128x128x3x3xf32>, tensor<256x128x10x10xf32>, tensor<64x128x12x12x2xf32>) {
  %dw = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [0, 0, 1, 1] dilations [1, 1] groups 1 : (tensor<256x128x14x14xf32>, tensor<256x128x13x13xf32>) -> tensor<128x128x3x3xf32>
  %d = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2] groups 1 : (tensor<256x128x14x14xf32>, tensor<128x128x3x3xf32>) -> tensor<256x128x10x10xf32>
  %t = mnist.conv nchw %u, %v strides [1, 1, 1] pads [0, 0, 0, 0, 0, 0] dilations [1, 1, 1] groups 1 : (tensor<64x128x14x14x4xf32>, tensor<128x128x3x3x3xf32>) -> tensor<64x128x12x12x2xf32>
  return %dw, %d, %t : tensor<128x128x3x3xf32>, tensor<256x128x10x10xf32>, tensor<64x128x12x12x2xf32>
}

// Of 32 channels only with many on the other side.

// CHECK-LABEL: func.func @channels_on_one_side
// CHECK-NOT:     tensor<512x28x28x64xbf16>
// CHECK:         mnist.conv nhwc {{.*}} -> tensor<512x28x28x96xbf16>
// CHECK-NOT:     mnist.conv nhwc
// CHECK:         return
func.func @channels_on_one_side(%x: tensor<512x32x28x28xf32>, %u: tensor<64x32x3x3xf32>, %v: tensor<96x32x3x3xf32>)
    -> (tensor<512x64x28x28xf32>, tensor<512x96x28x28xf32>) {
  %0 = mnist.conv nchw %x, %u strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<512x32x28x28xf32>, tensor<64x32x3x3xf32>) -> tensor<512x64x28x28xf32>
  %1 = mnist.conv nchw %x, %v strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<512x32x28x28xf32>, tensor<96x32x3x3xf32>) -> tensor<512x96x28x28xf32>
  return %0, %1 : tensor<512x64x28x28xf32>, tensor<512x96x28x28xf32>
}

// Neither few channels, nor groups, nor little work.

// CHECK-LABEL: func.func @small_convs
// CHECK-NOT:     bf16
func.func @small_convs(%x: tensor<512x24x28x28xf32>, %w: tensor<64x24x5x5xf32>, %u: tensor<256x256x14x14xf32>, %v: tensor<256x128x3x3xf32>, %s: tensor<64x64x14x14xf32>, %t: tensor<64x64x3x3xf32>)
    -> (tensor<512x64x24x24xf32>, tensor<256x256x12x12xf32>, tensor<64x64x12x12xf32>) {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<512x24x28x28xf32>, tensor<64x24x5x5xf32>) -> tensor<512x64x24x24xf32>
  %1 = mnist.conv nchw %u, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 2 : (tensor<256x256x14x14xf32>, tensor<256x128x3x3xf32>) -> tensor<256x256x12x12xf32>
  %2 = mnist.conv nchw %s, %t strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<64x64x12x12xf32>
  return %0, %1, %2 : tensor<512x64x24x24xf32>, tensor<256x256x12x12xf32>, tensor<64x64x12x12xf32>
}

// Windows of one pixel from less work on where they have strides.

// CHECK-LABEL: func.func @pixels
// CHECK:         mnist.conv nchw {{.*}} -> tensor<64x128x14x14xf32>
// CHECK:         mnist.conv nhwc {{.*}} strides [2, 2] {{.*}} -> tensor<64x14x14x128xbf16>
// CHECK:         mnist.conv_filter_grad nhwc {{.*}} -> tensor<128x1x1x64xbf16>
// CHECK:         mnist.conv_input_grad nhwc {{.*}} -> tensor<64x28x28x64xbf16>
// CHECK:         mnist.conv nchw {{.*}} -> tensor<32x128x14x14xf32>
func.func @pixels(%x: tensor<64x64x28x28xf32>, %s: tensor<64x64x14x14xf32>, %h: tensor<32x64x28x28xf32>, %w: tensor<128x64x1x1xf32>, %dy: tensor<64x128x14x14xf32>)
    -> (tensor<64x128x14x14xf32>, tensor<64x128x14x14xf32>, tensor<128x64x1x1xf32>, tensor<64x64x28x28xf32>, tensor<32x128x14x14xf32>) {
  %0 = mnist.conv nchw %s, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x64x14x14xf32>, tensor<128x64x1x1xf32>) -> tensor<64x128x14x14xf32>
  %1 = mnist.conv nchw %x, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x64x28x28xf32>, tensor<128x64x1x1xf32>) -> tensor<64x128x14x14xf32>
  %dw = mnist.conv_filter_grad nchw %x, %dy strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x64x28x28xf32>, tensor<64x128x14x14xf32>) -> tensor<128x64x1x1xf32>
  %dx = mnist.conv_input_grad nchw %dy, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<64x128x14x14xf32>, tensor<128x64x1x1xf32>) -> tensor<64x64x28x28xf32>
  %2 = mnist.conv nchw %h, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<32x64x28x28xf32>, tensor<128x64x1x1xf32>) -> tensor<32x128x14x14xf32>
  return %0, %1, %dw, %dx, %2 : tensor<64x128x14x14xf32>, tensor<64x128x14x14xf32>, tensor<128x64x1x1xf32>, tensor<64x64x28x28xf32>, tensor<32x128x14x14xf32>
}
