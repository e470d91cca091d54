// What is repeated along some dimensions of an element is loaded with the
// element on a GPU; on a CPU where it is needed, by the numbers of its loops.
// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp
// RUN: mnistc %t.mlir --emit=source --target=cpu -o - | FileCheck %s --check-prefix=CPU

// The gradient of a mean of images after a ReLU. What there is one of for each
// row, or for all, is not an element's.
// CHECK:      struct ElementValues {
// CHECK-NEXT:   float x;
// CHECK-NEXT:   float dy;
// CHECK-NEXT: };
// CHECK:      ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
// CHECK-NEXT:   const mn::Index first = mn::Index(place.first);
// CHECK-NEXT:   return {x[place], dy[first / 16]};
// CHECK:      values(mn::Phase<0>, const RowValues &row,
// CHECK:        const bool [[HOLDS:[a-z_0-9]+]] = e.x > 0.0f;
// CHECK-NEXT:   [[HOLDS]] ? e.dy : row.row_t;
// CPU:        struct ElementValues {
// CPU-NEXT:     float x;
// CPU-NEXT:   };
// CPU:        values(mn::Phase<0>, const RowValues &row,
// CPU:          const float element = dy[r / 16 * 4 + o];
// CPU-NEXT:     ? element : row.row_t;
func.func @gradient(
    %x_in: tensor<8x4x4x4xf32> {mnist.name = "x"},
    %dy_in: tensor<8x4xf32> {mnist.name = "dy"},
    %row_in: tensor<4xf32> {mnist.name = "row"},
    %all_in: tensor<f32> {mnist.name = "all"})
    -> (tensor<8x4x4x4xf32>, tensor<4xf32>) {
  %y:2 = plan.step "y" on kernel (%x_in, %dy_in, %row_in, %all_in) {
  ^bb0(%x: tensor<8x4x4x4xf32>, %dy: tensor<8x4xf32>, %row: tensor<4xf32>, %all: tensor<f32>):
    %zero = mnist.constant dense<0.0> : tensor<8x4x4x4xf32>
    %holds = mnist.compare gt %x, %zero : tensor<8x4x4x4xf32> -> tensor<8x4x4x4xi1>
    %dys = mnist.broadcast %dy along [0, 1] : tensor<8x4xf32> -> tensor<8x4x4x4xf32>
    %rows = mnist.broadcast %row along [1] : tensor<4xf32> -> tensor<8x4x4x4xf32>
    %alls = mnist.broadcast %all along [] : tensor<f32> -> tensor<8x4x4x4xf32>
    %0 = mnist.select %holds, %dys, %rows : tensor<8x4x4x4xi1>, tensor<8x4x4x4xf32>
    %sum = mnist.reduce_sum %0 over [0, 2, 3] : tensor<8x4x4x4xf32> -> tensor<4xf32> loc("sum")
    %sums = mnist.broadcast %sum along [1] : tensor<4xf32> -> tensor<8x4x4x4xf32>
    %1 = mnist.select %holds, %alls, %sums : tensor<8x4x4x4xi1>, tensor<8x4x4x4xf32>
    %2 = mnist.add %0, %1 : tensor<8x4x4x4xf32> loc("y")
    plan.yield %2, %sum : tensor<8x4x4x4xf32>, tensor<4xf32>
  } : (tensor<8x4x4x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<8x4x4x4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<8x4x4x4xf32>, tensor<4xf32>
}

// What scales whole images: the same for neighbours, which share a load.
// Its name is not that of a place.
// CHECK-LABEL: namespace gates {
// CHECK:      ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
// CHECK-NEXT:   const mn::Index first = mn::Index(place.first);
// CHECK-NEXT:   return {x[place], first_t[first / 16]};
func.func @gates(
    %x_in: tensor<8x4x4x4xf32> {mnist.name = "x"},
    %g_in: tensor<8x4xf32> {mnist.name = "first"})
    -> tensor<8x4x4x4xf32> {
  %y = plan.step "y" on kernel (%x_in, %g_in) {
  ^bb0(%x: tensor<8x4x4x4xf32>, %g: tensor<8x4xf32>):
    %gates = mnist.broadcast %g along [0, 1] : tensor<8x4xf32> -> tensor<8x4x4x4xf32>
    %scaled = mnist.mul %x, %gates : tensor<8x4x4x4xf32>
    %sum = mnist.reduce_sum %scaled over [0, 2, 3] : tensor<8x4x4x4xf32> -> tensor<4xf32> loc("sum")
    %sums = mnist.broadcast %sum along [1] : tensor<4xf32> -> tensor<8x4x4x4xf32>
    %0 = mnist.sub %scaled, %sums : tensor<8x4x4x4xf32> loc("y")
    plan.yield %0 : tensor<8x4x4x4xf32>
  } : (tensor<8x4x4x4xf32>, tensor<8x4xf32>) -> tensor<8x4x4x4xf32>
  return %y : tensor<8x4x4x4xf32>
}

// The same with channels last: what four neighbours need is adjacent.
// CHECK-LABEL: namespace last {
// CHECK:      ElementValues load(const mn::NeighbourOf<mn::Offset> &place) const {
// CHECK-NEXT:   const mn::Index first = mn::Index(place.first);
// CHECK-NEXT:   return {x[place], g[first / 64 * 4 + place.number]};
func.func @last(
    %x_in: tensor<8x4x4x4xf32> {mnist.name = "x"},
    %g_in: tensor<8x4xf32> {mnist.name = "g"})
    -> tensor<8x4x4x4xf32> {
  %y = plan.step "y" on kernel (%x_in, %g_in) {
  ^bb0(%x: tensor<8x4x4x4xf32>, %g: tensor<8x4xf32>):
    %gates = mnist.broadcast %g along [0, 3] : tensor<8x4xf32> -> tensor<8x4x4x4xf32>
    %scaled = mnist.mul %x, %gates : tensor<8x4x4x4xf32>
    %sum = mnist.reduce_sum %scaled over [0, 1, 2] : tensor<8x4x4x4xf32> -> tensor<4xf32> loc("sum")
    %sums = mnist.broadcast %sum along [3] : tensor<4xf32> -> tensor<8x4x4x4xf32>
    %0 = mnist.sub %scaled, %sums : tensor<8x4x4x4xf32> loc("y")
    plan.yield %0 : tensor<8x4x4x4xf32>
  } : (tensor<8x4x4x4xf32>, tensor<8x4xf32>) -> tensor<8x4x4x4xf32>
  return %y : tensor<8x4x4x4xf32>
}

// Not what differs from neighbour to neighbour of an image.
// CHECK-LABEL: namespace pixels {
// CHECK:      struct ElementValues {
// CHECK-NEXT:   float x;
// CHECK-NEXT: };
// CHECK:      ElementValues load(mn::Offset place) const {
func.func @pixels(
    %x_in: tensor<8x4x4x4xf32> {mnist.name = "x"},
    %g_in: tensor<4x4xf32> {mnist.name = "g"})
    -> tensor<8x4x4x4xf32> {
  %y = plan.step "y" on kernel (%x_in, %g_in) {
  ^bb0(%x: tensor<8x4x4x4xf32>, %g: tensor<4x4xf32>):
    %gates = mnist.broadcast %g along [2, 3] : tensor<4x4xf32> -> tensor<8x4x4x4xf32>
    %scaled = mnist.mul %x, %gates : tensor<8x4x4x4xf32>
    %sum = mnist.reduce_sum %scaled over [0, 2, 3] : tensor<8x4x4x4xf32> -> tensor<4xf32> loc("sum")
    %sums = mnist.broadcast %sum along [1] : tensor<4xf32> -> tensor<8x4x4x4xf32>
    %0 = mnist.sub %scaled, %sums : tensor<8x4x4x4xf32> loc("y")
    plan.yield %0 : tensor<8x4x4x4xf32>
  } : (tensor<8x4x4x4xf32>, tensor<4x4xf32>) -> tensor<8x4x4x4xf32>
  return %y : tensor<8x4x4x4xf32>
}

// But for what a choice may take, which would load it by a branch.
// CHECK-LABEL: namespace taken {
// CHECK:      struct ElementValues {
// CHECK-NEXT:   float x;
// CHECK-NEXT:   float g;
// CHECK-NEXT: };
func.func @taken(
    %x_in: tensor<8x4x4x4xf32> {mnist.name = "x"},
    %g_in: tensor<4x4xf32> {mnist.name = "g"})
    -> tensor<8x4x4x4xf32> {
  %y = plan.step "y" on kernel (%x_in, %g_in) {
  ^bb0(%x: tensor<8x4x4x4xf32>, %g: tensor<4x4xf32>):
    %zero = mnist.constant dense<0.0> : tensor<8x4x4x4xf32>
    %holds = mnist.compare gt %x, %zero : tensor<8x4x4x4xf32> -> tensor<8x4x4x4xi1>
    %gates = mnist.broadcast %g along [2, 3] : tensor<4x4xf32> -> tensor<8x4x4x4xf32>
    %scaled = mnist.select %holds, %gates, %x : tensor<8x4x4x4xi1>, tensor<8x4x4x4xf32>
    %sum = mnist.reduce_sum %scaled over [0, 2, 3] : tensor<8x4x4x4xf32> -> tensor<4xf32> loc("sum")
    %sums = mnist.broadcast %sum along [1] : tensor<4xf32> -> tensor<8x4x4x4xf32>
    %0 = mnist.sub %scaled, %sums : tensor<8x4x4x4xf32> loc("y")
    plan.yield %0 : tensor<8x4x4x4xf32>
  } : (tensor<8x4x4x4xf32>, tensor<4x4xf32>) -> tensor<8x4x4x4xf32>
  return %y : tensor<8x4x4x4xf32>
}
