// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: sed 's/on cublas at \(.*\) schedule(#plan.product<mma = bf16>)/on kernel at \1/' %t.mlir > %t.kernel.mlir
// RUN: not mnistc %t.kernel.mlir --emit=source --target=cuda -o %t.kernel.cpp 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: sed 's/mma = bf16/mma = tf32/' %t.mlir > %t.tf32.mlir
// RUN: not mnistc %t.tf32.mlir --emit=source --target=cuda -o %t.tf32.cpp 2>&1 | FileCheck %s --check-prefix=TF32
// KERNEL: product: expected an implementation for cuda that can compute step 'product' around 'matmul', got 'kernel'
// TF32: product: expected an implementation for cuda that can compute step 'product' around 'matmul', got 'cublas'
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// A cast to bf16 is stored in two bytes, and a library reads it as it is; no
// kernel does.

// CHECK:      struct A {
// CHECK-NEXT:   mn::Bf16 *a;
// CHECK-NEXT:   const float *x;
// CHECK:        a[i] = mn::cast<mn::Bf16>(x[i]);
// CHECK:      const auto *a = ctx.at<mn::Bf16>(
// CHECK:      mn::cublas::matmul(ctx, product, a, b, product_shape);
// CHECK:      {"a", mn::Type::bf16, 2, shape_256x128,
func.func @rounded(%x_in: tensor<256x128xf32> {mnist.name = "x"}, %w_in: tensor<128x384xf32> {mnist.name = "w"}) -> tensor<256x384xf32> {
  %a = plan.step "a" on kernel (%x_in) {
  ^bb0(%x: tensor<256x128xf32>):
    %0 = mnist.cast %x : tensor<256x128xf32> -> tensor<256x128xbf16>
    plan.yield %0 : tensor<256x128xbf16>
  } : (tensor<256x128xf32>) -> tensor<256x128xbf16> loc("a")
  %b = plan.step "b" on kernel (%w_in) {
  ^bb0(%w: tensor<128x384xf32>):
    %0 = mnist.cast %w : tensor<128x384xf32> -> tensor<128x384xbf16>
    plan.yield %0 : tensor<128x384xbf16>
  } : (tensor<128x384xf32>) -> tensor<128x384xbf16> loc("b")
  %product = plan.step "product" on cublas schedule(#plan.product<mma = bf16>) (%a, %b) {
  ^bb0(%l: tensor<256x128xbf16>, %r: tensor<128x384xbf16>):
    %0 = mnist.matmul %l, %r : (tensor<256x128xbf16>, tensor<128x384xbf16>) -> tensor<256x384xf32>
    plan.yield %0 : tensor<256x384xf32>
  } : (tensor<256x128xbf16>, tensor<128x384xbf16>) -> tensor<256x384xf32> loc("product")
  return %product : tensor<256x384xf32>
}
