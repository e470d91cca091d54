// RUN: mnist-opt %s --plan-form-buckets | FileCheck %s

module attributes {plan.target = "cuda"} {

// A large early gradient is added up while the rest is computed: 4 MB take less
// than the products after it. The small ones wait for each other.

// CHECK-LABEL: @overlapped
// CHECK:         plan.step "large.sum" on nccl(%large)
// CHECK:         plan.step "sums" on nccl(%small, %other)
func.func @overlapped(%x: tensor<1024x1024xf32>, %y: tensor<256x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<256xf32>) {
  %large = plan.step "large" on kernel (%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.exp %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %sum = plan.step "large.sum" on nccl (%large) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.all_reduce %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %before = plan.step "before" on kernel (%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.neg %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %product0 = plan.step "product0" on kernel (%y, %before) {
  ^bb0(%i: tensor<256x1024xf32>, %j: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    plan.yield %0 : tensor<256x1024xf32>
  } : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %product1 = plan.step "product1" on kernel (%product0, %before) {
  ^bb0(%i: tensor<256x1024xf32>, %j: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    plan.yield %0 : tensor<256x1024xf32>
  } : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %product2 = plan.step "product2" on kernel (%product1, %before) {
  ^bb0(%i: tensor<256x1024xf32>, %j: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    plan.yield %0 : tensor<256x1024xf32>
  } : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %product3 = plan.step "product3" on kernel (%product2, %before) {
  ^bb0(%i: tensor<256x1024xf32>, %j: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    plan.yield %0 : tensor<256x1024xf32>
  } : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %small = plan.step "small" on kernel (%product3) {
  ^bb0(%i: tensor<256x1024xf32>):
    %0 = mnist.reduce_sum %i over [0] : tensor<256x1024xf32> -> tensor<1024xf32>
    plan.yield %0 : tensor<1024xf32>
  } : (tensor<256x1024xf32>) -> tensor<1024xf32>
  %smallSum = plan.step "small.sum" on nccl (%small) {
  ^bb0(%i: tensor<1024xf32>):
    %0 = mnist.all_reduce %i : tensor<1024xf32>
    plan.yield %0 : tensor<1024xf32>
  } : (tensor<1024xf32>) -> tensor<1024xf32>
  %other = plan.step "other" on kernel (%product3) {
  ^bb0(%i: tensor<256x1024xf32>):
    %0 = mnist.reduce_sum %i over [1] : tensor<256x1024xf32> -> tensor<256xf32>
    plan.yield %0 : tensor<256xf32>
  } : (tensor<256x1024xf32>) -> tensor<256xf32>
  %otherSum = plan.step "other.sum" on nccl (%other) {
  ^bb0(%i: tensor<256xf32>):
    %0 = mnist.all_reduce %i : tensor<256xf32>
    plan.yield %0 : tensor<256xf32>
  } : (tensor<256xf32>) -> tensor<256xf32>
  return %sum, %smallSum, %otherSum : tensor<1024x1024xf32>, tensor<1024xf32>, tensor<256xf32>
}

// Nothing is computed after the large one that could hide its sum: the product
// could begin together with it, and runs beside it. One call starts once.

// CHECK-LABEL: @beside
// CHECK:         plan.step "sums" on nccl(%large, %small)
func.func @beside(%x: tensor<1024x1024xf32>, %y: tensor<256x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024xf32>) {
  %large = plan.step "large" on kernel (%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.exp %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %sum = plan.step "large.sum" on nccl (%large) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.all_reduce %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %product = plan.step "product" on kernel (%y, %x) {
  ^bb0(%i: tensor<256x1024xf32>, %j: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    plan.yield %0 : tensor<256x1024xf32>
  } : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %small = plan.step "small" on kernel (%product) {
  ^bb0(%i: tensor<256x1024xf32>):
    %0 = mnist.reduce_sum %i over [0] : tensor<256x1024xf32> -> tensor<1024xf32>
    plan.yield %0 : tensor<1024xf32>
  } : (tensor<256x1024xf32>) -> tensor<1024xf32>
  %smallSum = plan.step "small.sum" on nccl (%small) {
  ^bb0(%i: tensor<1024xf32>):
    %0 = mnist.all_reduce %i : tensor<1024xf32>
    plan.yield %0 : tensor<1024xf32>
  } : (tensor<1024xf32>) -> tensor<1024xf32>
  return %sum, %smallSum : tensor<1024x1024xf32>, tensor<1024xf32>
}

// The same products in one step: while the sum has some multiprocessors, blocks of
// a large step wait for others to end.

// CHECK-LABEL: @crowded
// CHECK:         plan.step "sums" on nccl(%large, %small, %other)
func.func @crowded(%x: tensor<1024x1024xf32>, %y: tensor<256x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<256xf32>) {
  %large = plan.step "large" on kernel (%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.exp %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %sum = plan.step "large.sum" on nccl (%large) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.all_reduce %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %before = plan.step "before" on kernel (%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.neg %i : tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %product0 = plan.step "product0" on kernel (%y, %before) {
  ^bb0(%i: tensor<256x1024xf32>, %j: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    %1 = mnist.matmul %0, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    %2 = mnist.matmul %1, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    %3 = mnist.matmul %2, %j : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
    plan.yield %3 : tensor<256x1024xf32>
  } : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %small = plan.step "small" on kernel (%product0) {
  ^bb0(%i: tensor<256x1024xf32>):
    %0 = mnist.reduce_sum %i over [0] : tensor<256x1024xf32> -> tensor<1024xf32>
    plan.yield %0 : tensor<1024xf32>
  } : (tensor<256x1024xf32>) -> tensor<1024xf32>
  %smallSum = plan.step "small.sum" on nccl (%small) {
  ^bb0(%i: tensor<1024xf32>):
    %0 = mnist.all_reduce %i : tensor<1024xf32>
    plan.yield %0 : tensor<1024xf32>
  } : (tensor<1024xf32>) -> tensor<1024xf32>
  %other = plan.step "other" on kernel (%product0) {
  ^bb0(%i: tensor<256x1024xf32>):
    %0 = mnist.reduce_sum %i over [1] : tensor<256x1024xf32> -> tensor<256xf32>
    plan.yield %0 : tensor<256xf32>
  } : (tensor<256x1024xf32>) -> tensor<256xf32>
  %otherSum = plan.step "other.sum" on nccl (%other) {
  ^bb0(%i: tensor<256xf32>):
    %0 = mnist.all_reduce %i : tensor<256xf32>
    plan.yield %0 : tensor<256xf32>
  } : (tensor<256xf32>) -> tensor<256xf32>
  return %sum, %smallSum, %otherSum : tensor<1024x1024xf32>, tensor<1024xf32>, tensor<256xf32>
}

}
