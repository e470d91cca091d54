// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp
// RUN: sed 's/mma = bf16/mma = tf32/' %t.mlir > %t.tf32.mlir
// RUN: not mnistc %t.tf32.mlir --emit=source --target=cuda -o %t.tf32.cpp 2>&1 | FileCheck %s --check-prefix=TF32
// TF32: y: expected the FMA units for a contraction of bf16, got mma = tf32

// All of a convolution is in bf16, in channels last.

// CHECK:      constexpr mn::Conv y_shape{
// CHECK:          .layout = mn::Layout::nhwc,
// CHECK:          .schedule = {.mma = mn::Mma::bf16},
// CHECK:      auto *y = ctx.at<mn::Bf16>(
// CHECK:      mn::cudnn::conv(ctx, y, x, w, y_shape);
// CHECK:      mn::cudnn::convInputGrad(ctx, dx, y, w, dx_shape);
// CHECK:      mn::cudnn::convFilterGrad(ctx, dw, x, y, dw_shape);
func.func @rounded_conv(%x_in: tensor<8x9x9x64xf32> {mnist.name = "x_in"}, %w_in: tensor<32x3x3x64xf32> {mnist.name = "w_in"}) -> (tensor<8x9x9x64xf32>, tensor<32x3x3x64xf32>) {
  %x = plan.step "x" on kernel (%x_in) {
  ^bb0(%a: tensor<8x9x9x64xf32>):
    %0 = mnist.cast %a : tensor<8x9x9x64xf32> -> tensor<8x9x9x64xbf16>
    plan.yield %0 : tensor<8x9x9x64xbf16>
  } : (tensor<8x9x9x64xf32>) -> tensor<8x9x9x64xbf16> loc("x")
  %w = plan.step "w" on kernel (%w_in) {
  ^bb0(%a: tensor<32x3x3x64xf32>):
    %0 = mnist.cast %a : tensor<32x3x3x64xf32> -> tensor<32x3x3x64xbf16>
    plan.yield %0 : tensor<32x3x3x64xbf16>
  } : (tensor<32x3x3x64xf32>) -> tensor<32x3x3x64xbf16> loc("w")
  %y = plan.step "y" on cudnn schedule(#plan.product<mma = bf16>) (%x, %w) {
  ^bb0(%a: tensor<8x9x9x64xbf16>, %b: tensor<32x3x3x64xbf16>):
    %0 = mnist.conv nhwc %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x9x9x64xbf16>, tensor<32x3x3x64xbf16>) -> tensor<8x9x9x32xbf16>
    plan.yield %0 : tensor<8x9x9x32xbf16>
  } : (tensor<8x9x9x64xbf16>, tensor<32x3x3x64xbf16>) -> tensor<8x9x9x32xbf16> loc("y")
  %dx = plan.step "dx" on cudnn schedule(#plan.product<mma = bf16>) (%y, %w) {
  ^bb0(%a: tensor<8x9x9x32xbf16>, %b: tensor<32x3x3x64xbf16>):
    %0 = mnist.conv_input_grad nhwc %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x9x9x32xbf16>, tensor<32x3x3x64xbf16>) -> tensor<8x9x9x64xbf16>
    plan.yield %0 : tensor<8x9x9x64xbf16>
  } : (tensor<8x9x9x32xbf16>, tensor<32x3x3x64xbf16>) -> tensor<8x9x9x64xbf16> loc("dx")
  %dw = plan.step "dw" on cudnn schedule(#plan.product<mma = bf16>) (%x, %y) {
  ^bb0(%a: tensor<8x9x9x64xbf16>, %b: tensor<8x9x9x32xbf16>):
    %0 = mnist.conv_filter_grad nhwc %a, %b strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x9x9x64xbf16>, tensor<8x9x9x32xbf16>) -> tensor<32x3x3x64xbf16>
    plan.yield %0 : tensor<32x3x3x64xbf16>
  } : (tensor<8x9x9x64xbf16>, tensor<8x9x9x32xbf16>) -> tensor<32x3x3x64xbf16> loc("dw")
  %dx_out = plan.step "dx_out" on kernel (%dx) {
  ^bb0(%a: tensor<8x9x9x64xbf16>):
    %0 = mnist.cast %a : tensor<8x9x9x64xbf16> -> tensor<8x9x9x64xf32>
    plan.yield %0 : tensor<8x9x9x64xf32>
  } : (tensor<8x9x9x64xbf16>) -> tensor<8x9x9x64xf32> loc("dx_out")
  %dw_out = plan.step "dw_out" on kernel (%dw) {
  ^bb0(%a: tensor<32x3x3x64xbf16>):
    %0 = mnist.cast %a : tensor<32x3x3x64xbf16> -> tensor<32x3x3x64xf32>
    plan.yield %0 : tensor<32x3x3x64xf32>
  } : (tensor<32x3x3x64xbf16>) -> tensor<32x3x3x64xf32> loc("dw_out")
  return %dx_out, %dw_out : tensor<8x9x9x64xf32>, tensor<32x3x3x64xf32>
}
