// RUN: mnist-opt %s --split-input-file --plan-fuse-horizontally | FileCheck %s

// Updates of parameters of different sizes are one step.

// CHECK-LABEL: func.func @updates
// CHECK-SAME:      (%[[W:.*]]: tensor<8xf32> {{.*}}, %[[B:.*]]: tensor<4xf32> {{.*}}, %[[G:.*]]: tensor<8xf32>, %[[H:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[NEW:.*]]:2 = plan.step "updates" on kernel(%[[W]], %[[G]], %[[B]], %[[H]])
// CHECK-COUNT-2: mnist.sub
// CHECK:         plan.yield
// CHECK-NOT:     plan.step
// CHECK:         return %[[NEW]]#0, %[[NEW]]#1
func.func @updates(%w: tensor<8xf32> {mnist.parameter = "w"},
                   %b: tensor<4xf32> {mnist.parameter = "b"},
                   %g: tensor<8xf32>, %h: tensor<4xf32>)
    -> (tensor<8xf32> {mnist.parameter = "w"},
        tensor<4xf32> {mnist.parameter = "b"}) {
  %0 = plan.step "w" on kernel (%w, %g) {
  ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
    %s = mnist.sub %p, %q : tensor<8xf32>
    plan.yield %s : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = plan.step "b" on kernel (%b, %h) {
  ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
    %s = mnist.sub %p, %q : tensor<4xf32>
    plan.yield %s : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// -----

// One that reads the other's result out of order has to wait for all of it.

// CHECK-LABEL: func.func @out_of_order
// CHECK:         plan.step "a"
// CHECK:         plan.step "b"
func.func @out_of_order(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %0 = plan.step "a" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = plan.step "b" on kernel (%0) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.transpose %p perm [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
    plan.yield %s : tensor<4x2xf32>
  } : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

// A step with a root is not a map.

// CHECK-LABEL: func.func @root
// CHECK:         plan.step "a"
// CHECK:         plan.step "b"
func.func @root(%x: tensor<2x4xf32>) -> (tensor<2xf32>, tensor<2x4xf32>) {
  %0 = plan.step "a" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.reduce_sum %p over [1] : tensor<2x4xf32> -> tensor<2xf32>
    plan.yield %s : tensor<2xf32>
  } : (tensor<2x4xf32>) -> tensor<2xf32>
  %1 = plan.step "b" on kernel (%x) {
  ^bb0(%p: tensor<2x4xf32>):
    %s = mnist.exp %p : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2xf32>, tensor<2x4xf32>
}
