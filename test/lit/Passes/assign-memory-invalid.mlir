// RUN: mnist-opt %s --plan-assign-memory --verify-diagnostics
// RUN: not mnist-opt %s --plan-assign-memory=alignment=48 2>&1 | FileCheck %s
// RUN: not mnist-opt %s --plan-assign-memory=workspace=-1 2>&1 | FileCheck %s --check-prefix=SPACE

// SPACE: error: expected a workspace of 0 bytes or more, got -1
// CHECK: error: expected an alignment that is a power of two, got 48

func.func @no_steps(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'mnist.relu' op expected to be inside a step}}
  %y = mnist.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
