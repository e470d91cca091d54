// RUN: mnist-opt %s --plan-join-updates | FileCheck %s

// A sum's rows have the shape that it gives them: an update in another one is a
// step of its own.

// CHECK-LABEL: func.func @shaped
// CHECK:         plan.step "g"
// CHECK:         plan.step "w"
func.func @shaped(%x: tensor<64x28x8xf32>, %p: tensor<1x28x8xf32> {mnist.parameter = "w"}, %q: tensor<1x28x8xf32> {mnist.parameter = "m"}) -> (tensor<1x28x8xf32> {mnist.parameter = "m"}, tensor<1x28x8xf32> {mnist.parameter = "w"}) {
  %g = plan.step "g" on kernel (%x) {
  ^bb0(%i: tensor<64x28x8xf32>):
    %s = mnist.reduce_sum %i over [0] : tensor<64x28x8xf32> -> tensor<28x8xf32>
    plan.yield %s : tensor<28x8xf32>
  } : (tensor<64x28x8xf32>) -> tensor<28x8xf32>
  %m:2 = plan.step "w" on kernel (%q, %g, %p) {
  ^bb0(%i: tensor<1x28x8xf32>, %j: tensor<28x8xf32>, %k: tensor<1x28x8xf32>):
    %s = mnist.reshape %j : tensor<28x8xf32> -> tensor<1x28x8xf32>
    %t = mnist.add %i, %s : tensor<1x28x8xf32>
    %u = mnist.sub %k, %t : tensor<1x28x8xf32>
    plan.yield %t, %u : tensor<1x28x8xf32>, tensor<1x28x8xf32>
  } : (tensor<1x28x8xf32>, tensor<28x8xf32>, tensor<1x28x8xf32>) -> (tensor<1x28x8xf32>, tensor<1x28x8xf32>)
  return %m#0, %m#1 : tensor<1x28x8xf32>, tensor<1x28x8xf32>
}
