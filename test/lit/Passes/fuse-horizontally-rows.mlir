// RUN: mnist-opt %s --split-input-file --plan-fuse-horizontally | FileCheck %s

// Which numbers do not join a row step.

// Not what the rows need, and not a tensor of more than one element.

// CHECK-LABEL: func.func @rows_apart
// CHECK:         plan.step "scale"
// CHECK:         plan.step "rows"
// CHECK:         plan.step "map"
// CHECK:         return
func.func @rows_apart(%n: tensor<f32>, %x: tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) {
  %0 = plan.step "scale" on kernel (%n) {
  ^bb0(%p: tensor<f32>):
    %s = mnist.neg %p : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %1 = plan.step "rows" on kernel (%x, %0) {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<f32>):
    %b = mnist.broadcast %q along [] : tensor<f32> -> tensor<4x8xf32>
    %m = mnist.mul %p, %b : tensor<4x8xf32>
    %s = mnist.reduce_sum %m over [1] : tensor<4x8xf32> -> tensor<4xf32>
    %t = mnist.reduce_sum %s over [0] : tensor<4xf32> -> tensor<f32>
    plan.yield %t : tensor<f32>
  } : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %2 = plan.step "map" on kernel (%x) {
  ^bb0(%p: tensor<4x8xf32>):
    %s = mnist.neg %p : tensor<4x8xf32>
    plan.yield %s : tensor<4x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<f32>, tensor<4x8xf32>
}

// -----

// What a single row comes to, no total, in another shape: the row step knows no
// such number.

// CHECK-LABEL: func.func @one_row
// CHECK:         plan.step "rows"
// CHECK:         plan.step "flat"
// CHECK:         return
func.func @one_row(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1xf32>) {
  %0:2 = plan.step "rows" on kernel (%x) {
  ^bb0(%p: tensor<2x3xf32>):
    %e = mnist.exp %p : tensor<2x3xf32>
    %s = mnist.reduce_sum %e over [0, 1] : tensor<2x3xf32> -> tensor<f32>
    plan.yield %e, %s : tensor<2x3xf32>, tensor<f32>
  } : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<f32>)
  %1 = plan.step "flat" on kernel (%0#1) {
  ^bb0(%p: tensor<f32>):
    %s = mnist.reshape %p : tensor<f32> -> tensor<1xf32>
    plan.yield %s : tensor<1xf32>
  } : (tensor<f32>) -> tensor<1xf32>
  return %0#0, %1 : tensor<2x3xf32>, tensor<1xf32>
}

// -----

// Nor a number that needs no row, in another shape; one of the same shape does.

// CHECK-LABEL: func.func @other_shape
// CHECK:         plan.step "slope"
// CHECK:         plan.step "rows"{{.*}}(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @other_shape(%w: tensor<1xf32>, %n: tensor<f32>, %x: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = plan.step "slope" on kernel (%w) {
  ^bb0(%p: tensor<1xf32>):
    %s = mnist.neg %p : tensor<1xf32>
    plan.yield %s : tensor<1xf32>
  } : (tensor<1xf32>) -> tensor<1xf32>
  %1:2 = plan.step "rows" on kernel (%x, %z) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
    %s = mnist.reduce_sum %p over [0] : tensor<8xf32> -> tensor<f32>
    %t = mnist.reduce_sum %q over [0] : tensor<8xf32> -> tensor<f32>
    plan.yield %s, %t : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<f32>)
  %2 = plan.step "count" on kernel (%n) {
  ^bb0(%p: tensor<f32>):
    %s = mnist.neg %p : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return %0, %1#0, %1#1, %2 : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}
