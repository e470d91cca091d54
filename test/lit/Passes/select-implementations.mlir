// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="target=cuda precision=strict" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="target=cuda prefer=libraries" \
// RUN:   | FileCheck %s --check-prefix=PREFER
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=target=cpu \
// RUN:   | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: mnist-opt %s --plan-form-steps \
// RUN:   --plan-select-implementations="target=cpu libraries=openblas+cudnn" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,BLAS
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="libraries=none precision=strict" \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NONE

// The module remembers what it was planned for.

// CUDA: module attributes {plan.libraries = "all", plan.precision = "strict", plan.target = "cuda"}
// BLAS: module attributes {plan.libraries = "openblas+cudnn", plan.precision = "fp32", plan.target = "cpu"}

// A convolution with bias, residual and relu is one call.

// CHECK-LABEL: @conv
// CUDA:          plan.step "relu" on cudnn
// CPU:           plan.step "relu" on onednn
// BLAS:          plan.step "relu" on kernel
// NONE:          plan.step "relu" on kernel
// CHECK-NOT:     plan.step
func.func @conv(%x: tensor<64x32x16x16xf32>, %w: tensor<64x32x3x3xf32>, %b: tensor<64xf32>, %r: tensor<64x64x14x14xf32>) -> tensor<64x64x14x14xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %bias = mnist.broadcast %b along [1] : tensor<64xf32> -> tensor<64x64x14x14xf32>
  %s = mnist.add %bias, %c : tensor<64x64x14x14xf32>
  %t = mnist.add %s, %r : tensor<64x64x14x14xf32>
  %y = mnist.relu %t : tensor<64x64x14x14xf32>
  return %y : tensor<64x64x14x14xf32>
}

// A vector along the wrong dimension is no bias: the sum is a separate step.

// CHECK-LABEL: @along_width
// CUDA:          plan.step "conv" on cudnn
// CUDA:          plan.step "add" on kernel
// CPU:           plan.step "conv" on onednn
// CPU:           plan.step "add" on kernel
// NONE:          plan.step "add" on kernel
// NONE-NOT:      plan.step
func.func @along_width(%x: tensor<64x32x16x66xf32>, %w: tensor<64x32x3x3xf32>, %b: tensor<64xf32>) -> tensor<64x64x14x64xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x32x16x66xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x64xf32>
  %bias = mnist.broadcast %b along [3] : tensor<64xf32> -> tensor<64x64x14x64xf32>
  %y = mnist.add %bias, %c : tensor<64x64x14x64xf32>
  return %y : tensor<64x64x14x64xf32>
}

// relu(c) + r is not relu(c + r): the library takes the relu, a kernel the sum.

// CHECK-LABEL: @relu_before_residual
// CUDA:          %[[R:.*]] = plan.step "relu" on cudnn
// CPU:           %[[R:.*]] = plan.step "relu" on onednn
// CUDA-NOT:        mnist.add
// CPU-NOT:         mnist.add
// CUDA:            mnist.relu
// CPU:             mnist.relu
// CUDA-NEXT:       plan.yield
// CPU-NEXT:        plan.yield
// CUDA:          plan.step "y" on kernel
// CPU:           plan.step "y" on kernel
// CHECK:         return
func.func @relu_before_residual(%x: tensor<64x32x16x16xf32>, %w: tensor<64x32x3x3xf32>, %r: tensor<64x64x14x14xf32>) -> tensor<64x64x14x14xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %a = mnist.relu %c : tensor<64x64x14x14xf32> loc("relu")
  %y = mnist.add %a, %r : tensor<64x64x14x14xf32> loc("y")
  return %y : tensor<64x64x14x14xf32>
}

// Nor is relu(c) + b: neither as a bias.

// CHECK-LABEL: @relu_before_bias
// CUDA:          plan.step "relu" on cublas
// CPU:           plan.step "relu" on onednn
// CUDA:          plan.step "y" on kernel
// CPU:           plan.step "y" on kernel
// CHECK:         return
func.func @relu_before_bias(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<512x512xf32> {
  %c = mnist.matmul %x, %w : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %a = mnist.relu %c : tensor<512x512xf32> loc("relu")
  %bias = mnist.broadcast %b along [1] : tensor<512xf32> -> tensor<512x512xf32>
  %y = mnist.add %a, %bias : tensor<512x512xf32> loc("y")
  return %y : tensor<512x512xf32>
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
func.func @matmul(%x: tensor<2048x8192xf32>, %w: tensor<8192x3xf32>, %b: tensor<3xf32>) -> tensor<2048x3xf32> {
  %p = mnist.matmul %x, %w : (tensor<2048x8192xf32>, tensor<8192x3xf32>) -> tensor<2048x3xf32> loc("product")
  %bias = mnist.broadcast %b along [1] : tensor<3xf32> -> tensor<2048x3xf32>
  %s = mnist.add %p, %bias : tensor<2048x3xf32> loc("sum")
  %e = mnist.sigmoid %s : tensor<2048x3xf32>
  %y = mnist.mul %s, %e : tensor<2048x3xf32> loc("y")
  return %y : tensor<2048x3xf32>
}

// Libraries know f32 only.

// CHECK-LABEL: @f64
// CHECK:         plan.step "matmul" on kernel
func.func @f64(%x: tensor<4x8xf64>, %w: tensor<8x3xf64>) -> tensor<4x3xf64> {
  %y = mnist.matmul %x, %w : (tensor<4x8xf64>, tensor<8x3xf64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

// One input channel is not worth a call on the GPU, however large the filter.

// CHECK-LABEL: @first_conv
// CUDA:          plan.step "conv" on kernel
// CPU:           plan.step "conv" on onednn
func.func @first_conv(%x: tensor<1024x1x28x28xf32>, %w: tensor<20x1x5x5xf32>) -> tensor<1024x20x24x24xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1024x1x28x28xf32>, tensor<20x1x5x5xf32>) -> tensor<1024x20x24x24xf32>
  return %y : tensor<1024x20x24x24xf32>
}

// Nor is an image without,

// CHECK-LABEL: @one_image
// CUDA:          plan.step "conv" on kernel
// CPU:           plan.step "conv" on onednn
func.func @one_image(%x: tensor<1x32x16x16xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<1x64x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x14x14xf32>
  return %y : tensor<1x64x14x14xf32>
}

// nor many of them in the layout that cuDNN is slow with.

// CHECK-LABEL: @channels_last
// CUDA:          plan.step "conv" on kernel
// CPU:           plan.step "conv" on onednn
func.func @channels_last(%x: tensor<64x16x16x32xf32>, %w: tensor<64x3x3x32xf32>) -> tensor<64x14x14x64xf32> {
  %y = mnist.conv nhwc %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x16x16x32xf32>, tensor<64x3x3x32xf32>) -> tensor<64x14x14x64xf32>
  return %y : tensor<64x14x14x64xf32>
}

// A product is worth a call with long sums, or with much work in total, but not
// with few results.

// CHECK-LABEL: @products
// CUDA:          plan.step "tiny" on kernel
// CUDA:          plan.step "few" on kernel
// CUDA:          plan.step "long" on cublas
// CUDA:          plan.step "large" on cublas
// CPU:           plan.step "tiny" on onednn
func.func @products(%a: tensor<64x128xf32>, %b: tensor<128x10xf32>, %c: tensor<8192x500xf32>, %d: tensor<500x10xf32>, %e: tensor<8192x128xf32>, %f: tensor<128x64xf32>, %g: tensor<1x500xf32>) -> (tensor<64x10xf32>, tensor<1x10xf32>, tensor<8192x10xf32>, tensor<8192x64xf32>) {
  %x = mnist.matmul %a, %b : (tensor<64x128xf32>, tensor<128x10xf32>) -> tensor<64x10xf32> loc("tiny")
  %w = mnist.matmul %g, %d : (tensor<1x500xf32>, tensor<500x10xf32>) -> tensor<1x10xf32> loc("few")
  %y = mnist.matmul %c, %d : (tensor<8192x500xf32>, tensor<500x10xf32>) -> tensor<8192x10xf32> loc("long")
  %z = mnist.matmul %e, %f : (tensor<8192x128xf32>, tensor<128x64xf32>) -> tensor<8192x64xf32> loc("large")
  return %x, %w, %y, %z : tensor<64x10xf32>, tensor<1x10xf32>, tensor<8192x10xf32>, tensor<8192x64xf32>
}

// A filter of few weights an output channel has a kernel for its gradient,
// with many images too; one image is not worth a call.

// CHECK-LABEL: @filter_gradients
// CUDA:          plan.step "first" on kernel
// CUDA:          plan.step "second" on cudnn
// CUDA:          plan.step "alone" on kernel
// CPU:           plan.step "first" on onednn
func.func @filter_gradients(%x: tensor<1024x1x28x28xf32>, %dx: tensor<1024x32x26x26xf32>, %y: tensor<64x32x16x16xf32>, %dy: tensor<64x64x14x14xf32>, %z: tensor<1x32x16x16xf32>, %dz: tensor<1x64x14x14xf32>) -> (tensor<32x1x3x3xf32>, tensor<64x32x3x3xf32>, tensor<64x32x3x3xf32>) {
  %a = mnist.conv_filter_grad nchw %x, %dx strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1024x1x28x28xf32>, tensor<1024x32x26x26xf32>) -> tensor<32x1x3x3xf32> loc("first")
  %b = mnist.conv_filter_grad nchw %y, %dy strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x64x14x14xf32>) -> tensor<64x32x3x3xf32> loc("second")
  %c = mnist.conv_filter_grad nchw %z, %dz strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x32x16x16xf32>, tensor<1x64x14x14xf32>) -> tensor<64x32x3x3xf32> loc("alone")
  return %a, %b, %c : tensor<32x1x3x3xf32>, tensor<64x32x3x3xf32>, tensor<64x32x3x3xf32>
}

// A bias of one row is a bias under another shape: nothing is left to split.

// CHECK-LABEL: @one_row
// CUDA:          plan.step "relu" on cublas
// CPU:           plan.step "relu" on onednn
// CUDA-NOT:      plan.step
// CPU-NOT:       plan.step
// CHECK:         return
func.func @one_row(%x: tensor<1x8192xf32>, %w: tensor<8192x5000xf32>, %b: tensor<5000xf32>) -> tensor<1x5000xf32> {
  %p = mnist.matmul %x, %w : (tensor<1x8192xf32>, tensor<8192x5000xf32>) -> tensor<1x5000xf32>
  %bias = mnist.reshape %b : tensor<5000xf32> -> tensor<1x5000xf32>
  %s = mnist.add %p, %bias : tensor<1x5000xf32>
  %y = mnist.relu %s : tensor<1x5000xf32>
  return %y : tensor<1x5000xf32>
}

// So is that of an image of one pixel, with a residual.

// CHECK-LABEL: @one_pixel
// CPU:           plan.step "add" on onednn
// NONE:          plan.step "add" on kernel
// CPU-NOT:       plan.step
// CHECK:         return
func.func @one_pixel(%x: tensor<1x4x3x3xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>, %r: tensor<1x8x1x1xf32>) -> tensor<1x8x1x1xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x4x3x3xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x1x1xf32>
  %bias = mnist.reshape %b : tensor<8xf32> -> tensor<1x8x1x1xf32>
  %s = mnist.add %c, %bias : tensor<1x8x1x1xf32>
  %y = mnist.add %s, %r : tensor<1x8x1x1xf32>
  return %y : tensor<1x8x1x1xf32>
}

// Pools stay on the kernel, with their epilogues.

// CHECK-LABEL: @pools
// CHECK:         plan.step "plain" on kernel
// CHECK:         plan.step "relu" on kernel
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      mnist.avg_pool
func.func @pools(%x: tensor<1x4x5x5xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  %a = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x4x5x5xf32> -> tensor<1x4x2x2xf32> loc("plain")
  %b = mnist.avg_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x4x5x5xf32> -> tensor<1x4x2x2xf32>
  %r = mnist.relu %b : tensor<1x4x2x2xf32>
  return %a, %r : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}

// Where cuDNN has no transform a kernel is faster: strides, windows of 1, few
// channels in a group. With uneven padding it is wrong.

// CHECK-LABEL: @no_transform
// CUDA:          plan.step "plain" on cudnn
// CUDA:          plan.step "strided" on kernel
// CUDA:          plan.step "few" on kernel
// CUDA:          plan.step "small" on kernel
// CUDA:          plan.step "uneven" on kernel
// PREFER-LABEL: @no_transform
// PREFER:        plan.step "strided" on cudnn
// PREFER:        plan.step "uneven" on kernel
// CPU-COUNT-5:   plan.step "{{[a-z]+}}" on onednn
// CHECK:         return
func.func @no_transform(%x: tensor<64x32x16x16xf32>, %p: tensor<64x64x16x16xf32>, %s: tensor<64x64x8x8xf32>, %f: tensor<64x16x16x16xf32>, %q: tensor<1x32x16x16xf32>, %r: tensor<1x64x16x16xf32>)
    -> (tensor<64x32x3x3xf32>, tensor<64x32x3x3xf32>, tensor<16x32x3x3xf32>, tensor<64x32x3x3xf32>, tensor<64x32x3x3xf32>) {
  %1 = mnist.conv_filter_grad nchw %x, %p strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x64x16x16xf32>) -> tensor<64x32x3x3xf32> loc("plain")
  %2 = mnist.conv_filter_grad nchw %x, %s strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x64x8x8xf32>) -> tensor<64x32x3x3xf32> loc("strided")
  %3 = mnist.conv_filter_grad nchw %x, %f strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x16x16x16xf32>) -> tensor<16x32x3x3xf32> loc("few")
  %4 = mnist.conv_filter_grad nchw %q, %r strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<1x32x16x16xf32>, tensor<1x64x16x16xf32>) -> tensor<64x32x3x3xf32> loc("small")
  %5 = mnist.conv_filter_grad nchw %x, %p strides [1, 1] pads [1, 0, 1, 2] dilations [1, 1] groups 1
      : (tensor<64x32x16x16xf32>, tensor<64x64x16x16xf32>) -> tensor<64x32x3x3xf32> loc("uneven")
  return %1, %2, %3, %4, %5 : tensor<64x32x3x3xf32>, tensor<64x32x3x3xf32>, tensor<16x32x3x3xf32>, tensor<64x32x3x3xf32>, tensor<64x32x3x3xf32>
}

// A depthwise convolution is computed directly, its input's gradient too.

// CHECK-LABEL: @depthwise
// CUDA:          plan.step "y" on kernel
// CUDA:          plan.step "dx" on kernel
// CHECK:         return
func.func @depthwise(%x: tensor<256x96x14x14xf32>, %w: tensor<96x1x5x5xf32>) -> (tensor<256x96x14x14xf32>, tensor<256x96x14x14xf32>) {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 96
      : (tensor<256x96x14x14xf32>, tensor<96x1x5x5xf32>) -> tensor<256x96x14x14xf32> loc("y")
  %dx = mnist.conv_input_grad nchw %y, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 96
      : (tensor<256x96x14x14xf32>, tensor<96x1x5x5xf32>) -> tensor<256x96x14x14xf32> loc("dx")
  return %y, %dx : tensor<256x96x14x14xf32>, tensor<256x96x14x14xf32>
}
