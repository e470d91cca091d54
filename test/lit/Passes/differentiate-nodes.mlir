// RUN: not mnist-opt %s --mnist-differentiate 2>&1 | FileCheck %s

// The error names the node of the model.

// CHECK: expected an op with a derivative, but 'mnist.max_pool_grad' has none; it computes node 'unpool' (MaxUnpool)
ml_program.global private mutable @w(dense<1.0> : tensor<1x1x4xf32>) : tensor<1x1x4xf32> {mnist.role = "parameter"}
func.func @train_1(%g: tensor<1x1x2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<1x1x4xf32>
  %d = mnist.max_pool_grad nchw %w, %g kernel [2] strides [2] pads [0, 0] dilations [1]
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32> loc("y"("unpool"("MaxUnpool")))
  %l = mnist.reduce_sum %d over [0, 1, 2] : tensor<1x1x4xf32> -> tensor<f32>
  return %l : tensor<f32>
}
