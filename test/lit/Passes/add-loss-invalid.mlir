// RUN: mnist-opt %s --split-input-file --verify-diagnostics --mnist-add-loss

// expected-error @+1 {{expected an output to train, got none}}
func.func @infer_4(%x: tensor<4x3xf32>) {
  return
}

// -----

// expected-error @+1 {{expected a first output of floats to train, got output of shape 4 of i64}}
func.func @infer_4(%x: tensor<4xi64>) -> tensor<4xi64> {
  return %x : tensor<4xi64>
}

// -----

// expected-error @+1 {{expected two scores or more per row for cross-entropy, got output of shape 4x1; --loss=mse --targets=values trains values, --loss=bce-logits one score for two classes}}
func.func @infer_4(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  return %x : tensor<4x1xf32>
}

// -----

// expected-error @+1 {{expected one input of integers, the targets of the model's own loss, got 0; --loss=mse --targets=values trains values}}
func.func @infer_4(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
