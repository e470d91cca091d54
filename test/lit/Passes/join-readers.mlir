// RUN: mnist-opt %s --split-input-file --plan-join-readers | FileCheck %s

// What a product gives to an activation is stored for its gradient; the
// activation is computed with it.

module attributes {plan.target = "cuda"} {
// CHECK-LABEL: func.func @stored
// CHECK:         %[[BOTH:.*]]:2 = plan.step "y" on kernel(%arg0, %arg1)
// CHECK:           %[[Y:.*]] = mnist.matmul
// CHECK:           %[[Z:.*]] = mnist.erf %[[Y]]
// CHECK:           plan.yield %[[Y]], %[[Z]]
// CHECK-NOT:     plan.step "z"
// CHECK:         plan.step "g" on kernel(%[[BOTH]]#0, %[[BOTH]]#1)
func.func @stored(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>) -> tensor<8x4xf32> {
  %y = plan.step "y" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %z = plan.step "z" on kernel (%y) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.erf %i : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %g = plan.step "g" on kernel (%y, %z) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.mul %i, %j : tensor<8x4xf32>
    %t = mnist.softmax %s dim 1 : tensor<8x4xf32>
    plan.yield %t : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %g : tensor<8x4xf32>
}
}

// -----

// One after the other, with tensors that are there before; what nothing else
// reads is not stored.

module attributes {plan.target = "cuda"} {
// CHECK-LABEL: func.func @others
// CHECK:         plan.step "before"
// CHECK-NOT:     plan.step
// CHECK:         %[[ALL:.*]]:2 = plan.step "y" on kernel(%arg0, %arg1, %{{.*}})
// CHECK:           mnist.matmul
// CHECK:           mnist.erf
// CHECK:           mnist.mul
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
// CHECK-NOT:     plan.step
// CHECK:         return %[[ALL]]#0, %[[ALL]]#1
func.func @others(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %c: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %x = plan.step "before" on kernel (%c) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.neg %i : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = plan.step "y" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %z = plan.step "z" on kernel (%y) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.erf %i : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %w = plan.step "w" on kernel (%z, %x) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.mul %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %v = plan.step "v" on kernel (%w) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.relu %i : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %v : tensor<8x4xf32>, tensor<8x4xf32>
}
}

// -----

// Not what waits for later steps, reads other elements, draws random numbers or
// is a new value of a parameter.

module attributes {plan.target = "cuda"} {
// CHECK-LABEL: func.func @not
// CHECK:         plan.step "y"
// CHECK:         plan.step "later"
// CHECK:         plan.step "waits"
// CHECK:         plan.step "turned"
// CHECK:         plan.step "drawn"
// CHECK:         plan.step "new"
func.func @not(%a: tensor<4x2xf32>, %b: tensor<2x4xf32>, %p: tensor<4x4xf32> {mnist.parameter = "p"}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32> {mnist.parameter = "p"}) {
  %y = plan.step "y" on kernel (%a, %b) {
  ^bb0(%i: tensor<4x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    plan.yield %s : tensor<4x4xf32>
  } : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %l = plan.step "later" on kernel (%y) {
  ^bb0(%i: tensor<4x4xf32>):
    %s = mnist.softmax %i dim 1 : tensor<4x4xf32>
    plan.yield %s : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = plan.step "waits" on kernel (%y, %l) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %s = mnist.mul %i, %j : tensor<4x4xf32>
    plan.yield %s : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = plan.step "turned" on kernel (%y) {
  ^bb0(%i: tensor<4x4xf32>):
    %s = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    plan.yield %s : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = plan.step "drawn" on kernel (%y) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.constant dense<1> : tensor<i64>
    %r = mnist.random_uniform %0, %0 stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
    %s = mnist.mul %i, %r : tensor<4x4xf32>
    plan.yield %s : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = plan.step "new" on kernel (%p, %y) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %s = mnist.sub %i, %j : tensor<4x4xf32>
    plan.yield %s : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %w, %t, %d, %n : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
}

// -----

// Not on a CPU.

module attributes {plan.target = "cpu"} {
// CHECK-LABEL: func.func @cpu
// CHECK:         plan.step "y"
// CHECK:         plan.step "z"
func.func @cpu(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y = plan.step "y" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %z = plan.step "z" on kernel (%y) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.erf %i : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}
}
