// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | %mnistc - --emit=source | FileCheck %s
// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | %mnistc - --explain | FileCheck %s --check-prefix=EXPLAIN

// Dot products load a matrix while the step before still runs, where that can
// not be what writes it.

// EXPLAIN: {{^}}step 1 computed as dots, warps 2, split 4, width 16
// EXPLAIN: {{^}}steps 2, 3 computed as dots, width 8

module {
  ml_program.global private mutable @w(dense<1.0> : tensor<64x64xf32>) : tensor<64x64xf32> {mnist.role = "parameter"}

  // CHECK: namespace infer_dots {
  // CHECK: struct Parameter {
  // CHECK: static constexpr bool loadsEarly = true;
  // CHECK: constexpr mn::Matmul parameter_shape{
  // CHECK:     .schedule = {.warps = {2, 1}, .split = 4, .way = mn::Way::dots, .width = 16},
  // CHECK: MN_MATMUL_KERNEL(infer_dots_parameter, float, Parameter,
  // CHECK-NOT: loadsEarly
  // CHECK: MN_MATMUL_KERNEL(infer_dots_given, float, Given,
  // What computes the same of a matrix that is kept has another kernel.
  // CHECK: MN_MATMUL_KERNEL(infer_dots_kept, float, Parameter,
  func.func @infer_dots(%x: tensor<2x64xf32> {mnist.name = "x"}, %y: tensor<64x64xf32> {mnist.name = "y"}, %w: tensor<64x64xf32> {mnist.parameter = "w"}) -> tensor<2x64xf32> {
    %a = plan.step "parameter" on kernel schedule(#plan.dots<width = 16, warps = 2, split = 4>) (%x, %w) {
    ^bb0(%p: tensor<2x64xf32>, %q: tensor<64x64xf32>):
      %0 = mnist.matmul %p, %q : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
      plan.yield %0 : tensor<2x64xf32>
    } : (tensor<2x64xf32>, tensor<64x64xf32>) -> (tensor<2x64xf32>)
    %b = plan.step "given" on kernel schedule(#plan.dots<width = 8>) (%a, %y) {
    ^bb0(%p: tensor<2x64xf32>, %q: tensor<64x64xf32>):
      %0 = mnist.matmul %p, %q : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
      plan.yield %0 : tensor<2x64xf32>
    } : (tensor<2x64xf32>, tensor<64x64xf32>) -> (tensor<2x64xf32>)
    %c = plan.step "kept" on kernel schedule(#plan.dots<width = 8>) (%b, %w) {
    ^bb0(%p: tensor<2x64xf32>, %q: tensor<64x64xf32>):
      %0 = mnist.matmul %p, %q : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
      plan.yield %0 : tensor<2x64xf32>
    } : (tensor<2x64xf32>, tensor<64x64xf32>) -> (tensor<2x64xf32>)
    return %c : tensor<2x64xf32>
  }
}
