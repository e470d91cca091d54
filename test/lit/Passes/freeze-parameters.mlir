// RUN: mnist-opt %s --split-input-file --verify-diagnostics --mnist-freeze-parameters | FileCheck %s

// A load becomes a constant at its own place and with its own location; the
// globals go.

// CHECK-NOT: ml_program
// CHECK-LABEL: @loads
// CHECK-NEXT:    %[[W:.*]] = mnist.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:    mnist.add %{{.*}}, %[[W]]
ml_program.global private @weight(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @loads(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ml_program.global_load @weight : tensor<2xf32>
  %y = mnist.add %x, %w : tensor<2xf32>
  return %y : tensor<2xf32>
}

// Two functions of one model share a parameter.

// CHECK-LABEL: @another
// CHECK-NEXT:    mnist.constant dense<[1.000000e+00, 2.000000e+00]>
func.func @another() -> tensor<2xf32> {
  %w = ml_program.global_load @weight : tensor<2xf32>
  return %w : tensor<2xf32>
}

// CHECK-LABEL: @no_parameters
// CHECK-NEXT:    mnist.relu
// CHECK-NEXT:    return
func.func @no_parameters(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = mnist.relu %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

ml_program.global private mutable @nothing : tensor<2xf32>
func.func @no_value() -> tensor<2xf32> {
  // expected-error @below {{'ml_program.global_load' op expected a parameter with a value, but @nothing has none}}
  %w = ml_program.global_load @nothing : tensor<2xf32>
  return %w : tensor<2xf32>
}
