// RUN: mnist-opt %s --plan-assign-memory --mlir-print-debuginfo | %mnistc - --emit=source | FileCheck %s

// A kernel may read a filter while the step before still runs, where that can
// not be what writes it.

module {
  ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter"}

  // CHECK: namespace infer_kept {
  // CHECK: struct Parameter {
  // CHECK: static constexpr bool keepsFilter = true;
  // CHECK: MN_CONV_KERNEL(infer_kept_parameter, float, Parameter,
  // CHECK: struct Made {
  // CHECK-NOT: keepsFilter
  // What computes the same of a filter that is made has another kernel.
  // CHECK: MN_CONV_KERNEL(infer_kept_filtered,
  // CHECK-NOT: keepsFilter
  // CHECK: MN_CONV_KERNEL(infer_kept_given, float, Filtered,
  func.func @infer_kept(%x: tensor<4x8x9x9xf32> {mnist.name = "x"}, %f: tensor<8x8x3x3xf32> {mnist.name = "f"}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w"}) -> tensor<4x8x9x9xf32> {
    %a = plan.step "parameter" on kernel schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
    ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
      %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
      plan.yield %0 : tensor<4x8x9x9xf32>
    } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
    %m = plan.step "made" on kernel (%w) {
    ^bb0(%q: tensor<8x8x3x3xf32>):
      %0 = mnist.relu %q : tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>) -> (tensor<8x8x3x3xf32>)
    %b = plan.step "filtered" on kernel schedule(#plan.patches<mma = tf32, width = 16>) (%a, %m) {
    ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
      %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
      plan.yield %0 : tensor<4x8x9x9xf32>
    } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
    %c = plan.step "given" on kernel schedule(#plan.patches<mma = tf32, width = 32>) (%b, %f) {
    ^bb0(%p: tensor<4x8x9x9xf32>, %q: tensor<8x8x3x3xf32>):
      %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> tensor<4x8x9x9xf32>
      plan.yield %0 : tensor<4x8x9x9xf32>
    } : (tensor<4x8x9x9xf32>, tensor<8x8x3x3xf32>) -> (tensor<4x8x9x9xf32>)
    return %c : tensor<4x8x9x9xf32>
  }
}
