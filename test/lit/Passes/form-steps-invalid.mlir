// RUN: mnist-opt %s --plan-form-steps --split-input-file --verify-diagnostics
// RUN: not mnist-opt %s --plan-form-steps=epilogues=some --split-input-file 2>&1 \
// RUN:   | FileCheck %s

// CHECK: error: expected epilogues 'any' or 'none', got 'some'

func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op expected an op of the mnist dialect}}
  %y = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @other(tensor<4xf32>) -> tensor<4xf32>
