// RUN: not mnist-opt %s --mnist-add-optimizer=kind=adam 2>&1 | FileCheck %s --check-prefix=ADAM
// RUN: not mnist-opt %s --mnist-add-optimizer=average=0.9 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: mnist-opt %s --mnist-add-optimizer | FileCheck %s

// A tensor of the model is not taken for a state.

// ADAM: error: expected no tensor 'w.v' beside 'w', whose state of the optimizer has that name, got one
// MEAN: error: expected no tensor 'w.ema' beside 'w'
// CHECK: ml_program.global_store @w =

ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @w.v(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @w.ema(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}

func.func @train_1(%g: tensor<2xf32>) -> (tensor<2xf32> {mnist.gradient = "w"}) {
  return %g : tensor<2xf32>
}
