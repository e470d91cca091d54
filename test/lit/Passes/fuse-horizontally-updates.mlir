// RUN: mnist-opt %s --split-input-file --plan-fuse-horizontally | FileCheck %s

// What one step may do with a parameter that it also updates, and what moves
// past an update.

// Each thread reads the element that it writes.

// CHECK-LABEL: func.func @in_order
// CHECK:         plan.step
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @in_order(%w: tensor<2x4xf32> {mnist.parameter = "w"})
    -> (tensor<2x4xf32>, tensor<2x4xf32> {mnist.parameter = "w"}) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "w" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// One that updates a parameter and does not read it has no element in common
// with one that reads it: other threads compute it.

// CHECK-LABEL: func.func @unread
// CHECK:         plan.step "a"
// CHECK:         plan.step "w"
// CHECK:         return
func.func @unread(%w: tensor<2x4xf32> {mnist.parameter = "w"},
                  %x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32> {mnist.parameter = "w"}) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "w" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Here it reads what another thread may have written.

// CHECK-LABEL: func.func @out_of_order
// CHECK:         plan.step "a"
// CHECK:         plan.step "w"
// CHECK:         return
func.func @out_of_order(%w: tensor<2x4xf32> {mnist.parameter = "w"})
    -> (tensor<4x2xf32>, tensor<2x4xf32> {mnist.parameter = "w"}) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.transpose %p perm [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
    plan.yield %s : tensor<4x2xf32>
  } : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %1 = plan.step "w" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<2x4xf32>
}

// -----

// "a" reads the old value: it does not move to "c", past the new one.

// CHECK-LABEL: func.func @past_an_update
// CHECK:         plan.step "a"
// CHECK:         plan.step "w"
// CHECK:         plan.step "c"
// CHECK:         return
func.func @past_an_update(%w: tensor<2x4xf32> {mnist.parameter = "w"},
                          %x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32> {mnist.parameter = "w"},
        tensor<2x4xf32>) {
  %0 = plan.step "a" on kernel (%w) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "w" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.softmax %p dim 1 : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = plan.step "c" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Nor past a step that reads its result.

// CHECK-LABEL: func.func @past_a_reader
// CHECK:         %[[A:.*]] = plan.step "a"
// CHECK:         plan.step "b" on kernel(%[[A]])
// CHECK:         plan.step "c"
// CHECK:         return
func.func @past_a_reader(%x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = plan.step "a" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.neg %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "b" on kernel (%0) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.softmax %p dim 1 : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = plan.step "c" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<2x4xf32>
}
