// RUN: mnist-opt %s --split-input-file --verify-diagnostics --mnist-bind-parameters | FileCheck %s

// One argument for a global, however often it is loaded; a store is a result.

// CHECK: ml_program.global private mutable @w
// CHECK-LABEL: func.func @train_1
// CHECK-SAME:      (%[[X:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2xf32> {mnist.parameter = "w"}) -> (tensor<2xf32> {mnist.name = "y"}, tensor<2xf32> {mnist.parameter = "w"})
// CHECK-NEXT:    %[[Y:.*]] = mnist.mul %[[X]], %[[W]]
// CHECK-NEXT:    %[[NEW:.*]] = mnist.sub %[[W]], %[[Y]]
// CHECK-NEXT:    return %[[Y]], %[[NEW]]
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @train_1(%x: tensor<2xf32>) -> (tensor<2xf32> {mnist.name = "y"}) {
  %w = ml_program.global_load @w : tensor<2xf32>
  %y = mnist.mul %x, %w : tensor<2xf32>
  %again = ml_program.global_load @w : tensor<2xf32>
  %new = mnist.sub %again, %y : tensor<2xf32>
  ml_program.global_store @w = %new : tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @without
// CHECK-SAME:      (%[[X:.*]]: tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    return %[[X]]
func.func @without(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @twice(%x: tensor<2xf32>) {
  ml_program.global_store @w = %x : tensor<2xf32>
  // expected-error @+1 {{expected one store of 'w', got two}}
  ml_program.global_store @w = %x : tensor<2xf32>
  return
}
