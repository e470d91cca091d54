// RUN: mnist-opt %s --split-input-file --plan-assign-streams --plan-check-steps | FileCheck %s

// A filter that is a parameter is packed before the step that multiplies by it, so who writes over the parameter does not wait for
// that step, unless it reads the parameter otherwise, too.

// CHECK-LABEL: func.func @packed
// CHECK:       plan.step "conv"
// CHECK-NOT:   plan.stream
// CHECK:       plan.step "update"
// CHECK:       {plan.beside, plan.stream = 1 : i64}
// CHECK-NOT:   plan.after
// CHECK:       return
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
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// What is packed may be made of the parameter.

// CHECK-LABEL: func.func @made
// CHECK:       plan.step "update"
// CHECK:       {plan.beside, plan.stream = 1 : i64}
module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @made(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %1 = mnist.neg %q : tensor<8x8x3x3xf32>
    %0 = mnist.conv nchw %p, %1 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// The sum of the results and the filter reads it later.

// CHECK-LABEL: func.func @also_added
// CHECK:       plan.step "update"
// CHECK-NOT:   plan.stream
// CHECK:       return
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
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// So it does where both are of what is made of it,

// CHECK-LABEL: func.func @made_also_added
// CHECK:       plan.step "update"
// CHECK-NOT:   plan.stream
// CHECK:       return
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
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// or where it is the image, too,

// CHECK-LABEL: func.func @image
// CHECK:       plan.step "update"
// CHECK-NOT:   plan.stream
// CHECK:       return
module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @image(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] schedule(#plan.patches<mma = tf32, width = 16>) (%w, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// and nothing is packed but for patches.

// CHECK-LABEL: func.func @no_patches
// CHECK:       plan.step "update"
// CHECK-NOT:   plan.stream
// CHECK:       return
module attributes {plan.constant_bytes = 0 : i64, plan.initial_bytes = 2304 : i64, plan.parameter_bytes = 2304 : i64} {
ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter", plan.offset = 0 : i64}
func.func @no_patches(%x: tensor<8x8x3x3xf32> {plan.offset = 2304 : i64}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w", plan.offset = 0 : i64}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"})
    attributes {plan.arena_bytes = 23040 : i64, plan.workspace_bytes = 8192 : i64} {
  %c = plan.step "conv" on kernel at [4608] (%x, %w) {
  ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
    %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}

// -----

// Who else reads the parameter is waited for.

// CHECK-LABEL: func.func @reader
// CHECK:       plan.step "reads"
// CHECK:       {plan.beside, plan.stream = 1 : i64}
// CHECK:       plan.step "update"
// CHECK:       {plan.beside, plan.stream = 1 : i64}
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
  %u = plan.step "update" on kernel at [0] (%w) {
  ^bb0(%p: tensor<8x8x3x3xf32>):
    %0 = mnist.neg %p : tensor<8x8x3x3xf32>
    plan.yield %0 : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %c, %r, %u : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
}
}
