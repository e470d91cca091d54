// RUN: mnist-opt %s --plan-form-steps | FileCheck %s

// Where a thread has no neighbours it would draw four random numbers for each
// element: what keeps some results of a product is not computed with it, but
// with the few of a sum.

// CHECK-LABEL: @drawn
// CHECK:         plan.step {{.*}} on undecided(%arg0, %arg1)
// CHECK:           mnist.matmul
// CHECK-NEXT:      plan.yield
// CHECK:         plan.step
// CHECK-NOT:       mnist.matmul
// CHECK:           mnist.random_uniform
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
// CHECK-NOT:     plan.step
// CHECK:           mnist.random_uniform
func.func @drawn(%x: tensor<4x3xf32>, %w: tensor<3x8xf32>, %step: tensor<i64>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %half = mnist.constant dense<0.5> : tensor<4x8xf32>
  %zero = mnist.constant dense<0.0> : tensor<4x8xf32>
  %halves = mnist.constant dense<0.5> : tensor<4xf32>
  %zeros = mnist.constant dense<0.0> : tensor<4xf32>
  %y = mnist.matmul %x, %w : (tensor<4x3xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  %u = mnist.random_uniform %step, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  %keep = mnist.compare ge %u, %half : tensor<4x8xf32> -> tensor<4x8xi1>
  %d = mnist.select %keep, %y, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %s = mnist.reduce_sum %x over [1] : tensor<4x3xf32> -> tensor<4xf32>
  %v = mnist.random_uniform %step, %step stream 2 : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %keeps = mnist.compare ge %v, %halves : tensor<4xf32> -> tensor<4xi1>
  %e = mnist.select %keeps, %s, %zeros : tensor<4xi1>, tensor<4xf32>
  return %d, %e : tensor<4x8xf32>, tensor<4xf32>
}
