// RUN: mnist-opt %s --plan-check-steps=alignment=64 --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s

// "c" waits for what it reads; the others share nothing but what they read.

// CHECK: @waits
module attributes {plan.constant_bytes = 0 : i64} {
func.func @waits(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [128] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.step "c" on kernel at [192] (%b) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// "c" waits for "a" by way of "b".

// CHECK: @through
module attributes {plan.constant_bytes = 0 : i64} {
func.func @through(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [128] (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 0>, plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = plan.step "c" on kernel at [192] (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 1>, plan.stream = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @reads(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'b' of stream 1 to wait for step 'a' of stream 0, with which it shares bytes}}
  %b = plan.step "b" on kernel at [128] (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
}

// -----

// The place of "a" is free in the order of the plan, but not when they run concurrently.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @overwrites(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [128] (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'c' of stream 1 to wait for step 'a' of stream 0, with which it shares bytes}}
  %c = plan.step "c" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// "b" still reads what "c" writes over.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @half(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [128] (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'c' of stream 1 to wait for step 'b' of stream 0, with which it shares bytes}}
  %c = plan.step "c" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 0>, plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @high(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'plan.stream' to be an i64 from 0 to 7, got 8}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = 8 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @low(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'plan.stream' to be an i64 from 0 to 7, got -1}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @word(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'plan.stream' to be an i64 from 0 to 7, got "one"}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = "one"} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @list(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'plan.after' to be an array of i64, got [0]}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = [0]} : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @later(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected step 'a' to wait for steps before it, on other streams and in their order, got 1}}
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [128] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @same(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'b' to wait for steps before it, on other streams and in their order, got 0}}
  %b = plan.step "b" on kernel at [128] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @order(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {plan.arena_bytes = 512 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [128] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'c' to wait for steps before it, on other streams and in their order, got 0}}
  %c = plan.step "c" on kernel at [192] (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } {plan.after = array<i64: 1, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
}
