// RUN: mnist-opt %s --split-input-file --plan-join-updates | FileCheck %s

// What follows from one of the last gradients element by element is computed
// with it, and the gradient not stored. A number that is needed moves before it.

// CHECK-LABEL: func.func @moments
// CHECK:         %[[RATE:.*]] = plan.step "rate" on kernel(%arg4)
// CHECK:         %[[NEW:.*]]:2 = plan.step "w" on kernel(%arg0, %arg1, %arg3, %arg2, %[[RATE]])
// CHECK:           mnist.matmul
// CHECK:           mnist.add
// CHECK:           mnist.add
// CHECK:           mnist.sub
// CHECK-NOT:     plan.step
// CHECK:         return %[[NEW]]#0, %[[NEW]]#1
func.func @moments(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}, %q: tensor<8x4xf32> {mnist.parameter = "m"}, %lr: tensor<f32>) -> (tensor<8x4xf32> {mnist.parameter = "m"}, tensor<8x4xf32> {mnist.parameter = "w"}) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %m = plan.step "m" on kernel (%q, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.add %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %rate = plan.step "rate" on kernel (%lr) {
  ^bb0(%i: tensor<f32>):
    %s = mnist.neg %i : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %w = plan.step "w" on kernel (%p, %m, %rate) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>, %k: tensor<f32>):
    %0 = mnist.add %i, %j : tensor<8x4xf32>
    %r = mnist.broadcast %k along [] : tensor<f32> -> tensor<8x4xf32>
    %s = mnist.sub %0, %r : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %m, %w : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// It is stored where others read it.

// CHECK-LABEL: func.func @read
// CHECK:         %[[NEW:.*]]:2 = plan.step "m" on kernel
// CHECK:         plan.step "other" on kernel(%[[NEW]]#0)
// CHECK:         return %[[NEW]]#1
func.func @read(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}, %q: tensor<8x4xf32> {mnist.parameter = "m"}, %lr: tensor<f32>) -> (tensor<8x4xf32> {mnist.parameter = "m"}, tensor<8x4xf32>) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %m = plan.step "m" on kernel (%q, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.add %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %other = plan.step "other" on kernel (%g) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.neg %i : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %m, %other : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Not what is no new value of a parameter, reads other elements, or waits for
// all of the gradient.

// CHECK-LABEL: func.func @other
// CHECK:         plan.step "g"
// CHECK:         plan.step "m"
func.func @other(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}, %q: tensor<8x4xf32> {mnist.parameter = "m"}, %lr: tensor<f32>) -> tensor<8x4xf32> {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %m = plan.step "m" on kernel (%q, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.add %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func.func @turned
// CHECK:         plan.step "g"
// CHECK:         plan.step "m"
func.func @turned(%a: tensor<8x2xf32>, %b: tensor<2x8xf32>, %q: tensor<8x8xf32> {mnist.parameter = "m"}) -> (tensor<8x8xf32> {mnist.parameter = "m"}) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x8xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
    plan.yield %s : tensor<8x8xf32>
  } : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %m = plan.step "m" on kernel (%q, %g) {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %t = mnist.transpose %j perm [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
    %s = mnist.add %i, %t : tensor<8x8xf32>
    plan.yield %s : tensor<8x8xf32>
  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @clipped
// CHECK:         plan.step "g"
// CHECK:         plan.step "norm"
// CHECK:         plan.step "rate"
// CHECK:         plan.step "m"
func.func @clipped(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}, %q: tensor<8x4xf32> {mnist.parameter = "m"}, %lr: tensor<f32>) -> (tensor<8x4xf32> {mnist.parameter = "m"}) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %norm = plan.step "norm" on kernel (%g) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.reduce_sum %i over [0, 1] : tensor<8x4xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<8x4xf32>) -> tensor<f32>
  %rate = plan.step "rate" on kernel (%norm) {
  ^bb0(%i: tensor<f32>):
    %s = mnist.neg %i : tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %m = plan.step "m" on kernel (%q, %g, %rate) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>, %k: tensor<f32>):
    %0 = mnist.add %i, %j : tensor<8x4xf32>
    %r = mnist.broadcast %k along [] : tensor<f32> -> tensor<8x4xf32>
    %s = mnist.sub %0, %r : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// -----

// Nor where a library computes the gradient.

// CHECK-LABEL: func.func @library
// CHECK:         plan.step "g" on cublas
// CHECK:         plan.step "m"
func.func @library(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %p: tensor<8x4xf32> {mnist.parameter = "w"}, %q: tensor<8x4xf32> {mnist.parameter = "m"}, %lr: tensor<f32>) -> (tensor<8x4xf32> {mnist.parameter = "m"}) {
  %g = plan.step "g" on cublas (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %m = plan.step "m" on kernel (%q, %g) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %s = mnist.add %i, %j : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}

// -----

// Nor of a large parameter.

// CHECK-LABEL: func.func @large
// CHECK:         plan.step "g"
// CHECK:         plan.step "m"
func.func @large(%a: tensor<1024x2xf32>, %b: tensor<2x512xf32>, %q: tensor<1024x512xf32> {mnist.parameter = "m"}) -> (tensor<1024x512xf32> {mnist.parameter = "m"}) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<1024x2xf32>, %j: tensor<2x512xf32>):
    %s = mnist.matmul %i, %j : (tensor<1024x2xf32>, tensor<2x512xf32>) -> tensor<1024x512xf32>
    plan.yield %s : tensor<1024x512xf32>
  } : (tensor<1024x2xf32>, tensor<2x512xf32>) -> tensor<1024x512xf32>
  %m = plan.step "m" on kernel (%q, %g) {
  ^bb0(%i: tensor<1024x512xf32>, %j: tensor<1024x512xf32>):
    %s = mnist.add %i, %j : tensor<1024x512xf32>
    plan.yield %s : tensor<1024x512xf32>
  } : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %m : tensor<1024x512xf32>
}

// -----

// Of a filter and a bias that are one step: what follows from one sum is next to
// each other.

// CHECK-LABEL: func.func @filter_and_bias
// CHECK:         %[[NEW:.*]]:4 = plan.step "w" on kernel schedule(#plan.weights<channels = 8, split = 49>)(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5)
// CHECK-NOT:     plan.step
// CHECK:         return %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2, %[[NEW]]#3
func.func @filter_and_bias(%x: tensor<64x1x28x28xf32>, %dy: tensor<64x32x28x28xf32>, %m: tensor<32x1x3x3xf32> {mnist.parameter = "m"}, %c: tensor<32xf32> {mnist.parameter = "c"}, %p: tensor<32x1x3x3xf32> {mnist.parameter = "w"}, %q: tensor<32xf32> {mnist.parameter = "b"}) -> (tensor<32x1x3x3xf32> {mnist.parameter = "m"}, tensor<32x1x3x3xf32> {mnist.parameter = "w"}, tensor<32xf32> {mnist.parameter = "c"}, tensor<32xf32> {mnist.parameter = "b"}) {
  %g:2 = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %dy, %m, %c) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>, %k: tensor<32x1x3x3xf32>, %l: tensor<32xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    %t = mnist.add %k, %s : tensor<32x1x3x3xf32>
    %u = mnist.reduce_sum %j over [0, 2, 3] : tensor<64x32x28x28xf32> -> tensor<32xf32>
    %v = mnist.add %l, %u : tensor<32xf32>
    plan.yield %t, %v : tensor<32x1x3x3xf32>, tensor<32xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>)
  %w = plan.step "w" on kernel (%p, %g#0) {
  ^bb0(%i: tensor<32x1x3x3xf32>, %j: tensor<32x1x3x3xf32>):
    %s = mnist.sub %i, %j : tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<32x1x3x3xf32>, tensor<32x1x3x3xf32>) -> tensor<32x1x3x3xf32>
  %b = plan.step "b" on kernel (%q, %g#1) {
  ^bb0(%i: tensor<32xf32>, %j: tensor<32xf32>):
    %s = mnist.sub %i, %j : tensor<32xf32>
    plan.yield %s : tensor<32xf32>
  } : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %g#0, %w, %g#1, %b : tensor<32x1x3x3xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// Of a sum, unless what becomes of it has another shape.

// CHECK-LABEL: func.func @sum
// CHECK:         plan.step "b" on kernel
// CHECK-NOT:     plan.step
func.func @sum(%a: tensor<64x8xf32>, %q: tensor<8xf32> {mnist.parameter = "b"}) -> (tensor<8xf32> {mnist.parameter = "b"}) {
  %g = plan.step "g" on kernel (%a) {
  ^bb0(%i: tensor<64x8xf32>):
    %s = mnist.reduce_sum %i over [0] : tensor<64x8xf32> -> tensor<8xf32>
    plan.yield %s : tensor<8xf32>
  } : (tensor<64x8xf32>) -> tensor<8xf32>
  %b = plan.step "b" on kernel (%q, %g) {
  ^bb0(%i: tensor<8xf32>, %j: tensor<8xf32>):
    %s = mnist.sub %i, %j : tensor<8xf32>
    plan.yield %s : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @reshaped
// CHECK:         plan.step "g"
// CHECK:         plan.step "b"
func.func @reshaped(%a: tensor<64x8xf32>, %q: tensor<1x8xf32> {mnist.parameter = "b"}) -> (tensor<1x8xf32> {mnist.parameter = "b"}) {
  %g = plan.step "g" on kernel (%a) {
  ^bb0(%i: tensor<64x8xf32>):
    %s = mnist.reduce_sum %i over [0] : tensor<64x8xf32> -> tensor<8xf32>
    %r = mnist.reshape %s : tensor<8xf32> -> tensor<1x8xf32>
    plan.yield %r : tensor<1x8xf32>
  } : (tensor<64x8xf32>) -> tensor<1x8xf32>
  %b = plan.step "b" on kernel (%q, %g) {
  ^bb0(%i: tensor<1x8xf32>, %j: tensor<1x8xf32>):
    %s = mnist.sub %i, %j : tensor<1x8xf32>
    plan.yield %s : tensor<1x8xf32>
  } : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  return %b : tensor<1x8xf32>
}

// -----

// A number that takes a sum is not moved before the gradient.

// CHECK-LABEL: func.func @summed
// CHECK:         plan.step "g"
// CHECK:         plan.step "norm"
// CHECK:         plan.step "m"
func.func @summed(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>, %c: tensor<8x4xf32>, %q: tensor<8x4xf32> {mnist.parameter = "m"}) -> (tensor<8x4xf32> {mnist.parameter = "m"}) {
  %g = plan.step "g" on kernel (%a, %b) {
  ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
    %s = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %norm = plan.step "norm" on kernel (%c) {
  ^bb0(%i: tensor<8x4xf32>):
    %s = mnist.reduce_sum %i over [0, 1] : tensor<8x4xf32> -> tensor<f32>
    plan.yield %s : tensor<f32>
  } : (tensor<8x4xf32>) -> tensor<f32>
  %m = plan.step "m" on kernel (%q, %g, %norm) {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>, %k: tensor<f32>):
    %0 = mnist.add %i, %j : tensor<8x4xf32>
    %r = mnist.broadcast %k along [] : tensor<f32> -> tensor<8x4xf32>
    %s = mnist.sub %0, %r : tensor<8x4xf32>
    plan.yield %s : tensor<8x4xf32>
  } : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %m : tensor<8x4xf32>
}
