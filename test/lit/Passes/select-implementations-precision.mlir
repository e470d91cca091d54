// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=strict | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=fp32 | FileCheck %s --check-prefixes=CHECK,FP32
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=tf32 | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="precision=bf16 target=cpu" | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations="precision=bf16 libraries=none" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: not mnist-opt %s --plan-select-implementations=precision=fp16 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expected a precision of strict, fp32, tf32 or bf16, got 'fp16'

// The precision is the set of tensor cores that may be used; the best of those
// is. A kernel takes the whole epilogue in each case.

// CHECK-LABEL: @some_channels
// STRICT:        plan.step "{{.*}}" on cudnn(
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
// CPU:           plan.step "{{.*}}" on onednn(
// NONE:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
// CHECK:           mnist.conv
// CHECK:           mnist.relu
func.func @some_channels(%x: tensor<64x32x14x14xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32> {
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32>
  %y = mnist.relu %c : tensor<64x64x14x14xf32>
  return %y : tensor<64x64x14x14xf32>
}

// cuDNN knows tf32, not bf16 in memory that is f32: our bf16 is faster, but
// where there are strides, or windows of one element.

// CHECK-LABEL: @many_channels
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
// NONE:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
func.func @many_channels(%x: tensor<128x96x14x14xf32>, %w: tensor<256x96x5x5xf32>) -> tensor<128x256x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<128x96x14x14xf32>, tensor<256x96x5x5xf32>) -> tensor<128x256x14x14xf32>
  return %y : tensor<128x256x14x14xf32>
}

// CHECK-LABEL: @strides
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
func.func @strides(%x: tensor<128x128x28x28xf32>, %w: tensor<256x128x4x4xf32>) -> tensor<128x256x13x13xf32> {
  %y = mnist.conv nchw %x, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<128x128x28x28xf32>, tensor<256x128x4x4xf32>) -> tensor<128x256x13x13xf32>
  return %y : tensor<128x256x13x13xf32>
}

// CHECK-LABEL: @pixels
// TF32:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
func.func @pixels(%x: tensor<128x48x28x28xf32>, %w: tensor<256x48x1x1xf32>) -> tensor<128x256x28x28xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<128x48x28x28xf32>, tensor<256x48x1x1xf32>) -> tensor<128x256x28x28xf32>
  return %y : tensor<128x256x28x28xf32>
}

// To 96 channels it was several times slower than our kernel.

// CHECK-LABEL: @fewer_results
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @fewer_results(%x: tensor<32x256x32x32xf32>, %w: tensor<96x256x3x3xf32>) -> tensor<32x96x32x32xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<32x256x32x32xf32>, tensor<96x256x3x3xf32>) -> tensor<32x96x32x32xf32>
  return %y : tensor<32x96x32x32xf32>
}

// Wide windows are an exception, from 128 results a pixel on.

// CHECK-LABEL: @wide_windows
// TF32:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
func.func @wide_windows(%x: tensor<256x64x14x14xf32>, %w: tensor<128x64x5x5xf32>) -> tensor<256x128x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<256x64x14x14xf32>, tensor<128x64x5x5xf32>) -> tensor<256x128x14x14xf32>
  return %y : tensor<256x128x14x14xf32>
}

// CHECK-LABEL: @wide_windows_to_few
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @wide_windows_to_few(%x: tensor<256x128x14x14xf32>, %w: tensor<64x128x5x5xf32>) -> tensor<256x64x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<256x128x14x14xf32>, tensor<64x128x5x5xf32>) -> tensor<256x64x14x14xf32>
  return %y : tensor<256x64x14x14xf32>
}

// Of the gradient of its input, the results are the input's.

// CHECK-LABEL: @wide_windows_gradient
// TF32:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
func.func @wide_windows_gradient(%dy: tensor<256x64x14x14xf32>, %w: tensor<64x128x5x5xf32>) -> tensor<256x128x14x14xf32> {
  %y = mnist.conv_input_grad nchw %dy, %w strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<256x64x14x14xf32>, tensor<64x128x5x5xf32>) -> tensor<256x128x14x14xf32>
  return %y : tensor<256x128x14x14xf32>
}

// An FFT pays where there is much to do for what it makes of the tensors, and
// in f32 only.

// CHECK-LABEL: @fft
// STRICT:        plan.step "{{.*}}" on cudnn(
// FP32:          plan.step "{{.*}}" on cudnn(
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
func.func @fft(%x: tensor<128x96x14x14xf32>, %dy: tensor<128x256x14x14xf32>) -> tensor<256x96x5x5xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<128x96x14x14xf32>, tensor<128x256x14x14xf32>) -> tensor<256x96x5x5xf32>
  return %y : tensor<256x96x5x5xf32>
}

// CHECK-LABEL: @fft_of_small_images
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
func.func @fft_of_small_images(%x: tensor<512x96x7x7xf32>, %dy: tensor<512x128x5x5xf32>) -> tensor<128x96x3x3xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<512x96x7x7xf32>, tensor<512x128x5x5xf32>) -> tensor<128x96x3x3xf32>
  return %y : tensor<128x96x3x3xf32>
}

// CHECK-LABEL: @fft_of_even_windows
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
func.func @fft_of_even_windows(%x: tensor<128x96x32x32xf32>, %dy: tensor<128x32x33x33xf32>) -> tensor<32x96x4x4xf32> {
  %y = mnist.conv_filter_grad nchw %x, %dy strides [1, 1] pads [2, 2, 2, 2] dilations [1, 1] groups 1
      : (tensor<128x96x32x32xf32>, tensor<128x32x33x33xf32>) -> tensor<32x96x4x4xf32>
  return %y : tensor<32x96x4x4xf32>
}

// cuBLASLt has short sums of gradients of weights, not those of inputs.

// CHECK-LABEL: @weights
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on cublas schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on cublas schedule(#plan.product<mma = tf32>)(
func.func @weights(%x: tensor<128x2048xf32>, %dy: tensor<128x4096xf32>) -> tensor<2048x4096xf32> {
  %y = mnist.matmul %x, %dy transposed [true, false]
      : (tensor<128x2048xf32>, tensor<128x4096xf32>) -> tensor<2048x4096xf32>
  return %y : tensor<2048x4096xf32>
}

// Of many results it has shorter sides, too.

// CHECK-LABEL: @many_rows
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on cublas schedule(#plan.product<mma = tf32>)(
func.func @many_rows(%x: tensor<2048x512xf32>, %w: tensor<512x128xf32>) -> tensor<2048x128xf32> {
  %y = mnist.matmul %x, %w : (tensor<2048x512xf32>, tensor<512x128xf32>) -> tensor<2048x128xf32>
  return %y : tensor<2048x128xf32>
}

// CHECK-LABEL: @fewer_rows
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @fewer_rows(%x: tensor<1024x3136xf32>, %w: tensor<3136x128xf32>) -> tensor<1024x128xf32> {
  %y = mnist.matmul %x, %w : (tensor<1024x3136xf32>, tensor<3136x128xf32>) -> tensor<1024x128xf32>
  return %y : tensor<1024x128xf32>
}

// CHECK-LABEL: @weights_of_many_rows
// TF32:          plan.step "{{.*}}" on cublas schedule(#plan.product<mma = tf32>)(
func.func @weights_of_many_rows(%x: tensor<2048x128xf32>, %dy: tensor<2048x512xf32>) -> tensor<128x512xf32> {
  %y = mnist.matmul %x, %dy transposed [true, false]
      : (tensor<2048x128xf32>, tensor<2048x512xf32>) -> tensor<128x512xf32>
  return %y : tensor<128x512xf32>
}

// CHECK-LABEL: @weights_of_fewer_rows
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
func.func @weights_of_fewer_rows(%x: tensor<1024x128xf32>, %dy: tensor<1024x3136xf32>) -> tensor<128x3136xf32> {
  %y = mnist.matmul %x, %dy transposed [true, false]
      : (tensor<1024x128xf32>, tensor<1024x3136xf32>) -> tensor<128x3136xf32>
  return %y : tensor<128x3136xf32>
}

// CHECK-LABEL: @inputs
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
func.func @inputs(%dy: tensor<1024x128xf32>, %w: tensor<9216x128xf32>) -> tensor<1024x9216xf32> {
  %y = mnist.matmul %dy, %w transposed [false, true]
      : (tensor<1024x128xf32>, tensor<9216x128xf32>) -> tensor<1024x9216xf32>
  return %y : tensor<1024x9216xf32>
}

// A classifier's last layer is too small for three products instead of one.

// CHECK-LABEL: @few_columns
// STRICT-NOT:    schedule
// FP32-NOT:      schedule
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
// CPU-NOT:       schedule
// NONE:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
// CHECK:         return
func.func @few_columns(%x: tensor<64x512xf32>, %w: tensor<512x10xf32>) -> tensor<64x10xf32> {
  %y = mnist.matmul %x, %w : (tensor<64x512xf32>, tensor<512x10xf32>) -> tensor<64x10xf32>
  return %y : tensor<64x10xf32>
}

// A small gradient of weights is by three products in any precision.

// CHECK-LABEL: @small_gradient
// STRICT-NOT:    schedule
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// CPU-NOT:       schedule
// NONE:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// CHECK:         return
func.func @small_gradient(%dy: tensor<64x10xf32>, %x: tensor<64x512xf32>) -> tensor<10x512xf32> {
  %dw = mnist.matmul %dy, %x transposed [true, false] : (tensor<64x10xf32>, tensor<64x512xf32>) -> tensor<10x512xf32>
  return %dw : tensor<10x512xf32>
}

// So is a large one, up to what cuBLASLt takes; not one between.

// CHECK-LABEL: @large_gradient
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// CHECK:         return
func.func @large_gradient(%dy: tensor<256x256xf32>, %x: tensor<256x784xf32>) -> tensor<256x784xf32> {
  %dw = mnist.matmul %dy, %x transposed [true, false] : (tensor<256x256xf32>, tensor<256x784xf32>) -> tensor<256x784xf32>
  return %dw : tensor<256x784xf32>
}

// CHECK-LABEL: @larger_gradient
// TF32:          plan.step "{{.*}}" on cublas schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on cublas schedule(#plan.product<mma = tf32>)(
// CHECK:         return
func.func @larger_gradient(%dy: tensor<256x512xf32>, %x: tensor<256x784xf32>) -> tensor<512x784xf32> {
  %dw = mnist.matmul %dy, %x transposed [true, false] : (tensor<256x512xf32>, tensor<256x784xf32>) -> tensor<512x784xf32>
  return %dw : tensor<512x784xf32>
}

// CHECK-LABEL: @some_gradient
// TF32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
// CHECK:         return
func.func @some_gradient(%dy: tensor<64x512xf32>, %x: tensor<64x784xf32>) -> tensor<512x784xf32> {
  %dw = mnist.matmul %dy, %x transposed [true, false] : (tensor<64x512xf32>, tensor<64x784xf32>) -> tensor<512x784xf32>
  return %dw : tensor<512x784xf32>
}

// Of fewer columns most of a tile would be empty, whatever may be used.

// CHECK-LABEL: @fewest_columns
// CHECK-NOT:     schedule
// CHECK:         return
func.func @fewest_columns(%x: tensor<4096x512xf32>, %w: tensor<512x7xf32>) -> tensor<4096x7xf32> {
  %y = mnist.matmul %x, %w : (tensor<4096x512xf32>, tensor<512x7xf32>) -> tensor<4096x7xf32>
  return %y : tensor<4096x7xf32>
}

// Tensor cores multiply what was f32.

// CHECK-LABEL: @doubles
// CHECK-NOT:     schedule
// CHECK:         return
func.func @doubles(%x: tensor<512x512xf64>) -> tensor<512x512xf64> {
  %y = mnist.matmul %x, %x : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
  return %y : tensor<512x512xf64>
}
