// RUN: mnist-opt %s --split-input-file --verify-diagnostics

// Schedules of convolutions that no kernel can run.

func.func @large(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected numbers from 1 to 4096 in a schedule, got 99999}}
  %z = plan.step "z" on kernel schedule(#plan.columns<height = 99999>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @weights_forward(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected a schedule for 'mnist.conv', got weights, channels 2}}
  %z = plan.step "z" on kernel schedule(#plan.weights<channels = 2>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @images(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected 1, 2 or 4 images a thread that divide the batch of 6, got 4}}
  %z = plan.step "z" on kernel schedule(#plan.direct<images = 4>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @direct_products(%x: tensor<6x32x9x9xf32>, %y: tensor<8x32x3x3xf32>) {
  // expected-error @below {{expected at most 128 products for each result of a direct convolution, got 288}}
  %z = plan.step "z" on kernel schedule(#plan.direct<images = 2>) (%x, %y) {
  ^bb0(%a: tensor<6x32x9x9xf32>, %b: tensor<8x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x32x9x9xf32>, tensor<8x32x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x32x9x9xf32>, tensor<8x32x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @columns_layout(%x: tensor<6x9x9x4xf32>, %y: tensor<8x3x3x4xf32>) {
  // expected-error @below {{expected images in nchw of two dimensions or more for columns, got others}}
  %z = plan.step "z" on kernel schedule(#plan.columns<height = 2>) (%x, %y) {
  ^bb0(%a: tensor<6x9x9x4xf32>, %b: tensor<8x3x3x4xf32>):
    %0 = mnist.conv nhwc %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x9x9x4xf32>, tensor<8x3x3x4xf32>) -> tensor<6x9x9x8xf32>
    plan.yield %0 : tensor<6x9x9x8xf32>
  } : (tensor<6x9x9x4xf32>, tensor<8x3x3x4xf32>) -> tensor<6x9x9x8xf32>
  return
}

// -----

func.func @columns_numbers(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected powers of two for columns, a height and split of at most 8, a width of at most 16 and 64 results a thread, got height = 3, width = 1, split = 1}}
  %z = plan.step "z" on kernel schedule(#plan.columns<height = 3>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @columns_room(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected columns for which a block has room, got height = 1, width = 1, split = 8 for 4 channels and windows of 9}}
  %z = plan.step "z" on kernel schedule(#plan.columns<split = 8>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_ffma(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected tensor cores for patches, got mma = ffma}}
  %z = plan.step "z" on kernel schedule(#plan.patches<width = 32>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_strides(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected strides of 1 for patches, or ones that divide the image and are no longer than undilated windows, got others}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = tf32, width = 32>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x5x5xf32>
    plan.yield %0 : tensor<6x8x5x5xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x5x5xf32>
  return
}

// -----

func.func @patches_width(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected a width of 16, 32, 48, ... 128 for patches, got 24}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = tf32, width = 24>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_split(%x: tensor<6x9x9x9xf32>, %y: tensor<8x9x3x3xf32>) {
  // expected-error @below {{expected a split of 1, 2, 4 or 8 into blocks that each sum some of 9 channels, 8 at a time, got 4}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = tf32, width = 16, split = 4>) (%x, %y) {
  ^bb0(%a: tensor<6x9x9x9xf32>, %b: tensor<8x9x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x9x9x9xf32>, tensor<8x9x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x9x9x9xf32>, tensor<8x9x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_strip_parts(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected no height for patches but in tf32 or bf16, of two dimensions, with strides of 1, sums of at most 64 terms and pools with windows of two columns, got 8}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = tf32x3, height = 8, width = 64>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_strip_height(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected a height of 4, 6, 8, ... 32 for patches, a multiple of a pool's windows, got 34}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = tf32, height = 34, width = 64>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_strip_width(%x: tensor<6x4x9x9xf32>, %y: tensor<8x4x3x3xf32>) {
  // expected-error @below {{expected a width of 64 or 128 and no split for patches with a height, got width = 48, split = 1}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = bf16, height = 8, width = 48>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<8x4x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x4x9x9xf32>, tensor<8x4x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @patches_shared(%x: tensor<6x9x9x9xf32>, %y: tensor<8x9x3x3xf32>) {
  // expected-error @below {{expected patches that need at most}}
  %z = plan.step "z" on kernel schedule(#plan.patches<mma = tf32x3, width = 128>) (%x, %y) {
  ^bb0(%a: tensor<6x9x9x9xf32>, %b: tensor<8x9x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x9x9x9xf32>, tensor<8x9x3x3xf32>) -> tensor<6x8x9x9xf32>
    plan.yield %0 : tensor<6x8x9x9xf32>
  } : (tensor<6x9x9x9xf32>, tensor<8x9x3x3xf32>) -> tensor<6x8x9x9xf32>
  return
}

// -----

func.func @weights_layout(%x: tensor<6x9x9x4xf32>, %y: tensor<6x9x9x8xf32>) {
  // expected-error @below {{expected images in nchw, or of one channel, for weights in registers, got 4 channels in nhwc}}
  %z = plan.step "z" on kernel schedule(#plan.weights<channels = 2>) (%x, %y) {
  ^bb0(%a: tensor<6x9x9x4xf32>, %b: tensor<6x9x9x8xf32>):
    %0 = mnist.conv_filter_grad nhwc %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x9x9x4xf32>, tensor<6x9x9x8xf32>) -> tensor<8x3x3x4xf32>
    plan.yield %0 : tensor<8x3x3x4xf32>
  } : (tensor<6x9x9x4xf32>, tensor<6x9x9x8xf32>) -> tensor<8x3x3x4xf32>
  return
}

// -----

func.func @weights_channels(%x: tensor<6x4x9x9xf32>, %y: tensor<6x8x9x9xf32>) {
  // expected-error @below {{expected 1, 2, 4 or 8 channels with at most 72 weights a thread, got 4 with 36 each}}
  %z = plan.step "z" on kernel schedule(#plan.weights<channels = 4>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<6x8x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @weights_apart(%x: tensor<6x4x80x9xf32>, %y: tensor<6x8x80x9xf32>) {
  // expected-error @below {{expected filters of at most 64 taps along a dimension, and of at most 64 pixels with what dilations leave out, for weights in registers, got more}}
  %z = plan.step "z" on kernel schedule(#plan.weights<channels = 1>) (%x, %y) {
  ^bb0(%a: tensor<6x4x80x9xf32>, %b: tensor<6x8x80x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [33, 1, 33, 1] dilations [33, 1] groups 1 : (tensor<6x4x80x9xf32>, tensor<6x8x80x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x80x9xf32>, tensor<6x8x80x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @weights_split(%x: tensor<6x4096x9x9xf32>, %y: tensor<6x4096x9x9xf32>) {
  // expected-error @below {{expected at most 268435456 parts of sums, got a split of 4096}}
  %z = plan.step "z" on kernel schedule(#plan.weights<split = 4096>) (%x, %y) {
  ^bb0(%a: tensor<6x4096x9x9xf32>, %b: tensor<6x4096x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1024 : (tensor<6x4096x9x9xf32>, tensor<6x4096x9x9xf32>) -> tensor<4096x4x3x3xf32>
    plan.yield %0 : tensor<4096x4x3x3xf32>
  } : (tensor<6x4096x9x9xf32>, tensor<6x4096x9x9xf32>) -> tensor<4096x4x3x3xf32>
  return
}

// -----

func.func @rows_of_pool(%x: tensor<6x1x10x8xf32>, %y: tensor<6x4x2x4xf32>, %i: tensor<6x4x2x4xui8>) {
  // expected-error @below {{expected windows of at most 4 rows in a pool whose gradient is read, got 5}}
  %z = plan.step "z" on kernel schedule(#plan.weights<channels = 2>) (%x, %y, %i) {
  ^bb0(%a: tensor<6x1x10x8xf32>, %b: tensor<6x4x2x4xf32>, %c: tensor<6x4x2x4xui8>):
    %0 = mnist.max_unpool nchw %b, %c kernel [5, 2] strides [5, 2] pads [0, 0, 0, 0] dilations [1, 1] {plan.inline} : (tensor<6x4x2x4xf32>, tensor<6x4x2x4xui8>) -> tensor<6x4x10x8xf32>
    %1 = mnist.conv_filter_grad nchw %a, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x1x10x8xf32>, tensor<6x4x10x8xf32>) -> tensor<4x1x3x3xf32>
    plan.yield %1 : tensor<4x1x3x3xf32>
  } : (tensor<6x1x10x8xf32>, tensor<6x4x2x4xf32>, tensor<6x4x2x4xui8>) -> tensor<4x1x3x3xf32>
  return
}
