// RUN: mnist-opt %s --plan-check-steps=alignment=64 --split-input-file \
// RUN:   --verify-diagnostics | FileCheck %s

// A plan in order; the second step takes the place of its operand.

// CHECK: @fine
module attributes {plan.constant_bytes = 64 : i64} {
func.func @fine(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32>
    attributes {plan.arena_bytes = 128 : i64, plan.workspace_bytes = 0 : i64} {
  %c = mnist.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> {plan.offset = 0 : i64}
  %a = plan.step "a" on kernel at [64] (%x, %c) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
    %0 = mnist.add %i, %j : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = plan.step "b" on kernel at [64] (%a) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.relu %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
}

// -----

// A map may make results of several sizes.

// CHECK: @sizes
module attributes {plan.constant_bytes = 0 : i64} {
func.func @sizes(%x: tensor<4xf32> {plan.offset = 0 : i64}, %y: tensor<5xf32> {plan.offset = 64 : i64}) -> (tensor<4xf32>, tensor<5xf32>)
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  %a:2 = plan.step "a" on kernel at [128, 192] (%x, %y) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<5xf32>):
    plan.yield %i, %j : tensor<4xf32>, tensor<5xf32>
  } : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return %a#0, %a#1 : tensor<4xf32>, tensor<5xf32>
}
}

// -----

// expected-error @+1 {{expected 'plan.constant_bytes' on the module, got none}}
module {}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'mnist.relu' op expected to be inside a step}}
  %a = mnist.relu %x : tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @undecided(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected step 'a' to have an implementation, got 'undecided'}}
  %a = plan.step "a" on undecided (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @same_name(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected each step to have a unique name, but there are two called 'a'}}
  %b = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    plan.yield %i : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @two_roots(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected at most one op with its own loops in step 'a', got 'mnist.matmul' and 'mnist.softmax'}}
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.softmax %0 dim 1 : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @two_results(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected step 'a' around 'mnist.softmax' to have one result, or several that it makes element by element, got 2}}
  %a:2 = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.softmax %i dim 1 : tensor<4x4xf32>
    plan.yield %0, %i : tensor<4x4xf32>, tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %a#0 : tensor<4x4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @no_call(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected an implementation that can compute step 'a' around 'matmul', got 'cublas'}}
  %a = plan.step "a" on cublas (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.exp %0 : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
}

// -----

// A library takes two operands of one type.
module attributes {plan.constant_bytes = 0 : i64} {
func.func @half_rounded(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = plan.step "r" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.cast %i : tensor<4x4xf32> -> tensor<4x4xbf16>
    plan.yield %0 : tensor<4x4xbf16>
  } : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  // expected-error @+1 {{expected an implementation that can compute step 'a' around 'matmul', got 'cublas'}}
  %a = plan.step "a" on cublas schedule(#plan.product<mma = bf16>)(%r, %x) {
  ^bb0(%i: tensor<4x4xbf16>, %j: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %j : (tensor<4x4xbf16>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xbf16>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @order(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected what follows 'mnist.matmul' in step 'a' to keep the order of the elements, got 'mnist.transpose'}}
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.transpose %0 perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
}

// -----

// Tensor cores that cuDNN does not know for f32 in memory, and the CPU has not.

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
func.func @no_bf16(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32> {
  // expected-error @+1 {{expected an implementation for cuda that can compute step 'a' around 'conv', got 'cudnn'}}
  %a = plan.step "a" on cudnn schedule(#plan.product<mma = bf16>) (%x, %w) {
  ^bb0(%i: tensor<1x1x4x4xf32>, %f: tensor<1x1x1x1xf32>):
    %0 = mnist.conv nchw %i, %f strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
        : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
    plan.yield %0 : tensor<1x1x4x4xf32>
  } : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %a : tensor<1x1x4x4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
func.func @no_cores(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{expected an implementation for cpu that can compute step 'a' around 'matmul', got 'kernel'}}
  %a = plan.step "a" on kernel schedule(#plan.product<mma = tf32>) (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
}
