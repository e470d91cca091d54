// RUN: mnist-opt %s --split-input-file --plan-order-steps | FileCheck %s
// RUN: mnist-opt %s --split-input-file --plan-order-steps=early=false | FileCheck %s --check-prefix=LAST

// What the sum that could begin first needs comes first, wherever it was, then
// what the next one needs. "apart", which no sum needs, comes before those that
// begin later than it could, or last; "update" needs a sum.

// CHECK-LABEL: @early
// CHECK:         plan.step "first" on
// CHECK:         plan.step "apart"
// CHECK:         plan.step "first.sum"
// CHECK:         plan.step "long"
// CHECK:         plan.step "second" on
// CHECK:         plan.step "second.sum"
// CHECK:         plan.step "update"
// LAST-LABEL: @early
// LAST:         plan.step "first" on
// LAST:         plan.step "first.sum"
// LAST:         plan.step "second.sum"
// LAST:         plan.step "apart"
// LAST:         plan.step "update"
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

// -----

// Of steps that could begin together the critical one comes first.

// CHECK-LABEL: @critical
// CHECK:         plan.step "head"
// CHECK:         plan.step "short"
// CHECK:         plan.step "tail"
// CHECK:         plan.step "sums"
module attributes {plan.target = "cuda"} {
  func.func @critical(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %short = plan.step "short" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %head = plan.step "head" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.relu %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %tail = plan.step "tail" on kernel (%head) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.neg %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %sums:2 = plan.step "sums" on nccl (%short, %tail) {
    ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      %1 = mnist.all_reduce %j : tensor<4xf32>
      plan.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %sums#0, %sums#1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// "apart" could begin before the first sum could, but reads what only the second
// one needs.

// CHECK-LABEL: @reads
// CHECK:         plan.step "large.sum"
// CHECK:         plan.step "one"
// CHECK:         plan.step "apart"
// CHECK:         plan.step "four.sum"
module attributes {plan.target = "cuda"} {
  func.func @reads(%x: tensor<4xf32>, %y: tensor<1024x1024xf32>) -> (tensor<4xf32>, tensor<1024x1024xf32>, tensor<4xf32>) {
    %large = plan.step "large" on kernel (%y) {
    ^bb0(%i: tensor<1024x1024xf32>):
      %0 = mnist.exp %i : tensor<1024x1024xf32>
      plan.yield %0 : tensor<1024x1024xf32>
    } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %large.sum = plan.step "large.sum" on nccl (%large) {
    ^bb0(%i: tensor<1024x1024xf32>):
      %0 = mnist.all_reduce %i : tensor<1024x1024xf32>
      plan.yield %0 : tensor<1024x1024xf32>
    } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %one = plan.step "one" on kernel (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %apart = plan.step "apart" on kernel (%one) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %two = plan.step "two" on kernel (%one) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %three = plan.step "three" on kernel (%two) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %four = plan.step "four" on kernel (%three) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.exp %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %four.sum = plan.step "four.sum" on nccl (%four) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.all_reduce %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %apart, %large.sum, %four.sum : tensor<4xf32>, tensor<1024x1024xf32>, tensor<4xf32>
  }
}
