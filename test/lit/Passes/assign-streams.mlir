// RUN: mnist-opt %s --split-input-file --verify-diagnostics --plan-assign-streams | FileCheck %s
// RUN: mnist-opt %s --split-input-file --verify-diagnostics --plan-assign-streams=max-streams=1 | FileCheck %s --check-prefix=ONE

// What is on the longest way stays on the first stream; "side" does not wait,
// as it only reads what "left" reads; "end" waits for it. Beside "side" there are
// two steps, which take longer, beside each of these only "side".

// ONE-NOT: plan.stream
// ONE-NOT: plan.after
// ONE-NOT: plan.beside

// CHECK-LABEL: func.func @concurrent
// CHECK:       plan.step "left"
// CHECK-NOT:   plan.{{stream|beside}}
// CHECK:       plan.step "side"
// CHECK:       {plan.beside, plan.stream = 1 : i64}
// CHECK:       plan.step "more"
// CHECK-NOT:   plan.{{stream|beside}}
// CHECK:       plan.step "end"
// CHECK:       {plan.after = array<i64: 1>}
func.func @concurrent(%x: tensor<64xf32> {plan.offset = 0 : i64}) -> tensor<64xf32> {
  %a = plan.step "left" on kernel at [256] (%x) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.exp %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %s = plan.step "side" on kernel at [512] (%x) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.relu %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %b = plan.step "more" on kernel at [768] (%a) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.relu %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %c = plan.step "end" on kernel at [1024] (%b, %s) {
  ^bb0(%i: tensor<64xf32>, %j: tensor<64xf32>):
    %0 = mnist.add %i, %j : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %c : tensor<64xf32>
}

// -----

// Two that have nothing to do with each other, but for the place of "first",
// which "third" takes: they wait.

// CHECK-LABEL: func.func @place
// CHECK:       plan.step "first"
// CHECK:       plan.step "second"
// CHECK:       {plan.beside, plan.stream = 1 : i64}
// CHECK:       plan.step "third"
// CHECK-NOT:   plan.stream
// CHECK:       plan.step "fourth"
// CHECK:       {plan.after = array<i64: 1>}
func.func @place(%x: tensor<64xf32> {plan.offset = 0 : i64},
                 %y: tensor<64xf32> {plan.offset = 256 : i64}) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = plan.step "first" on kernel at [512] (%x) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.exp %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %b = plan.step "second" on kernel at [768] (%y) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.exp %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %c = plan.step "third" on kernel at [1024] (%a) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.relu %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %d = plan.step "fourth" on kernel at [512] (%b) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.relu %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  return %c, %d : tensor<64xf32>, tensor<64xf32>
}

// -----

// One after the other: nothing is said.

// CHECK-LABEL: func.func @chain
// CHECK-NOT:   plan.stream
// CHECK-NOT:   plan.after
// CHECK:       return
func.func @chain(%x: tensor<64xf32> {plan.offset = 0 : i64}) -> tensor<64xf32> {
  %a = plan.step "a" on kernel at [256] (%x) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.exp %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  %b = plan.step "b" on kernel at [256] (%a) {
  ^bb0(%i: tensor<64xf32>):
    %0 = mnist.relu %i : tensor<64xf32>
    plan.yield %0 : tensor<64xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}
