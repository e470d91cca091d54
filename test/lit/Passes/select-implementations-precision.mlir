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

// cuDNN knows tf32, not bf16 in memory that is f32.

// CHECK-LABEL: @many_channels
// FP32:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = tf32x3>)(
// TF32:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
// BF16:          plan.step "{{.*}}" on cudnn schedule(#plan.product<mma = tf32>)(
// NONE:          plan.step "{{.*}}" on kernel schedule(#plan.product<mma = bf16>)(
func.func @many_channels(%x: tensor<64x128x14x14xf32>, %w: tensor<128x128x3x3xf32>) -> tensor<64x128x14x14xf32> {
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : (tensor<64x128x14x14xf32>, tensor<128x128x3x3xf32>) -> tensor<64x128x14x14xf32>
  return %y : tensor<64x128x14x14xf32>
}

// A classifier's last layer is too small, whatever may be used.

// CHECK-LABEL: @few_columns
// CHECK-NOT:     schedule
// CHECK:         return
func.func @few_columns(%x: tensor<4096x512xf32>, %w: tensor<512x10xf32>) -> tensor<4096x10xf32> {
  %y = mnist.matmul %x, %w : (tensor<4096x512xf32>, tensor<512x10xf32>) -> tensor<4096x10xf32>
  return %y : tensor<4096x10xf32>
}

// Tensor cores multiply what was f32.

// CHECK-LABEL: @doubles
// CHECK-NOT:     schedule
// CHECK:         return
func.func @doubles(%x: tensor<512x512xf64>) -> tensor<512x512xf64> {
  %y = mnist.matmul %x, %x : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
  return %y : tensor<512x512xf64>
}
