// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations \
// RUN:   --plan-assign-memory="alignment=64" | FileCheck %s --check-prefix=ORDER
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations \
// RUN:   --plan-assign-memory="alignment=64 concurrent=true" | FileCheck %s

// Two chains: in the order of the plan the second one may lie where the first
// one was; concurrently it may not. Along a chain memory is free again.

// CHECK-LABEL: @chains
// CHECK-SAME:    plan.arena_bytes = 256
// ORDER-LABEL: @chains
// ORDER-SAME:    plan.arena_bytes = 192
func.func @chains(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = mnist.softmax %x dim 1 : tensor<4x4xf32>
  %b = mnist.softmax %a dim 0 : tensor<4x4xf32>
  %c = mnist.softmax %b dim 1 : tensor<4x4xf32>
  %d = mnist.softmax %y dim 1 : tensor<4x4xf32>
  %e = mnist.softmax %d dim 0 : tensor<4x4xf32>
  %f = mnist.softmax %e dim 1 : tensor<4x4xf32>
  return %c, %f : tensor<4x4xf32>, tensor<4x4xf32>
}

// What is read twice is not written over by a reader that the other one may
// follow.

// CHECK-LABEL: @readers
// CHECK:         plan.step "shared" on kernel at [[SHARED:\[[0-9]+\]]]
// CHECK-NOT:     at [[SHARED]]
// CHECK:         return
// ORDER-LABEL: @readers
// ORDER:         plan.step "shared" on kernel at [[SHARED:\[[0-9]+\]]]
// ORDER:         plan.step "second" on kernel at [[SHARED]]
func.func @readers(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = mnist.softmax %x dim 1 : tensor<4x4xf32> loc("shared")
  %b = mnist.softmax %a dim 0 : tensor<4x4xf32> loc("first")
  %c = mnist.relu %a : tensor<4x4xf32> loc("second")
  return %b, %c : tensor<4x4xf32>, tensor<4x4xf32>
}
