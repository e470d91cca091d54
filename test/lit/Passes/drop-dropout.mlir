// RUN: mnist-opt %s --mnist-drop-dropout | FileCheck %s

// CHECK-LABEL: @dropped
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[Y:.*]] = mnist.relu %[[X]]
// CHECK-NEXT:    return %[[Y]]
func.func @dropped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = mnist.dropout %x ratio 5.0e-01 : tensor<4xf32>
  %b = mnist.relu %a : tensor<4xf32>
  %c = mnist.dropout %b ratio 5.0e-01 : tensor<4xf32>
  return %c : tensor<4xf32>
}

// CHECK-LABEL: @no_dropout
// CHECK-NEXT:    mnist.relu
// CHECK-NEXT:    return
func.func @no_dropout(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = mnist.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
