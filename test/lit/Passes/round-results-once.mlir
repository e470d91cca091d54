// RUN: mnist-opt %s --plan-round-results=from=1024 | FileCheck %s

// What a library reads rounded is the result, which takes the name.

// CHECK-LABEL: func.func @once
// CHECK:         %[[X:.*]] = plan.step "x" on kernel
// CHECK:           mnist.tanh
// CHECK-NEXT:      mnist.cast
// CHECK-NEXT:      plan.yield %{{.*}} : tensor<64x64xbf16>
// CHECK-NOT:     plan.step "x.tanh"
// CHECK:         plan.step "product" on cublas(%[[X]]
// CHECK:         plan.step "mask" on kernel(%[[X]])
// CHECK:         plan.step "turned" on kernel(%[[X]])
// CHECK:           mnist.transpose %{{.*}} : tensor<64x64xbf16> -> tensor<64x64xbf16>
// CHECK-NEXT:      plan.yield
// CHECK:         plan.step "other" on cublas(%turned,
func.func @once(%a: tensor<64x64xf32>, %w: tensor<64x16xbf16>) -> (tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>) {
  %tanh = plan.step "x.tanh" on kernel (%a) {
  ^bb0(%0: tensor<64x64xf32>):
    %1 = mnist.tanh %0 : tensor<64x64xf32>
    plan.yield %1 : tensor<64x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %x = plan.step "x" on kernel (%tanh) {
  ^bb0(%0: tensor<64x64xf32>):
    %1 = mnist.cast %0 : tensor<64x64xf32> -> tensor<64x64xbf16>
    plan.yield %1 : tensor<64x64xbf16>
  } : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %product = plan.step "product" on cublas (%x, %w) {
  ^bb0(%0: tensor<64x64xbf16>, %1: tensor<64x16xbf16>):
    %2 = mnist.matmul %0, %1 : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
    plan.yield %2 : tensor<64x16xf32>
  } : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
  %mask = plan.step "mask" on kernel (%tanh) {
  ^bb0(%0: tensor<64x64xf32>):
    %1 = mnist.reduce_max %0 over [1] : tensor<64x64xf32> -> tensor<64xf32>
    plan.yield %1 : tensor<64xf32>
  } : (tensor<64x64xf32>) -> tensor<64xf32>
  // It moves elements besides.
  %turned = plan.step "turned" on kernel (%tanh) {
  ^bb0(%0: tensor<64x64xf32>):
    %1 = mnist.transpose %0 perm [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    %2 = mnist.cast %1 : tensor<64x64xf32> -> tensor<64x64xbf16>
    plan.yield %2 : tensor<64x64xbf16>
  } : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %other = plan.step "other" on cublas (%turned, %w) {
  ^bb0(%0: tensor<64x64xbf16>, %1: tensor<64x16xbf16>):
    %2 = mnist.matmul %0, %1 : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
    plan.yield %2 : tensor<64x16xf32>
  } : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
  return %product, %mask, %other : tensor<64x16xf32>, tensor<64xf32>, tensor<64x16xf32>
}

// What a library gives in bf16 is read where it is, under the name of the step
// that had cast it.

// CHECK-LABEL: func.func @given
// CHECK:         %[[C:.*]] = plan.step "c" on cudnn
// CHECK-NOT:     plan.step "c"
// CHECK:         plan.step "most" on kernel(%[[C]])
// CHECK:           %[[W:.*]] = mnist.cast %{{.*}} : tensor<4x8x8x16xbf16> -> tensor<4x8x8x16xf32>
// CHECK:           mnist.reduce_max %[[W]]
func.func @given(%x: tensor<4x8x8x16xbf16>, %w: tensor<16x3x3x16xbf16>) -> tensor<16xf32> {
  %c = plan.step "c.conv" on cudnn (%x, %w) {
  ^bb0(%0: tensor<4x8x8x16xbf16>, %1: tensor<16x3x3x16xbf16>):
    %2 = mnist.conv nhwc %0, %1 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
        : (tensor<4x8x8x16xbf16>, tensor<16x3x3x16xbf16>) -> tensor<4x8x8x16xbf16>
    plan.yield %2 : tensor<4x8x8x16xbf16>
  } : (tensor<4x8x8x16xbf16>, tensor<16x3x3x16xbf16>) -> tensor<4x8x8x16xbf16>
  %wide = plan.step "c" on kernel (%c) {
  ^bb0(%0: tensor<4x8x8x16xbf16>):
    %1 = mnist.cast %0 : tensor<4x8x8x16xbf16> -> tensor<4x8x8x16xf32>
    plan.yield %1 : tensor<4x8x8x16xf32>
  } : (tensor<4x8x8x16xbf16>) -> tensor<4x8x8x16xf32>
  %most = plan.step "most" on kernel (%wide) {
  ^bb0(%0: tensor<4x8x8x16xf32>):
    %1 = mnist.reduce_max %0 over [0, 1, 2] : tensor<4x8x8x16xf32> -> tensor<16xf32>
    plan.yield %1 : tensor<16xf32>
  } : (tensor<4x8x8x16xf32>) -> tensor<16xf32>
  return %most : tensor<16xf32>
}

// A step that gives a library what it computes, and others, stores it once.

// CHECK-LABEL: func.func @both
// CHECK:         %[[X:[^ ]*]]:2 = plan.step "x" on kernel
// CHECK-DAG:       %[[R:.*]] = mnist.cast %{{.*}} : tensor<64x64xf32> -> tensor<64x64xbf16>
// CHECK-DAG:       %[[N:.*]] = mnist.neg
// CHECK:           %[[NR:.*]] = mnist.cast %[[N]] : tensor<64x64xf32> -> tensor<64x64xbf16>
// CHECK:           plan.yield %[[R]], %[[NR]] : tensor<64x64xbf16>, tensor<64x64xbf16>
// CHECK:         plan.step "product" on cublas(%[[X]]#0,
// CHECK:         plan.step "other" on cublas(%[[X]]#1,
// CHECK:         plan.step "most" on kernel(%[[X]]#0)
func.func @both(%a: tensor<64x64xf32>, %w: tensor<64x16xbf16>) -> (tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>) {
  %x:3 = plan.step "x" on kernel (%a) {
  ^bb0(%0: tensor<64x64xf32>):
    %1 = mnist.tanh %0 : tensor<64x64xf32>
    %2 = mnist.cast %1 : tensor<64x64xf32> -> tensor<64x64xbf16>
    %3 = mnist.neg %1 : tensor<64x64xf32>
    %4 = mnist.cast %3 : tensor<64x64xf32> -> tensor<64x64xbf16>
    plan.yield %1, %2, %4 : tensor<64x64xf32>, tensor<64x64xbf16>, tensor<64x64xbf16>
  } : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xbf16>, tensor<64x64xbf16>)
  %product = plan.step "product" on cublas (%x#1, %w) {
  ^bb0(%0: tensor<64x64xbf16>, %1: tensor<64x16xbf16>):
    %2 = mnist.matmul %0, %1 : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
    plan.yield %2 : tensor<64x16xf32>
  } : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
  %other = plan.step "other" on cublas (%x#2, %w) {
  ^bb0(%0: tensor<64x64xbf16>, %1: tensor<64x16xbf16>):
    %2 = mnist.matmul %0, %1 : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
    plan.yield %2 : tensor<64x16xf32>
  } : (tensor<64x64xbf16>, tensor<64x16xbf16>) -> tensor<64x16xf32>
  %most = plan.step "most" on kernel (%x#0) {
  ^bb0(%0: tensor<64x64xf32>):
    %1 = mnist.reduce_max %0 over [1] : tensor<64x64xf32> -> tensor<64xf32>
    plan.yield %1 : tensor<64xf32>
  } : (tensor<64x64xf32>) -> tensor<64xf32>
  return %product, %other, %most : tensor<64x16xf32>, tensor<64x16xf32>, tensor<64xf32>
}
