// RUN: mnistc %s --emit=source --target=cpu -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp

// Steps that compute the same share a kernel, in one plan and in several, also
// where their ops or inputs are in another order.

module attributes {plan.constant_bytes = 0 : i64} {
  // CHECK: namespace before {
  // CHECK: // 1. a: exp relu sub
  // CHECK-NEXT: struct A {
  // CHECK-NEXT: float *a; // [4]
  // CHECK-NEXT: const float *x; // [4]
  // CHECK-NEXT: const float *y; // [4]
  // CHECK: MN_POINTWISE_KERNEL(before_a, A)
  // CHECK-NOT: struct B
  // One pointer for two inputs makes another.
  // CHECK: struct C {
  // A result in an input's place is the same where the text is.
  // CHECK-NOT: struct D
  // CHECK: // 5. e: matmul
  // CHECK: struct E_t {
  // CHECK: MN_MATMUL_KERNEL(before_e_t, float, E_t, e_t_shape)
  // Other sizes make another kernel of the same functor.
  // CHECK: // 6. f: matmul
  // CHECK-NEXT: constexpr mn::Matmul f_shape{.m = 2, .n = 2, .k = 2, .transposedB = true};
  // CHECK-NEXT: MN_MATMUL_KERNEL(before_f, float, E_t, f_shape)
  // CHECK: } // namespace before
  // CHECK: namespace second {
  // CHECK: // 2. h: relu
  // CHECK-NEXT: struct H {
  // CHECK-NOT: struct
  // CHECK: } // namespace second
  // CHECK: struct U {
  // CHECK: static constexpr bool runsBeside = true;

  // CHECK: // 2. b [4]: relu exp sub
  // CHECK-NEXT: static void step_2(mn::Context &ctx) {
  // CHECK-NEXT: auto *b = ctx.at<float>(1024);
  // CHECK-NEXT: const auto *x = ctx.at<float>(0);
  // CHECK-NEXT: const auto *a = ctx.at<float>(512);
  // CHECK-NEXT: mn::pointwise(ctx, "before_a", 4, A{b, x, a});
  // CHECK: mn::pointwise(ctx, "before_c", 4, C{c, x});
  // CHECK: mn::pointwise(ctx, "before_a", 4, A{d, a, x});
  // CHECK: mn::matmul<float>(ctx, "before_f", f_shape, E_t{f, e_t});
  func.func @before(%x: tensor<4xf32> {mnist.name = "x", plan.offset = 0 : i64}, %y: tensor<4xf32> {mnist.name = "y", plan.offset = 256 : i64}, %m: tensor<2x2xf32> {mnist.name = "m", plan.offset = 1536 : i64}) -> (tensor<4xf32> {mnist.name = "r"}) attributes {plan.arena_bytes = 4096 : i64, plan.workspace_bytes = 0 : i64} {
    %a = plan.step "a" on kernel at [512] (%x, %y) {
    ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
      %0 = mnist.exp %p : tensor<4xf32>
      %1 = mnist.relu %q : tensor<4xf32>
      %2 = mnist.sub %0, %1 : tensor<4xf32>
      plan.yield %2 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = plan.step "b" on kernel at [1024] (%a, %x) {
    ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
      %1 = mnist.relu %p : tensor<4xf32>
      %0 = mnist.exp %q : tensor<4xf32>
      %2 = mnist.sub %0, %1 : tensor<4xf32>
      plan.yield %2 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = plan.step "c" on kernel at [1280] (%x, %x) {
    ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
      %0 = mnist.exp %p : tensor<4xf32>
      %1 = mnist.relu %q : tensor<4xf32>
      %2 = mnist.sub %0, %1 : tensor<4xf32>
      plan.yield %2 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = plan.step "d" on kernel at [512] (%a, %x) {
    ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
      %0 = mnist.exp %p : tensor<4xf32>
      %1 = mnist.relu %q : tensor<4xf32>
      %2 = mnist.sub %0, %1 : tensor<4xf32>
      plan.yield %2 : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = plan.step "e" on kernel at [2048] (%m) {
    ^bb0(%p: tensor<2x2xf32>):
      %0 = mnist.matmul %p, %p : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      plan.yield %0 : tensor<2x2xf32>
    } : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %f = plan.step "f" on kernel at [2304] (%e) {
    ^bb0(%p: tensor<2x2xf32>):
      %0 = mnist.matmul %p, %p transposed [false, true] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      plan.yield %0 : tensor<2x2xf32>
    } : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %b : tensor<4xf32>
  }

  // CHECK: // 1. g [2, 2]: matmul
  // CHECK: auto *g = ctx.at<float>(256);
  // CHECK-NEXT: const auto *z = ctx.at<float>(0);
  // CHECK-NEXT: mn::matmul<float>(ctx, "before_e_t", before::e_t_shape, before::E_t{g, z});
  func.func @second(%z: tensor<2x2xf32> {mnist.name = "z", plan.offset = 0 : i64}) -> (tensor<2x2xf32> {mnist.name = "r"}) attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    %g = plan.step "g" on kernel at [256] (%z) {
    ^bb0(%p: tensor<2x2xf32>):
      %0 = mnist.matmul %p, %p : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      plan.yield %0 : tensor<2x2xf32>
    } : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %h = plan.step "h" on kernel at [512] (%g) {
    ^bb0(%p: tensor<2x2xf32>):
      %0 = mnist.relu %p : tensor<2x2xf32>
      plan.yield %0 : tensor<2x2xf32>
    } : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %h : tensor<2x2xf32>
  }

  // Steps that may run side by side have kernels, and so scratch memory, of
  // their own.
  // CHECK: namespace third {
  // CHECK: mn::reduce<mn::Sum, float>(ctx, "third_l", l_shape, L{l, w});
  // CHECK: mn::reduce<mn::Sum, float>(ctx, "third_n", n_shape, L{n, w});
  // CHECK: mn::reduce<mn::Sum, float>(ctx, "third_n", n_shape, L{q, w});
  // One beside which others run starts the next kernel later.
  // CHECK: mn::reduce<mn::Sum, float>(ctx, "third_u", u_shape, U{u, w});
  func.func @third(%w: tensor<4x8xf32> {mnist.name = "w", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.name = "l"}, tensor<4xf32> {mnist.name = "n"}, tensor<4xf32> {mnist.name = "q"}, tensor<4xf32> {mnist.name = "u"}) attributes {plan.arena_bytes = 1280 : i64, plan.workspace_bytes = 0 : i64} {
    %l = plan.step "l" on kernel at [256] (%w) {
    ^bb0(%p: tensor<4x8xf32>):
      %0 = mnist.reduce_sum %p over [1] : tensor<4x8xf32> -> tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } {plan.stream = 0 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
    %n = plan.step "n" on kernel at [512] (%w) {
    ^bb0(%p: tensor<4x8xf32>):
      %0 = mnist.reduce_sum %p over [1] : tensor<4x8xf32> -> tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } {plan.stream = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
    %q = plan.step "q" on kernel at [768] (%w) {
    ^bb0(%p: tensor<4x8xf32>):
      %0 = mnist.reduce_sum %p over [1] : tensor<4x8xf32> -> tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } {plan.stream = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
    %u = plan.step "u" on kernel at [1024] (%w) {
    ^bb0(%p: tensor<4x8xf32>):
      %0 = mnist.reduce_sum %p over [1] : tensor<4x8xf32> -> tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } {plan.beside, plan.stream = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xf32>
    return %l, %n, %q, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
