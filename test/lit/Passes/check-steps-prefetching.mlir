// RUN: mnist-opt %s --plan-check-steps=alignment=64 --split-input-file \
// RUN:   --verify-diagnostics

// Plans of which the runtime has two copies of the inputs: what is wrong with
// them.

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 0 : i64, plan.parameter_bytes = 64 : i64} {
ml_program.global private mutable @mn.batch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state", plan.offset = 0 : i64}

// A result in the place of an input that is not read any more.

func.func @in_place(%x: tensor<4x4xf32> {mnist.name = "x", plan.offset = 64 : i64},
    %labels: tensor<4xf32> {mnist.name = "mn.labels", plan.offset = 192 : i64},
    %batch: tensor<i64> {mnist.parameter = "mn.batch", plan.offset = 0 : i64})
    -> (tensor<4x4xf32> {mnist.name = "mn.loss"}, tensor<i64> {mnist.parameter = "mn.batch"})
    attributes {plan.prefetches, plan.arena_bytes = 320 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'y' outside of bytes 64 to 208, which the inputs have to themselves, got bytes 64 to 128}}
  %y = plan.step "y" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.relu %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %next = plan.step "batch" on kernel at [0] (%batch) {
  ^bb0(%i: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %i, %one : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %y, %next : tensor<4x4xf32>, tensor<i64>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 0 : i64, plan.parameter_bytes = 64 : i64} {
ml_program.global private mutable @mn.batch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state", plan.offset = 0 : i64}

// One between two inputs, where neither of them is.

func.func @between(%x: tensor<4x4xf32> {mnist.name = "x", plan.offset = 64 : i64},
    %labels: tensor<4xf32> {mnist.name = "mn.labels", plan.offset = 192 : i64},
    %batch: tensor<i64> {mnist.parameter = "mn.batch", plan.offset = 0 : i64})
    -> (tensor<4x4xf32> {mnist.name = "mn.loss"}, tensor<i64> {mnist.parameter = "mn.batch"})
    attributes {plan.prefetches, plan.arena_bytes = 320 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'y' outside of bytes 64 to 208, which the inputs have to themselves, got bytes 128 to 192}}
  %y = plan.step "y" on kernel at [128] (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.relu %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %next = plan.step "batch" on kernel at [0] (%batch) {
  ^bb0(%i: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %one, %i : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %y, %next : tensor<4x4xf32>, tensor<i64>
}

// Behind them, and where the function does not say that it prefetches.

func.func @behind(%x: tensor<4x4xf32> {mnist.name = "x", plan.offset = 64 : i64},
    %labels: tensor<4xf32> {mnist.name = "mn.labels", plan.offset = 128 : i64},
    %batch: tensor<i64> {mnist.parameter = "mn.batch", plan.offset = 0 : i64})
    -> (tensor<4x4xf32> {mnist.name = "mn.loss"}, tensor<i64> {mnist.parameter = "mn.batch"})
    attributes {plan.prefetches, plan.arena_bytes = 320 : i64, plan.workspace_bytes = 0 : i64} {
  %y = plan.step "y" on kernel at [192] (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.relu %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %next = plan.step "batch" on kernel at [0] (%batch) {
  ^bb0(%i: tensor<i64>):
    %one = mnist.constant dense<1> : tensor<i64>
    %0 = mnist.add %one, %i : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %y, %next : tensor<4x4xf32>, tensor<i64>
}

func.func @says_nothing(%x: tensor<4x4xf32> {mnist.name = "x", plan.offset = 64 : i64},
    %labels: tensor<4xf32> {mnist.name = "mn.labels", plan.offset = 128 : i64})
    -> (tensor<4x4xf32> {mnist.name = "mn.loss"})
    attributes {plan.arena_bytes = 192 : i64, plan.workspace_bytes = 0 : i64} {
  %y = plan.step "y" on kernel at [64] (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.relu %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 0 : i64, plan.parameter_bytes = 64 : i64} {
ml_program.global private mutable @mn.batch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state", plan.offset = 0 : i64}

// A run that counts two batches.

// expected-error @+1 {{expected 'skips' with 'plan.prefetches' to add 1 to 'mn.batch' and to leave 'mn.seed' and 'mn.epoch', got otherwise}}
func.func @skips(%x: tensor<4x4xf32> {mnist.name = "x", plan.offset = 64 : i64},
    %batch: tensor<i64> {mnist.parameter = "mn.batch", plan.offset = 0 : i64})
    -> (tensor<i64> {mnist.parameter = "mn.batch"})
    attributes {plan.prefetches, plan.arena_bytes = 128 : i64, plan.workspace_bytes = 0 : i64} {
  %next = plan.step "batch" on kernel at [0] (%batch) {
  ^bb0(%i: tensor<i64>):
    %two = mnist.constant dense<2> : tensor<i64>
    %0 = mnist.add %i, %two : tensor<i64>
    plan.yield %0 : tensor<i64>
  } : (tensor<i64>) -> tensor<i64>
  return %next : tensor<i64>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 0 : i64, plan.parameter_bytes = 64 : i64} {
ml_program.global private mutable @mn.batch(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state", plan.offset = 0 : i64}

// One that counts none.

// expected-error @+1 {{expected 'stays' with 'plan.prefetches' to add 1 to 'mn.batch' and to leave 'mn.seed' and 'mn.epoch', got otherwise}}
func.func @stays(%x: tensor<4x4xf32> {mnist.name = "x", plan.offset = 64 : i64},
    %batch: tensor<i64> {mnist.parameter = "mn.batch", plan.offset = 0 : i64})
    attributes {plan.prefetches, plan.arena_bytes = 128 : i64, plan.workspace_bytes = 0 : i64} {
  return
}
}
