// RUN: mnist-opt %s --mnist-fold-batch-norm --canonicalize | FileCheck %s

// scale / sqrt(variance + epsilon) = [1, 2], bias - mean * that = [1, -2]:
// the filters are multiplied by the former, the latter is left to add.

// CHECK-LABEL: @conv
// CHECK-SAME:    (%[[X:.*]]: tensor
// CHECK-DAG:     %[[W:.*]] = mnist.constant dense<{{\[}}{{\[\[}}[3.000000e+00]]], {{\[\[}}[8.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG:     %[[SHIFT:.*]] = mnist.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK:         %[[CONV:.*]] = mnist.conv nchw %[[X]], %[[W]]
// CHECK:         %[[SHIFTS:.*]] = mnist.broadcast %[[SHIFT]] along [1]
// CHECK:         %[[Y:.*]] = mnist.add %[[CONV]], %[[SHIFTS]]
// CHECK-NEXT:    return %[[Y]]
func.func @conv(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %w = mnist.constant dense<[[[[3.0]]], [[[4.0]]]]> : tensor<2x1x1x1xf32>
  %scale = mnist.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %bias = mnist.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %mean = mnist.constant dense<1.0> : tensor<2xf32>
  %variance = mnist.constant dense<3.0> : tensor<2xf32>
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x3x3xf32>
  %y = mnist.batch_norm %c, %scale, %bias, %mean, %variance dim 1 epsilon 1.0 momentum 9.0e-01
      : tensor<1x2x3x3xf32>, tensor<2xf32>
  return %y : tensor<1x2x3x3xf32>
}

// A bias between: (c + [1, 2]) * 3 - 1 = 3 c + [2, 5].

// CHECK-LABEL: @chain
// CHECK-DAG:     %[[W:.*]] = mnist.constant dense<3.000000e+00> : tensor<2x3x3x1xf32>
// CHECK-DAG:     %[[SHIFT:.*]] = mnist.constant dense<[2.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK:         %[[CONV:.*]] = mnist.conv nhwc %{{.*}}, %[[W]]
// CHECK:         %[[SHIFTS:.*]] = mnist.broadcast %[[SHIFT]] along [3]
// CHECK:         %[[Y:.*]] = mnist.add %[[CONV]], %[[SHIFTS]]
// CHECK-NEXT:    return %[[Y]]
func.func @chain(%x: tensor<1x3x3x1xf32>) -> tensor<1x1x1x2xf32> {
  %w = mnist.constant dense<1.0> : tensor<2x3x3x1xf32>
  %b = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %three = mnist.constant dense<3.0> : tensor<1x1x1x2xf32>
  %one = mnist.constant dense<1.0> : tensor<1x1x1x2xf32>
  %c = mnist.conv nhwc %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x3x3x1xf32>, tensor<2x3x3x1xf32>) -> tensor<1x1x1x2xf32>
  %bs = mnist.broadcast %b along [3] : tensor<2xf32> -> tensor<1x1x1x2xf32>
  %d = mnist.add %c, %bs : tensor<1x1x1x2xf32>
  %e = mnist.mul %three, %d : tensor<1x1x1x2xf32>
  %y = mnist.sub %e, %one : tensor<1x1x1x2xf32>
  return %y : tensor<1x1x1x2xf32>
}

// CHECK-LABEL: @matmul
// CHECK-DAG:     %[[W:.*]] = mnist.constant dense<{{\[}}[2.000000e+00, 4.000000e+00], [9.000000e+00, 1.200000e+01]]>
// CHECK:         mnist.matmul %{{.*}}, %[[W]] transposed [false, true]
// CHECK-NEXT:    return
func.func @matmul(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %w = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = mnist.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = mnist.matmul %x, %w transposed [false, true] : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %ss = mnist.broadcast %s along [1] : tensor<2xf32> -> tensor<1x2xf32>
  %y = mnist.mul %p, %ss : tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// A transposed convolution's channels are the last dimension of its filter.

// CHECK-LABEL: @transposed_conv
// CHECK-DAG:     %[[W:.*]] = mnist.constant dense<{{\[\[\[}}[2.000000e+00, 9.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK:         mnist.conv_input_grad nhwc %{{.*}}, %[[W]]
// CHECK-NEXT:    return
func.func @transposed_conv(%x: tensor<1x3x3x1xf32>) -> tensor<1x3x3x2xf32> {
  %w = mnist.constant dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>
  %s = mnist.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %c = mnist.conv_input_grad nhwc %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x3x3x1xf32>, tensor<1x1x1x2xf32>) -> tensor<1x3x3x2xf32>
  %ss = mnist.broadcast %s along [3] : tensor<2xf32> -> tensor<1x3x3x2xf32>
  %y = mnist.mul %c, %ss : tensor<1x3x3x2xf32>
  return %y : tensor<1x3x3x2xf32>
}

// The product has another user, which sees it without the scale.

// CHECK-LABEL: @two_users
// CHECK:         mnist.mul
func.func @two_users(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %w = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = mnist.constant dense<3.0> : tensor<1x2xf32>
  %p = mnist.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %y = mnist.mul %p, %s : tensor<1x2xf32>
  return %p, %y : tensor<1x2xf32>, tensor<1x2xf32>
}

// A number for each row is no number for each channel.

// CHECK-LABEL: @by_row
// CHECK:         mnist.mul
func.func @by_row(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = mnist.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = mnist.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %ss = mnist.broadcast %s along [0] : tensor<2xf32> -> tensor<2x2xf32>
  %y = mnist.mul %p, %ss : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// Weights that are trained are no constants, and a bias stays where it is.

// CHECK-LABEL: @left_alone
// CHECK:         mnist.matmul
// CHECK:         mnist.add
// CHECK:         mnist.batch_norm
func.func @left_alone(%x: tensor<1x2xf32>, %w: tensor<2x2xf32>, %s: tensor<2xf32>) -> tensor<1x2xf32> {
  %b = mnist.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %p = mnist.matmul %x, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %bs = mnist.broadcast %b along [1] : tensor<2xf32> -> tensor<1x2xf32>
  %a = mnist.add %p, %bs : tensor<1x2xf32>
  %y = mnist.batch_norm %a, %s, %s, %s, %s dim 1 epsilon 1.0 momentum 9.0e-01 : tensor<1x2xf32>, tensor<2xf32>
  return %y : tensor<1x2xf32>
}
