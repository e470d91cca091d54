// RUN: mnist-opt %s --plan-form-buckets | FileCheck %s
// RUN: mnist-opt %s --plan-form-buckets --plan-assign-memory --plan-check-steps | FileCheck %s --check-prefix=MEMORY
// RUN: mnist-opt %s --plan-form-buckets --plan-assign-memory="reuse=false" --plan-check-steps | FileCheck %s --check-prefix=MEMORY

module attributes {plan.target = "cpu"} {

// A machine that runs one step after the other has one bucket; each result has
// the place of its operand, and all are adjacent: 16 bytes, in units of 256.

// CHECK-LABEL: @together
// CHECK-COUNT-2: mnist.exp
// CHECK:         plan.step "sums" on mpi(%a, %b) {
// CHECK-COUNT-2: mnist.all_reduce
// CHECK:         plan.yield
// CHECK:         plan.step "c" on kernel(%sums#0, %sums#1)
// MEMORY-LABEL: @together
// MEMORY:         %a = plan.step "a" on kernel at [[[A:[0-9]+]]]
// MEMORY:         %b = plan.step "b" on kernel at [[[B:[0-9]+]]]
// MEMORY:         plan.step "sums" on mpi at [[[A]], [[B]]]
func.func @together(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %as = plan.step "a.sum" on mpi (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %bs = plan.step "b.sum" on mpi (%b) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.reshape %i : tensor<4xf32> -> tensor<2x2xf32>
    %1 = mnist.all_reduce %0 : tensor<2x2xf32>
    %2 = mnist.reshape %1 : tensor<2x2xf32> -> tensor<4xf32>
    plan.yield %2 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.step "c" on kernel (%as, %bs) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
    %0 = mnist.add %i, %j : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// Where a sum is needed before the next operand is there, there are two; what
// others read too, and an argument, is copied.

// CHECK-LABEL: @apart
// CHECK:         plan.step "a.sum.copy" on kernel(%arg0)
// CHECK:         plan.step "a.sum" on mpi(%a.sum.copy)
// CHECK:         plan.step "b" on kernel(%a.sum)
// CHECK:         plan.step "b.sum.copy" on kernel(%b)
// CHECK:         plan.step "b.sum" on mpi(%b.sum.copy)
// CHECK:         plan.step "c" on kernel(%b.sum, %b)
func.func @apart(%x: tensor<4xf32>) -> tensor<4xf32> {
  %as = plan.step "a.sum" on mpi (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel (%as) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %bs = plan.step "b.sum" on mpi (%b) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.step "c" on kernel (%bs, %b) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
    %0 = mnist.add %i, %j : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

}
