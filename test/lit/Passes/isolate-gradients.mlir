// RUN: mnist-opt %s --split-input-file --verify-diagnostics --mnist-isolate-gradients | FileCheck %s

// The function that trains stays, without what it stores.

// CHECK: module attributes {mnist.gradcheck}
// CHECK-NOT: @infer_1
// CHECK-NOT: @eval_1
// CHECK-LABEL: func.func @train_1
// CHECK-NEXT:    mnist.reduce_sum
// CHECK-NEXT:    return
ml_program.global private mutable @s(dense<0.0> : tensor<f32>) : tensor<f32> {mnist.role = "state"}
func.func @infer_1(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @eval_1(%x: tensor<2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %l = mnist.reduce_sum %x over [0] : tensor<2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
func.func @train_1(%x: tensor<2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %l = mnist.reduce_sum %x over [0] : tensor<2xf32> -> tensor<f32>
  ml_program.global_store @s = %l : tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{expected one batch size to check gradients with, got 0}}
module {
  func.func @infer_1(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
}
