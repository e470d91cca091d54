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
