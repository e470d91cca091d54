// RUN: mnist-opt %s --canonicalize | FileCheck %s

// Dimensions of size 1 that a reduction kept are added after the arithmetic on
// its results.

// CHECK-LABEL: @rms
// CHECK:         %[[EPSILON:.*]] = mnist.constant dense<{{.*}}> : tensor<64x49xf32>
// CHECK:         %[[SUM:.*]] = mnist.reduce_sum
// CHECK:         %[[SHIFTED:.*]] = mnist.add %[[SUM]], %[[EPSILON]] : tensor<64x49xf32>
// CHECK:         %[[ROOT:.*]] = mnist.sqrt %[[SHIFTED]] : tensor<64x49xf32>
// CHECK:         %[[KEPT:.*]] = mnist.reshape %[[ROOT]] : tensor<64x49xf32> -> tensor<64x49x1xf32>
// CHECK:         %[[REPEATED:.*]] = mnist.broadcast %[[ROOT]] along [0, 1]
// CHECK:         return %[[KEPT]], %[[REPEATED]]
func.func @rms(%x: tensor<64x49x96xf32>) -> (tensor<64x49x1xf32>, tensor<64x49x96xf32>) {
  %epsilon = mnist.constant dense<1.0e-5> : tensor<64x49x1xf32>
  %0 = mnist.reduce_sum %x over [2] : tensor<64x49x96xf32> -> tensor<64x49xf32>
  %1 = mnist.reshape %0 : tensor<64x49xf32> -> tensor<64x49x1xf32>
  %2 = mnist.add %1, %epsilon : tensor<64x49x1xf32>
  %3 = mnist.sqrt %2 : tensor<64x49x1xf32>
  %4 = mnist.reshape %3 : tensor<64x49x1xf32> -> tensor<64x49xf32>
  %5 = mnist.broadcast %4 along [0, 1] : tensor<64x49xf32> -> tensor<64x49x96xf32>
  return %3, %5 : tensor<64x49x1xf32>, tensor<64x49x96xf32>
}

// Two operands, and a result of another type.

// CHECK-LABEL: @two
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK:         %[[LESS:.*]] = mnist.compare lt %[[X]], %[[Y]] : tensor<4xf32> -> tensor<4xi1>
// CHECK:         mnist.reshape %[[LESS]] : tensor<4xi1> -> tensor<1x4x1xi1>
func.func @two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<1x4x1xi1> {
  %0 = mnist.reshape %x : tensor<4xf32> -> tensor<1x4x1xf32>
  %1 = mnist.reshape %y : tensor<4xf32> -> tensor<1x4x1xf32>
  %2 = mnist.compare lt %0, %1 : tensor<1x4x1xf32> -> tensor<1x4x1xi1>
  return %2 : tensor<1x4x1xi1>
}

// Other reshapes, and those of other shapes, stay where they are.

// CHECK-LABEL: @others
// CHECK:         mnist.reshape
// CHECK:         mnist.relu {{.*}} : tensor<2x3xf32>
// CHECK:         mnist.add {{.*}} : tensor<1x1x4xf32>
// CHECK:         mnist.add {{.*}} : tensor<1x4x1xf32>
// CHECK:         mnist.neg {{.*}} : tensor<4xf32>
// CHECK:         mnist.mul {{.*}} : tensor<1x4x1xf32>
func.func @others(%x: tensor<6xf32>, %y: tensor<4x1xf32>, %z: tensor<4xf32>, %w: tensor<1x4x1xf32>) -> (tensor<2x3xf32>, tensor<1x1x4xf32>, tensor<1x4x1xf32>, tensor<4xf32>, tensor<1x4x1xf32>) {
  %0 = mnist.reshape %x : tensor<6xf32> -> tensor<2x3xf32>
  %1 = mnist.relu %0 : tensor<2x3xf32>
  %2 = mnist.reshape %y : tensor<4x1xf32> -> tensor<1x1x4xf32>
  %3 = mnist.reshape %z : tensor<4xf32> -> tensor<1x1x4xf32>
  %4 = mnist.add %2, %3 : tensor<1x1x4xf32>
  %5 = mnist.reshape %z : tensor<4xf32> -> tensor<1x4x1xf32>
  %6 = mnist.add %5, %w : tensor<1x4x1xf32>
  %7 = mnist.reshape %w : tensor<1x4x1xf32> -> tensor<4xf32>
  %8 = mnist.neg %7 : tensor<4xf32>
  %9 = mnist.reshape %y : tensor<4x1xf32> -> tensor<1x4x1xf32>
  %10 = mnist.mul %9, %5 : tensor<1x4x1xf32>
  return %1, %4, %6, %8, %10 : tensor<2x3xf32>, tensor<1x1x4xf32>, tensor<1x4x1xf32>, tensor<4xf32>, tensor<1x4x1xf32>
}
