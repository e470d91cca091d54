// RUN: mnist-opt %s --plan-form-rows=target=cpu --plan-form-steps | FileCheck %s
// RUN: mnist-opt %s --plan-form-rows --plan-form-steps | FileCheck %s --check-prefix=CUDA

// Rows that are not contiguous: on the CPU where runs of their elements are, or
// where all rows are adjacent. A mask is not stored where what is compared is:
// readers compare again.

// CHECK-LABEL: func.func @channels_first
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
// CHECK:           mnist.reduce_sum
// CHECK-NEXT:      plan.yield %{{.*}}, %{{.*}} : tensor<32xf32>, tensor<32xf32>
// CHECK-NOT:     plan.step
func.func @channels_first(%x: tensor<64x32x4x4xf32>, %y: tensor<64x32x4x4xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %0 = mnist.mul %x, %y : tensor<64x32x4x4xf32>
  %1 = mnist.reduce_sum %x over [0, 2, 3] : tensor<64x32x4x4xf32> -> tensor<32xf32>
  %2 = mnist.reduce_sum %0 over [0, 2, 3] : tensor<64x32x4x4xf32> -> tensor<32xf32>
  return %1, %2 : tensor<32xf32>, tensor<32xf32>
}

// Runs of nine are short.
// CHECK-LABEL: func.func @short_runs
// CHECK-COUNT-2: plan.step
// CUDA-LABEL:  func.func @short_runs
// CUDA:          plan.step
// CUDA-NOT:      plan.step
// CUDA:          return
func.func @short_runs(%x: tensor<64x32x3x3xf32>, %y: tensor<64x32x3x3xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %0 = mnist.mul %x, %y : tensor<64x32x3x3xf32>
  %1 = mnist.reduce_sum %x over [0, 2, 3] : tensor<64x32x3x3xf32> -> tensor<32xf32>
  %2 = mnist.reduce_sum %0 over [0, 2, 3] : tensor<64x32x3x3xf32> -> tensor<32xf32>
  return %1, %2 : tensor<32xf32>, tensor<32xf32>
}

// CHECK-LABEL: func.func @channels_last
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
// CHECK:           mnist.relu
// CHECK:           plan.yield %{{[^,]*}} : tensor<64x4x4x32xf32>
// CHECK:         plan.step
// CHECK:           mnist.matmul
// CHECK:           mnist.compare
// CHECK:           mnist.select
// CUDA-LABEL:  func.func @channels_last
// CUDA:            mnist.compare
// CUDA:            plan.yield %{{.*}}, %{{.*}} : {{.*}}xi1>
// CUDA:          plan.step
// CUDA-NOT:        mnist.compare
// CUDA:            mnist.select
func.func @channels_last(%x: tensor<64x4x4x32xf32>, %w: tensor<32x32xf32>) -> (tensor<64x4x4x32xf32>, tensor<64x4x4x32xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<64x4x4x32xf32>
  %0 = mnist.reduce_sum %x over [0, 1, 2] : tensor<64x4x4x32xf32> -> tensor<32xf32>
  %1 = mnist.broadcast %0 along [3] : tensor<32xf32> -> tensor<64x4x4x32xf32>
  %2 = mnist.sub %x, %1 : tensor<64x4x4x32xf32>
  %3 = mnist.relu %2 : tensor<64x4x4x32xf32>
  %4 = mnist.compare gt %3, %zero : tensor<64x4x4x32xf32> -> tensor<64x4x4x32xi1>
  %flat = mnist.reshape %3 : tensor<64x4x4x32xf32> -> tensor<1024x32xf32>
  %product = mnist.matmul %flat, %w : (tensor<1024x32xf32>, tensor<32x32xf32>) -> tensor<1024x32xf32>
  %g = mnist.reshape %product : tensor<1024x32xf32> -> tensor<64x4x4x32xf32>
  %5 = mnist.select %4, %g, %zero : tensor<64x4x4x32xi1>, tensor<64x4x4x32xf32>
  return %3, %5 : tensor<64x4x4x32xf32>, tensor<64x4x4x32xf32>
}

// Each image has its rows: neither they nor their elements are adjacent.
// CHECK-LABEL: func.func @images
// CHECK-COUNT-2: plan.step
func.func @images(%x: tensor<64x16x32xf32>, %y: tensor<64x16x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = mnist.mul %x, %y : tensor<64x16x32xf32>
  %1 = mnist.reduce_sum %x over [1] : tensor<64x16x32xf32> -> tensor<64x32xf32>
  %2 = mnist.reduce_sum %0 over [1] : tensor<64x16x32xf32> -> tensor<64x32xf32>
  return %1, %2 : tensor<64x32xf32>, tensor<64x32xf32>
}

// A mask that somebody else made.
// CHECK-LABEL: func.func @mask
// CHECK-COUNT-2: plan.step
func.func @mask(%m: tensor<64x4x4x32xi1>, %g: tensor<64x4x4x32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<64x4x4x32xf32>
  %0 = mnist.select %m, %g, %zero : tensor<64x4x4x32xi1>, tensor<64x4x4x32xf32>
  %1 = mnist.reduce_sum %0 over [0, 1, 2] : tensor<64x4x4x32xf32> -> tensor<32xf32>
  %2 = mnist.reduce_max %0 over [0, 1, 2] : tensor<64x4x4x32xf32> -> tensor<32xf32>
  return %1, %2 : tensor<32xf32>, tensor<32xf32>
}
