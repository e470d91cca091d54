// RUN: mnist-opt %s --plan-choose-schedules | FileCheck %s
// RUN: mnist-opt %s --plan-choose-schedules | mnist-opt --plan-choose-schedules | FileCheck %s

// By the kernels' models, what multiplies being given. What is there already
// stays.

// CHECK-LABEL: @chosen
// CHECK: "products" on kernel schedule(#plan.product<tile = [{{[0-9]+}}, {{[0-9]+}}, 16], {{.*}}>)
// CHECK: "cores" on kernel schedule(#plan.product<mma = tf32x3, tile = [{{[0-9, ]+}}], warps = [{{[0-9]}}, {{[0-9]}}]{{.*}}>)
// CHECK: "windows" on kernel schedule(#plan.patches<mma = tf32x3, width = {{[0-9]+}}>)
// CHECK: "wide" on kernel schedule(#plan.product<
// CHECK: "few" on kernel schedule(#plan.dots<width = {{8|16|32}}, warps = {{[0-9]+}}{{.*}}>)
// CHECK: "given" on kernel schedule(#plan.columns<height = 8>)
// CHECK: "weights" on kernel schedule(#plan.weights<channels = {{[0-9]}}, split = {{[0-9]+}}>)
// CHECK: "rows" on kernel schedule(#plan.bands<mma = tf32x3, height = {{[0-9]+}}, width = {{[0-9]+}}{{.*}}>)
// CHECK: "called" on cudnn(
// CHECK: "map" on kernel(
func.func @chosen(%x: tensor<64x784xf32>, %w: tensor<784x256xf32>, %image: tensor<64x32x14x14xf32>, %filter: tensor<64x32x3x3xf32>, %first: tensor<64x1x14x14xf32>, %d: tensor<5x784xf64>, %e: tensor<784x9xf64>, %f: tensor<4x784xf64>, %many: tensor<64x16x28x28xf32>) {
  %products = plan.step "products" on kernel(%x, %w) {
  ^bb0(%a: tensor<64x784xf32>, %b: tensor<784x256xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
    plan.yield %0 : tensor<64x256xf32>
  } : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
  %cores = plan.step "cores" on kernel schedule(#plan.product<mma = tf32x3>)(%x, %w) {
  ^bb0(%a: tensor<64x784xf32>, %b: tensor<784x256xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
    plan.yield %0 : tensor<64x256xf32>
  } : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
  %windows = plan.step "windows" on kernel schedule(#plan.product<mma = tf32x3>)(%image, %filter) {
  ^bb0(%a: tensor<64x32x14x14xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
    plan.yield %0 : tensor<64x64x14x14xf32>
  } : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %wide = plan.step "wide" on kernel(%d, %e) {
  ^bb0(%a: tensor<5x784xf64>, %b: tensor<784x9xf64>):
    %0 = mnist.matmul %a, %b : (tensor<5x784xf64>, tensor<784x9xf64>) -> tensor<5x9xf64>
    plan.yield %0 : tensor<5x9xf64>
  } : (tensor<5x784xf64>, tensor<784x9xf64>) -> tensor<5x9xf64>
  %few = plan.step "few" on kernel(%f, %e) {
  ^bb0(%a: tensor<4x784xf64>, %b: tensor<784x9xf64>):
    %0 = mnist.matmul %a, %b : (tensor<4x784xf64>, tensor<784x9xf64>) -> tensor<4x9xf64>
    plan.yield %0 : tensor<4x9xf64>
  } : (tensor<4x784xf64>, tensor<784x9xf64>) -> tensor<4x9xf64>
  %given = plan.step "given" on kernel schedule(#plan.columns<height = 8>)(%image, %filter) {
  ^bb0(%a: tensor<64x32x14x14xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
    plan.yield %0 : tensor<64x64x14x14xf32>
  } : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %weights = plan.step "weights" on kernel(%windows, %first) {
  ^bb0(%a: tensor<64x64x14x14xf32>, %b: tensor<64x1x14x14xf32>):
    %0 = mnist.conv_filter_grad nchw %b, %a strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x1x14x14xf32>, tensor<64x64x14x14xf32>) -> tensor<64x1x3x3xf32>
    plan.yield %0 : tensor<64x1x3x3xf32>
  } : (tensor<64x64x14x14xf32>, tensor<64x1x14x14xf32>) -> tensor<64x1x3x3xf32>
  %rows = plan.step "rows" on kernel schedule(#plan.product<mma = tf32x3>)(%many, %many) {
  ^bb0(%a: tensor<64x16x28x28xf32>, %b: tensor<64x16x28x28xf32>):
    %0 = mnist.conv_filter_grad nchw %b, %a strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x16x28x28xf32>, tensor<64x16x28x28xf32>) -> tensor<16x16x3x3xf32>
    plan.yield %0 : tensor<16x16x3x3xf32>
  } : (tensor<64x16x28x28xf32>, tensor<64x16x28x28xf32>) -> tensor<16x16x3x3xf32>
  %called = plan.step "called" on cudnn(%image, %filter) {
  ^bb0(%a: tensor<64x32x14x14xf32>, %b: tensor<64x32x3x3xf32>):
    %0 = mnist.conv nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
    plan.yield %0 : tensor<64x64x14x14xf32>
  } : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %map = plan.step "map" on kernel(%x) {
  ^bb0(%a: tensor<64x784xf32>):
    %0 = mnist.relu %a : tensor<64x784xf32>
    plan.yield %0 : tensor<64x784xf32>
  } : (tensor<64x784xf32>) -> tensor<64x784xf32>
  return
}

// Generated loops of a CPU have none.
// CHECK-LABEL: module attributes {plan.target = "cpu"}
// CHECK: "plain" on kernel(
module attributes {plan.target = "cpu"} {
  func.func @plain(%x: tensor<64x784xf32>, %w: tensor<784x256xf32>) {
    %plain = plan.step "plain" on kernel(%x, %w) {
    ^bb0(%a: tensor<64x784xf32>, %b: tensor<784x256xf32>):
      %0 = mnist.matmul %a, %b : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
      plan.yield %0 : tensor<64x256xf32>
    } : (tensor<64x784xf32>, tensor<784x256xf32>) -> tensor<64x256xf32>
    return
  }
}

// Images of 103 and 26 MB in bf16: their bytes do not hold warpgroups up, as
// twice as many would.
// CHECK-LABEL: @rounded
// CHECK: "rounded" on kernel schedule(#plan.bands<mma = bf16, {{.*}}warpgroups = 2>)
func.func @rounded(%x: tensor<1024x64x28x28xf32>, %dy: tensor<1024x16x28x28xf32>) {
  %dw = plan.step "rounded" on kernel schedule(#plan.product<mma = bf16>)(%x, %dy) {
  ^bb0(%a: tensor<1024x64x28x28xf32>, %b: tensor<1024x16x28x28xf32>):
    %0 = mnist.conv_filter_grad nchw %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<1024x64x28x28xf32>, tensor<1024x16x28x28xf32>) -> tensor<16x64x3x3xf32>
    plan.yield %0 : tensor<16x64x3x3xf32>
  } : (tensor<1024x64x28x28xf32>, tensor<1024x16x28x28xf32>) -> tensor<16x64x3x3xf32>
  return
}
