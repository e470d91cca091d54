// Random numbers on a CPU, which a map is given.
// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cpu -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: mnistc %t.mlir --emit=source --target=cuda | FileCheck %s --check-prefix=CUDA
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp
// CUDA-NOT: Draws

// A tensor has the name of the numbers already.
// CHECK-LABEL: namespace infer_two {
// CHECK:      MN_FN mn::Draws<2> draws() const {
// CHECK-NEXT:   return {{[{]}}{{[{]}}{seed[0], 2, number[0]}, {seed[0], 1, number[0]}{{[}]}}{{[}]}};
// CHECK-NEXT: }
// CHECK-NEXT: MN_FN void operator()(mn::Element i, float uniform_2, float uniform_3) const {
// CHECK-NEXT:   y[i] = uniform[i] * uniform_3 + uniform_2;
func.func @infer_two(%x: tensor<64xf32> {mnist.name = "uniform"}, %seed_in: tensor<i64> {mnist.name = "seed"},
                     %number_in: tensor<i64> {mnist.name = "number"}) -> tensor<64xf32> {
  %y = plan.step "y" on kernel (%x, %seed_in, %number_in) {
  ^bb0(%0: tensor<64xf32>, %1: tensor<i64>, %2: tensor<i64>):
    %u = mnist.random_uniform %1, %2 stream 1 : (tensor<i64>, tensor<i64>) -> tensor<64xf32>
    %v = mnist.random_uniform %1, %2 stream 2 : (tensor<i64>, tensor<i64>) -> tensor<64xf32>
    %3 = mnist.mul %0, %u : tensor<64xf32>
    %4 = mnist.add %3, %v : tensor<64xf32>
    plan.yield %4 : tensor<64xf32>
  } : (tensor<64xf32>, tensor<i64>, tensor<i64>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Of a rank's rows, in double precision.
// CHECK-LABEL: namespace infer_rank {
// CHECK:        return {{[{]}}{{[{]}}{seed[0], 1, number[0], 16, rank[0], ranks[0]}{{[}]}}{{[}]}};
// CHECK:      MN_FN void operator()(mn::Element i, float uniform) const {
// CHECK-NEXT:   y[i] = static_cast<double>(uniform);
func.func @infer_rank(%seed_in: tensor<i64> {mnist.name = "seed"}, %number_in: tensor<i64> {mnist.name = "number"},
                      %rank_in: tensor<i64> {mnist.name = "rank"}, %ranks_in: tensor<i64> {mnist.name = "ranks"}) -> tensor<4x16xf64> {
  %y = plan.step "y" on kernel (%seed_in, %number_in, %rank_in, %ranks_in) {
  ^bb0(%1: tensor<i64>, %2: tensor<i64>, %3: tensor<i64>, %4: tensor<i64>):
    %u = mnist.random_uniform %1, %2 rank %3 of %4 rows 4 stream 1 : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x16xf64>
    plan.yield %u : tensor<4x16xf64>
  } : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<4x16xf64>
  return %y : tensor<4x16xf64>
}

// Numbers of another order are drawn one by one.
// CHECK-LABEL: namespace infer_transposed {
// CHECK:          mn::randomUniform(seed[0], 1, number[0], i % 4 * 16 + i / 4);
func.func @infer_transposed(%seed_in: tensor<i64> {mnist.name = "seed"}, %number_in: tensor<i64> {mnist.name = "number"}) -> tensor<16x4xf32> {
  %y = plan.step "y" on kernel (%seed_in, %number_in) {
  ^bb0(%1: tensor<i64>, %2: tensor<i64>):
    %u = mnist.random_uniform %1, %2 stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4x16xf32>
    %t = mnist.transpose %u perm [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
    plan.yield %t : tensor<16x4xf32>
  } : (tensor<i64>, tensor<i64>) -> tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}
