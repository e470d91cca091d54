// How far apart runs of adjacent elements are in steps that reduce rows, where
// that is the same for all.
// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o - | FileCheck %s

// Of images, whose second dimension is one row.
// CHECK-LABEL: namespace images {
// CHECK:      static constexpr mn::Index runsApart = 294;
// CHECK-NEXT: mn::Index placeOf(mn::Index o, mn::Index r) const {
// CHECK-NEXT:   return r / 49 * 294 + o * 49 + r % 49;
func.func @images(%x_in: tensor<8x6x7x7xf32> {mnist.name = "x"})
    -> tensor<8x6x7x7xf32> {
  %y = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<8x6x7x7xf32>):
    %sum = mnist.reduce_sum %x over [0, 2, 3] : tensor<8x6x7x7xf32> -> tensor<6xf32>
    %every = mnist.broadcast %sum along [1] : tensor<6xf32> -> tensor<8x6x7x7xf32>
    %0 = mnist.sub %x, %every : tensor<8x6x7x7xf32> loc("y")
    plan.yield %0 : tensor<8x6x7x7xf32>
  } : (tensor<8x6x7x7xf32>) -> tensor<8x6x7x7xf32>
  return %y : tensor<8x6x7x7xf32>
}

// Two dimensions lie between runs, at two distances.
// CHECK-LABEL: namespace apart {
// CHECK-NOT:  runsApart
// CHECK:      mn::Index placeOf(
func.func @apart(%x_in: tensor<4x2x3x5x6xf32> {mnist.name = "x"})
    -> tensor<4x2x3x5x6xf32> {
  %y = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<4x2x3x5x6xf32>):
    %sum = mnist.reduce_sum %x over [0, 2, 4] : tensor<4x2x3x5x6xf32> -> tensor<2x5xf32>
    %every = mnist.broadcast %sum along [1, 3] : tensor<2x5xf32> -> tensor<4x2x3x5x6xf32>
    %0 = mnist.sub %x, %every : tensor<4x2x3x5x6xf32> loc("y")
    plan.yield %0 : tensor<4x2x3x5x6xf32>
  } : (tensor<4x2x3x5x6xf32>) -> tensor<4x2x3x5x6xf32>
  return %y : tensor<4x2x3x5x6xf32>
}

// Rows that are whole have one run.
// CHECK-LABEL: namespace whole {
// CHECK-NOT:  runsApart
func.func @whole(%x_in: tensor<8x49xf32> {mnist.name = "x"})
    -> tensor<8x49xf32> {
  %y = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<8x49xf32>):
    %sum = mnist.reduce_sum %x over [1] : tensor<8x49xf32> -> tensor<8xf32>
    %every = mnist.broadcast %sum along [0] : tensor<8xf32> -> tensor<8x49xf32>
    %0 = mnist.sub %x, %every : tensor<8x49xf32> loc("y")
    plan.yield %0 : tensor<8x49xf32>
  } : (tensor<8x49xf32>) -> tensor<8x49xf32>
  return %y : tensor<8x49xf32>
}
