// RUN: mnist-opt %s --plan-inline-reductions | FileCheck %s
// RUN: mnist-opt %s --plan-inline-reductions="max-elements=32 max-results=1000000" \
// RUN:   | FileCheck %s --check-prefix=MORE

// CHECK-LABEL: @classifier
// CHECK:         mnist.log_softmax {{.*}} {plan.inline}
// CHECK:         mnist.arg_max {{.*}} {plan.inline}
func.func @classifier(%x: tensor<64x10xf32>)
    -> (tensor<64x10xf32>, tensor<64xi32>) {
  %p = mnist.log_softmax %x dim 1 : tensor<64x10xf32>
  %best = mnist.arg_max %x over 1 : tensor<64x10xf32> -> tensor<64xi32>
  return %p, %best : tensor<64x10xf32>, tensor<64xi32>
}

// The second would compute the first for each of its elements, ten times.
// CHECK-LABEL: @chain
// CHECK:         mnist.softmax {{.*}} {plan.inline}
// CHECK:         mnist.reduce_sum
// CHECK-NOT:     plan.inline
// CHECK:         return
func.func @chain(%x: tensor<64x10xf32>) -> tensor<64xf32> {
  %p = mnist.softmax %x dim 1 : tensor<64x10xf32>
  %q = mnist.mul %p, %p : tensor<64x10xf32>
  %sum = mnist.reduce_sum %q over [1] : tensor<64x10xf32> -> tensor<64xf32>
  return %sum : tensor<64xf32>
}

// CHECK-LABEL: @too_long
// CHECK-NOT:     plan.inline
// CHECK:         return
// MORE-LABEL:  @too_long
// MORE:          mnist.reduce_max {{.*}} {plan.inline}
func.func @too_long(%x: tensor<64x17xf32>) -> tensor<64xf32> {
  %top = mnist.reduce_max %x over [1] : tensor<64x17xf32> -> tensor<64xf32>
  return %top : tensor<64xf32>
}

// CHECK-LABEL: @too_many
// CHECK-NOT:     plan.inline
// CHECK:         return
// MORE-LABEL:  @too_many
// MORE:          mnist.softmax {{.*}} {plan.inline}
func.func @too_many(%x: tensor<10000x10xf32>) -> tensor<10000x10xf32> {
  %p = mnist.softmax %x dim 1 : tensor<10000x10xf32>
  return %p : tensor<10000x10xf32>
}

// CHECK-LABEL: @no_reduction
// CHECK-NOT:     plan.inline
// CHECK:         return
func.func @no_reduction(%x: tensor<64x10xf32>) -> tensor<64x10xf32> {
  %y = mnist.relu %x : tensor<64x10xf32>
  return %y : tensor<64x10xf32>
}
