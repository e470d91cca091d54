// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=target=cuda \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=target=cpu \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: mnist-opt %s --plan-form-steps \
// RUN:   --plan-select-implementations="target=cpu libraries=openblas+cudnn" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BLAS
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=libraries=none \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE

// The module remembers what it was planned for.

// CUDA: module attributes {plan.libraries = "all", plan.target = "cuda"}
// BLAS: module attributes {plan.libraries = "openblas+cudnn", plan.target = "cpu"}

// A convolution with bias, residual and relu is one call.

// CHECK-LABEL: @conv
// CUDA:          plan.step "relu" on cudnn
// CPU:           plan.step "relu" on onednn
// BLAS:          plan.step "relu" on kernel
// NONE:          plan.step "relu" on kernel
// CHECK-NOT:     plan.step
func.func @conv(%x: tensor<2x4x6x6xf32>, %w: tensor<4x4x3x3xf32>, %b: tensor<4xf32>, %r: tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x4x4xf32>
  %bias = mnist.broadcast %b along [1] : tensor<4xf32> -> tensor<2x4x4x4xf32>
  %s = mnist.add %bias, %c : tensor<2x4x4x4xf32>
  %t = mnist.add %s, %r : tensor<2x4x4x4xf32>
  %y = mnist.relu %t : tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// A vector along the wrong dimension is no bias: the sum is a step of its own.

// CHECK-LABEL: @along_width
// CUDA:          plan.step "conv" on cudnn
// CUDA:          plan.step "add" on kernel
// CPU:           plan.step "conv" on onednn
// CPU:           plan.step "add" on kernel
// NONE:          plan.step "add" on kernel
// NONE-NOT:      plan.step
func.func @along_width(%x: tensor<2x4x6x6xf32>, %w: tensor<4x4x3x3xf32>, %b: tensor<4xf32>) -> tensor<2x4x4x4xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x4x4xf32>
  %bias = mnist.broadcast %b along [3] : tensor<4xf32> -> tensor<2x4x4x4xf32>
  %y = mnist.add %bias, %c : tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// A library takes the beginning of an epilogue, a kernel the rest. What takes
// no epilogue is split right after the product.

// CHECK-LABEL: @matmul
// CUDA:          %[[SUM:.*]] = plan.step "sum" on cublas
// CUDA:            mnist.matmul
// CUDA:            mnist.add
// CUDA:          plan.step "y" on kernel{{.*}}(%[[SUM]])
// CUDA:            %[[S:.*]] = mnist.sigmoid %[[ARG:.*]] :
// CUDA-NEXT:       mnist.mul %[[ARG]], %[[S]]
// CPU:           plan.step "sum" on onednn
// CPU:           plan.step "y" on kernel
// BLAS:          %[[P:.*]] = plan.step "product" on openblas
// BLAS:          plan.step "y" on kernel(%{{.*}}, %[[P]])
// BLAS:            mnist.broadcast
// BLAS:            mnist.add
// NONE:          plan.step "y" on kernel
// NONE:            mnist.matmul
// CHECK:         return
func.func @matmul(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %p = mnist.matmul %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32> loc("product")
  %bias = mnist.broadcast %b along [1] : tensor<3xf32> -> tensor<4x3xf32>
  %s = mnist.add %p, %bias : tensor<4x3xf32> loc("sum")
  %e = mnist.sigmoid %s : tensor<4x3xf32>
  %y = mnist.mul %s, %e : tensor<4x3xf32> loc("y")
  return %y : tensor<4x3xf32>
}

// Libraries know f32 only.

// CHECK-LABEL: @f64
// CHECK:         plan.step "matmul" on kernel
func.func @f64(%x: tensor<4x8xf64>, %w: tensor<8x3xf64>) -> tensor<4x3xf64> {
  %y = mnist.matmul %x, %w : (tensor<4x8xf64>, tensor<8x3xf64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

// Nine products for each result are not worth a call on the GPU.

// CHECK-LABEL: @first_conv
// CUDA:          plan.step "conv" on kernel
// CPU:           plan.step "conv" on onednn
func.func @first_conv(%x: tensor<2x1x6x6xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<2x4x4x4xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x1x6x6xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// A pool goes to a library whole or not at all: not with an epilogue, nor with
// a window that hangs over, nor dilated.

// CHECK-LABEL: @pools
// CPU:           plan.step "plain" on onednn
// CUDA:          plan.step "plain" on kernel
// CHECK:         plan.step "relu" on kernel
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      mnist.max_pool
// CHECK:         plan.step "overhang" on kernel
// CHECK:         plan.step "dilated" on kernel
func.func @pools(%x: tensor<1x4x5x5xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) {
  %a = mnist.avg_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x4x5x5xf32> -> tensor<1x4x2x2xf32> loc("plain")
  %b = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x4x5x5xf32> -> tensor<1x4x2x2xf32>
  %r = mnist.relu %b : tensor<1x4x2x2xf32>
  %c = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x4x5x5xf32> -> tensor<1x4x3x3xf32> loc("overhang")
  %d = mnist.max_pool nchw %x kernel [2, 2] strides [1, 1] pads [0, 0, 0, 0] dilations [2, 2]
      : tensor<1x4x5x5xf32> -> tensor<1x4x3x3xf32> loc("dilated")
  return %a, %r, %c, %d : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>
}
