// RUN: mnist-opt %s --plan-assign-memory --plan-assign-streams --plan-check-steps -o %t.plan.mlir
// RUN: %mnistc %t.plan.mlir --emit=source | FileCheck %s

// The row of a step that writes over filters says of which step they are packed last; no other row does.

module {
  ml_program.global private mutable @w(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter"}
  ml_program.global private mutable @v(dense<1.0> : tensor<8x8x3x3xf32>) : tensor<8x8x3x3xf32> {mnist.role = "parameter"}

  // CHECK-NOT:  static const int after[]
  // CHECK:      static const mn::Step steps[] = {
  // CHECK-NEXT: {"first", {{.*}}, results, 1, 0, nullptr, 0, "tf32", "patches, width 16", true},
  // CHECK-NEXT: {"second", {{.*}}, results + 1, 1, {{[0-9]}}, nullptr, 0, "tf32", "patches, width 16", true},
  // CHECK-NEXT: {"other", {{.*}}, results + 2, 1, {{[0-9]}}, nullptr, 0, "tf32", "patches, width 16", true},
  // CHECK-NEXT: {"w_new", {{.*}}, results + 3, 1, {{[0-9]}}, nullptr, 0, "", "", false, 1},
  // CHECK-NEXT: {"v_new", {{.*}}, results + 4, 1, {{[0-9]}}, nullptr, 0, "", "", false, 2},
  // CHECK-NEXT: {"free", {{.*}}, results + 5, 1{{(, [0-9])?}}},
  func.func @train(%x: tensor<8x8x3x3xf32> {mnist.name = "x"}, %w: tensor<8x8x3x3xf32> {mnist.parameter = "w"}, %v: tensor<8x8x3x3xf32> {mnist.parameter = "v"}) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32> {mnist.parameter = "w"}, tensor<8x8x3x3xf32> {mnist.parameter = "v"}, tensor<8x8x3x3xf32>) {
    %a = plan.step "first" on kernel schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
    ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
      %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %b = plan.step "second" on kernel schedule(#plan.patches<mma = tf32, width = 16>) (%x, %w) {
    ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
      %1 = mnist.neg %q : tensor<8x8x3x3xf32>
      %0 = mnist.conv nchw %p, %1 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %c = plan.step "other" on kernel schedule(#plan.patches<mma = tf32, width = 16>) (%x, %v) {
    ^bb0(%p: tensor<8x8x3x3xf32>, %q: tensor<8x8x3x3xf32>):
      %0 = mnist.conv nchw %p, %q strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %d = plan.step "w_new" on kernel (%w) {
    ^bb0(%p: tensor<8x8x3x3xf32>):
      %0 = mnist.neg %p : tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %e = plan.step "v_new" on kernel (%v) {
    ^bb0(%p: tensor<8x8x3x3xf32>):
      %0 = mnist.neg %p : tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    %f = plan.step "free" on kernel (%x) {
    ^bb0(%p: tensor<8x8x3x3xf32>):
      %0 = mnist.neg %p : tensor<8x8x3x3xf32>
      plan.yield %0 : tensor<8x8x3x3xf32>
    } : (tensor<8x8x3x3xf32>) -> tensor<8x8x3x3xf32>
    return %a, %b, %c, %d, %e, %f : tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>
  }
}
