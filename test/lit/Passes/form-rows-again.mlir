// RUN: mnist-opt %s --plan-form-rows | FileCheck %s

// What is computed again from one tensor is one tensor that a step reads, however
// often that is: all of it is in the step.

// CHECK-LABEL: func.func @again
// CHECK-NOT:     mnist.mul
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
// CHECK:         } : (tensor<512x100xf32>, tensor<512xf32>) ->
// CHECK-NOT:     tensor<512x100xf32>
// CHECK:         return
func.func @again(%x: tensor<512x100xf32>, %mean: tensor<512xf32>) -> tensor<512xf32> {
  %means = mnist.broadcast %mean along [0] : tensor<512xf32> -> tensor<512x100xf32>
  %a0 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a1 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a2 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a3 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a4 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a5 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a6 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a7 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a8 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a9 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a10 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %a11 = mnist.sub %x, %means {plan.again} : tensor<512x100xf32>
  %m0 = mnist.mul %a0, %a1 : tensor<512x100xf32>
  %m1 = mnist.mul %a2, %a3 : tensor<512x100xf32>
  %m2 = mnist.mul %a4, %a5 : tensor<512x100xf32>
  %m3 = mnist.mul %a6, %a7 : tensor<512x100xf32>
  %m4 = mnist.mul %a8, %a9 : tensor<512x100xf32>
  %m5 = mnist.mul %a10, %a11 : tensor<512x100xf32>
  %s0 = mnist.add %m0, %m1 : tensor<512x100xf32>
  %s1 = mnist.add %s0, %m2 : tensor<512x100xf32>
  %s2 = mnist.add %s1, %m3 : tensor<512x100xf32>
  %s3 = mnist.add %s2, %m4 : tensor<512x100xf32>
  %s4 = mnist.add %s3, %m5 : tensor<512x100xf32>
  %sum = mnist.reduce_sum %s4 over [1] : tensor<512x100xf32> -> tensor<512xf32>
  %max = mnist.reduce_max %s4 over [1] : tensor<512x100xf32> -> tensor<512xf32>
  %r = mnist.add %sum, %max : tensor<512xf32>
  return %r : tensor<512xf32>
}
