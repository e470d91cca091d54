// RUN: mnistc %s --emit=source --target=cpu -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp

// RUN: mkdir -p %t.folder && cp %s "%t.folder/a\"; int main; \\.mlir"
// RUN: mnistc "%t.folder/a\"; int main; \\.mlir" --emit=source | FileCheck %s --check-prefix=FILE

// Whatever a name holds, it stays a name: identifiers are legal and different,
// comments end with their line, strings with their quote.

// So does the file's.
// FILE:     // a"; int main; . - written by
// FILE:     .name = "a\"; int main; \\",

module attributes {plan.constant_bytes = 0 : i64} {
  // CHECK-NOT: {{^}}int main
  // CHECK: // 1. x"; system("reboot"); //: relu
  // CHECK: struct X_system_reboot {
  // CHECK: float *x_system_reboot; // [4]
  // CHECK: const float *float_t; // [4]
  // CHECK: struct Float_t_2 {
  // CHECK-NEXT: float *float_t_2; // [4]
  // CHECK: struct T {
  // CHECK: struct T1_0 {
  // CHECK: // 5. a.b.c */ ?./: abs
  // CHECK: struct Eof {
  // CHECK: {"float", mn::Type::f32, 1, shape_4, 0},
  // CHECK: {"y\012int main;\\", mn::Type::f32, 1, shape_4, 256},
  // CHECK: {"x\"; system(\"reboot\"); //", "relu",
  // CHECK: {"a\012b\\c */ \?\?/", "abs",
  func.func @infer(%in: tensor<4xf32> {mnist.name = "float", plan.offset = 0 : i64}) -> (tensor<4xf32> {mnist.name = "y\0Aint main;\\"}) attributes {plan.arena_bytes = 1536 : i64, plan.workspace_bytes = 0 : i64} {
    %a = plan.step "x\22; system(\22reboot\22); //" on kernel at [256] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.relu %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %b = plan.step "float" on kernel at [512] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.neg %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %c = plan.step "\C3\A9\FF" on kernel at [768] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.exp %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %d = plan.step "1.0" on kernel at [1024] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.sqrt %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %e = plan.step "a\0Ab\\c */ ??/" on kernel at [1280] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.abs %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    %f = plan.step "EOF" on kernel at [1280] (%in) {
    ^bb0(%x: tensor<4xf32>):
      %0 = mnist.tanh %x : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
}
