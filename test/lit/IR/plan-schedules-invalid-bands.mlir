// RUN: mnist-opt %s --split-input-file --verify-diagnostics

// Bands of rows that no kernel can compute a filter's gradient from.

func.func @bands_units(%x: tensor<6x4x9x9xf32>, %y: tensor<6x8x9x9xf32>) {
  // expected-error @below {{expected tensor cores for bands, got mma = ffma}}
  %z = plan.step "z" on kernel schedule(#plan.bands<height = 16, width = 8>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<6x8x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @bands_size(%x: tensor<6x4x9x9xf32>, %y: tensor<6x8x9x9xf32>) {
  // expected-error @below {{expected a height of 16, 32 or 64 and a width of 8, 16 or 32 for bands, of 8 warps at most, got height = 64, width = 32}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32, height = 64, width = 32>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<6x8x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @bands_warpgroups(%x: tensor<6x4x9x9xf32>, %y: tensor<6x8x9x9xf32>) {
  // expected-error @below {{expected 0 or 2 to 4 warpgroups for bands, got 5}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32, height = 32, width = 32, warpgroups = 5>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<6x8x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @bands_groups_size(%x: tensor<6x4x9x9xf32>, %y: tensor<6x8x9x9xf32>) {
  // expected-error @below {{expected a height of 16, 32, 64 or 128 and a width of 8, 16, 24, ... 64 for bands of warpgroups, got height = 64, width = 20}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32, height = 64, width = 20, warpgroups = 2>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<6x8x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @bands_groups_room(%x: tensor<6x64x9x9xf32>, %y: tensor<6x128x9x9xf32>) {
  // expected-error @below {{expected a split of 256 or less into bands that need at most 99328 bytes of shared memory and 240 registers of a thread, got 1}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32x3, height = 128, width = 64, warpgroups = 2>) (%x, %y) {
  ^bb0(%a: tensor<6x64x9x9xf32>, %b: tensor<6x128x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x64x9x9xf32>, tensor<6x128x9x9xf32>) -> tensor<128x64x3x3xf32>
    plan.yield %0 : tensor<128x64x3x3xf32>
  } : (tensor<6x64x9x9xf32>, tensor<6x128x9x9xf32>) -> tensor<128x64x3x3xf32>
  return
}

// -----

func.func @bands_layout(%x: tensor<6x9x9x4xf32>, %y: tensor<6x9x9x8xf32>) {
  // expected-error @below {{expected images in nchw of at most two dimensions for bands, got others}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32, height = 16, width = 8>) (%x, %y) {
  ^bb0(%a: tensor<6x9x9x4xf32>, %b: tensor<6x9x9x8xf32>):
    %0 = mnist.conv_filter_grad nhwc %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x9x9x4xf32>, tensor<6x9x9x8xf32>) -> tensor<8x3x3x4xf32>
    plan.yield %0 : tensor<8x3x3x4xf32>
  } : (tensor<6x9x9x4xf32>, tensor<6x9x9x8xf32>) -> tensor<8x3x3x4xf32>
  return
}

// -----

func.func @bands_rows(%x: tensor<6x4x9x999xf32>, %y: tensor<6x8x9x999xf32>) {
  // expected-error @below {{expected a split of 256 or less into bands that need at most 99328 bytes of shared memory, got 1}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32, height = 16, width = 8>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x999xf32>, %b: tensor<6x8x9x999xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x999xf32>, tensor<6x8x9x999xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x999xf32>, tensor<6x8x9x999xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @bands_split(%x: tensor<6x4x9x9xf32>, %y: tensor<6x8x9x9xf32>) {
  // expected-error @below {{expected a split of 256 or less into bands that need at most 99328 bytes of shared memory, got 300}}
  %z = plan.step "z" on kernel schedule(#plan.bands<mma = tf32, height = 16, width = 8, split = 300>) (%x, %y) {
  ^bb0(%a: tensor<6x4x9x9xf32>, %b: tensor<6x8x9x9xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
    plan.yield %0 : tensor<8x4x3x3xf32>
  } : (tensor<6x4x9x9xf32>, tensor<6x8x9x9xf32>) -> tensor<8x4x3x3xf32>
  return
}

// -----

func.func @product_of_pool(%x: tensor<6x1x10x8xf32>, %y: tensor<6x4x5x4xf32>, %i: tensor<6x4x5x4xui8>) {
  // expected-error @below {{expected weights or bands where the gradient of a pool is read, got others}}
  %z = plan.step "z" on kernel schedule(#plan.product<mma = tf32x3, tile = [32, 32, 32], warps = [2, 2]>) (%x, %y, %i) {
  ^bb0(%a: tensor<6x1x10x8xf32>, %b: tensor<6x4x5x4xf32>, %c: tensor<6x4x5x4xui8>):
    %0 = mnist.max_unpool nchw %b, %c kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] {plan.inline} : (tensor<6x4x5x4xf32>, tensor<6x4x5x4xui8>) -> tensor<6x4x10x8xf32>
    %1 = mnist.conv_filter_grad nchw %a, %0 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<6x1x10x8xf32>, tensor<6x4x10x8xf32>) -> tensor<4x1x3x3xf32>
    plan.yield %1 : tensor<4x1x3x3xf32>
  } : (tensor<6x1x10x8xf32>, tensor<6x4x5x4xf32>, tensor<6x4x5x4xui8>) -> tensor<4x1x3x3xf32>
  return
}
