// RUN: mnist-opt %s --mnist-index-pools --canonicalize | FileCheck %s

// The gradient of the relu before the pool is computed for the maxima, and
// nothing reads the pool's operand again. A row is left over.

// CHECK-LABEL: func.func @relu
// CHECK:         %[[X:.*]] = mnist.relu %arg0
// CHECK:         %[[I:.*]] = mnist.arg_max_pool nchw %[[X]] {{.*}} in_window : {{.*}} -> tensor<2x3x2x2xui8>
// CHECK:         %[[Y:.*]] = mnist.max_pool nchw %[[X]]
// CHECK:         %[[C:.*]] = mnist.compare gt %[[Y]]
// CHECK:         %[[S:.*]] = mnist.select %[[C]], %arg1, %{{.*}} : tensor<2x3x2x2xi1>
// CHECK:         %[[DX:.*]] = mnist.max_unpool nchw %[[S]], %[[I]] {{.*}} -> tensor<2x3x5x4xf32>
// CHECK:         return %[[Y]], %[[DX]]
func.func @relu(%a: tensor<2x3x5x4xf32>, %dy: tensor<2x3x2x2xf32>) -> (tensor<2x3x2x2xf32>, tensor<2x3x5x4xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<2x3x5x4xf32>
  %x = mnist.relu %a : tensor<2x3x5x4xf32>
  %y = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<2x3x5x4xf32> -> tensor<2x3x2x2xf32>
  %g = mnist.max_pool_grad nchw %x, %dy kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : (tensor<2x3x5x4xf32>, tensor<2x3x2x2xf32>) -> tensor<2x3x5x4xf32>
  %c = mnist.compare gt %x, %zero : tensor<2x3x5x4xf32> -> tensor<2x3x5x4xi1>
  %dx = mnist.select %c, %g, %zero : tensor<2x3x5x4xi1>, tensor<2x3x5x4xf32>
  return %y, %dx : tensor<2x3x2x2xf32>, tensor<2x3x5x4xf32>
}

// A window hangs over; a product with what the pool reads.

// CHECK-LABEL: func.func @nhwc
// CHECK:         %[[I:.*]] = mnist.arg_max_pool nhwc %arg0
// CHECK:         %[[Y:.*]] = mnist.max_pool nhwc %arg0
// CHECK:         %[[S:.*]] = mnist.mul %arg1, %[[Y]] : tensor<2x3x3xf32>
// CHECK:         mnist.max_unpool nhwc %[[S]], %[[I]] {{.*}} -> tensor<2x5x3xf32>
func.func @nhwc(%x: tensor<2x5x3xf32>, %dy: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2x5x3xf32>) {
  %y = mnist.max_pool nhwc %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<2x5x3xf32> -> tensor<2x3x3xf32>
  %g = mnist.max_pool_grad nhwc %x, %dy kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<2x5x3xf32>, tensor<2x3x3xf32>) -> tensor<2x5x3xf32>
  %s = mnist.mul %g, %x : tensor<2x5x3xf32>
  return %y, %s : tensor<2x3x3xf32>, tensor<2x5x3xf32>
}

// An element is in several windows.

// CHECK-LABEL: func.func @overlapping
// CHECK:         mnist.max_pool_grad
// CHECK-NOT:     mnist.arg_max_pool
func.func @overlapping(%x: tensor<1x1x5xf32>, %dy: tensor<1x1x3xf32>) -> (tensor<1x1x3xf32>, tensor<1x1x5xf32>) {
  %y = mnist.max_pool nchw %x kernel [3] strides [1] pads [0, 0] dilations [1] : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  %g = mnist.max_pool_grad nchw %x, %dy kernel [3] strides [1] pads [0, 0] dilations [1] : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x5xf32>
  return %y, %g : tensor<1x1x3xf32>, tensor<1x1x5xf32>
}

// What does not follow from the pool's operand is not known at the maxima.

// CHECK-LABEL: func.func @before
// CHECK:         %[[G:.*]] = mnist.max_unpool nchw %arg1
// CHECK:         mnist.mul %[[G]], %arg0 : tensor<1x1x4xf32>
func.func @before(%a: tensor<1x1x4xf32>, %dy: tensor<1x1x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x4xf32>) {
  %x = mnist.exp %a : tensor<1x1x4xf32>
  %y = mnist.max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
  %g = mnist.max_pool_grad nchw %x, %dy kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32>
  %s = mnist.mul %g, %a : tensor<1x1x4xf32>
  return %y, %s : tensor<1x1x2xf32>, tensor<1x1x4xf32>
}

// 1 - g is not 0 where g is.

// CHECK-LABEL: func.func @not_zero
// CHECK:         %[[G:.*]] = mnist.max_unpool nchw %arg1
// CHECK:         mnist.sub %{{.*}}, %[[G]] : tensor<1x1x4xf32>
func.func @not_zero(%x: tensor<1x1x4xf32>, %dy: tensor<1x1x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x4xf32>) {
  %y = mnist.max_pool nchw %x kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x1x4xf32> -> tensor<1x1x2xf32>
  %g = mnist.max_pool_grad nchw %x, %dy kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32>
  %s = mnist.sub %x, %g : tensor<1x1x4xf32>
  return %y, %s : tensor<1x1x2xf32>, tensor<1x1x4xf32>
}

// A sum over all places is one over the values.

// CHECK-LABEL: func.func @sum
// CHECK:         %[[G:.*]] = mnist.max_unpool
// CHECK:         %[[S:.*]] = mnist.reduce_sum %arg0 over [0, 2] : tensor<4x3x2xf32> -> tensor<3xf32>
// CHECK:         %[[PART:.*]] = mnist.reduce_sum %[[G]] over [0]
// CHECK:         return %[[S]], %[[PART]]
func.func @sum(%x: tensor<4x3x2xf32>, %i: tensor<4x3x2xui8>) -> (tensor<3xf32>, tensor<3x4xf32>) {
  %g = mnist.max_unpool nchw %x, %i kernel [2] strides [2] pads [0, 0] dilations [1] : (tensor<4x3x2xf32>, tensor<4x3x2xui8>) -> tensor<4x3x4xf32>
  %s = mnist.reduce_sum %g over [0, 2] : tensor<4x3x4xf32> -> tensor<3xf32>
  %t = mnist.reduce_sum %g over [0] : tensor<4x3x4xf32> -> tensor<3x4xf32>
  return %s, %t : tensor<3xf32>, tensor<3x4xf32>
}
