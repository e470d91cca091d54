// RUN: mnist-opt %s --split-input-file --verify-diagnostics --mnist-differentiate

// What has no derivative; differentiate-nodes.mlir says which node it computes.

ml_program.global private mutable @w(dense<1.0> : tensor<1x1x4xf32>) : tensor<1x1x4xf32> {mnist.role = "parameter"}
func.func @train_1(%g: tensor<1x1x2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<1x1x4xf32>
  // expected-error @+1 {{expected operators with a derivative after a tensor that is trained, got max_pool_grad; --freeze=NAMES keeps the tensors before it}}
  %d = mnist.max_pool_grad nchw %w, %g kernel [2] strides [2] pads [0, 0] dilations [1]
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32>
  %l = mnist.reduce_sum %d over [0, 1, 2] : tensor<1x1x4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{expected a loss that depends on a trained tensor, got one that depends on none; --explain lists them}}
func.func @train_1(%x: tensor<2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %l = mnist.reduce_sum %x over [0] : tensor<2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
