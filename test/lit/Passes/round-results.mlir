// RUN: mnist-opt %s --plan-round-results=from=1024 | FileCheck %s
// RUN: mnist-opt %s --plan-round-results=from=1000000 | FileCheck %s --check-prefix=LARGE
// LARGE-NOT: bf16

// What a product and a map make for maps and reductions takes two bytes an
// element, and is cast for each.

// CHECK-LABEL: func.func @steps
// CHECK:         plan.step "x"
// CHECK:           %[[X:.*]] = mnist.matmul
// CHECK:           %[[R:.*]] = mnist.cast %[[X]] : tensor<64x32xf32> -> tensor<64x32xbf16>
// CHECK:           plan.yield %[[R]]
// CHECK:         plan.step "y"
// CHECK:         ^bb0(%[[A:.*]]: tensor<64x32xbf16>
// CHECK:           %[[W:.*]] = mnist.cast %[[A]] : tensor<64x32xbf16> -> tensor<64x32xf32>
// CHECK:           %[[Y:.*]] = mnist.tanh %[[W]]
// CHECK:           %[[S:.*]] = mnist.cast %[[Y]] : tensor<64x32xf32> -> tensor<64x32xbf16>
// CHECK:           plan.yield %[[S]]
// CHECK:         plan.step "sums"
// CHECK:         ^bb0(%[[B:.*]]: tensor<64x32xbf16>
// CHECK:           %[[V:.*]] = mnist.cast %[[B]]
// CHECK:           mnist.reduce_sum %[[V]]
// CHECK:           plan.yield %{{.*}} : tensor<32xf32>
// CHECK:         plan.step "z"
// CHECK:           mnist.cast
// CHECK:           mnist.matmul
// CHECK:           %[[Z:.*]] = mnist.add
// CHECK:           mnist.cast %[[Z]]
func.func @steps(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> (tensor<32xf32>, tensor<64xf32>) {
  %x = plan.step "x" on kernel (%a, %w) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x32xf32>):
    %2 = mnist.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    plan.yield %2 : tensor<64x32xf32>
  } : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.tanh %0 : tensor<64x32xf32>
    plan.yield %1 : tensor<64x32xf32>
  } : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %sums = plan.step "sums" on kernel (%y) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.reduce_sum %0 over [0] : tensor<64x32xf32> -> tensor<32xf32>
    plan.yield %1 : tensor<32xf32>
  } : (tensor<64x32xf32>) -> tensor<32xf32>
  // After the product, not before it.
  %z = plan.step "z" on kernel (%a, %w, %y) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x32xf32>, %2: tensor<64x32xf32>):
    %3 = mnist.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %4 = mnist.add %3, %2 : tensor<64x32xf32>
    plan.yield %4 : tensor<64x32xf32>
  } : (tensor<64x32xf32>, tensor<32x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %last = plan.step "last" on kernel (%z) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.reduce_max %0 over [1] : tensor<64x32xf32> -> tensor<64xf32>
    plan.yield %1 : tensor<64xf32>
  } : (tensor<64x32xf32>) -> tensor<64xf32>
  return %sums, %last : tensor<32xf32>, tensor<64xf32>
}

// Not what a product or a library reads, what is summed, and what is of an
// update: the function returns as many elements that are made of it.

// CHECK-LABEL: func.func @exact
// CHECK-NOT:     bf16
// CHECK:         return
func.func @exact(%a: tensor<64x32xf32>, %w: tensor<32x32xf32>, %column: tensor<32x1xf32>, %all: tensor<8x64x32xf32>, %p: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<f32>) {
  %x = plan.step "x" on kernel (%a) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.tanh %0 : tensor<64x32xf32>
    plan.yield %1 : tensor<64x32xf32>
  } : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %y = plan.step "y" on kernel (%x, %column) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x1xf32>):
    %neg = mnist.neg %0 : tensor<64x32xf32>
    %2 = mnist.matmul %neg, %1 : (tensor<64x32xf32>, tensor<32x1xf32>) -> tensor<64x1xf32>
    %3 = mnist.reshape %2 : tensor<64x1xf32> -> tensor<64xf32>
    plan.yield %3 : tensor<64xf32>
  } : (tensor<64x32xf32>, tensor<32x1xf32>) -> tensor<64xf32>
  %z = plan.step "z" on kernel (%a) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.exp %0 : tensor<64x32xf32>
    plan.yield %1 : tensor<64x32xf32>
  } : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %product = plan.step "product" on cublas (%a, %w, %z) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x32xf32>, %2: tensor<64x32xf32>):
    %3 = mnist.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    %4 = mnist.add %3, %2 : tensor<64x32xf32>
    plan.yield %4 : tensor<64x32xf32>
  } : (tensor<64x32xf32>, tensor<32x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %library = plan.step "library" on kernel (%product) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.reduce_sum %0 over [0] : tensor<64x32xf32> -> tensor<32xf32>
    plan.yield %1 : tensor<32xf32>
  } : (tensor<64x32xf32>) -> tensor<32xf32>
  %part = plan.step "part" on kernel (%all) {
  ^bb0(%0: tensor<8x64x32xf32>):
    %1 = mnist.reduce_sum %0 over [0] : tensor<8x64x32xf32> -> tensor<64x32xf32>
    plan.yield %1 : tensor<64x32xf32>
  } : (tensor<8x64x32xf32>) -> tensor<64x32xf32>
  %columns = plan.step "columns" on kernel (%part) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.reduce_sum %0 over [0] : tensor<64x32xf32> -> tensor<32xf32>
    plan.yield %1 : tensor<32xf32>
  } : (tensor<64x32xf32>) -> tensor<32xf32>
  %gradient = plan.step "gradient" on kernel (%a, %w) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x32xf32>):
    %2 = mnist.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
    plan.yield %2 : tensor<64x32xf32>
  } : (tensor<64x32xf32>, tensor<32x32xf32>) -> tensor<64x32xf32>
  %norm = plan.step "norm" on kernel (%gradient) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.reduce_sum %0 over [0, 1] : tensor<64x32xf32> -> tensor<f32>
    plan.yield %1 : tensor<f32>
  } : (tensor<64x32xf32>) -> tensor<f32>
  %scaled = plan.step "scaled" on kernel (%gradient) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.tanh %0 : tensor<64x32xf32>
    plan.yield %1 : tensor<64x32xf32>
  } : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %update = plan.step "update" on kernel (%p, %scaled) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<64x32xf32>):
    %2 = mnist.sub %0, %1 : tensor<64x32xf32>
    plan.yield %2 : tensor<64x32xf32>
  } : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %y, %library, %columns, %update, %norm : tensor<64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<f32>
}

// The elements of a row step, not what there is one of for a row.

// CHECK-LABEL: func.func @rows
// CHECK:         plan.step "rows"
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<2048x4xbf16>, tensor<2048xf32>
func.func @rows(%a: tensor<2048x4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %c:2 = plan.step "rows" on kernel (%a) {
  ^bb0(%0: tensor<2048x4xf32>):
    %1 = mnist.reduce_sum %0 over [1] : tensor<2048x4xf32> -> tensor<2048xf32>
    %2 = mnist.broadcast %1 along [0] : tensor<2048xf32> -> tensor<2048x4xf32>
    %3 = mnist.sub %0, %2 : tensor<2048x4xf32>
    %4 = mnist.neg %1 : tensor<2048xf32>
    plan.yield %3, %4 : tensor<2048x4xf32>, tensor<2048xf32>
  } : (tensor<2048x4xf32>) -> (tensor<2048x4xf32>, tensor<2048xf32>)
  %columns = plan.step "columns" on kernel (%c#0) {
  ^bb0(%0: tensor<2048x4xf32>):
    %1 = mnist.reduce_sum %0 over [0] : tensor<2048x4xf32> -> tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } : (tensor<2048x4xf32>) -> tensor<4xf32>
  %all = plan.step "all" on kernel (%c#1) {
  ^bb0(%0: tensor<2048xf32>):
    %1 = mnist.reduce_sum %0 over [0] : tensor<2048xf32> -> tensor<f32>
    plan.yield %1 : tensor<f32>
  } : (tensor<2048xf32>) -> tensor<f32>
  return %columns, %all : tensor<4xf32>, tensor<f32>
}

// Images of convolutions, and what an inlined max_unpool places for one; not
// filters. A result that is pooled, too.

// CHECK-LABEL: func.func @images
// CHECK:         plan.step "image"
// CHECK:           plan.yield %{{.*}} : tensor<8x4x10x10xbf16>
// CHECK:         plan.step "filter"
// CHECK:           plan.yield %{{.*}} : tensor<64x4x3x3xf32>
// CHECK:         plan.step "pooled"
// CHECK:         ^bb0(%[[I:.*]]: tensor<8x4x10x10xbf16>, %[[F:.*]]: tensor<64x4x3x3xf32>
// CHECK-NOT:       cast
// CHECK:           mnist.conv nchw %[[I]], %[[F]]
// CHECK-SAME:        (tensor<8x4x10x10xbf16>, tensor<64x4x3x3xf32>) -> tensor<8x64x8x8xf32>
// CHECK:           mnist.max_pool
// CHECK-SAME:        tensor<8x64x8x8xf32>
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<8x64x4x4xbf16>, tensor<8x64x4x4xui8>
// CHECK:         plan.step "gradient"
// CHECK:           %[[W:.*]] = mnist.cast %{{.*}} : tensor<8x64x4x4xbf16>
// CHECK:           %[[N:.*]] = mnist.neg %[[W]]
// CHECK:           mnist.cast %[[N]]
// CHECK:         plan.step "input"
// CHECK:           %[[U:.*]] = mnist.max_unpool
// CHECK-SAME:        (tensor<8x64x4x4xbf16>, tensor<8x64x4x4xui8>) -> tensor<8x64x8x8xbf16>
// CHECK:           mnist.conv_input_grad nchw %[[U]]
// CHECK-SAME:        (tensor<8x64x8x8xbf16>, tensor<64x4x3x3xf32>) -> tensor<8x4x10x10xf32>
func.func @images(%x: tensor<8x4x10x10xf32>, %w: tensor<64x4x3x3xf32>) -> tensor<4xf32> {
  %image = plan.step "image" on kernel (%x) {
  ^bb0(%0: tensor<8x4x10x10xf32>):
    %1 = mnist.tanh %0 : tensor<8x4x10x10xf32>
    plan.yield %1 : tensor<8x4x10x10xf32>
  } : (tensor<8x4x10x10xf32>) -> tensor<8x4x10x10xf32>
  %filter = plan.step "filter" on kernel (%w) {
  ^bb0(%0: tensor<64x4x3x3xf32>):
    %1 = mnist.neg %0 : tensor<64x4x3x3xf32>
    plan.yield %1 : tensor<64x4x3x3xf32>
  } : (tensor<64x4x3x3xf32>) -> tensor<64x4x3x3xf32>
  %pooled:2 = plan.step "pooled" on kernel schedule(#plan.patches<mma = tf32, width = 64>) (%image, %filter) {
  ^bb0(%0: tensor<8x4x10x10xf32>, %1: tensor<64x4x3x3xf32>):
    %2 = mnist.conv nchw %0, %1 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<8x4x10x10xf32>, tensor<64x4x3x3xf32>) -> tensor<8x64x8x8xf32>
    %3 = mnist.max_pool nchw %2 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x64x8x8xf32> -> tensor<8x64x4x4xf32>
    %4 = mnist.arg_max_pool nchw %2 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x64x8x8xf32> -> tensor<8x64x4x4xui8>
    plan.yield %3, %4 : tensor<8x64x4x4xf32>, tensor<8x64x4x4xui8>
  } : (tensor<8x4x10x10xf32>, tensor<64x4x3x3xf32>) -> (tensor<8x64x4x4xf32>, tensor<8x64x4x4xui8>)
  %gradient = plan.step "gradient" on kernel (%pooled#0) {
  ^bb0(%0: tensor<8x64x4x4xf32>):
    %1 = mnist.neg %0 : tensor<8x64x4x4xf32>
    plan.yield %1 : tensor<8x64x4x4xf32>
  } : (tensor<8x64x4x4xf32>) -> tensor<8x64x4x4xf32>
  %input = plan.step "input" on kernel schedule(#plan.patches<mma = tf32, width = 16>) (%gradient, %pooled#1, %filter) {
  ^bb0(%0: tensor<8x64x4x4xf32>, %1: tensor<8x64x4x4xui8>, %2: tensor<64x4x3x3xf32>):
    %3 = mnist.max_unpool nchw %0, %1 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] {plan.inline} : (tensor<8x64x4x4xf32>, tensor<8x64x4x4xui8>) -> tensor<8x64x8x8xf32>
    %4 = mnist.conv_input_grad nchw %3, %2 strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : (tensor<8x64x8x8xf32>, tensor<64x4x3x3xf32>) -> tensor<8x4x10x10xf32>
    plan.yield %4 : tensor<8x4x10x10xf32>
  } : (tensor<8x64x4x4xf32>, tensor<8x64x4x4xui8>, tensor<64x4x3x3xf32>) -> tensor<8x4x10x10xf32>
  %sums = plan.step "sums" on kernel (%input) {
  ^bb0(%0: tensor<8x4x10x10xf32>):
    %1 = mnist.reduce_sum %0 over [0, 2, 3] : tensor<8x4x10x10xf32> -> tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } : (tensor<8x4x10x10xf32>) -> tensor<4xf32>
  return %sums : tensor<4xf32>
}

// What a step asks to be equal to something is not rounded, nor what that is
// computed from: it may be what others, who do not round it, took the maximum of.

// CHECK-LABEL: func.func @maximum
// CHECK:         plan.step "x"
// CHECK-NOT:     bf16
// CHECK:         return
func.func @maximum(%a: tensor<64x32xf32>) -> tensor<64xf32> {
  %x = plan.step "x" on kernel (%a) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.tanh %0 : tensor<64x32xf32>
    plan.yield %1 : tensor<64x32xf32>
  } : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %max = plan.step "max" on kernel (%x) {
  ^bb0(%0: tensor<64x32xf32>):
    %1 = mnist.reduce_max %0 over [1] : tensor<64x32xf32> -> tensor<64xf32>
    plan.yield %1 : tensor<64xf32>
  } : (tensor<64x32xf32>) -> tensor<64xf32>
  %hit = plan.step "hit" on kernel (%x, %max) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<64xf32>):
    %2 = mnist.broadcast %1 along [0] : tensor<64xf32> -> tensor<64x32xf32>
    %3 = mnist.sub %0, %2 : tensor<64x32xf32>
    %4 = mnist.constant dense<0.0> : tensor<64x32xf32>
    %5 = mnist.compare eq %3, %4 : tensor<64x32xf32> -> tensor<64x32xi1>
    %6 = mnist.select %5, %0, %4 : tensor<64x32xi1>, tensor<64x32xf32>
    %7 = mnist.reduce_sum %6 over [1] : tensor<64x32xf32> -> tensor<64xf32>
    plan.yield %7 : tensor<64xf32>
  } : (tensor<64x32xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %hit : tensor<64xf32>
}

// What a pool reads of a map; not what it makes of it.

// CHECK-LABEL: func.func @windows
// CHECK:         plan.step "map"
// CHECK:           plan.yield %{{.*}} : tensor<8x4x16x16xbf16>
// CHECK:         plan.step "windows"
// CHECK:           %[[P:.*]] = mnist.cast %{{.*}} : tensor<8x4x16x16xbf16> -> tensor<8x4x16x16xf32>
// CHECK:           mnist.max_pool nchw %[[P]]
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<8x4x8x8xf32>, tensor<8x4x8x8xui8>
func.func @windows(%x: tensor<8x4x16x16xf32>) -> (tensor<4xf32>, tensor<8x4x8x8xui8>) {
  %map = plan.step "map" on kernel (%x) {
  ^bb0(%0: tensor<8x4x16x16xf32>):
    %1 = mnist.tanh %0 : tensor<8x4x16x16xf32>
    plan.yield %1 : tensor<8x4x16x16xf32>
  } : (tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
  %windows:2 = plan.step "windows" on kernel (%map) {
  ^bb0(%0: tensor<8x4x16x16xf32>):
    %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x4x16x16xf32> -> tensor<8x4x8x8xf32>
    %2 = mnist.arg_max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x4x16x16xf32> -> tensor<8x4x8x8xui8>
    plan.yield %1, %2 : tensor<8x4x8x8xf32>, tensor<8x4x8x8xui8>
  } : (tensor<8x4x16x16xf32>) -> (tensor<8x4x8x8xf32>, tensor<8x4x8x8xui8>)
  %sums = plan.step "sums" on kernel (%windows#0) {
  ^bb0(%0: tensor<8x4x8x8xf32>):
    %1 = mnist.reduce_sum %0 over [0, 2, 3] : tensor<8x4x8x8xf32> -> tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } : (tensor<8x4x8x8xf32>) -> tensor<4xf32>
  return %sums, %windows#1 : tensor<4xf32>, tensor<8x4x8x8xui8>
}
