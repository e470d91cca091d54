// RUN: split-file %s %t
// RUN: not mnistc %t/undecided.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=UNDECIDED
// RUN: not mnistc %t/offsets.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=OFFSETS
// RUN: not mnistc %t/library.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=LIBRARY
// RUN: not mnistc %t/roots.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=ROOTS
// RUN: not mnistc %t/order.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=ORDER

// What a plan lacks is said, not guessed.

// UNDECIDED: error: {{.*}}undecided.mlir:2:8: 'plan.step' op expected an implementation, got 'undecided'
//--- undecided.mlir
func.func @infer(%in: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> {
  %y = plan.step "y" on undecided at [64] (%in) {
  ^bb0(%x: tensor<4xf32>):
    %0 = mnist.relu %x : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// OFFSETS: error: {{.*}}offsets.mlir:2:8: 'plan.step' op has no offsets; run --plan-assign-memory first
//--- offsets.mlir
func.func @infer(%in: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> {
  %y = plan.step "y" on kernel (%in) {
  ^bb0(%x: tensor<4xf32>):
    %0 = mnist.relu %x : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// LIBRARY: error: {{.*}}library.mlir:2:8: 'plan.step' op cannot run on 'cublas'
//--- library.mlir
func.func @infer(%in: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> {
  %y = plan.step "y" on cublas at [64] (%in) {
  ^bb0(%x: tensor<4xf32>):
    %0 = mnist.relu %x : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// ROOTS: error: {{.*}}roots.mlir:5:10: 'mnist.softmax' op expected at most one op in a step that is neither elementwise nor indexing
//--- roots.mlir
func.func @infer(%in: tensor<4x5xf32> {plan.offset = 0 : i64}) -> tensor<4x5xf32> {
  %y = plan.step "y" on kernel at [80] (%in) {
  ^bb0(%x: tensor<4x5xf32>):
    %0 = mnist.softmax %x dim 1 : tensor<4x5xf32>
    %1 = mnist.softmax %0 dim 1 : tensor<4x5xf32>
    plan.yield %1 : tensor<4x5xf32>
  } : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// ORDER: error: {{.*}}order.mlir:4:10: 'mnist.softmax' op expected what follows it in its step to keep the order of its elements
//--- order.mlir
func.func @infer(%in: tensor<4x5xf32> {plan.offset = 0 : i64}) -> tensor<5x4xf32> {
  %y = plan.step "y" on kernel at [80] (%in) {
  ^bb0(%x: tensor<4x5xf32>):
    %0 = mnist.softmax %x dim 1 : tensor<4x5xf32>
    %1 = mnist.transpose %0 perm [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
    plan.yield %1 : tensor<5x4xf32>
  } : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
