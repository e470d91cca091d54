// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | mnistc - --emit=source | FileCheck %s

// What multiplies is a field of the sizes, of kernels and of library calls, and
// the last entry of a step's row.

// CHECK-LABEL: namespace infer_kernel {
// CHECK: constexpr mn::Matmul y_shape{
// CHECK:     .schedule = {.mma = mn::Mma::tf32x3},
// CHECK: MN_MATMUL_KERNEL(infer_kernel_y, float, Y, y_shape)
// CHECK: "kernel", {{.*}}, 0, nullptr, 0, "tf32x3"}
func.func @infer_kernel(%in0: tensor<64x4x6xf32> {mnist.name = "x0"}, %in1: tensor<64x6x2xf32> {mnist.name = "x1"}) -> tensor<64x4x2xf32> {
  %y = plan.step "y" on kernel schedule(#plan.product<mma = tf32x3>) (%in0, %in1) {
  ^bb0(%a: tensor<64x4x6xf32>, %b: tensor<64x6x2xf32>):
    %0 = mnist.matmul %a, %b : (tensor<64x4x6xf32>, tensor<64x6x2xf32>) -> tensor<64x4x2xf32>
    plan.yield %0 : tensor<64x4x2xf32>
  } : (tensor<64x4x6xf32>, tensor<64x6x2xf32>) -> (tensor<64x4x2xf32>)
  return %y : tensor<64x4x2xf32>
}

// CHECK-LABEL: namespace infer_library {
// CHECK: constexpr mn::Matmul y_shape{
// CHECK:     .schedule = {.mma = mn::Mma::bf16},
// CHECK: mn::cublas::matmul(ctx, y, x0, x1, y_shape);
func.func @infer_library(%in0: tensor<4x6xf32> {mnist.name = "x0"}, %in1: tensor<6x2xf32> {mnist.name = "x1"}) -> tensor<4x2xf32> {
  %y = plan.step "y" on cublas schedule(#plan.product<mma = bf16>) (%in0, %in1) {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<6x2xf32>):
    %0 = mnist.matmul %a, %b : (tensor<4x6xf32>, tensor<6x2xf32>) -> tensor<4x2xf32>
    plan.yield %0 : tensor<4x2xf32>
  } : (tensor<4x6xf32>, tensor<6x2xf32>) -> (tensor<4x2xf32>)
  return %y : tensor<4x2xf32>
}
