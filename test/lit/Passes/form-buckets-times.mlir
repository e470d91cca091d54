// RUN: mnist-opt %s --plan-form-buckets | FileCheck %s

module attributes {plan.target = "cuda"} {

// A large early gradient is added up while the rest is computed: 4 MB take as
// long as the product after it. The small ones wait for each other.

// CHECK-LABEL: @overlapped
// CHECK:         plan.step "large.sum" on nccl(%large)
// CHECK:         plan.step "product"
// CHECK:         plan.step "sums" on nccl(%small, %other)
func.func @overlapped(%x: tensor<1024x1024xf32>, %y: tensor<64xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<64xf32>, tensor<64xf32>) {
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
  %product = plan.step "product" on kernel (%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %0 = mnist.matmul %i, %i : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    plan.yield %0 : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %small = plan.step "small" on kernel (%y) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.exp %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %smallSum = plan.step "small.sum" on nccl (%small) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.all_reduce %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %other = plan.step "other" on kernel (%y) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.neg %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %otherSum = plan.step "other.sum" on nccl (%other) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.all_reduce %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  return %sum, %product, %smallSum, %otherSum : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<64xf32>, tensor<64xf32>
}

}
