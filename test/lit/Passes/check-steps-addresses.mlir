// RUN: mnist-opt %s --plan-check-steps=alignment=64 --split-input-file \
// RUN:   --verify-diagnostics

// What the check says about addresses.

module attributes {plan.constant_bytes = 64 : i64} {
func.func @constant_result() -> tensor<4xf32> {
  %c = mnist.constant dense<1.0> : tensor<4xf32> {plan.offset = 0 : i64}
  // expected-error @+1 {{'func.return' op expected result 0 to be the result of a step or an argument, got a constant}}
  return %c : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @constant_nowhere() {
  // expected-error @+1 {{'mnist.constant' op expected a 'plan.offset', got none}}
  %c = mnist.constant dense<1.0> : tensor<4xf32>
  return
}
}

// -----

module attributes {plan.constant_bytes = 64 : i64} {
func.func @constant_outside() {
  // expected-error @+1 {{expected a constant inside the constants of 64 bytes, got 64 to 80}}
  %c = mnist.constant dense<1.0> : tensor<4xf32> {plan.offset = 64 : i64}
  return
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
// expected-error @+1 {{expected 'plan.arena_bytes' and 'plan.workspace_bytes' on 'no_arena', got neither}}
func.func @no_arena() {
  return
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
// expected-error @+1 {{expected a 'plan.offset' on argument 0, got none}}
func.func @argument_nowhere(%x: tensor<4xf32>)
    attributes {plan.arena_bytes = 64 : i64, plan.workspace_bytes = 0 : i64} {
  return
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @result_nowhere(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32>
    attributes {plan.arena_bytes = 64 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected step 'a' to have the addresses of its results, got nothing}}
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @misaligned(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32>
    attributes {plan.arena_bytes = 128 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'a' at a multiple of 64, got 96}}
  %a = plan.step "a" on kernel at [96] (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @outside_arena(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32>
    attributes {plan.arena_bytes = 64 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'a' inside the arena of 64 bytes, got 64 to 80}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

// A step that reads in another order than it writes.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @over_operand(%x: tensor<4x8xf32> {plan.offset = 0 : i64}) -> tensor<8x4xf32>
    attributes {plan.arena_bytes = 192 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-note @-2 {{defined here}}
  // expected-error @+1 {{expected 'a' (bytes 64 to 192) apart from argument 0 (bytes 0 to 128), which is alive}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4x8xf32>):
    %0 = mnist.transpose %i perm [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    plan.yield %0 : tensor<8x4xf32>
  } : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}
}

// -----

// The operand would be the right one to take over, but it is needed later.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @needed_later(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 128 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-note @+1 {{defined here}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected 'b' (bytes 64 to 80) apart from 'a' (bytes 64 to 80), which is alive}}
  %b = plan.step "b" on kernel at [64] (%a) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}
