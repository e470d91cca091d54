// RUN: not mnist-opt %s --mnist-differentiate 2>&1 | FileCheck %s

// The error names the node of the model.

// CHECK: expected operators with a derivative after a tensor that is trained, got node 'unpool' (MaxUnpool); --freeze=NAMES keeps the tensors before it
ml_program.global private mutable @w(dense<1.0> : tensor<1x1x4xf32>) : tensor<1x1x4xf32> {mnist.role = "parameter"}
func.func @train_1(%g: tensor<1x1x2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<1x1x4xf32>
  %d = mnist.max_pool_grad nchw %w, %g kernel [2] strides [2] pads [0, 0] dilations [1]
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32> loc("y"("unpool"("MaxUnpool")))
  %l = mnist.reduce_sum %d over [0, 1, 2] : tensor<1x1x4xf32> -> tensor<f32>
  return %l : tensor<f32>
}
