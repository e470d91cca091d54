// RUN: mnist-opt %s --plan-draw-numbers | FileCheck %s
// RUN: mnist-opt %s --plan-draw-numbers --plan-form-rows=target=cpu --plan-form-steps \
// RUN:   | FileCheck %s --check-prefix=STEPS

// The numbers are a step; who reads the mask compares for itself.
// CHECK-LABEL: @dropout
// CHECK:         %[[NUMBERS:.*]] = plan.step "random_uniform.uniform"
// CHECK:           %[[DRAWN:.*]] = mnist.random_uniform {{.*}} stream 1
// CHECK-NEXT:      plan.yield %[[DRAWN]]
// CHECK-COUNT-2: mnist.compare ge %[[NUMBERS]]
// CHECK-NOT:     mnist.compare

// So no mask is in memory.
// STEPS-LABEL: @dropout
// STEPS:         %[[NUMBERS:.*]] = plan.step "random_uniform.uniform"
// STEPS:         plan.step "select.select" on undecided(%[[NUMBERS]], %arg0)
// STEPS:         plan.step "select" on undecided(%[[NUMBERS]], %arg1)
// STEPS-NOT:     plan.step
// STEPS-LABEL: @two
func.func @dropout(%x: tensor<64x128xf32>, %dy: tensor<64x128xf32>,
                   %seed: tensor<i64>, %step: tensor<i64>)
    -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<64x128xf32>
  %half = mnist.constant dense<0.5> : tensor<64x128xf32>
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<64x128xf32>
  %kept = mnist.compare ge %u, %half : tensor<64x128xf32> -> tensor<64x128xi1>
  %y = mnist.select %kept, %x, %zero : tensor<64x128xi1>, tensor<64x128xf32>
  %dx = mnist.select %kept, %dy, %zero : tensor<64x128xi1>, tensor<64x128xf32>
  return %y, %dx : tensor<64x128xf32>, tensor<64x128xf32>
}

// Each tensor of numbers by itself.
// CHECK-LABEL: @two
// CHECK:         plan.step "random_uniform.uniform"
// CHECK:         plan.step "random_uniform.uniform.drawn"
// CHECK:         mnist.add
func.func @two(%seed: tensor<i64>, %step: tensor<i64>) -> tensor<64xf32> {
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<64xf32>
  %v = mnist.random_uniform %seed, %step stream 2 : (tensor<i64>, tensor<i64>) -> tensor<64xf32>
  %sum = mnist.add %u, %v : tensor<64xf32>
  return %sum : tensor<64xf32>
}
