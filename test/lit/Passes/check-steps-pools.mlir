// RUN: mnist-opt %s --plan-check-steps --split-input-file --verify-diagnostics

// Steps that pool what they compute.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @windows(%x: tensor<1x3x12xf32> {plan.offset = 0 : i64}) -> (tensor<1x3x6xf32>, tensor<1x3x4xui8>) attributes {plan.arena_bytes = 1024 : i64} {
  // expected-error @+1 {{expected pools of one value with the same windows in step 'a', which pools, got 'mnist.arg_max_pool' of others}}
  %a:2 = plan.step "a" on kernel at [256, 512] (%x) {
  ^bb0(%i: tensor<1x3x12xf32>):
    %0 = mnist.max_pool nchw %i kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x12xf32> -> tensor<1x3x6xf32>
    %1 = mnist.arg_max_pool nchw %i kernel [3] strides [3] pads [0, 0] dilations [1] in_window : tensor<1x3x12xf32> -> tensor<1x3x4xui8>
    plan.yield %0, %1 : tensor<1x3x6xf32>, tensor<1x3x4xui8>
  } : (tensor<1x3x12xf32>) -> (tensor<1x3x6xf32>, tensor<1x3x4xui8>)
  return %a#0, %a#1 : tensor<1x3x6xf32>, tensor<1x3x4xui8>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @overlapping(%x: tensor<1x3x8xf32> {plan.offset = 0 : i64}, %w: tensor<3x3x1xf32> {plan.offset = 256 : i64}) -> tensor<1x3x7xf32> attributes {plan.arena_bytes = 1024 : i64} {
  // expected-error @+1 {{expected at most one op with its own loops in step 'a', got 'mnist.conv' and 'mnist.max_pool'}}
  %a = plan.step "a" on kernel at [512] (%x, %w) {
  ^bb0(%i: tensor<1x3x8xf32>, %j: tensor<3x3x1xf32>):
    %0 = mnist.conv nchw %i, %j strides [1] pads [0, 0] dilations [1] groups 1 : (tensor<1x3x8xf32>, tensor<3x3x1xf32>) -> tensor<1x3x8xf32>
    %1 = mnist.max_pool nchw %0 kernel [2] strides [1] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x7xf32>
    plan.yield %1 : tensor<1x3x7xf32>
  } : (tensor<1x3x8xf32>, tensor<3x3x1xf32>) -> tensor<1x3x7xf32>
  return %a : tensor<1x3x7xf32>
}
}

// -----

module attributes {plan.constant_bytes = 0 : i64} {
func.func @mean(%x: tensor<1x3x8xf32> {plan.offset = 0 : i64}) -> (tensor<1x3x4xf32>, tensor<1x3x4xui8>) attributes {plan.arena_bytes = 1024 : i64} {
  // expected-error @+1 {{expected a maximum or a mean, indices only with a maximum in step 'a', which pools, got 'mnist.arg_max_pool'}}
  %a:2 = plan.step "a" on kernel at [256, 512] (%x) {
  ^bb0(%i: tensor<1x3x8xf32>):
    %0 = mnist.avg_pool nchw %i kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
    %1 = mnist.arg_max_pool nchw %i kernel [2] strides [2] pads [0, 0] dilations [1] in_window : tensor<1x3x8xf32> -> tensor<1x3x4xui8>
    plan.yield %0, %1 : tensor<1x3x4xf32>, tensor<1x3x4xui8>
  } : (tensor<1x3x8xf32>) -> (tensor<1x3x4xf32>, tensor<1x3x4xui8>)
  return %a#0, %a#1 : tensor<1x3x4xf32>, tensor<1x3x4xui8>
}
}

// -----

// Pools of other values than the convolution's.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @other(%x: tensor<1x3x8xf32> {plan.offset = 0 : i64}, %w: tensor<3x3x1xf32> {plan.offset = 256 : i64}) -> (tensor<1x3x8xf32>, tensor<1x3x4xf32>) attributes {plan.arena_bytes = 1024 : i64} {
  // expected-error @+1 {{expected pools of what the convolution gives in step 'a', which pools, got 'mnist.max_pool' of what is in memory}}
  %a:2 = plan.step "a" on kernel at [512, 768] (%x, %w) {
  ^bb0(%i: tensor<1x3x8xf32>, %j: tensor<3x3x1xf32>):
    %0 = mnist.conv nchw %i, %j strides [1] pads [0, 0] dilations [1] groups 1 : (tensor<1x3x8xf32>, tensor<3x3x1xf32>) -> tensor<1x3x8xf32>
    %1 = mnist.max_pool nchw %i kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
    plan.yield %0, %1 : tensor<1x3x8xf32>, tensor<1x3x4xf32>
  } : (tensor<1x3x8xf32>, tensor<3x3x1xf32>) -> (tensor<1x3x8xf32>, tensor<1x3x4xf32>)
  return %a#0, %a#1 : tensor<1x3x8xf32>, tensor<1x3x4xf32>
}
}

// -----

// No kernel for it: a convolution over one dimension.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @kernel(%x: tensor<1x3x8xf32> {plan.offset = 0 : i64}, %w: tensor<3x3x1xf32> {plan.offset = 256 : i64}) -> tensor<1x3x4xf32> attributes {plan.arena_bytes = 1024 : i64} {
  // expected-error @+1 {{expected an implementation that can compute step 'a' around 'conv', got 'kernel'}}
  %a = plan.step "a" on kernel at [512] (%x, %w) {
  ^bb0(%i: tensor<1x3x8xf32>, %j: tensor<3x3x1xf32>):
    %0 = mnist.conv nchw %i, %j strides [1] pads [0, 0] dilations [1] groups 1 : (tensor<1x3x8xf32>, tensor<3x3x1xf32>) -> tensor<1x3x8xf32>
    %1 = mnist.max_pool nchw %0 kernel [2] strides [2] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x4xf32>
    plan.yield %1 : tensor<1x3x4xf32>
  } : (tensor<1x3x8xf32>, tensor<3x3x1xf32>) -> tensor<1x3x4xf32>
  return %a : tensor<1x3x4xf32>
}
}

// -----

// Only gradients of convolutions read windows.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @unpool(%x: tensor<1x3x2x2xf32> {plan.offset = 0 : i64}, %i: tensor<1x3x2x2xui8> {plan.offset = 256 : i64}) -> tensor<1x3x4x4xf32> attributes {plan.arena_bytes = 1024 : i64} {
  // expected-error @+1 {{expected only a gradient of a convolution by weights, bands or patches to read 'mnist.max_unpool' where it is computed, got otherwise in step 'a'}}
  %a = plan.step "a" on kernel at [512] (%x, %i) {
  ^bb0(%j: tensor<1x3x2x2xf32>, %k: tensor<1x3x2x2xui8>):
    %0 = mnist.max_unpool nchw %j, %k kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] {plan.inline} : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xui8>) -> tensor<1x3x4x4xf32>
    %1 = mnist.relu %0 : tensor<1x3x4x4xf32>
    plan.yield %1 : tensor<1x3x4x4xf32>
  } : (tensor<1x3x2x2xf32>, tensor<1x3x2x2xui8>) -> tensor<1x3x4x4xf32>
  return %a : tensor<1x3x4x4xf32>
}
}

// -----

// A product has no whole windows.

module attributes {plan.constant_bytes = 0 : i64} {
func.func @product(%x: tensor<1x3x8x8xf32> {plan.offset = 0 : i64}, %w: tensor<3x3x1x1xf32> {plan.offset = 1024 : i64}) -> tensor<1x3x4x4xf32> attributes {plan.arena_bytes = 2048 : i64} {
  // expected-error @+1 {{expected columns or patches for a convolution with a pool, got others}}
  %a = plan.step "a" on kernel at [1280] schedule(#plan.product<tile = [16, 32, 3], warps = [2, 1]>) (%x, %w) {
  ^bb0(%i: tensor<1x3x8x8xf32>, %j: tensor<3x3x1x1xf32>):
    %0 = mnist.conv nchw %i, %j strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1x3x8x8xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x8x8xf32>
    %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<1x3x8x8xf32> -> tensor<1x3x4x4xf32>
    plan.yield %1 : tensor<1x3x4x4xf32>
  } : (tensor<1x3x8x8xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x4x4xf32>
  return %a : tensor<1x3x4x4xf32>
}
}
