// RUN: split-file %s %t
// RUN: not mnistc %t/role.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: not mnistc %t/offset.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=OFFSET
// RUN: not mnistc %t/word.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not mnistc %t/numbers.mlir --emit=source 2>&1 | FileCheck %s --check-prefix=NUMBERS

// What the tables of a model that trains need.

// ROLE: error: {{.*}}'ml_program.global' op expected 'mnist.role' to be parameter, buffer or state
// OFFSET: error: {{.*}}'ml_program.global' op has no offset; run --plan-assign-memory first
// WORD: error: {{.*}}expected 'mnist.recipe' to have 'optimizer', a string
// NUMBERS: error: {{.*}}expected 'mnist.recipe' to have 'numbers', 10 of f64

//--- role.mlir
module attributes {plan.constant_bytes = 0 : i64} {
  ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "weight", plan.offset = 0 : i64}
  func.func @infer(%x: tensor<4xf32> {plan.offset = 256 : i64}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

//--- offset.mlir
module attributes {plan.constant_bytes = 0 : i64} {
  ml_program.global private mutable @w(dense<1.0> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
  func.func @infer(%x: tensor<4xf32> {plan.offset = 256 : i64}) -> tensor<4xf32> {
    %y = plan.step "y" on kernel at [512] (%x) {
    ^bb0(%i: tensor<4xf32>):
      %0 = mnist.relu %i : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

//--- word.mlir
module attributes {plan.constant_bytes = 0 : i64, mnist.recipe = {loss = "x"}} {
  func.func @infer(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

//--- numbers.mlir
module attributes {plan.constant_bytes = 0 : i64, mnist.recipe = {
    loss = "x", optimizer = "sgd", form = "torch", clip = "none", targets = "class",
    partial = "masked", numbers = array<f64: 1.0>}} {
  func.func @infer(%x: tensor<4xf32> {plan.offset = 0 : i64}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
