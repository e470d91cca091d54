// RUN: mnist-opt %s --plan-round-results=from=1024 | FileCheck %s

// A library rounds the product of what is rounded itself. What it did to it all
// that read it do, before anything else; where they move it, behind that.

// CHECK-LABEL: func.func @epilogue
// CHECK:         %[[P:.*]] = plan.step "p" on cublas schedule(#plan.product<mma = bf16>)(%{{.*}}, %{{.*}}) {
// CHECK:           mnist.matmul %{{.*}} : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xbf16>
// CHECK-NEXT:      %[[R:.*]] = mnist.reshape
// CHECK-NEXT:      plan.yield %[[R]] : tensor<4x16x32xbf16>
// CHECK-NOT:     plan.step "x"
// CHECK:         plan.step "y" on kernel(
// CHECK:           %[[W:.*]] = mnist.cast %{{.*}} : tensor<4x16x32xbf16> -> tensor<4x16x32xf32>
// CHECK:           %[[S:.*]] = mnist.add %[[W]]
// CHECK-NEXT:      %[[A:.*]] = mnist.relu %[[S]]
// CHECK-NEXT:      mnist.tanh %[[A]]
// CHECK:         plan.step "most" on kernel(
// CHECK:           mnist.add
// CHECK-NEXT:      mnist.relu
// CHECK-NEXT:      mnist.reduce_max
func.func @epilogue(%a: tensor<64x32xbf16>, %w: tensor<32x32xbf16>, %b: tensor<32xf32>) -> (tensor<32xf32>, tensor<4x16xf32>) {
  %x = plan.step "x" on cublas schedule(#plan.product<mma = bf16>)(%a, %w, %b) {
  ^bb0(%0: tensor<64x32xbf16>, %1: tensor<32x32xbf16>, %2: tensor<32xf32>):
    %3 = mnist.matmul %0, %1 : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xf32> loc("p")
    %4 = mnist.reshape %3 : tensor<64x32xf32> -> tensor<4x16x32xf32> loc("p")
    %5 = mnist.broadcast %2 along [2] : tensor<32xf32> -> tensor<4x16x32xf32>
    %6 = mnist.add %4, %5 : tensor<4x16x32xf32>
    %7 = mnist.relu %6 : tensor<4x16x32xf32>
    plan.yield %7 : tensor<4x16x32xf32>
  } : (tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<32xf32>) -> tensor<4x16x32xf32>
  %y = plan.step "y" on kernel (%x) {
  ^bb0(%0: tensor<4x16x32xf32>):
    %1 = mnist.tanh %0 : tensor<4x16x32xf32>
    %2 = mnist.reduce_sum %1 over [0, 1] : tensor<4x16x32xf32> -> tensor<32xf32>
    plan.yield %2 : tensor<32xf32>
  } : (tensor<4x16x32xf32>) -> tensor<32xf32>
  %most = plan.step "most" on kernel (%x) {
  ^bb0(%0: tensor<4x16x32xf32>):
    %1 = mnist.reduce_max %0 over [2] : tensor<4x16x32xf32> -> tensor<4x16xf32>
    plan.yield %1 : tensor<4x16xf32>
  } : (tensor<4x16x32xf32>) -> tensor<4x16xf32>
  return %y, %most : tensor<32xf32>, tensor<4x16xf32>
}

// Our products in bf16 take operands so, under other shapes and in parts, too;
// of those in another precision, and where a bias comes before, they stay.

// CHECK-LABEL: func.func @operands
// CHECK:         plan.step "x" on cublas
// CHECK:           mnist.matmul {{.*}} -> tensor<64x32xbf16>
// CHECK:         plan.step "y" on kernel
// CHECK:           mnist.reshape %{{.*}} : tensor<64x32xbf16> -> tensor<4x16x32xbf16>
// CHECK:           mnist.slice %{{.*}} : tensor<4x16x32xbf16> -> tensor<4x16x16xbf16>
// CHECK:           mnist.matmul %{{.*}} : (tensor<4x16x16xbf16>, tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
// CHECK:         plan.step "z" on cublas
// CHECK:           mnist.matmul {{.*}} -> tensor<64x32xf32>
// CHECK:         plan.step "in_tf32" on kernel
// CHECK:           mnist.matmul %{{.*}} : (tensor<64x32xf32>, tensor<32x8xf32>)
// CHECK:         plan.step "biased" on cublas
// CHECK:           mnist.add
// CHECK:         plan.step "of_biased" on kernel
// CHECK:           mnist.matmul %{{.*}} : (tensor<64x32xf32>, tensor<32x8xf32>)
func.func @operands(%a: tensor<64x32xbf16>, %w: tensor<32x32xbf16>, %b: tensor<32xf32>, %v: tensor<4x16x8xf32>, %u: tensor<32x8xf32>) -> (tensor<4x16x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>) {
  %x = plan.step "x" on cublas schedule(#plan.product<mma = bf16>)(%a, %w) {
  ^bb0(%0: tensor<64x32xbf16>, %1: tensor<32x32xbf16>):
    %2 = mnist.matmul %0, %1 : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xf32>
    plan.yield %2 : tensor<64x32xf32>
  } : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xf32>
  %y = plan.step "y" on kernel schedule(#plan.product<mma = bf16, tile = [16, 16, 32]>)(%x, %v) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<4x16x8xf32>):
    %2 = mnist.reshape %0 : tensor<64x32xf32> -> tensor<4x16x32xf32>
    %3 = mnist.slice %2 starts [0, 0, 16] steps [1, 1, 1] : tensor<4x16x32xf32> -> tensor<4x16x16xf32>
    %4 = mnist.matmul %3, %1 : (tensor<4x16x16xf32>, tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
    plan.yield %4 : tensor<4x16x8xf32>
  } : (tensor<64x32xf32>, tensor<4x16x8xf32>) -> tensor<4x16x8xf32>
  %z = plan.step "z" on cublas schedule(#plan.product<mma = bf16>)(%a, %w) {
  ^bb0(%0: tensor<64x32xbf16>, %1: tensor<32x32xbf16>):
    %2 = mnist.matmul %0, %1 : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xf32>
    plan.yield %2 : tensor<64x32xf32>
  } : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xf32>
  %in_tf32 = plan.step "in_tf32" on kernel schedule(#plan.product<mma = tf32x3, tile = [16, 16, 16]>)(%z, %u) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x8xf32>):
    %2 = mnist.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
    plan.yield %2 : tensor<64x8xf32>
  } : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
  %biased = plan.step "biased" on cublas schedule(#plan.product<mma = bf16>)(%a, %w, %b) {
  ^bb0(%0: tensor<64x32xbf16>, %1: tensor<32x32xbf16>, %2: tensor<32xf32>):
    %3 = mnist.matmul %0, %1 : (tensor<64x32xbf16>, tensor<32x32xbf16>) -> tensor<64x32xf32>
    %4 = mnist.broadcast %2 along [1] : tensor<32xf32> -> tensor<64x32xf32>
    %5 = mnist.add %3, %4 : tensor<64x32xf32>
    plan.yield %5 : tensor<64x32xf32>
  } : (tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<32xf32>) -> tensor<64x32xf32>
  %of_biased = plan.step "of_biased" on kernel schedule(#plan.product<mma = bf16, tile = [16, 16, 32]>)(%biased, %u) {
  ^bb0(%0: tensor<64x32xf32>, %1: tensor<32x8xf32>):
    %2 = mnist.matmul %0, %1 : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
    plan.yield %2 : tensor<64x8xf32>
  } : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
  return %y, %in_tf32, %of_biased : tensor<4x16x8xf32>, tensor<64x8xf32>, tensor<64x8xf32>
}
