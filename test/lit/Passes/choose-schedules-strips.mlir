// RUN: mnist-opt %s --plan-choose-schedules | FileCheck %s

// Many windows of a pool are strips: higher ones where only maxima are stored,
// all side by side where their indices are stored, too. Few windows, tf32x3,
// and rows that begin anywhere have patches.

// CHECK-LABEL: @strips
// CHECK: "values" on kernel schedule(#plan.patches<mma = tf32, height = 24, width = 64>)
// CHECK: "indices" on kernel schedule(#plan.patches<mma = tf32, height = 8, width = 64>)
// CHECK: "few" on kernel schedule(#plan.patches<mma = tf32, width = {{[0-9]+}}>)
// CHECK: "exact" on kernel schedule(#plan.patches<mma = tf32x3, width = {{[0-9]+}}>)
// CHECK: "rows" on kernel schedule(#plan.patches<mma = tf32, height = {{[0-9]+}}, width = 64>)
// CHECK: "unaligned" on kernel schedule(#plan.patches<mma = tf32, width = {{[0-9]+}}>)
func.func @strips(%x: tensor<1024x32x26x26xf32>, %w: tensor<64x32x3x3xf32>, %few: tensor<16x32x26x26xf32>, %wide: tensor<256x32x34x34xf32>) {
  %values = plan.step "values" on kernel schedule(#plan.product<mma = tf32>) (%x, %w) {
  ^bb0(%a: tensor<1024x32x26x26xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1024x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<1024x64x24x24xf32>
    %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<1024x64x24x24xf32> -> tensor<1024x64x12x12xf32>
    plan.yield %1 : tensor<1024x64x12x12xf32>
  } : (tensor<1024x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<1024x64x12x12xf32>
  %indices:2 = plan.step "indices" on kernel schedule(#plan.product<mma = tf32>) (%x, %w) {
  ^bb0(%a: tensor<1024x32x26x26xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1024x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<1024x64x24x24xf32>
    %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<1024x64x24x24xf32> -> tensor<1024x64x12x12xf32>
    %2 = mnist.arg_max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<1024x64x24x24xf32> -> tensor<1024x64x12x12xui8>
    plan.yield %1, %2 : tensor<1024x64x12x12xf32>, tensor<1024x64x12x12xui8>
  } : (tensor<1024x32x26x26xf32>, tensor<64x32x3x3xf32>) -> (tensor<1024x64x12x12xf32>, tensor<1024x64x12x12xui8>)
  %less = plan.step "few" on kernel schedule(#plan.product<mma = tf32>) (%few, %w) {
  ^bb0(%a: tensor<16x32x26x26xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<16x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<16x64x24x24xf32>
    %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<16x64x24x24xf32> -> tensor<16x64x12x12xf32>
    plan.yield %1 : tensor<16x64x12x12xf32>
  } : (tensor<16x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<16x64x12x12xf32>
  %exact = plan.step "exact" on kernel schedule(#plan.product<mma = tf32x3>) (%x, %w) {
  ^bb0(%a: tensor<1024x32x26x26xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<1024x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<1024x64x24x24xf32>
    %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<1024x64x24x24xf32> -> tensor<1024x64x12x12xf32>
    plan.yield %1 : tensor<1024x64x12x12xf32>
  } : (tensor<1024x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<1024x64x12x12xf32>
  %rows = plan.step "rows" on kernel schedule(#plan.product<mma = tf32>) (%wide, %w) {
  ^bb0(%a: tensor<256x32x34x34xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<256x32x34x34xf32>, tensor<64x32x3x3xf32>) -> tensor<256x64x32x32xf32>
    plan.yield %0 : tensor<256x64x32x32xf32>
  } : (tensor<256x32x34x34xf32>, tensor<64x32x3x3xf32>) -> tensor<256x64x32x32xf32>
  %unaligned = plan.step "unaligned" on kernel schedule(#plan.product<mma = tf32>) (%wide, %w) {
  ^bb0(%a: tensor<256x32x34x34xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<256x32x34x34xf32>, tensor<64x32x3x3xf32>) -> tensor<256x64x34x34xf32>
    plan.yield %0 : tensor<256x64x34x34xf32>
  } : (tensor<256x32x34x34xf32>, tensor<64x32x3x3xf32>) -> tensor<256x64x34x34xf32>
  return
}
