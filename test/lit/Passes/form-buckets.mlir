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

// What two sums take at once is adjacent for each: what is made of the first
// one's results does not take their places.

// CHECK-LABEL: @again
// CHECK:         plan.step "sums.bucket" on mpi(%a, %b, %c)
// CHECK:         plan.step "sums" on mpi(%d, %e, %f)
// MEMORY-LABEL: @again
// MEMORY:         "sums.bucket" on mpi at [[[FIRST:[0-9]+]],
// MEMORY-NOT:     at [[[FIRST]]]
// MEMORY:         "g" on kernel
func.func @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.step "c" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %as = plan.step "as" on mpi (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %bs = plan.step "bs" on mpi (%b) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %cs = plan.step "cs" on mpi (%c) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %d = plan.step "d" on kernel (%cs) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %e = plan.step "e" on kernel (%as) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %f = plan.step "f" on kernel (%bs) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.exp %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %ds = plan.step "ds" on mpi (%d) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %es = plan.step "es" on mpi (%e) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %fs = plan.step "fs" on mpi (%f) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.all_reduce %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %g = plan.step "g" on kernel (%ds, %es, %fs) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>, %k: tensor<4xf32>):
    %0 = mnist.add %i, %j : tensor<4xf32>
    %1 = mnist.add %0, %k : tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

}
