// RUN: mnist-opt %s --plan-select-implementations=target=cpu | FileCheck %s

// What a root does not read from memory becomes a step before it; a choice made
// explicitly stays.

// CHECK-LABEL: @explicit
// CHECK:          %[[R:.*]] = plan.step "relu" on kernel
// CHECK:          plan.step "a" on onednn(%[[R]], %{{.*}})
// CHECK:         plan.step "b" on openblas
func.func @explicit(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = plan.step "a" on undecided (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %r = mnist.relu %i : tensor<4x4xf32>
    %m = mnist.matmul %r, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %m : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.step "b" on openblas (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %m = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %m : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}
