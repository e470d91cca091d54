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

// -----

func.func @schedule_of_a_map(%x: tensor<2xf32>) {
  // expected-error @below {{'plan.step' op expected a schedule in a step around a contraction, got one around 'no op with its own loops'}}
  %y = plan.step "y" on kernel schedule(#plan.product<mma = tf32>) (%x) {
  ^bb0(%a: tensor<2xf32>):
    %0 = mnist.relu %a : tensor<2xf32>
    plan.yield %0 : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @schedule_of_f64(%x: tensor<2x2xf64>) {
  // expected-error @below {{'plan.step' op expected the FMA units for a contraction of f64, got mma = tf32}}
  %y = plan.step "y" on kernel schedule(#plan.product<mma = tf32>) (%x) {
  ^bb0(%a: tensor<2x2xf64>):
    %0 = mnist.matmul %a, %a : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    plan.yield %0 : tensor<2x2xf64>
  } : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}

// -----

func.func @other_schedule(%x: tensor<2x2xf32>) {
  // expected-error @below {{attribute 'schedule' failed to satisfy constraint: a schedule}}
  %y = plan.step "y" on kernel schedule(42 : i32) (%x) {
  ^bb0(%a: tensor<2x2xf32>):
    %0 = mnist.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    plan.yield %0 : tensor<2x2xf32>
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// expected-error @below {{expected 'plan.precision' to be strict, fp32, tf32 or bf16}}
module attributes {plan.precision = "fp16"} {}
