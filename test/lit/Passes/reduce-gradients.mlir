// RUN: mnist-opt %s --mnist-reduce-gradients | FileCheck %s

// As soon as a gradient is there; what is no gradient, or zero whatever the
// data, stays as it is.

// CHECK-LABEL: func.func @train_4
// CHECK:         %[[G:.*]] = mnist.exp
// CHECK-NEXT:    %[[SUM:.*]] = mnist.all_reduce %[[G]] : tensor<4xf32>
// CHECK-NEXT:    %[[Z:.*]] = mnist.constant dense<0.0
// CHECK-NEXT:    %[[C:.*]] = mnist.constant dense<1.0
// CHECK-NEXT:    %[[ONES:.*]] = mnist.all_reduce %[[C]] : tensor<2xf32>
// CHECK-NEXT:    %[[LOSS:.*]] = mnist.relu
// CHECK-NEXT:    return %[[LOSS]], %[[SUM]], %[[Z]], %[[ONES]]
func.func @train_4(%x: tensor<4xf32>) -> (tensor<4xf32> {mnist.name = "mn.loss"}, tensor<4xf32> {mnist.gradient = "w"}, tensor<2xf32> {mnist.gradient = "unused"}, tensor<2xf32> {mnist.gradient = "linear"}) {
  %g = mnist.exp %x : tensor<4xf32>
  %zero = mnist.constant dense<0.0> : tensor<2xf32>
  %one = mnist.constant dense<1.0> : tensor<2xf32>
  %loss = mnist.relu %x : tensor<4xf32>
  return %loss, %g, %zero, %one : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>
}
