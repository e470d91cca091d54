// RUN: mnist-opt %s --plan-order-updates --plan-assign-memory --plan-check-steps | FileCheck %s

ml_program.global private mutable @a(dense<0.5> : tensor<4x4xf32>) : tensor<4x4xf32> {mnist.role = "parameter"}
ml_program.global private mutable @b(dense<0.5> : tensor<4x4xf32>) : tensor<4x4xf32> {mnist.role = "parameter"}

// Who writes over a value waits for those that read it.

// CHECK-LABEL: @reads_late
// CHECK:         plan.step "reader"
// CHECK-NEXT:    ^bb0
// CHECK:         plan.step "a" on kernel at [0]
// CHECK-NOT:     plan.step
func.func @reads_late(%x: tensor<4x4xf32> {mnist.name = "x"}, %a: tensor<4x4xf32> {mnist.parameter = "a"})
    -> (tensor<4x4xf32> {mnist.parameter = "a"}, tensor<4x4xf32> {mnist.name = "y"}) {
  %new = plan.step "a" on kernel (%x, %a) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.add %i, %j : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = plan.step "reader" on kernel (%x, %a) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %new, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// Each reads what the other writes: one new value waits elsewhere.

// CHECK-LABEL: @circle
// CHECK:         %[[A:.*]] = plan.step "a" on kernel at [768]
// CHECK:         plan.step "b" on kernel at [256]
// CHECK:         plan.step "a.copy" on kernel at [0](%[[A]])
// CHECK:           mnist.reshape
func.func @circle(%x: tensor<4x4xf32> {mnist.name = "x"}, %a: tensor<4x4xf32> {mnist.parameter = "a"}, %b: tensor<4x4xf32> {mnist.parameter = "b"})
    -> (tensor<4x4xf32> {mnist.parameter = "a"}, tensor<4x4xf32> {mnist.parameter = "b"}) {
  %new_a = plan.step "a" on kernel (%x, %b, %a) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>, %k: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.sub %k, %0 : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %new_b = plan.step "b" on kernel (%x, %a, %b) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>, %k: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.sub %k, %0 : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %new_a, %new_b : tensor<4x4xf32>, tensor<4x4xf32>
}

// A step must not write over elements that it still reads.

// CHECK-LABEL: @turned
// CHECK:         plan.step "a" on kernel at [512]
// CHECK:         plan.step "a.copy" on kernel at [0]
func.func @turned(%a: tensor<4x4xf32> {mnist.parameter = "a"}) -> (tensor<4x4xf32> {mnist.parameter = "a"}) {
  %new = plan.step "a" on kernel (%a) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %1 = mnist.add %i, %0 : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %new : tensor<4x4xf32>
}
