// RUN: mnist-opt %s --plan-form-rows | FileCheck %s

// What is computed again from a tensor that a step reads anyway is none of those that it may read
// besides.

// CHECK-LABEL: func.func @again
// CHECK-NOT:     mnist.mul
// CHECK:         plan.step
// CHECK:           mnist.mul
// CHECK:           mnist.reduce_sum
// CHECK:           plan.yield
// CHECK-NOT:     mnist.
// CHECK:         return
func.func @again(%t0: tensor<512x100xf32>, %t1: tensor<512x100xf32>, %t2: tensor<512x100xf32>, %t3: tensor<512x100xf32>, %t4: tensor<512x100xf32>, %t5: tensor<512x100xf32>, %t6: tensor<512x100xf32>, %t7: tensor<512x100xf32>, %t8: tensor<512x100xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %a = mnist.abs %t0 {plan.again} : tensor<512x100xf32>
  %b = mnist.neg %t0 {plan.again} : tensor<512x100xf32>
  %m = mnist.mul %a, %b : tensor<512x100xf32>
  %s0 = mnist.add %m, %t0 : tensor<512x100xf32>
  %s1 = mnist.add %s0, %t1 : tensor<512x100xf32>
  %s2 = mnist.add %s1, %t2 : tensor<512x100xf32>
  %s3 = mnist.add %s2, %t3 : tensor<512x100xf32>
  %s4 = mnist.add %s3, %t4 : tensor<512x100xf32>
  %s5 = mnist.add %s4, %t5 : tensor<512x100xf32>
  %s6 = mnist.add %s5, %t6 : tensor<512x100xf32>
  %s7 = mnist.add %s6, %t7 : tensor<512x100xf32>
  %s8 = mnist.add %s7, %t8 : tensor<512x100xf32>
  %sum = mnist.reduce_sum %s8 over [1] : tensor<512x100xf32> -> tensor<512xf32>
  %max = mnist.reduce_max %s8 over [1] : tensor<512x100xf32> -> tensor<512xf32>
  return %sum, %max : tensor<512xf32>, tensor<512xf32>
}
