// RUN: mnist-opt %s --mnist-conv-to-matmul | FileCheck %s

// CHECK-LABEL: @whole
// CHECK-SAME:    (%[[X:.*]]: tensor<8x3x4x5xf32>, %[[W:.*]]: tensor<7x3x4x5xf32>)
// CHECK-DAG:     %[[ROWS:.*]] = mnist.reshape %[[X]] : tensor<8x3x4x5xf32> -> tensor<8x60xf32>
// CHECK-DAG:     %[[FLAT:.*]] = mnist.reshape %[[W]] : tensor<7x3x4x5xf32> -> tensor<7x60xf32>
// CHECK:         %[[Y:.*]] = mnist.matmul %[[ROWS]], %[[FLAT]] transposed [false, true]
// CHECK:         mnist.reshape %[[Y]] : tensor<8x7xf32> -> tensor<8x7x1x1xf32>
func.func @whole(%x: tensor<8x3x4x5xf32>, %w: tensor<7x3x4x5xf32>) -> tensor<8x7x1x1xf32> {
  %y = mnist.conv nchw %x, %w strides [2, 3] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<8x3x4x5xf32>, tensor<7x3x4x5xf32>) -> tensor<8x7x1x1xf32>
  return %y : tensor<8x7x1x1xf32>
}

// CHECK-LABEL: @one_pixel
// CHECK:         mnist.matmul {{.*}} transposed [false, true] : (tensor<8x3xf32>, tensor<7x3xf32>) -> tensor<8x7xf32>
// CHECK:         mnist.reshape {{.*}} -> tensor<8x1x1x7xf32>
func.func @one_pixel(%x: tensor<8x1x1x3xf32>, %w: tensor<7x1x1x3xf32>) -> tensor<8x1x1x7xf32> {
  %y = mnist.conv nhwc %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2] groups 1 : (tensor<8x1x1x3xf32>, tensor<7x1x1x3xf32>) -> tensor<8x1x1x7xf32>
  return %y : tensor<8x1x1x7xf32>
}

// CHECK-LABEL: @transposed
// CHECK-SAME:    (%[[X:.*]]: tensor<8x7x1xf32>, %[[W:.*]]: tensor<7x3x4xf32>)
// CHECK-DAG:     %[[ROWS:.*]] = mnist.reshape %[[X]] : tensor<8x7x1xf32> -> tensor<8x7xf32>
// CHECK-DAG:     %[[FLAT:.*]] = mnist.reshape %[[W]] : tensor<7x3x4xf32> -> tensor<7x12xf32>
// CHECK:         %[[Y:.*]] = mnist.matmul %[[ROWS]], %[[FLAT]] :
// CHECK:         mnist.reshape %[[Y]] : tensor<8x12xf32> -> tensor<8x3x4xf32>
func.func @transposed(%x: tensor<8x7x1xf32>, %w: tensor<7x3x4xf32>) -> tensor<8x3x4xf32> {
  %y = mnist.conv_input_grad nchw %x, %w strides [4] pads [0, 0] dilations [1] groups 1 : (tensor<8x7x1xf32>, tensor<7x3x4xf32>) -> tensor<8x3x4xf32>
  return %y : tensor<8x3x4xf32>
}

// Windows that move, padding, elements between taps, groups.
// CHECK-LABEL: @others
// CHECK-COUNT-5: mnist.conv
// CHECK-NOT:     mnist.matmul
func.func @others(%x: tensor<8x4x3x3xf32>, %w: tensor<7x4x2x3xf32>, %v: tensor<7x4x3x3xf32>, %u: tensor<7x4x2x2xf32>, %t: tensor<4x2x3x3xf32>) -> (tensor<8x7x2x1xf32>, tensor<8x7x1x2xf32>, tensor<8x7x1x1xf32>, tensor<8x4x1x1xf32>, tensor<8x7x1x1xf32>) {
  %a = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<8x4x3x3xf32>, tensor<7x4x2x3xf32>) -> tensor<8x7x2x1xf32>
  %b = mnist.conv nchw %x, %v strides [1, 1] pads [0, 0, 0, 1] dilations [1, 1] groups 1 : (tensor<8x4x3x3xf32>, tensor<7x4x3x3xf32>) -> tensor<8x7x1x2xf32>
  %c = mnist.conv nchw %x, %u strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2] groups 1 : (tensor<8x4x3x3xf32>, tensor<7x4x2x2xf32>) -> tensor<8x7x1x1xf32>
  %d = mnist.conv nchw %x, %t strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 2 : (tensor<8x4x3x3xf32>, tensor<4x2x3x3xf32>) -> tensor<8x4x1x1xf32>
  %e = mnist.conv nchw %x, %v strides [2, 2] pads [1, 1, 0, 0] dilations [1, 1] groups 1 : (tensor<8x4x3x3xf32>, tensor<7x4x3x3xf32>) -> tensor<8x7x1x1xf32>
  return %a, %b, %c, %d, %e : tensor<8x7x2x1xf32>, tensor<8x7x1x2xf32>, tensor<8x7x1x1xf32>, tensor<8x4x1x1xf32>, tensor<8x7x1x1xf32>
}
