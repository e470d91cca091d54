// RUN: mnist-opt %s --split-input-file --plan-assign-streams | FileCheck %s

// What steps take is asked of the target's machine; one that runs a step after
// the other has one stream, whatever is allowed.

// CHECK-LABEL: plan.target = "cuda"
// CHECK:       plan.stream = 1
module attributes {plan.target = "cuda"} {
  func.func @beside(%x: tensor<64xf32> {plan.offset = 0 : i64}) -> tensor<64xf32> {
    %a = plan.step "left" on kernel at [256] (%x) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.exp %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %b = plan.step "right" on kernel at [512] (%x) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.relu %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %c = plan.step "end" on kernel at [768] (%a, %b) {
    ^bb0(%i: tensor<64xf32>, %j: tensor<64xf32>):
      %0 = mnist.add %i, %j : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    return %c : tensor<64xf32>
  }
}

// -----

// CHECK-LABEL: plan.target = "cpu"
// CHECK-NOT:   plan.stream
module attributes {plan.target = "cpu"} {
  func.func @beside(%x: tensor<64xf32> {plan.offset = 0 : i64}) -> tensor<64xf32> {
    %a = plan.step "left" on kernel at [256] (%x) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.exp %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %b = plan.step "right" on kernel at [512] (%x) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.relu %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %c = plan.step "end" on kernel at [768] (%a, %b) {
    ^bb0(%i: tensor<64xf32>, %j: tensor<64xf32>):
      %0 = mnist.add %i, %j : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    return %c : tensor<64xf32>
  }
}

// -----

// Sums over ranks have a stream to themselves, in their order; what another step
// computes beside them waits for none.

// CHECK-LABEL: @apart
// CHECK:         plan.step "a" on kernel
// CHECK:         plan.step "a.sum" on nccl
// CHECK:         {plan.after = array<i64: 0>, plan.stream = 1 : i64}
// CHECK:         plan.step "b" on kernel
// CHECK-NOT:     plan.stream
// CHECK:         plan.step "c" on kernel
// CHECK:         {plan.after = array<i64: 0>, plan.beside, plan.stream = 2 : i64}
// CHECK:         plan.step "b.sum" on nccl
// CHECK:         {plan.after = array<i64: 2, 3>, plan.stream = 1 : i64}
// CHECK:         plan.step "update" on kernel
// CHECK:         {plan.after = array<i64: 4>}
module attributes {plan.target = "cuda"} {
  func.func @apart(%x: tensor<64xf32> {plan.offset = 0 : i64}) -> (tensor<64xf32>, tensor<64xf32>) {
    %a = plan.step "a" on kernel at [256] (%x) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.exp %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %as = plan.step "a.sum" on nccl at [512] (%a) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.all_reduce %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %b = plan.step "b" on kernel at [768] (%a) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.exp %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %c = plan.step "c" on kernel at [1024] (%a) {
    ^bb0(%i: tensor<64xf32>):
      %0 = mnist.relu %i : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %bs:2 = plan.step "b.sum" on nccl at [1280, 1536] (%b, %c) {
    ^bb0(%i: tensor<64xf32>, %j: tensor<64xf32>):
      %0 = mnist.all_reduce %i : tensor<64xf32>
      %1 = mnist.all_reduce %j : tensor<64xf32>
      plan.yield %0, %1 : tensor<64xf32>, tensor<64xf32>
    } : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    %u = plan.step "update" on kernel at [1792] (%bs#0, %bs#1) {
    ^bb0(%i: tensor<64xf32>, %j: tensor<64xf32>):
      %0 = mnist.add %i, %j : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    return %as, %u : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// What comes after a sum waits for what it adds up ("later" for "grad"), but not
// what could begin together with it ("beside"). A stream whose last step is needed
// only after a sum to come ("number") is not kept free: "other" is there.

// CHECK-LABEL: @first
// CHECK:         plan.step "number" on kernel
// CHECK-NOT:     plan.stream
// CHECK:         plan.step "head" on kernel
// CHECK:         {plan.stream = 1 : i64}
// CHECK:         plan.step "grad" on kernel
// CHECK:         {plan.beside, plan.stream = 1 : i64}
// CHECK:         plan.step "other" on kernel
// CHECK:         {plan.after = array<i64: 1>, plan.beside}
// CHECK:         plan.step "sum" on nccl
// CHECK:         {plan.after = array<i64: 2>, plan.stream = 2 : i64}
// CHECK:         plan.step "beside" on kernel
// CHECK:         {plan.after = array<i64: 1>, plan.beside, plan.stream = [[STREAM:[0-9]+]] : i64}
// CHECK:         plan.step "later" on kernel
// CHECK:         {plan.after = array<i64: 2>, plan.beside, plan.stream = [[STREAM]] : i64}
// CHECK:         plan.step "update" on kernel
module attributes {plan.target = "cuda"} {
  func.func @first(%x: tensor<64xf32> {plan.offset = 0 : i64}) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %number = plan.step "number" on kernel at [256] (%x) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.exp %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %head = plan.step "head" on kernel at [512] (%x) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.relu %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %grad = plan.step "grad" on kernel at [768] (%head) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.exp %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %other = plan.step "other" on kernel at [1024] (%head) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.neg %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %sum = plan.step "sum" on nccl at [1280] (%grad) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.all_reduce %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %beside = plan.step "beside" on kernel at [1536] (%head) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.neg %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %later = plan.step "later" on kernel at [1792] (%beside) {
    ^bb0(%i0: tensor<64xf32>):
      %0 = mnist.relu %i0 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>) -> tensor<64xf32>
    %update = plan.step "update" on kernel at [2048] (%number, %sum) {
    ^bb0(%i0: tensor<64xf32>, %i1: tensor<64xf32>):
      %0 = mnist.add %i0, %i1 : tensor<64xf32>
      plan.yield %0 : tensor<64xf32>
    } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    return %other, %later, %update : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
}
