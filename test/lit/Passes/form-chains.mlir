// RUN: mnist-opt %s --plan-form-rows --plan-form-steps --plan-select-implementations --plan-choose-schedules --plan-form-chains \
// RUN:   | FileCheck %s --strict-whitespace
// RUN: mnist-opt %s --plan-form-rows=target=cpu --plan-form-steps --plan-select-implementations=target=cpu --plan-form-chains \
// RUN:   | FileCheck %s --strict-whitespace --check-prefix=CPU
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules --plan-form-chains \
// RUN:     --plan-assign-memory --plan-assign-streams --plan-check-steps | FileCheck %s --strict-whitespace --check-prefix=MEMORY

// Each row of the second product, of the sums and of the gradient needs one row
// of the links before it. The first product has too many weights, and what sums
// over the rows needs all of them.

// CHECK-LABEL: func.func @classifier
// CHECK:         %[[HIDDEN:.*]] = plan.step "relu" on kernel schedule
// CHECK:         %[[CHAIN:.*]]:3 = plan.step "logits" on kernel(%[[HIDDEN]], %arg2)
// CHECK-NEXT:    ^bb0(%[[H:.*]]: tensor<64x128xf32>{{.*}}, %[[W:.*]]: tensor<10x128xf32>
// CHECK-NEXT:      %[[LOGITS:.*]] = plan.step "logits" on kernel(%[[H]], %[[W]])
// CHECK:           %[[P:.*]] = plan.step "sub" on kernel(%[[LOGITS]])
// CHECK:           mnist.reduce_max
// CHECK:           %[[G:.*]] = plan.step "grad" on kernel(%[[P]], %[[W]])
// CHECK:           plan.yield %[[LOGITS]], %[[P]], %[[G]]
// CHECK:         plan.step "weight" on kernel schedule({{.*}})(%[[CHAIN]]#1, %[[HIDDEN]])
// CHECK:         return %[[CHAIN]]#2

// CPU-LABEL:     func.func @classifier
// CPU-COUNT-5:   {{^ {4}%.* = plan.step}}
// CPU-NOT:       {{^ {6}%.* = plan.step}}

// What links make has places that nothing of the same step has.

// MEMORY-LABEL:  func.func @classifier
// MEMORY:        plan.step "logits" on kernel at [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}
func.func @classifier(%x: tensor<64x784xf32>, %w0: tensor<128x784xf32>, %w1: tensor<10x128xf32>) -> (tensor<64x128xf32>, tensor<10x128xf32>) {
  %0 = mnist.matmul %x, %w0 transposed [false, true] : (tensor<64x784xf32>, tensor<128x784xf32>) -> tensor<64x128xf32>
  %1 = mnist.relu %0 : tensor<64x128xf32>
  %2 = mnist.matmul %1, %w1 transposed [false, true] : (tensor<64x128xf32>, tensor<10x128xf32>) -> tensor<64x10xf32> loc("logits")
  %3 = mnist.reduce_max %2 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %4 = mnist.broadcast %3 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %5 = mnist.sub %2, %4 : tensor<64x10xf32>
  %6 = mnist.reduce_sum %5 over [1] : tensor<64x10xf32> -> tensor<64xf32>
  %7 = mnist.broadcast %6 along [0] : tensor<64xf32> -> tensor<64x10xf32>
  %8 = mnist.sub %5, %7 : tensor<64x10xf32>
  %9 = mnist.matmul %8, %w1 : (tensor<64x10xf32>, tensor<10x128xf32>) -> tensor<64x128xf32> loc("grad")
  %10 = mnist.matmul %8, %1 transposed [true, false] : (tensor<64x10xf32>, tensor<64x128xf32>) -> tensor<10x128xf32> loc("weight")
  return %9, %10 : tensor<64x128xf32>, tensor<10x128xf32>
}

// A product whose weights a link makes, and rows that become others, are no links.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: {{^ {4}%.* = plan.step}}
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @others(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<4x4xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.matmul %w, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = mnist.reshape %0 : tensor<8x8xf32> -> tensor<4x16xf32>
  %3 = mnist.matmul %2, %2 transposed [false, true] : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x4xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<4x4xf32>
}

// Nothing may need the chain on its way: the sum over all rows is between.

// CHECK-LABEL: func.func @between
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @between(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.reduce_sum %0 over [0] : tensor<8x8xf32> -> tensor<8xf32>
  %2 = mnist.broadcast %1 along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = mnist.add %0, %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// The rows of a product are others than those of what its step makes of it.

// CHECK-LABEL: func.func @tokens
// CHECK-NOT:     {{^ {6}%.* = plan.step}}
// CHECK:         return
func.func @tokens(%x: tensor<64x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x16x8xf32>, tensor<4x16xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<64x8xf32>, tensor<8x8xf32>) -> tensor<64x8xf32>
  %1 = mnist.reshape %0 : tensor<64x8xf32> -> tensor<4x16x8xf32>
  %2 = mnist.reduce_max %1 over [2] : tensor<4x16x8xf32> -> tensor<4x16xf32>
  return %1, %2 : tensor<4x16x8xf32>, tensor<4x16xf32>
}
