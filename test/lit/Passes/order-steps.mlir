// RUN: mnist-opt %s --split-input-file --plan-order-steps | FileCheck %s

// What sums need comes first, by when it could begin: "first" is added up before
// "second", wherever it was. All others come last, in that order, too.

// CHECK-LABEL: @early
// CHECK:         plan.step "long"
// CHECK:         plan.step "first" on
// CHECK:         plan.step "second" on
// CHECK:         plan.step "first.sum"
// CHECK:         plan.step "second.sum"
// CHECK:         plan.step "apart"
// CHECK:         plan.step "update"
module attributes {plan.target = "cuda"} {
  func.func @early(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %apart = plan.step "apart" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.neg %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %long = plan.step "long" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %second = plan.step "second" on kernel (%long) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %ss = plan.step "second.sum" on nccl (%second) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %update = plan.step "update" on kernel (%ss) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.neg %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %first = plan.step "first" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.relu %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %fs = plan.step "first.sum" on nccl (%first) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %apart, %update, %fs : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A machine without times only puts the others last; without sums nothing moves
// there.

// CHECK-LABEL: @sums
// CHECK:         plan.step "b"
// CHECK:         plan.step "b.sum"
// CHECK:         plan.step "a"
// CHECK-LABEL: @none
// CHECK:         plan.step "a"
// CHECK:         plan.step "b"
module attributes {plan.target = "cpu"} {
  func.func @sums(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = plan.step "a" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %b = plan.step "b" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.relu %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %bs = plan.step "b.sum" on mpi (%b) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %a, %bs : tensor<4xf32>, tensor<4xf32>
  }
  func.func @none(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = plan.step "a" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %b = plan.step "b" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.relu %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Without sums, too, what waits for nothing comes before what waits.

// CHECK-LABEL: @alone
// CHECK:         plan.step "a"
// CHECK:         plan.step "update"
// CHECK:         plan.step "b"
// CHECK:         plan.step "c"
module attributes {plan.target = "cuda"} {
  func.func @alone(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = plan.step "a" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %b = plan.step "b" on kernel (%a) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.relu %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %c = plan.step "c" on kernel (%b) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.neg %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %u = plan.step "update" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.neg %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %c, %u : tensor<4xf32>, tensor<4xf32>
  }
}
