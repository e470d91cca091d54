// RUN: mnistc %s --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// A GPU's kernels are compiled in two parts of about the same cost, each into
// a file of its own. Functors are in both, and the host's part is one.

// CHECK:      #if MN_IN_PART(1)
// CHECK-NEXT: MN_TRANSFER_KERNEL
// CHECK-NEXT: #endif
// CHECK:      // 1. a
// CHECK:      struct A {
// CHECK:      #if MN_IN_PART(2)
// CHECK-NEXT: MN_MATMUL_KERNEL(p_a, float, A, a_shape)
// CHECK-NEXT: #endif
// CHECK:      // 2. b
// CHECK:      struct B {
// CHECK:      #if MN_IN_PART(2)
// CHECK-NEXT: MN_MATMUL_KERNEL(p_b, float, B, b_shape)
// CHECK-NEXT: #endif
// CHECK-NOT:  // 3. c
// CHECK:      // 4. d
// CHECK:      #if MN_IN_PART(1)
// CHECK-NEXT: MN_MATMUL_KERNEL(p_d, float, D, d_shape)
// CHECK-NEXT: #endif
// CHECK:      } // namespace p
// CHECK-EMPTY:
// CHECK-NEXT: #if MN_HOST
// CHECK-NOT:  MN_STEP(
// CHECK:      extern "C" const unsigned char mn_code_1[], mn_code_1_end[];
// CHECK-NEXT: extern "C" const unsigned char mn_code_2[], mn_code_2_end[];
// CHECK:      {"sm_90", {{[{][{]}}mn_code_1, static_cast<size_t>(mn_code_1_end - mn_code_1)}, {mn_code_2, static_cast<size_t>(mn_code_2_end - mn_code_2)}}},
// CHECK:      .codeCount = 1,

module attributes {plan.constant_bytes = 0 : i64} {
  func.func @p(%x: tensor<8x8xf32> {mnist.name = "x", plan.offset = 0 : i64}) -> (tensor<8x8xf32> {mnist.name = "d"}) attributes {plan.arena_bytes = 2048 : i64, plan.workspace_bytes = 0 : i64} {
    %a = plan.step "a" on kernel at [256] (%x) {
    ^bb0(%p: tensor<8x8xf32>):
      %0 = mnist.matmul %p, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %0 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = plan.step "b" on kernel at [512] (%a) {
    ^bb0(%p: tensor<8x8xf32>):
      %0 = mnist.matmul %p, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = mnist.relu %0 : tensor<8x8xf32>
      plan.yield %1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %c = plan.step "c" on kernel at [768] (%b) {
    ^bb0(%p: tensor<8x8xf32>):
      %0 = mnist.matmul %p, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      plan.yield %0 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %d = plan.step "d" on kernel at [1024] (%c) {
    ^bb0(%p: tensor<8x8xf32>):
      %0 = mnist.matmul %p, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = mnist.exp %0 : tensor<8x8xf32>
      plan.yield %1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %d : tensor<8x8xf32>
  }
}
