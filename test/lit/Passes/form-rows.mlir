// RUN: mnist-opt %s --plan-form-rows --plan-form-steps | FileCheck %s
// RUN: mnist-opt %s --plan-form-rows=target=cpu --plan-form-steps | FileCheck %s --check-prefix=CPU
// RUN: not mnist-opt %s --plan-form-rows=target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: expected a target of cuda or cpu, got 'tpu'

// A normalization: two sums, what is between them and what follows.

// CHECK-LABEL: func.func @normalization
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
// CHECK:           mnist.reduce_sum
// CHECK:           mnist.relu
// CHECK-NEXT:      plan.yield %{{.*}} : tensor<8x4x100xf32>
// CHECK-NOT:     plan.step
func.func @normalization(%x: tensor<8x4x100xf32>, %scale: tensor<4xf32>) -> tensor<8x4x100xf32> {
  %n = mnist.constant dense<8.0e+02> : tensor<4xf32>
  %0 = mnist.reduce_sum %x over [0, 2] : tensor<8x4x100xf32> -> tensor<4xf32>
  %1 = mnist.div %0, %n : tensor<4xf32>
  %2 = mnist.broadcast %1 along [1] : tensor<4xf32> -> tensor<8x4x100xf32>
  %3 = mnist.sub %x, %2 : tensor<8x4x100xf32>
  %4 = mnist.mul %3, %3 : tensor<8x4x100xf32>
  %5 = mnist.reduce_sum %4 over [0, 2] : tensor<8x4x100xf32> -> tensor<4xf32>
  %6 = mnist.sqrt %5 : tensor<4xf32>
  %7 = mnist.div %scale, %6 : tensor<4xf32>
  %8 = mnist.broadcast %7 along [1] : tensor<4xf32> -> tensor<8x4x100xf32>
  %9 = mnist.mul %3, %8 : tensor<8x4x100xf32>
  %10 = mnist.relu %9 : tensor<8x4x100xf32>
  return %10 : tensor<8x4x100xf32>
}

// Sums of one tensor, and the tensor itself, which others need.

// CHECK-LABEL: func.func @sums
// CHECK:         %[[A:.*]]:3 = plan.step
// CHECK:           mnist.mul
// CHECK:           mnist.reduce_sum
// CHECK:           mnist.reduce_max
// CHECK:           plan.yield
// CHECK:         plan.step
// CHECK-NOT:       reduce_sum
// CHECK:         return
func.func @sums(%x: tensor<64x10xf32>, %y: tensor<64x10xf32>, %w: tensor<10x3xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x3xf32>) {
  %0 = mnist.mul %x, %y : tensor<64x10xf32>
  %1 = mnist.reduce_sum %0 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %2 = mnist.reduce_max %0 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %3 = mnist.matmul %0, %w : (tensor<64x10xf32>, tensor<10x3xf32>) -> tensor<64x3xf32>
  return %1, %2, %3 : tensor<64xf32>, tensor<64xf32>, tensor<64x3xf32>
}

// A product needs the first sum, and the second one the product.

// CHECK-LABEL: func.func @apart
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
// CHECK-NOT:       mnist.reduce_sum
// CHECK:         plan.step
// CHECK:           mnist.matmul
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
func.func @apart(%x: tensor<64x10xf32>, %w: tensor<10x10xf32>) -> tensor<64xf32> {
  %0 = mnist.reduce_sum %x over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %1 = mnist.broadcast %0 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %2 = mnist.matmul %1, %w : (tensor<64x10xf32>, tensor<10x10xf32>) -> tensor<64x10xf32>
  %3 = mnist.mul %2, %x : tensor<64x10xf32>
  %4 = mnist.reduce_sum %3 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %5 = mnist.add %4, %0 : tensor<64xf32>
  return %5 : tensor<64xf32>
}

// Rows of other dimensions are other rows, and one sum is no row step.

// CHECK-LABEL: func.func @other_rows
// CHECK-COUNT-2: plan.step {{.*}}({{.*}})
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @other_rows(%x: tensor<64x10xf32>) -> (tensor<64xf32>, tensor<10xf32>) {
  %0 = mnist.reduce_sum %x over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %1 = mnist.reduce_sum %x over [0] : tensor<64x10xf32> -> tensor<10xf32>
  return %0, %1 : tensor<64xf32>, tensor<10xf32>
}

// What is one op on what is in memory anyway is not stored for other steps.

// CHECK-LABEL: func.func @again
// CHECK:         %[[FIRST:.*]]:2 = plan.step
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xf32>
// CHECK:         plan.step "broadcast"
// CHECK:         plan.step
// CHECK:           mnist.matmul
// CHECK:           mnist.sub
func.func @again(%x: tensor<64x10xf32>, %w: tensor<64x10xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = mnist.reduce_sum %x over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %1 = mnist.broadcast %0 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %2 = mnist.sub %x, %1 : tensor<64x10xf32>
  %3 = mnist.mul %2, %2 : tensor<64x10xf32>
  %4 = mnist.reduce_sum %3 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %5 = mnist.broadcast %4 along [0] : tensor<64xf32> -> tensor<64x64xf32>
  %6 = mnist.matmul %5, %w : (tensor<64x64xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %7 = mnist.mul %6, %2 : tensor<64x10xf32>
  %8 = mnist.reduce_sum %7 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  return %4, %8 : tensor<64xf32>, tensor<64xf32>
}

// An element that is a loop would run in every phase.

// CHECK-LABEL: func.func @inlined
// CHECK:         plan.step
// CHECK:           mnist.softmax
// CHECK:           plan.yield
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum
func.func @inlined(%x: tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<10xf32>) {
  %0 = mnist.softmax %x dim 1 {plan.inline} : tensor<64x10xf32>
  %1 = mnist.neg %0 : tensor<64x10xf32>
  %2 = mnist.reduce_sum %1 over [0] : tensor<64x10xf32> -> tensor<10xf32>
  return %1, %2 : tensor<64x10xf32>, tensor<10xf32>
}

// On a CPU only rows whose elements are adjacent.

// CHECK-LABEL: func.func @contiguous
// CHECK-COUNT-1: plan.step
// CHECK-NOT:     plan.step
// CPU-LABEL: func.func @normalization
// CPU-COUNT-2: plan.step
// CPU-LABEL: func.func @contiguous
// CPU-COUNT-1: plan.step
// CPU-NOT:     plan.step
func.func @contiguous(%x: tensor<32x100xf32>) -> tensor<32x100xf32> {
  %n = mnist.constant dense<1.0e+02> : tensor<32xf32>
  %0 = mnist.reduce_sum %x over [1] : tensor<32x100xf32> -> tensor<32xf32>
  %1 = mnist.div %0, %n : tensor<32xf32>
  %2 = mnist.broadcast %1 along [0] : tensor<32xf32> -> tensor<32x100xf32>
  %3 = mnist.sub %x, %2 : tensor<32x100xf32>
  %4 = mnist.mul %3, %3 : tensor<32x100xf32>
  %5 = mnist.reduce_sum %4 over [1] : tensor<32x100xf32> -> tensor<32xf32>
  %6 = mnist.broadcast %5 along [0] : tensor<32xf32> -> tensor<32x100xf32>
  %7 = mnist.div %3, %6 : tensor<32x100xf32>
  return %7 : tensor<32x100xf32>
}

// Numbers that come with their readers, in another shape: no row step.

// CPU-LABEL: func.func @numbers
// CHECK-LABEL: func.func @numbers
// CHECK:         plan.step
// CHECK:         plan.step
// CHECK:         return
func.func @numbers(%x: tensor<1x300xf32>) -> tensor<1x300xf32> {
  %n = mnist.constant dense<1.0e-02> : tensor<1x1xf32>
  %0 = mnist.reduce_sum %x over [1] : tensor<1x300xf32> -> tensor<1xf32>
  %1 = mnist.reshape %0 : tensor<1xf32> -> tensor<1x1xf32>
  %2 = mnist.mul %1, %n : tensor<1x1xf32>
  %3 = mnist.reshape %2 : tensor<1x1xf32> -> tensor<1xf32>
  %4 = mnist.broadcast %3 along [0] : tensor<1xf32> -> tensor<1x300xf32>
  %5 = mnist.sub %x, %4 : tensor<1x300xf32>
  %6 = mnist.mul %5, %5 : tensor<1x300xf32>
  %7 = mnist.reduce_sum %6 over [1] : tensor<1x300xf32> -> tensor<1xf32>
  %8 = mnist.broadcast %7 along [0] : tensor<1xf32> -> tensor<1x300xf32>
  %9 = mnist.div %5, %8 : tensor<1x300xf32>
  return %9 : tensor<1x300xf32>
}

// A loss, its gradient and how many are right: the softmax, the sum of all
// elements, the arg-max and the inlined sum are parts of rows. What is summed
// over all rows is a total; where steps run side by side, totals have a step that
// who needs the gradient does not wait for. The sum over the rows' other
// dimension is not of these rows.

// CHECK-LABEL: func.func @loss
// CHECK:         %[[HEAD:.*]]:3 = plan.step {{.*}}(%{{.*}}, %{{.*}}) {
// CHECK:           mnist.reduce_max {{.*}} over [1]
// CHECK-NOT:       plan.inline
// CHECK:           mnist.arg_max
// CHECK:           plan.yield
// CHECK:         } : (tensor<64x10xf32>, tensor<64xi64>) -> (tensor<64x10xf32>, tensor<64xf32>, tensor<64xi64>)
// CHECK:         plan.step {{.*}}(%[[HEAD]]#0)
// CHECK:         %{{.*}}:2 = plan.step {{.*}}(%[[HEAD]]#1, %[[HEAD]]#2, %
// CHECK:           mnist.reduce_sum {{.*}} over [0] : tensor<64xf32> -> tensor<f32>
// CHECK:           mnist.reduce_sum {{.*}} over [0] : tensor<64xi64> -> tensor<i64>
// CHECK-NOT:     plan.step
// CHECK:         return
// CPU-LABEL: func.func @loss
// CPU:           %[[HEAD:.*]]:3 = plan.step
// CPU:             mnist.arg_max
// CPU:             mnist.reduce_sum {{.*}} over [0] : tensor<64xi64> -> tensor<i64>
// CPU:           plan.step {{.*}}(%[[HEAD]]#0)
// CPU-NOT:       plan.step
// CPU-LABEL: func.func @right
func.func @loss(%x: tensor<64x10xf32>, %label: tensor<64xi64>) -> (tensor<f32>, tensor<i64>, tensor<10xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<64x10xf32>
  %one = mnist.constant dense<1.0> : tensor<64x10xf32>
  %0 = mnist.log_softmax %x dim 1 : tensor<64x10xf32>
  %1 = mnist.iota dim 1 : tensor<64x10xi64>
  %2 = mnist.broadcast %label along [0] : tensor<64xi64> -> tensor<64x10xi64>
  %3 = mnist.compare eq %1, %2 : tensor<64x10xi64> -> tensor<64x10xi1>
  %4 = mnist.select %3, %0, %zero : tensor<64x10xi1>, tensor<64x10xf32>
  %5 = mnist.reduce_sum %4 over [0, 1] : tensor<64x10xf32> -> tensor<f32>
  %6 = mnist.arg_max %x over 1 : tensor<64x10xf32> -> tensor<64xi64>
  %7 = mnist.compare eq %6, %label : tensor<64xi64> -> tensor<64xi1>
  %8 = mnist.cast %7 : tensor<64xi1> -> tensor<64xi64>
  %9 = mnist.reduce_sum %8 over [0] : tensor<64xi64> -> tensor<i64>
  %10 = mnist.select %3, %one, %zero : tensor<64x10xi1>, tensor<64x10xf32>
  %11 = mnist.reduce_sum %10 over [1] {plan.inline} : tensor<64x10xf32> -> tensor<64xf32>
  %12 = mnist.broadcast %11 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %13 = mnist.exp %0 : tensor<64x10xf32>
  %14 = mnist.mul %13, %12 : tensor<64x10xf32>
  %15 = mnist.sub %10, %14 : tensor<64x10xf32>
  %16 = mnist.reduce_sum %15 over [0] : tensor<64x10xf32> -> tensor<10xf32>
  return %5, %9, %16 : tensor<f32>, tensor<i64>, tensor<10xf32>
}

// Nothing waits for these rows: they have their total.

// CHECK-LABEL: func.func @right
// CHECK:         plan.step
// CHECK:           mnist.arg_max
// CHECK:           mnist.reduce_sum {{.*}} over [0]
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<i64>
// CHECK-NOT:     plan.step
func.func @right(%x: tensor<64x10xf32>) -> (tensor<i64>, tensor<f32>) {
  %0 = mnist.arg_max %x over 1 : tensor<64x10xf32> -> tensor<64xi64>
  %1 = mnist.reduce_sum %0 over [0] : tensor<64xi64> -> tensor<i64>
  %2 = mnist.reduce_sum %x over [0, 1] : tensor<64x10xf32> -> tensor<f32>
  return %1, %2 : tensor<i64>, tensor<f32>
}

// A softmax that no reduction joins has its kernel, an inlined sum stays one, and
// a sum of all elements that no other needs is one sum.

// CHECK-LABEL: func.func @softmax
// CHECK:         mnist.softmax %{{.*}} dim 1 : tensor
// CHECK:         mnist.reduce_sum {{.*}} over [1] {plan.inline}
// CHECK:         mnist.reduce_sum {{.*}} over [0, 1]
// CHECK:         return
func.func @softmax(%x: tensor<64x10xf32>, %y: tensor<64x10xf32>, %z: tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<64xf32>, tensor<f32>) {
  %0 = mnist.softmax %x dim 1 : tensor<64x10xf32>
  %1 = mnist.reduce_sum %y over [1] {plan.inline} : tensor<64x10xf32> -> tensor<64xf32>
  %2 = mnist.neg %1 : tensor<64xf32>
  %3 = mnist.abs %z : tensor<64x10xf32>
  %4 = mnist.reduce_sum %3 over [0, 1] : tensor<64x10xf32> -> tensor<f32>
  return %0, %2, %4 : tensor<64x10xf32>, tensor<64xf32>, tensor<f32>
}

// What is rounded for products is stored with what it is made of.

// CHECK-LABEL: func.func @rounded
// CHECK:         %{{.*}}:3 = plan.step
// CHECK:           mnist.mul
// CHECK:           mnist.reduce_sum
// CHECK:           mnist.cast
// CHECK:           plan.yield
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @rounded(%x: tensor<512x100xf32>, %y: tensor<512x100xf32>) -> (tensor<512xf32>, tensor<512x100xf32>, tensor<512x100xbf16>) {
  %0 = mnist.mul %x, %y : tensor<512x100xf32>
  %1 = mnist.reduce_sum %0 over [1] : tensor<512x100xf32> -> tensor<512xf32>
  %2 = mnist.cast %0 : tensor<512x100xf32> -> tensor<512x100xbf16>
  return %1, %0, %2 : tensor<512xf32>, tensor<512x100xf32>, tensor<512x100xbf16>
}

// Rows that lie side by side in memory share blocks: of 512 there are enough for
// so many elements. Of fewer rows each phase is a launch, where they come in
// fours. Of fewer elements a block has eight rows.

// CHECK-LABEL: func.func @side_by_side
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum {{.*}} tensor<65536x64xf32> -> tensor<64xf32>
// CHECK:           mnist.sub
// CHECK-NEXT:      plan.yield {{.*}} : tensor<65536x64xf32>
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum {{.*}} tensor<512xf32>
// CHECK:           mnist.sub
// CHECK-NEXT:      plan.yield {{.*}} : tensor<8192x512xf32>
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum {{.*}} tensor<8192x64xf32> -> tensor<64xf32>
// CHECK:           mnist.sub
// CHECK-NEXT:      plan.yield {{.*}} : tensor<8192x64xf32>
// CHECK:         plan.step
// CHECK:           mnist.reduce_sum {{.*}} tensor<65536x66xf32> -> tensor<66xf32>
// CHECK-NEXT:      plan.yield
func.func @side_by_side(%x: tensor<65536x64xf32>, %y: tensor<8192x512xf32>, %z: tensor<8192x64xf32>, %w: tensor<65536x66xf32>)
    -> (tensor<65536x64xf32>, tensor<8192x512xf32>, tensor<8192x64xf32>, tensor<65536x66xf32>) {
  %0 = mnist.reduce_sum %x over [0] : tensor<65536x64xf32> -> tensor<64xf32>
  %1 = mnist.broadcast %0 along [1] : tensor<64xf32> -> tensor<65536x64xf32>
  %2 = mnist.sub %x, %1 : tensor<65536x64xf32>
  %3 = mnist.reduce_sum %y over [0] : tensor<8192x512xf32> -> tensor<512xf32>
  %4 = mnist.broadcast %3 along [1] : tensor<512xf32> -> tensor<8192x512xf32>
  %5 = mnist.sub %y, %4 : tensor<8192x512xf32>
  %6 = mnist.reduce_sum %z over [0] : tensor<8192x64xf32> -> tensor<64xf32>
  %7 = mnist.broadcast %6 along [1] : tensor<64xf32> -> tensor<8192x64xf32>
  %8 = mnist.sub %z, %7 : tensor<8192x64xf32>
  %9 = mnist.reduce_sum %w over [0] : tensor<65536x66xf32> -> tensor<66xf32>
  %10 = mnist.broadcast %9 along [1] : tensor<66xf32> -> tensor<65536x66xf32>
  %11 = mnist.sub %w, %10 : tensor<65536x66xf32>
  return %2, %5, %8, %11 : tensor<65536x64xf32>, tensor<8192x512xf32>, tensor<8192x64xf32>, tensor<65536x66xf32>
}
