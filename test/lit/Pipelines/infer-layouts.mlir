// RUN: mnist-opt %s --mnist-infer=target=cpu | FileCheck %s --implicit-check-not=mnist.transpose

// An exporter that computes in nhwc but can only write nchw: every convolution
// stands between two transposes. All of them go.

// CHECK-LABEL: @between_transposes
// CHECK:         mnist.conv nhwc
// CHECK:         mnist.max_pool nhwc
// CHECK:         mnist.matmul
func.func @between_transposes(%x: tensor<2x4x4x3xf32>) -> tensor<2x1xf32> {
  %filter = mnist.constant dense<2.0> : tensor<5x3x1x1xf32>
  %bias = mnist.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %weight = mnist.constant dense<3.0> : tensor<20x1xf32>
  %a = mnist.transpose %x perm [0, 3, 1, 2] : tensor<2x4x4x3xf32> -> tensor<2x3x4x4xf32>
  %c = mnist.conv nchw %a, %filter strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x5x4x4xf32>
  %bs = mnist.broadcast %bias along [1] : tensor<5xf32> -> tensor<2x5x4x4xf32>
  %s = mnist.add %c, %bs : tensor<2x5x4x4xf32>
  %b = mnist.transpose %s perm [0, 2, 3, 1] : tensor<2x5x4x4xf32> -> tensor<2x4x4x5xf32>
  %r = mnist.relu %b : tensor<2x4x4x5xf32>
  %d = mnist.transpose %r perm [0, 3, 1, 2] : tensor<2x4x4x5xf32> -> tensor<2x5x4x4xf32>
  %p = mnist.max_pool nchw %d kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<2x5x4x4xf32> -> tensor<2x5x2x2xf32>
  %e = mnist.transpose %p perm [0, 2, 3, 1] : tensor<2x5x2x2xf32> -> tensor<2x2x2x5xf32>
  %f = mnist.reshape %e : tensor<2x2x2x5xf32> -> tensor<2x20xf32>
  %y = mnist.matmul %f, %weight : (tensor<2x20xf32>, tensor<20x1xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// A residual network from one channel to a mean over each image.

// CHECK-LABEL: @residual
// CHECK:         mnist.conv nhwc
// CHECK:         mnist.conv nhwc
// CHECK:         mnist.reduce_sum {{.*}} over [1, 2]
func.func @residual(%x: tensor<2x1x4x4xf32>) -> tensor<2x3xf32> {
  %wc = mnist.constant dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]]]> : tensor<3x1x1x1xf32>
  %vc = mnist.constant dense<0.5> : tensor<3x3x3x3xf32>
  %c = mnist.conv nchw %x, %wc strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x1x4x4xf32>, tensor<3x1x1x1xf32>) -> tensor<2x3x4x4xf32>
  %r = mnist.relu %c : tensor<2x3x4x4xf32>
  %d = mnist.conv nchw %r, %vc strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<2x3x4x4xf32>, tensor<3x3x3x3xf32>) -> tensor<2x3x4x4xf32>
  %s = mnist.add %r, %d : tensor<2x3x4x4xf32>
  %q = mnist.relu %s : tensor<2x3x4x4xf32>
  %y = mnist.reduce_sum %q over [2, 3] : tensor<2x3x4x4xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
