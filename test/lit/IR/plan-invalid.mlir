// RUN: mnist-opt %s --split-input-file --verify-diagnostics

// One case for every sentence in PlanOps.cpp.

func.func @arguments(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.step' op expected the region's arguments to have the types of the inputs}}
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%a: tensor<3xf32>):
    plan.yield %a : tensor<3xf32>
  } : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @results(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.step' op expected the region to yield the types of the results}}
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%a: tensor<2xf32>):
    // expected-note @below {{yielded here}}
    plan.yield %a : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @offsets(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.step' op expected one offset per result (1), got 2}}
  %y = plan.step "y" on kernel at [0, 64] (%x) {
  ^bb0(%a: tensor<2xf32>):
    plan.yield %a : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @yield_alone(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.yield' op expects parent op 'plan.step'}}
  plan.yield %x : tensor<2xf32>
}
