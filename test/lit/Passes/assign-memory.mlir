// RUN: mnist-opt %s --plan-form-steps="fuse=false" --plan-select-implementations=precision=strict \
// RUN:   --plan-assign-memory=alignment=64 --plan-check-steps=alignment=64 \
// RUN:   | FileCheck %s
// RUN: mnist-opt %s --plan-form-steps="fuse=false" --plan-select-implementations=precision=strict \
// RUN:   --plan-assign-memory="alignment=64 reuse=false workspace=4096" \
// RUN:   --plan-check-steps=alignment=64 | FileCheck %s --check-prefix=KEEP

// Constants of all functions are in one block: 64 bytes for the one that two
// functions share, 64 for the other.

// CHECK: module attributes {plan.constant_bytes = 128 : i64

// Four values of 64 bytes; only two are ever alive together. A softmax may not
// write over its operand.

// CHECK-LABEL: @chain
// CHECK-SAME:    plan.offset = 0
// CHECK-SAME:    plan.arena_bytes = 128 : i64, plan.workspace_bytes = 0
// CHECK:         plan.step "a" on kernel at [64]
// CHECK:         plan.step "b" on kernel at [0]
// CHECK:         plan.step "c" on kernel at [64]
// KEEP-LABEL: @chain
// KEEP-SAME:    plan.arena_bytes = 256
func.func @chain(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = mnist.softmax %x dim 1 : tensor<4x4xf32> loc("a")
  %b = mnist.softmax %a dim 1 : tensor<4x4xf32> loc("b")
  %c = mnist.softmax %b dim 1 : tensor<4x4xf32> loc("c")
  return %c : tensor<4x4xf32>
}

// A map writes over an operand that dies with it, but not over an input, nor
// where it reads in another order.

// CHECK-LABEL: @in_place
// CHECK-SAME:    plan.arena_bytes = 128
// CHECK:         plan.step "a" on kernel at [64]
// CHECK:         plan.step "b" on kernel at [64]
// CHECK:         plan.step "c" on kernel at [0]
func.func @in_place(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = mnist.exp %x : tensor<4x4xf32> loc("a")
  %b = mnist.relu %a : tensor<4x4xf32> loc("b")
  %c = mnist.transpose %b perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32> loc("c")
  return %c : tensor<4x4xf32>
}

// What is returned lives to the end, whoever else has read it.

// CHECK-LABEL: @results
// CHECK:         plan.step "a" on kernel at [64]
// CHECK:         plan.step "b" on kernel at [0]
// CHECK:         plan.step "c" on kernel at [128]
func.func @results(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = mnist.softmax %x dim 1 : tensor<4x4xf32> loc("a")
  %b = mnist.softmax %a dim 1 : tensor<4x4xf32> loc("b")
  %c = mnist.softmax %b dim 1 : tensor<4x4xf32> loc("c")
  return %a, %c : tensor<4x4xf32>, tensor<4x4xf32>
}

// In plan order the small value would be in the way of the large ones, which
// would need 640 bytes.

// CHECK-LABEL: @by_size
// CHECK-SAME:    plan.arena_bytes = 512
func.func @by_size(%x: tensor<4x4xf32>) -> tensor<8x8xf32> {
  %a = mnist.softmax %x dim 1 : tensor<4x4xf32> loc("small")
  %b = mnist.broadcast %a along [1, 2] : tensor<4x4xf32> -> tensor<4x4x4xf32> loc("large")
  %c = mnist.reshape %b : tensor<4x4x4xf32> -> tensor<8x8xf32>
  %d = mnist.softmax %c dim 1 : tensor<8x8xf32> loc("result")
  return %d : tensor<8x8xf32>
}

// Libraries of the GPU get a workspace: a product 32 MiB, a convolution five
// times the bytes of its tensors, or what an FFT asks for.

// CHECK-LABEL: @library
// CHECK-SAME:    plan.workspace_bytes = 33554432
// CHECK:         mnist.constant {{.*}} {plan.offset = 0 : i64}
// KEEP-LABEL: @library
// KEEP-SAME:    plan.workspace_bytes = 4096
func.func @library(%x: tensor<2048x8192xf32>, %v: tensor<8192x2xf32>) -> tensor<2048x2xf32> {
  %w = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %h = mnist.matmul %x, %v : (tensor<2048x8192xf32>, tensor<8192x2xf32>) -> tensor<2048x2xf32>
  %y = mnist.matmul %h, %w : (tensor<2048x2xf32>, tensor<2x2xf32>) -> tensor<2048x2xf32>
  return %y : tensor<2048x2xf32>
}

// CHECK-LABEL: @convolution
// CHECK-SAME:    plan.workspace_bytes = 75497472
// KEEP-LABEL: @convolution
// KEEP-SAME:    plan.workspace_bytes = 4096
func.func @convolution(%x: tensor<64x32x26x26xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<64x64x24x24xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x32x26x26xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x24x24xf32>
  return %y : tensor<64x64x24x24xf32>
}

// The gradient of a filter may be by FFT, which makes 32 x 32 elements of each
// image of 14 x 14 with its padding: 36,864 of 4,352 bytes, and a quarter more.

// CHECK-LABEL: @transformed
// CHECK-SAME:    plan.workspace_bytes = 200540160
func.func @transformed(%x: tensor<64x256x14x14xf32>, %dy: tensor<64x64x14x14xf32>) -> tensor<64x256x7x7xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [3, 3, 3, 3] dilations [1, 1] groups 1
      : (tensor<64x256x14x14xf32>, tensor<64x64x14x14xf32>) -> tensor<64x256x7x7xf32>
  return %y : tensor<64x256x7x7xf32>
}

// A convolution in bf16 is by no transform.

// CHECK-LABEL: @rounded
// CHECK-SAME:    plan.workspace_bytes = 33554432
func.func @rounded(%x: tensor<64x26x26x64xf32>, %w: tensor<64x3x3x64xf32>) -> tensor<64x24x24x64xf32> {
  %a = mnist.cast %x : tensor<64x26x26x64xf32> -> tensor<64x26x26x64xbf16>
  %b = mnist.cast %w : tensor<64x3x3x64xf32> -> tensor<64x3x3x64xbf16>
  %y = plan.step "y" on cudnn schedule(#plan.product<mma = bf16>) (%a, %b) {
  ^bb0(%l: tensor<64x26x26x64xbf16>, %r: tensor<64x3x3x64xbf16>):
    %0 = mnist.conv nhwc %l, %r strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
        : (tensor<64x26x26x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<64x24x24x64xbf16>
    plan.yield %0 : tensor<64x24x24x64xbf16>
  } : (tensor<64x26x26x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<64x24x24x64xbf16>
  %z = mnist.cast %y : tensor<64x24x24x64xbf16> -> tensor<64x24x24x64xf32>
  return %z : tensor<64x24x24x64xf32>
}

// The weights of the function @library, and others.

// CHECK-LABEL: @shared
// CHECK:         mnist.constant {{.*}}3.0{{.*}} {plan.offset = 0 : i64}
// CHECK:         mnist.constant {{.*}}5.0{{.*}} {plan.offset = 64 : i64}
func.func @shared(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %v = mnist.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %a = mnist.matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = mnist.matmul %a, %v : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
