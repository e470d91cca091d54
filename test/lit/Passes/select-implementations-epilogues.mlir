// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="target=cuda precision=strict" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=target=cpu \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CPU

// What is left of an epilogue that no library call can take whole.

// A library adds one bias, a kernel the other.

// CHECK-LABEL: @two_biases
// CUDA:          %[[S:.*]] = plan.step "first" on cublas{{.*}}(%arg0, %arg1, %arg2)
// CPU:           %[[S:.*]] = plan.step "first" on onednn{{.*}}(%arg0, %arg1, %arg2)
// CHECK:         plan.step "second" on kernel{{.*}}(%arg3, %[[S]])
// CHECK:           mnist.add
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @two_biases(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %a: tensor<512xf32>, %b: tensor<512xf32>) -> tensor<512x512xf32> {
  %p = mnist.matmul %x, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %as = mnist.broadcast %a along [1] : tensor<512xf32> -> tensor<512x512xf32>
  %bs = mnist.broadcast %b along [1] : tensor<512xf32> -> tensor<512x512xf32>
  %s = mnist.add %p, %as : tensor<512x512xf32> loc("first")
  %y = mnist.add %s, %bs : tensor<512x512xf32> loc("second")
  return %y : tensor<512x512xf32>
}

// Likewise of two residuals.

// CHECK-LABEL: @two_residuals
// CUDA:          %[[S:.*]] = plan.step "first" on cudnn{{.*}}(%arg0, %arg1, %arg2)
// CPU:           %[[S:.*]] = plan.step "first" on onednn{{.*}}(%arg0, %arg1, %arg2)
// CHECK:         plan.step "second" on kernel{{.*}}(%[[S]], %arg3)
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @two_residuals(%x: tensor<64x32x16x16xf32>, %w: tensor<64x32x3x3xf32>, %a: tensor<64x64x14x14xf32>, %b: tensor<64x64x14x14xf32>) -> tensor<64x64x14x14xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %s = mnist.add %c, %a : tensor<64x64x14x14xf32> loc("first")
  %y = mnist.add %s, %b : tensor<64x64x14x14xf32> loc("second")
  return %y : tensor<64x64x14x14xf32>
}

// A sum that is read twice is in memory: the relu after it is not the library's,
// whichever of the two reads comes first.

// CHECK-LABEL: @read_twice
// CUDA:          %[[S:.*]] = plan.step "sum" on cublas
// CPU:           %[[S:.*]] = plan.step "sum" on onednn
// CHECK-NOT:       mnist.relu
// CHECK:           plan.yield
// CHECK:         plan.step "y" on kernel{{.*}}(%[[S]])
// CHECK-NOT:       mnist.matmul
// CHECK:           mnist.relu
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @read_twice(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<512x512xf32> {
  %p = mnist.matmul %x, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %bs = mnist.broadcast %b along [1] : tensor<512xf32> -> tensor<512x512xf32>
  %s = mnist.add %p, %bs : tensor<512x512xf32> loc("sum")
  %r = mnist.relu %s : tensor<512x512xf32>
  %n = mnist.neg %s : tensor<512x512xf32>
  %y = mnist.add %r, %n : tensor<512x512xf32> loc("y")
  return %y : tensor<512x512xf32>
}

// CHECK-LABEL: @read_twice_again
// CUDA:          %[[S:.*]] = plan.step "sum" on cublas
// CPU:           %[[S:.*]] = plan.step "sum" on onednn
// CHECK-NOT:       mnist.relu
// CHECK:           plan.yield
// CHECK:         plan.step "y" on kernel{{.*}}(%[[S]])
// CHECK-NOT:       mnist.matmul
// CHECK:           mnist.relu
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @read_twice_again(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<512x512xf32> {
  %p = mnist.matmul %x, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %bs = mnist.broadcast %b along [1] : tensor<512xf32> -> tensor<512x512xf32>
  %s = mnist.add %p, %bs : tensor<512x512xf32> loc("sum")
  %n = mnist.neg %s : tensor<512x512xf32>
  %r = mnist.relu %s : tensor<512x512xf32>
  %y = mnist.add %r, %n : tensor<512x512xf32> loc("y")
  return %y : tensor<512x512xf32>
}
