// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations \
// RUN:   --verify-diagnostics
// RUN: not mnist-opt %s --plan-select-implementations=target=tpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// RUN: not mnist-opt %s --plan-select-implementations=libraries=cudnn+mkl 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LIBRARY

// TARGET: error: expected a target of cuda or cpu, got 'tpu'
// LIBRARY: error: unknown library 'mkl'; expected all, none, or some of cublas, cudnn, onednn, openblas joined by '+'

func.func @dropped_elsewhere(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{target 'cuda' has nothing that computes 'mnist.dropout' of 'tensor<4x8xf32>'}}
  %y = mnist.dropout %x ratio 5.000000e-01 : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
