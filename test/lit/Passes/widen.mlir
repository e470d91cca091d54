// RUN: mnist-opt %s --mnist-widen | FileCheck %s

// Types of globals, arguments, values and constants, and what they hold.

// CHECK: ml_program.global private mutable @w(dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf64>) : tensor<2xf64>
ml_program.global private mutable @w(dense<[1.0, 2.5]> : tensor<2xf32>) : tensor<2xf32>

// CHECK-LABEL: func.func @floats
// CHECK-SAME:      (%[[X:.*]]: tensor<2xf64>) -> tensor<2xf64>
// CHECK-DAG:     %[[W:.*]] = ml_program.global_load @w : tensor<2xf64>
// CHECK-DAG:     %[[TENTH:.*]] = mnist.constant dense<0.10000000149011612> : tensor<2xf64>
// CHECK:         %[[Y:.*]] = mnist.mul %[[X]], %[[W]] : tensor<2xf64>
// CHECK:         mnist.add %[[Y]], %[[TENTH]] : tensor<2xf64>
func.func @floats(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ml_program.global_load @w : tensor<2xf32>
  %tenth = mnist.constant dense<0.1> : tensor<2xf32>
  %y = mnist.mul %x, %w : tensor<2xf32>
  %z = mnist.add %y, %tenth : tensor<2xf32>
  return %z : tensor<2xf32>
}

// CHECK-LABEL: func.func @others_stay
// CHECK-SAME:      (%[[X:.*]]: tensor<2xi32>)
// CHECK-NEXT:    %[[ONE:.*]] = mnist.constant dense<1> : tensor<2xi32>
// CHECK-NEXT:    %[[Y:.*]] = mnist.add %[[X]], %[[ONE]] : tensor<2xi32>
// CHECK-NEXT:    mnist.cast %[[Y]] : tensor<2xi32> -> tensor<2xf64>
func.func @others_stay(%x: tensor<2xi32>) -> tensor<2xf64> {
  %one = mnist.constant dense<1> : tensor<2xi32>
  %y = mnist.add %x, %one : tensor<2xi32>
  %z = mnist.cast %y : tensor<2xi32> -> tensor<2xf64>
  return %z : tensor<2xf64>
}
