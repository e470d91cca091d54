// RUN: mnist-opt %s --mnist-split-sums --canonicalize --cse | FileCheck %s

// What another sum scales is summed before it is scaled.

// CHECK-LABEL: func.func @scaled
// CHECK:         %[[DOT:.*]] = mnist.reduce_sum %{{.*}} over [1]
// CHECK:         %[[X:.*]] = mnist.reduce_sum %arg0 over [1]
// CHECK:         %[[SCALED:.*]] = mnist.mul %[[X]], %[[DOT]]
// CHECK:         %[[NEG:.*]] = mnist.neg %[[SCALED]]
// CHECK:         %[[Y:.*]] = mnist.reduce_sum %arg1 over [1]
// CHECK:         %[[SUM:.*]] = mnist.add %[[NEG]], %[[Y]]
// CHECK:         return %[[SUM]]
func.func @scaled(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = mnist.mul %x, %y : tensor<4x8xf32>
  %1 = mnist.reduce_sum %0 over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = mnist.broadcast %1 along [0] : tensor<4xf32> -> tensor<4x8xf32>
  %3 = mnist.mul %2, %x : tensor<4x8xf32>
  %4 = mnist.sub %3, %y : tensor<4x8xf32>
  %5 = mnist.neg %4 : tensor<4x8xf32>
  %6 = mnist.reduce_sum %5 over [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// What scales is known before: nothing is gained.

// CHECK-LABEL: func.func @known
// CHECK-COUNT-1: mnist.reduce_sum
// CHECK-NOT:     mnist.reduce_sum
func.func @known(%x: tensor<4x8xf32>, %scale: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mnist.broadcast %scale along [0] : tensor<4xf32> -> tensor<4x8xf32>
  %1 = mnist.mul %0, %x : tensor<4x8xf32>
  %2 = mnist.reduce_sum %1 over [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A square of what a sum scales is no term.

// CHECK-LABEL: func.func @square
// CHECK:         mnist.reduce_sum
// CHECK:         %[[MUL:.*]] = mnist.mul
// CHECK:         %[[SQUARE:.*]] = mnist.mul %[[MUL]], %[[MUL]]
// CHECK:         mnist.reduce_sum %[[SQUARE]]
func.func @square(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = mnist.reduce_sum %x over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x8xf32>
  %2 = mnist.mul %1, %x : tensor<4x8xf32>
  %3 = mnist.mul %2, %2 : tensor<4x8xf32>
  %4 = mnist.reduce_sum %3 over [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
