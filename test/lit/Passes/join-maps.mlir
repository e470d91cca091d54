// RUN: mnist-opt %s --split-input-file --plan-join-maps | FileCheck %s

// What a map computes for nothing but the gradient of a filter with few weights
// is computed there, for the bias, too.

// CHECK-LABEL: func.func @joined
// CHECK:         %[[NEW:.*]]:2 = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>)(%arg1, %arg2, %arg0)
// CHECK:           %[[DY:.*]] = mnist.mul
// CHECK:           mnist.conv_filter_grad nchw %{{.*}}, %[[DY]]
// CHECK:           mnist.reduce_sum %[[DY]]
// CHECK-NOT:     plan.step
// CHECK:         return %[[NEW]]#0, %[[NEW]]#1
func.func @joined(%x: tensor<64x1x28x28xf32>, %y: tensor<64x32x28x28xf32>, %d: tensor<64x32x28x28xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>) {
  %m = plan.step "dy" on kernel (%y, %d) {
  ^bb0(%i: tensor<64x32x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.mul %i, %j : tensor<64x32x28x28xf32>
    plan.yield %s : tensor<64x32x28x28xf32>
  } : (tensor<64x32x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<64x32x28x28xf32>
  %g:2 = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %m) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    %u = mnist.reduce_sum %j over [0, 2, 3] : tensor<64x32x28x28xf32> -> tensor<32xf32>
    plan.yield %s, %u : tensor<32x1x3x3xf32>, tensor<32xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> (tensor<32x1x3x3xf32>, tensor<32xf32>)
  return %g#0, %g#1 : tensor<32x1x3x3xf32>, tensor<32xf32>
}

// -----

// The gradient of an average pool becomes a map, if windows are next to each
// other.

// CHECK-LABEL: func.func @pooled
// CHECK:         plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>)(%arg1, %arg0)
// CHECK:           %[[ALL:.*]] = mnist.broadcast %{{.*}} along [0, 1, 2, 4] : tensor<64x32x14x7xf32> -> tensor<64x32x14x2x7x4xf32>
// CHECK:           %[[SPREAD:.*]] = mnist.reshape %[[ALL]]
// CHECK:           %[[COUNT:.*]] = mnist.constant dense<8.000000e+00>
// CHECK:           %[[DY:.*]] = mnist.div %[[SPREAD]], %[[COUNT]]
// CHECK:           mnist.conv_filter_grad nchw %{{.*}}, %[[DY]]
// CHECK-NOT:     plan.step
func.func @pooled(%x: tensor<64x1x28x28xf32>, %d: tensor<64x32x14x7xf32>) -> tensor<32x1x3x3xf32> {
  %m = plan.step "dy" on kernel (%d) {
  ^bb0(%i: tensor<64x32x14x7xf32>):
    %s = mnist.avg_pool_grad nchw %i kernel [2, 4] strides [2, 4] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x32x14x7xf32> -> tensor<64x32x28x28xf32>
    plan.yield %s : tensor<64x32x28x28xf32>
  } : (tensor<64x32x14x7xf32>) -> tensor<64x32x28x28xf32>
  %g = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %m) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %g : tensor<32x1x3x3xf32>
}

// -----

// Where they overlap, are between each other, or do not reach the end, it stays.

// CHECK-LABEL: func.func @overlapping
// CHECK:         plan.step "dy"
// CHECK:         plan.step "g"
func.func @overlapping(%x: tensor<64x1x28x28xf32>, %d: tensor<64x32x27x27xf32>) -> tensor<32x1x3x3xf32> {
  %m = plan.step "dy" on kernel (%d) {
  ^bb0(%i: tensor<64x32x27x27xf32>):
    %s = mnist.avg_pool_grad nchw %i kernel [2, 2] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x32x27x27xf32> -> tensor<64x32x28x28xf32>
    plan.yield %s : tensor<64x32x28x28xf32>
  } : (tensor<64x32x27x27xf32>) -> tensor<64x32x28x28xf32>
  %g = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %m) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %g : tensor<32x1x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @between
// CHECK:         plan.step "dy"
// CHECK:         plan.step "g"
func.func @between(%x: tensor<64x1x4x4xf32>, %d: tensor<64x32x2x2xf32>) -> tensor<32x1x3x3xf32> {
  %m = plan.step "dy" on kernel (%d) {
  ^bb0(%i: tensor<64x32x2x2xf32>):
    %s = mnist.avg_pool_grad nchw %i kernel [2, 2] strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2] : tensor<64x32x2x2xf32> -> tensor<64x32x4x4xf32>
    plan.yield %s : tensor<64x32x4x4xf32>
  } : (tensor<64x32x2x2xf32>) -> tensor<64x32x4x4xf32>
  %g = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %m) {
  ^bb0(%i: tensor<64x1x4x4xf32>, %j: tensor<64x32x4x4xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x4x4xf32>, tensor<64x32x4x4xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x4x4xf32>, tensor<64x32x4x4xf32>) -> tensor<32x1x3x3xf32>
  return %g : tensor<32x1x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @rest
// CHECK:         plan.step "dy"
// CHECK:         plan.step "g"
func.func @rest(%x: tensor<64x1x29x29xf32>, %d: tensor<64x32x14x14xf32>) -> tensor<32x1x3x3xf32> {
  %m = plan.step "dy" on kernel (%d) {
  ^bb0(%i: tensor<64x32x14x14xf32>):
    %s = mnist.avg_pool_grad nchw %i kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x32x14x14xf32> -> tensor<64x32x29x29xf32>
    plan.yield %s : tensor<64x32x29x29xf32>
  } : (tensor<64x32x14x14xf32>) -> tensor<64x32x29x29xf32>
  %g = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %m) {
  ^bb0(%i: tensor<64x1x29x29xf32>, %j: tensor<64x32x29x29xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x29x29xf32>, tensor<64x32x29x29xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x29x29xf32>, tensor<64x32x29x29xf32>) -> tensor<32x1x3x3xf32>
  return %g : tensor<32x1x3x3xf32>
}

// -----

// Nor what another step reads, too, what is the input, or what is loaded for
// some products at a time.

// CHECK-LABEL: func.func @read_twice
// CHECK:         plan.step "dy"
// CHECK:         plan.step "other"
// CHECK:         plan.step "g"
func.func @read_twice(%x: tensor<64x1x28x28xf32>, %y: tensor<64x32x28x28xf32>) -> (tensor<32x1x3x3xf32>, tensor<64x32x28x28xf32>) {
  %m = plan.step "dy" on kernel (%y) {
  ^bb0(%i: tensor<64x32x28x28xf32>):
    %s = mnist.neg %i : tensor<64x32x28x28xf32>
    plan.yield %s : tensor<64x32x28x28xf32>
  } : (tensor<64x32x28x28xf32>) -> tensor<64x32x28x28xf32>
  %o = plan.step "other" on kernel (%m) {
  ^bb0(%i: tensor<64x32x28x28xf32>):
    %s = mnist.neg %i : tensor<64x32x28x28xf32>
    plan.yield %s : tensor<64x32x28x28xf32>
  } : (tensor<64x32x28x28xf32>) -> tensor<64x32x28x28xf32>
  %g = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%x, %m) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %g, %o : tensor<32x1x3x3xf32>, tensor<64x32x28x28xf32>
}

// -----

// CHECK-LABEL: func.func @input
// CHECK:         plan.step "x"
// CHECK:         plan.step "g"
func.func @input(%y: tensor<64x1x28x28xf32>, %dy: tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32> {
  %m = plan.step "x" on kernel (%y) {
  ^bb0(%i: tensor<64x1x28x28xf32>):
    %s = mnist.neg %i : tensor<64x1x28x28xf32>
    plan.yield %s : tensor<64x1x28x28xf32>
  } : (tensor<64x1x28x28xf32>) -> tensor<64x1x28x28xf32>
  %g = plan.step "g" on kernel schedule(#plan.weights<channels = 8, split = 49>) (%m, %dy) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %g : tensor<32x1x3x3xf32>
}

// -----

// CHECK-LABEL: func.func @product
// CHECK:         plan.step "dy"
// CHECK:         plan.step "g"
func.func @product(%x: tensor<64x1x28x28xf32>, %y: tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32> {
  %m = plan.step "dy" on kernel (%y) {
  ^bb0(%i: tensor<64x32x28x28xf32>):
    %s = mnist.neg %i : tensor<64x32x28x28xf32>
    plan.yield %s : tensor<64x32x28x28xf32>
  } : (tensor<64x32x28x28xf32>) -> tensor<64x32x28x28xf32>
  %g = plan.step "g" on kernel schedule(#plan.product<mma = tf32x3, tile = [32, 32, 32], warps = [2, 2], split = 79>) (%x, %m) {
  ^bb0(%i: tensor<64x1x28x28xf32>, %j: tensor<64x32x28x28xf32>):
    %s = mnist.conv_filter_grad nchw %i, %j strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
    plan.yield %s : tensor<32x1x3x3xf32>
  } : (tensor<64x1x28x28xf32>, tensor<64x32x28x28xf32>) -> tensor<32x1x3x3xf32>
  return %g : tensor<32x1x3x3xf32>
}
