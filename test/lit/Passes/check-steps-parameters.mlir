// RUN: mnist-opt %s --plan-check-steps=alignment=64 --split-input-file \
// RUN:   --verify-diagnostics

// What the check says about parameters.

// expected-error @+1 {{expected 'plan.parameter_bytes' on the module, got none}}
module attributes {plan.constant_bytes = 0 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
// expected-error @+1 {{'ml_program.global' op expected an initial value with its elements, got none}}
ml_program.global private mutable @w : tensor<4xf32> {plan.offset = 0 : i64}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
// expected-error @+1 {{'ml_program.global' op expected a 'plan.offset', got none}}
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
// expected-error @+1 {{expected parameter 'w' inside the parameters of 128 bytes, got 128 to 144}}
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 128 : i64}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 128 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<32xf32>) : tensor<32xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
// expected-error @+1 {{'ml_program.global' op expected parameter 'v' apart from parameter 'w', bytes 0 to 128, got bytes 64 to 80}}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// expected-error @+1 {{expected argument 0, parameter 'u', to have a global of type 'tensor<4xf32>', got none}}
func.func @unknown(%w: tensor<4xf32> {mnist.parameter = "u", plan.offset = 0 : i64})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  return
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// expected-error @+1 {{expected argument 0 at 0, the address of its parameter, got 64}}
func.func @elsewhere(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 64 : i64})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  return
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// expected-error @+1 {{expected argument 0 after the parameters of 128 bytes, got 64}}
func.func @among(%x: tensor<4xf32> {plan.offset = 64 : i64})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  return
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
func.func @result_elsewhere(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected 'a' at 0, the address of its parameter, got 64}}
  %a = plan.step "a" on kernel at [64] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.neg %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// expected-error @+1 {{expected a step to compute parameter 'w', got argument 0}}
func.func @no_step(%x: tensor<4xf32> {plan.offset = 128 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  return %x : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// expected-error @+1 {{expected argument 1 to be one parameter, but it is also 'w'}}
func.func @two(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}, %v: tensor<4xf32> {mnist.parameter = "v", plan.offset = 64 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  return %v : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
func.func @too_late(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"}, tensor<4xf32>)
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [0] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.neg %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'b' to read parameter 'w' before step 'a' updates it}}
  %b = plan.step "b" on kernel at [128] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.neg %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// expected-error @+1 {{expected result 1 not to be parameter 'w', which step 'a' updates}}
func.func @old(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"}, tensor<4xf32>)
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  %a = plan.step "a" on kernel at [0] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.neg %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %w : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// Another element than the one that is written.
func.func @reversed(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected step 'a', which updates parameter 'w', to read of it only the element that it writes}}
  %a = plan.step "a" on kernel at [0] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.slice %i starts [3] steps [-1] : tensor<4xf32> -> tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// A root reads all of it; what follows a root reads what it writes.
func.func @root(%x: tensor<4xf32> {plan.offset = 128 : i64}, %w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}, %v: tensor<4xf32> {mnist.parameter = "v", plan.offset = 64 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"}, tensor<4xf32> {mnist.parameter = "v"})
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  %b = plan.step "b" on kernel at [64] (%x, %v) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4xf32>):
    %1 = mnist.softmax %i dim 0 : tensor<4xf32>
    %0 = mnist.add %1, %j : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected step 'a', which updates parameter 'w', to read of it only the element that it writes}}
  %a = plan.step "a" on kernel at [0] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.softmax %i dim 0 : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 64 : i64, plan.parameter_bytes = 128 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
ml_program.global private mutable @v(dense<0.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "state", plan.offset = 64 : i64}
// One segment of a map writes what another one reads.
func.func @segments(%w: tensor<4xf32> {mnist.parameter = "w", plan.offset = 0 : i64}, %v: tensor<4xf32> {mnist.parameter = "v", plan.offset = 64 : i64}) -> (tensor<4xf32> {mnist.parameter = "w"}, tensor<2xf32>)
    attributes {plan.arena_bytes = 256 : i64, plan.workspace_bytes = 0 : i64} {
  // expected-error @+1 {{expected step 'a', which updates parameter 'w', to read of it only the element that it writes}}
  %a:2 = plan.step "a" on kernel at [0, 128] (%w) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.neg %i : tensor<4xf32>
    %1 = mnist.slice %i starts [1] steps [1] : tensor<4xf32> -> tensor<2xf32>
    plan.yield %0, %1 : tensor<4xf32>, tensor<2xf32>
  } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return %a#0, %a#1 : tensor<4xf32>, tensor<2xf32>
}
}
