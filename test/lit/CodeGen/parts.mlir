// UNSUPPORTED: asan
// RUN: mnistc %s --emit=source --target=cpu -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp
// RUN: mnistc %s --target=cpu --no-cache --save-temps=%t.temps -o %t.app
// RUN: nm -C %t.temps/model.1.o | FileCheck %s --check-prefix=FIRST --implicit-check-not="p::B>"
// RUN: nm -C %t.temps/model.2.o | FileCheck %s --check-prefix=SECOND --implicit-check-not="p::A>" --implicit-check-not="p::D>" --implicit-check-not=mn_model

// (Links a program, which a sanitized runtime does not link into.)

// A large file is compiled in two parts of about the same cost. Steps with one
// functor are in one part; the tables are in the first.

// CHECK: // 1. a
// CHECK: MN_STEP(1) void step_1(mn::Context &ctx) {
// CHECK: // 2. b
// CHECK: MN_STEP(2) void step_2(mn::Context &ctx) {
// CHECK: // 3. c
// CHECK: MN_STEP(1) void step_3(mn::Context &ctx) {
// CHECK: mn::matmul<float>(ctx, "p_a", a_shape, A{c, b});
// CHECK: // 4. d
// CHECK: MN_STEP(1) void step_4(mn::Context &ctx) {
// CHECK: // 5. e
// CHECK: MN_STEP(2) void step_5(mn::Context &ctx) {
// CHECK: static const mn::Step steps[] = {
// CHECK: } // namespace p
// CHECK-EMPTY:
// CHECK-NEXT: #if MN_PART <= 1
// CHECK: const mn::Model mn_model = {
// CHECK: #endif // MN_PART <= 1

// FIRST-DAG: U p::step_2
// FIRST-DAG: t p::step_1
// FIRST-DAG: mn_model
// SECOND-DAG: T p::step_2
// SECOND-DAG: T p::step_5

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
  func.func @p(%x: tensor<8x8xf32> {mnist.name = "x", plan.offset = 0 : i64}) -> (tensor<8x8xf32> {mnist.name = "e"}) attributes {plan.arena_bytes = 2048 : i64, plan.workspace_bytes = 0 : i64} {
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
    %e = plan.step "e" on kernel at [1280] (%d) {
    ^bb0(%p: tensor<8x8xf32>):
      %0 = mnist.relu %p : tensor<8x8xf32>
      plan.yield %0 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %e : tensor<8x8xf32>
  }
}
