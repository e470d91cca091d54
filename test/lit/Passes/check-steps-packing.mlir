// RUN: mnist-opt %s --plan-check-steps --split-input-file --verify-diagnostics | FileCheck %s

// "update" writes over a filter that "conv" only packs: it need not wait.

// CHECK: @packed
module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @packed(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// It reads the filter when its products are done.

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @also_added(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %1 = mnist.add %0, %q : tensor<8x8x3x3xf32>
    plan.yield %1 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  // expected-error @+1 {{expected step 'update' of stream 1 to wait for step 'conv' of stream 0, with which it shares bytes}}
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @made_also_added(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %1 = mnist.neg %q : tensor<8x8x3x3xf32>
    %0 = mnist.conv nchw %p, %1 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %2 = mnist.add %0, %1 : tensor<8x8x3x3xf32>
    plan.yield %2 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  // expected-error @+1 {{expected step 'update' of stream 1 to wait for step 'conv' of stream 0, with which it shares bytes}}
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// It is no step that packs.

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @no_patches(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  // expected-error @+1 {{expected step 'update' of stream 1 to wait for step 'conv' of stream 0, with which it shares bytes}}
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// Another step reads the parameter.

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @reader(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %r = plan.step "reads" on kernel at [6912] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  // expected-error @+1 {{expected step 'update' of stream 1 to wait for step 'reads' of stream 0, with which it shares bytes}}
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %r, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// Its results are written over, too.

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @results(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %n = plan.step "next" on kernel at [6912] (%c) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  // expected-error @+1 {{expected step 'over' of stream 1 to wait for step 'conv' of stream 0, with which it shares bytes}}
  %o = plan.step "over" on kernel at [4608] (%x) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } {plan.stream = 1 : i64} : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %n, %o, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}
