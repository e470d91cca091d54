// Random numbers in a step that reduces rows.
// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// A number of its own for each element is that of a neighbour, also where the
// mask has another shape. The results of elements are known before the last
// phase, here the only one.
// CHECK-LABEL: namespace dropped {
// CHECK:      static constexpr mn::Index runsApart = 64;
// CHECK-NEXT: mn::Index placeOf(mn::Index o, mn::Index r) const {
// CHECK-NEXT:   return r / 16 * 64 + o * 16 + r % 16;
// CHECK:      values(mn::Phase<0>, const RowValues &,
// CHECK-NEXT:        const ElementValues &e, mn::Index,
// CHECK-NEXT:        mn::Index, const mn::Neighbour &place,
// CHECK-NEXT:        StoredValues &stored) const {
// CHECK:        mn::randomUniform(seed[0], 1, number[0], place)
// CHECK-NOT:    randomUniform
// CHECK:        stored = {
// CHECK:        return {
// CHECK-NOT:  results
// CHECK:      static constexpr bool drawsNumbers = true;
// CHECK-NEXT: static constexpr bool storesElements = true;
// CHECK-NEXT: static constexpr bool storesInLastPhase = true;
// CHECK:      MN_ROWS_KERNEL(dropped_y, Y, y_shape)
func.func @dropped(
    %x_in: tensor<8x4x4x4xf32> {mnist.name = "x"},
    %seed_in: tensor<i64> {mnist.name = "seed"},
    %number_in: tensor<i64> {mnist.name = "number"})
    -> (tensor<8x4x4x4xf32>, tensor<4xf32>) {
  %y:2 = plan.step "y" on kernel (%x_in, %seed_in, %number_in) {
  ^bb0(%x: tensor<8x4x4x4xf32>, %seed: tensor<i64>, %number: tensor<i64>):
    %zero = mnist.constant dense<0.0> : tensor<8x4x4x4xf32>
    %rate = mnist.constant dense<0.5> : tensor<8x64xf32>
    %u = mnist.random_uniform %seed, %number stream 1 : (tensor<i64>, tensor<i64>) -> tensor<8x64xf32>
    %holds = mnist.compare ge %u, %rate : tensor<8x64xf32> -> tensor<8x64xi1>
    %kept = mnist.reshape %holds : tensor<8x64xi1> -> tensor<8x4x4x4xi1>
    %0 = mnist.select %kept, %x, %zero : tensor<8x4x4x4xi1>, tensor<8x4x4x4xf32> loc("y")
    %sum = mnist.reduce_sum %0 over [0, 2, 3] : tensor<8x4x4x4xf32> -> tensor<4xf32> loc("sum")
    plan.yield %0, %sum : tensor<8x4x4x4xf32>, tensor<4xf32>
  } : (tensor<8x4x4x4xf32>, tensor<i64>, tensor<i64>) -> (tensor<8x4x4x4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<8x4x4x4xf32>, tensor<4xf32>
}

// Numbers of other elements are drawn by their index: here there is one for
// each row of a matrix, and its columns are summed. Results that need the last
// phase come after it.
// CHECK-LABEL: namespace shared {
// CHECK:      values(mn::Phase<0>, const RowValues &,
// CHECK-NEXT:        const ElementValues &e, mn::Index,
// CHECK-NEXT:        mn::Index r, const mn::Neighbour &) const {
// CHECK:        mn::randomUniform(seed[0], 1, number[0], r)
// CHECK-NOT:  drawsNumbers
// CHECK:      static constexpr bool storesElements = true;
// CHECK-NEXT: static constexpr bool storesInLastPhase = false;
func.func @shared(
    %x_in: tensor<8x64xf32> {mnist.name = "x"},
    %seed_in: tensor<i64> {mnist.name = "seed"},
    %number_in: tensor<i64> {mnist.name = "number"})
    -> tensor<8x64xf32> {
  %y = plan.step "y" on kernel (%x_in, %seed_in, %number_in) {
  ^bb0(%x: tensor<8x64xf32>, %seed: tensor<i64>, %number: tensor<i64>):
    %u = mnist.random_uniform %seed, %number stream 1 : (tensor<i64>, tensor<i64>) -> tensor<8xf32>
    %us = mnist.broadcast %u along [0] : tensor<8xf32> -> tensor<8x64xf32>
    %0 = mnist.mul %us, %x : tensor<8x64xf32>
    %sum = mnist.reduce_sum %0 over [0] : tensor<8x64xf32> -> tensor<64xf32> loc("sum")
    %sums = mnist.broadcast %sum along [1] : tensor<64xf32> -> tensor<8x64xf32>
    %1 = mnist.sub %0, %sums : tensor<8x64xf32> loc("y")
    plan.yield %1 : tensor<8x64xf32>
  } : (tensor<8x64xf32>, tensor<i64>, tensor<i64>) -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// Results may need all phases but the last one.
// CHECK-LABEL: namespace centered {
// CHECK:      values(mn::Phase<1>, const RowValues &row,
// CHECK:        e.x - row.top
// CHECK-NOT:    row.top
// CHECK:        stored = {
// CHECK-NOT:  drawsNumbers
// CHECK:      static constexpr bool storesElements = true;
// CHECK-NEXT: static constexpr bool storesInLastPhase = true;
func.func @centered(%x_in: tensor<8x64xf32> {mnist.name = "x"})
    -> (tensor<8x64xf32>, tensor<64xf32>) {
  %y:2 = plan.step "y" on kernel (%x_in) {
  ^bb0(%x: tensor<8x64xf32>):
    %top = mnist.reduce_max %x over [0] : tensor<8x64xf32> -> tensor<64xf32> loc("top")
    %tops = mnist.broadcast %top along [1] : tensor<64xf32> -> tensor<8x64xf32>
    %0 = mnist.sub %x, %tops : tensor<8x64xf32> loc("y")
    %sum = mnist.reduce_sum %0 over [0] : tensor<8x64xf32> -> tensor<64xf32> loc("sum")
    plan.yield %0, %sum : tensor<8x64xf32>, tensor<64xf32>
  } : (tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<64xf32>)
  return %y#0, %y#1 : tensor<8x64xf32>, tensor<64xf32>
}
