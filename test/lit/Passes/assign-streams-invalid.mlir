// RUN: mnist-opt %s --split-input-file --verify-diagnostics --plan-assign-streams
// RUN: not mnist-opt %s --plan-assign-streams=max-streams=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mnist-opt %s --plan-assign-streams=max-streams=9 2>&1 | FileCheck %s --check-prefix=MANY

// NONE: error: expected from 1 to 8 streams, got 0
// MANY: error: expected from 1 to 8 streams, got 9

func.func @unplaced(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> {
  // expected-error @+1 {{expected step 'a' to have the addresses of its results}}
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a 'plan.offset' on argument 0}}
func.func @nowhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.step "a" on kernel at [0] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
