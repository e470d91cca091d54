// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cpu -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: mnistc %t.mlir --emit=source --target=cuda | FileCheck %s --check-prefix=CUDA
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp

// On the CPU, what divides the number of an element counts in runs, the greatest
// that divide all divisors of 16 and more. On a GPU neighbours are in other
// threads.
// CUDA-NOT: mn::Index {{run|resultRun}} =
// CUDA-NOT: auto {{[io]}}

// CHECK-LABEL: namespace infer_shift {
// CHECK:      static constexpr mn::Index run = 49;
// CHECK-NEXT: MN_FN void operator()(auto i) const { y[i] = x[i] + bias[i / 49 % 8]; }
func.func @infer_shift(%x: tensor<4x8x7x7xf32> {mnist.name = "x"}, %b: tensor<8xf32> {mnist.name = "bias"}) -> tensor<4x8x7x7xf32> {
  %y = plan.step "y" on kernel (%x, %b) {
  ^bb0(%0: tensor<4x8x7x7xf32>, %1: tensor<8xf32>):
    %2 = mnist.broadcast %1 along [1] : tensor<8xf32> -> tensor<4x8x7x7xf32>
    %3 = mnist.add %0, %2 : tensor<4x8x7x7xf32>
    plan.yield %3 : tensor<4x8x7x7xf32>
  } : (tensor<4x8x7x7xf32>, tensor<8xf32>) -> (tensor<4x8x7x7xf32>)
  return %y : tensor<4x8x7x7xf32>
}

// Of a sum, where the elements of a run are adjacent in memory.
// CHECK-LABEL: namespace infer_sums {
// CHECK:      static constexpr mn::Index run = 49;
// CHECK-NEXT: MN_FN float load(mn::Index o, auto r) const {
// CHECK-NEXT:   return x[r / 49 * 392 + o * 49 + r % 49];
func.func @infer_sums(%x: tensor<4x8x7x7xf32> {mnist.name = "x"}) -> tensor<8xf32> {
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%0: tensor<4x8x7x7xf32>):
    %1 = mnist.reduce_sum %0 over [0, 2, 3] : tensor<4x8x7x7xf32> -> tensor<8xf32>
    plan.yield %1 : tensor<8xf32>
  } : (tensor<4x8x7x7xf32>) -> (tensor<8xf32>)
  return %y : tensor<8xf32>
}

// Not where neighbouring results are adjacent.
// CHECK-LABEL: namespace infer_columns {
// CHECK-NOT:  run =
// CHECK:      MN_FN float load(mn::Index o, mn::Index r) const {
func.func @infer_columns(%x: tensor<4x32x32xf32> {mnist.name = "x"}) -> tensor<32xf32> {
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%0: tensor<4x32x32xf32>):
    %1 = mnist.reduce_sum %0 over [0, 1] : tensor<4x32x32xf32> -> tensor<32xf32>
    plan.yield %1 : tensor<32xf32>
  } : (tensor<4x32x32xf32>) -> (tensor<32xf32>)
  return %y : tensor<32xf32>
}

// There results are counted so, where they are not all in one run.
// CHECK-LABEL: namespace infer_means {
// CHECK:      static constexpr mn::Index resultRun = 24;
// CHECK-NEXT: MN_FN float load(auto o, mn::Index r) const {
// CHECK-NEXT:   return x[o / 24 * 216 + r * 24 + o % 24];
func.func @infer_means(%x: tensor<4x3x3x24xf32> {mnist.name = "x"}) -> tensor<4x24xf32> {
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%0: tensor<4x3x3x24xf32>):
    %1 = mnist.reduce_sum %0 over [1, 2] : tensor<4x3x3x24xf32> -> tensor<4x24xf32>
    plan.yield %1 : tensor<4x24xf32>
  } : (tensor<4x3x3x24xf32>) -> (tensor<4x24xf32>)
  return %y : tensor<4x24xf32>
}

// Short runs are no runs, and long ones are cut.
// CHECK-LABEL: namespace infer_short {
// CHECK-NOT:  run =
// CHECK:      MN_FN void operator()(mn::Element i) const { y[i] = bias[i / 9]; }
func.func @infer_short(%b: tensor<4x8xf32> {mnist.name = "bias"}) -> tensor<4x8x3x3xf32> {
  %y = plan.step "y" on kernel (%b) {
  ^bb0(%0: tensor<4x8xf32>):
    %1 = mnist.broadcast %0 along [0, 1] : tensor<4x8xf32> -> tensor<4x8x3x3xf32>
    plan.yield %1 : tensor<4x8x3x3xf32>
  } : (tensor<4x8xf32>) -> (tensor<4x8x3x3xf32>)
  return %y : tensor<4x8x3x3xf32>
}
// CHECK-LABEL: namespace infer_long {
// CHECK:      static constexpr mn::Index run = 784;
// CHECK-NEXT: MN_FN void operator()(auto i) const { y[i] = bias[i / 3136]; }
func.func @infer_long(%b: tensor<8xf32> {mnist.name = "bias"}) -> tensor<8x56x56xf32> {
  %y = plan.step "y" on kernel (%b) {
  ^bb0(%0: tensor<8xf32>):
    %1 = mnist.broadcast %0 along [0] : tensor<8xf32> -> tensor<8x56x56xf32>
    plan.yield %1 : tensor<8x56x56xf32>
  } : (tensor<8xf32>) -> (tensor<8x56x56xf32>)
  return %y : tensor<8x56x56xf32>
}

// What a choice takes is loaded in any case, if it is repeated: a loop with a
// load that depends on a choice is no SIMD code.
// CHECK-LABEL: namespace infer_chosen {
// CHECK:      const float element = bias[i / 49 % 8];
// CHECK-NEXT: y[i] = x[i] > 0.0f ? element : 0.0f;
// CUDA-LABEL: namespace infer_chosen {
// CUDA:       y[i] = x[i] > 0.0f ? bias[i / 49 % 8] : 0.0f;
func.func @infer_chosen(%x: tensor<4x8x7x7xf32> {mnist.name = "x"}, %b: tensor<8xf32> {mnist.name = "bias"}) -> tensor<4x8x7x7xf32> {
  %y = plan.step "y" on kernel (%x, %b) {
  ^bb0(%0: tensor<4x8x7x7xf32>, %1: tensor<8xf32>):
    %zero = mnist.constant dense<0.0> : tensor<4x8x7x7xf32>
    %2 = mnist.broadcast %1 along [1] : tensor<8xf32> -> tensor<4x8x7x7xf32>
    %3 = mnist.compare gt %0, %zero : tensor<4x8x7x7xf32> -> tensor<4x8x7x7xi1>
    %4 = mnist.select %3, %2, %zero : tensor<4x8x7x7xi1>, tensor<4x8x7x7xf32>
    plan.yield %4 : tensor<4x8x7x7xf32>
  } : (tensor<4x8x7x7xf32>, tensor<8xf32>) -> (tensor<4x8x7x7xf32>)
  return %y : tensor<4x8x7x7xf32>
}
