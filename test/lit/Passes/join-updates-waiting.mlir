// RUN: mnist-opt %s --split-input-file --plan-join-updates | FileCheck %s

// No update joins a gradient where another step may still read the parameter
// when that begins, unless it only packs it.

// CHECK-LABEL: func.func @read_beside
// CHECK:         plan.step "g"
// CHECK:         plan.step "dx"
// CHECK:         plan.step "w"
func.func @read_beside(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}) -> (tensor<8x4xf32> {mnist.parameter = "w"}, tensor<2x4xf32>) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %x = plan.step "dx" on kernel (%a, %p) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<8x4xf32>):
    %s = mnist.matmul %i, %j transposed [true, false] : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %w = plan.step "w" on kernel (%p, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.sub %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %x : tensor<8x4xf32>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @packed_beside
// CHECK:         plan.step "w" on kernel schedule(#plan.bands
// CHECK-NOT:     plan.step "g"
// CHECK:         plan.step "dx"
func.func @packed_beside(%x: tensor<8x8x8x8xf32>, %dy: tensor<8x8x8x8xf32>, %p: tensor<8x8x3x3xf32> {mnist.parameter = "w"}) -> (tensor<8x8x3x3xf32> {mnist.parameter = "w"}, tensor<8x8x8x8xf32>) {
  %g = plan.step "g" on kernel schedule(#plan.bands<mma = tf32x3, height = 16, width = 8>) (%x, %dy) {
  ^bb0(%i: tensor<8x8x8x8xf32>, %j: tensor<8x8x8x8xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x8x8xf32>, tensor<8x8x8x8xf32>) -> tensor<8x8x3x3xf32>
    plan.yield %s : tensor<8x8x3x3xf32>
  } : (tensor<8x8x8x8xf32>, tensor<8x8x8x8xf32>) -> tensor<8x8x3x3xf32>
  %dx = plan.step "dx" on kernel schedule(#plan.patches<mma = tf32x3, width = 16>) (%dy, %p) {
  ^bb0(%i: tensor<8x8x8x8xf32>, %j: tensor<8x8x3x3xf32>):
    %s = mnist.conv_input_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x8x8xf32>
    plan.yield %s : tensor<8x8x8x8xf32>
  } : (tensor<8x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x8x8xf32>
  %w = plan.step "w" on kernel (%p, %g) {
  ^bb0(%i: tensor<8x8x3x3xf32>, %j: tensor<8x8x3x3xf32>):
    %s = mnist.sub %i, %j : tensor<8x8x3x3xf32>
    plan.yield %s : tensor<8x8x3x3xf32>
  } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
  return %w, %dx : tensor<8x8x3x3xf32>, tensor<8x8x8x8xf32>
}

// -----

// Who reads the parameter before, for what the gradient needs, does not matter.

// CHECK-LABEL: func.func @read_before
// CHECK:         plan.step "y"
// CHECK-NOT:     plan.step "g"
// CHECK:         plan.step "w" on kernel
// CHECK-NOT:     plan.step
func.func @read_before(%a: tensor<8x2xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}) -> (tensor<8x4xf32> {mnist.parameter = "w"}) {
  %y = plan.step "y" on kernel (%a, %p) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<8x4xf32>):
    %s = mnist.matmul %i, %j transposed [true, false] : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %z = plan.step "z" on kernel (%y) {
  ^bb0(%i: tensor<2x4xf32>):
    %s = mnist.neg %i : tensor<2x4xf32>
    plan.yield %s : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = plan.step "g" on kernel (%a, %z) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %w = plan.step "w" on kernel (%p, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.sub %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w : tensor<8x4xf32>
}

// -----

// What other steps hide stays apart: 13 microseconds of "long" are left.

// CHECK-LABEL: func.func @hidden
// CHECK:         plan.step "g"
// CHECK:         plan.step "long"
// CHECK:         plan.step "w"
func.func @hidden(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %c: tensor<6500000xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}) -> (tensor<8x4xf32> {mnist.parameter = "w"}, tensor<f32>) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %l = plan.step "long" on kernel (%c) {
  ^bb0(%i: tensor<6500000xf32>):
    %s = mnist.reduce_sum %i over [0] : tensor<6500000xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<6500000xf32>) -> tensor<f32>
  %w = plan.step "w" on kernel (%p, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.sub %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %l : tensor<8x4xf32>, tensor<f32>
}

// -----

// Nor where another update would be at the end anyway.

// CHECK-LABEL: func.func @another
// CHECK:         plan.step "g"
// CHECK:         plan.step "h" on cublas
// CHECK:         plan.step "w"
// CHECK:         plan.step "v"
func.func @another(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}, %q: tensor<8x4xf32> {mnist.parameter = "v"}) -> (tensor<8x4xf32> {mnist.parameter = "w"}, tensor<8x4xf32> {mnist.parameter = "v"}) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %h = plan.step "h" on cublas (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %w = plan.step "w" on kernel (%p, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.sub %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %v = plan.step "v" on kernel (%q, %h) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.sub %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %w, %v : tensor<8x4xf32>, tensor<8x4xf32>
}
