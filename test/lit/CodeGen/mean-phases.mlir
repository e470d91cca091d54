// Which phases of a row step are a mean and the squares of differences from it.
// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: mnistc %t.mlir --emit=source --target=cpu -o - | FileCheck %s --check-prefix=CPU

// CPU-NOT: meanPhase

// The second and third phase: the first is a maximum. What only has a sum comes
// after what has squares.
// CHECK-LABEL: namespace variance {
// CHECK:      using Phases = mn::Phases<mn::RowPhase<mn::Max, float, 1>,
// CHECK-NEXT:                           mn::RowPhase<mn::Sum, float, 2>,
// CHECK-NEXT:                           mn::RowPhase<mn::Sum, float, 1>>;
// CHECK-NEXT: static constexpr int meanPhase = 1;
// CHECK:      values(mn::Phase<1>, const RowValues &row,
// CHECK:        return {{[{][{]}}difference, e.x + row.product{{[}][}]}};
func.func @variance(%x_in: tensor<8x4xf32> {mnist.name = "x"}) -> (tensor<8xf32>, tensor<8xf32>) {
  %y:2 = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<8x4xf32>):
    %n = mnist.constant dense<4.0> : tensor<8xf32>
    %top = mnist.reduce_max %x over [1] : tensor<8x4xf32> -> tensor<8xf32>
    %tops = mnist.broadcast %top along [0] : tensor<8xf32> -> tensor<8x4xf32>
    %0 = mnist.sub %x, %tops : tensor<8x4xf32>
    %first = mnist.mul %top, %top : tensor<8xf32>
    %firsts = mnist.broadcast %first along [0] : tensor<8xf32> -> tensor<8x4xf32>
    %with = mnist.add %x, %firsts : tensor<8x4xf32>
    %only = mnist.reduce_sum %with over [1] : tensor<8x4xf32> -> tensor<8xf32>
    %sum = mnist.reduce_sum %0 over [1] : tensor<8x4xf32> -> tensor<8xf32>
    %mean = mnist.div %sum, %n : tensor<8xf32>
    %means = mnist.broadcast %mean along [0] : tensor<8xf32> -> tensor<8x4xf32>
    %d = mnist.sub %0, %means : tensor<8x4xf32>
    %square = mnist.mul %d, %d : tensor<8x4xf32>
    %squares = mnist.reduce_sum %square over [1] : tensor<8x4xf32> -> tensor<8xf32> loc("y")
    plan.yield %squares, %only : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %y#0, %y#1 : tensor<8xf32>, tensor<8xf32>
}

// The mean of something else, of one element less, and products that are no
// squares.
// CHECK-LABEL: namespace others {
// CHECK:      struct Mean {
// CHECK-NOT:  meanPhase
// CHECK:      struct Less {
// CHECK-NOT:  meanPhase
// CHECK:      struct Product {
// CHECK-NOT:  meanPhase
func.func @others(%x_in: tensor<8x4xf32> {mnist.name = "x"},
                  %z_in: tensor<8x4xf32> {mnist.name = "z"})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %mean = plan.step "mean" on kernel (%x_in, %z_in) {
  ^bb0(%x: tensor<8x4xf32>, %z: tensor<8x4xf32>):
    %n = mnist.constant dense<4.0> : tensor<8xf32>
    %sum = mnist.reduce_sum %z over [1] : tensor<8x4xf32> -> tensor<8xf32>
    %m = mnist.div %sum, %n : tensor<8xf32>
    %means = mnist.broadcast %m along [0] : tensor<8xf32> -> tensor<8x4xf32>
    %d = mnist.sub %x, %means : tensor<8x4xf32>
    %square = mnist.mul %d, %d : tensor<8x4xf32>
    %squares = mnist.reduce_sum %square over [1] : tensor<8x4xf32> -> tensor<8xf32> loc("mean")
    plan.yield %squares : tensor<8xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  %less = plan.step "less" on kernel (%x_in) {
  ^bb0(%x: tensor<8x4xf32>):
    %n = mnist.constant dense<3.0> : tensor<8xf32>
    %sum = mnist.reduce_sum %x over [1] : tensor<8x4xf32> -> tensor<8xf32>
    %m = mnist.div %sum, %n : tensor<8xf32>
    %means = mnist.broadcast %m along [0] : tensor<8xf32> -> tensor<8x4xf32>
    %d = mnist.sub %x, %means : tensor<8x4xf32>
    %square = mnist.mul %d, %d : tensor<8x4xf32>
    %squares = mnist.reduce_sum %square over [1] : tensor<8x4xf32> -> tensor<8xf32> loc("less")
    plan.yield %squares : tensor<8xf32>
  } : (tensor<8x4xf32>) -> tensor<8xf32>
  %product = plan.step "product" on kernel (%x_in) {
  ^bb0(%x: tensor<8x4xf32>):
    %n = mnist.constant dense<4.0> : tensor<8xf32>
    %sum = mnist.reduce_sum %x over [1] : tensor<8x4xf32> -> tensor<8xf32>
    %m = mnist.div %sum, %n : tensor<8xf32>
    %means = mnist.broadcast %m along [0] : tensor<8xf32> -> tensor<8x4xf32>
    %d = mnist.sub %x, %means : tensor<8x4xf32>
    %p = mnist.mul %d, %x : tensor<8x4xf32>
    %products = mnist.reduce_sum %p over [1] : tensor<8x4xf32> -> tensor<8xf32> loc("product")
    plan.yield %products : tensor<8xf32>
  } : (tensor<8x4xf32>) -> tensor<8xf32>
  return %mean, %less, %product : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
