// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-join-pools | FileCheck %s
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=target=cpu --plan-join-pools \
// RUN:   | FileCheck %s --check-prefix=LIBRARY

// What follows the convolution, and the pool, goes to memory as one.

// CHECK-LABEL: func.func @infer
// CHECK:         plan.step "relu" on kernel(%arg0, %arg1, %arg2)
// CHECK:           mnist.conv
// CHECK:           %[[SUM:.*]] = mnist.add
// CHECK:           %[[MAX:.*]] = mnist.max_pool nchw %[[SUM]]
// CHECK:           %[[RELU:.*]] = mnist.relu %[[MAX]]
// CHECK:           plan.yield %[[RELU]] : tensor<8x32x14x14xf32>
// CHECK-NOT:     plan.step

// A library's result is in memory.

// LIBRARY-LABEL: func.func @infer
// LIBRARY:         plan.step "add" on onednn
// LIBRARY:         plan.step "relu" on kernel
func.func @infer(%x: tensor<8x1x28x28xf32>, %w: tensor<32x1x3x3xf32>, %b: tensor<32xf32>) -> tensor<8x32x14x14xf32> {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32>
  %1 = mnist.broadcast %b along [1] : tensor<32xf32> -> tensor<8x32x28x28xf32>
  %2 = mnist.add %0, %1 : tensor<8x32x28x28xf32>
  %3 = mnist.max_pool nchw %2 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xf32>
  %4 = mnist.relu %3 : tensor<8x32x14x14xf32>
  return %4 : tensor<8x32x14x14xf32>
}

// Indices too; what others read is stored as well.

// CHECK-LABEL: func.func @train
// CHECK:         %[[STEP:.*]]:3 = plan.step "max_pool" on kernel
// CHECK:           %[[CONV:.*]] = mnist.conv
// CHECK:           %[[MAX:.*]] = mnist.max_pool nchw %[[CONV]]
// CHECK:           %[[INDEX:.*]] = mnist.arg_max_pool nchw %[[CONV]]
// CHECK:           plan.yield %[[MAX]], %[[INDEX]], %[[CONV]]
// CHECK:         plan.step "exp" on kernel(%[[STEP]]#2)
func.func @train(%x: tensor<8x1x28x28xf32>, %w: tensor<32x1x3x3xf32>) -> (tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>, tensor<8x32x28x28xf32>) {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32>
  %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xf32>
  %2 = mnist.arg_max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xui8>
  %3 = mnist.exp %0 : tensor<8x32x28x28xf32>
  return %1, %2, %3 : tensor<8x32x14x14xf32>, tensor<8x32x14x14xui8>, tensor<8x32x28x28xf32>
}

// Pools of what is in memory, with the same windows.

// CHECK-LABEL: func.func @memory
// CHECK:         plan.step "max_pool.max_pool" on kernel(%arg0)
// CHECK:           mnist.max_pool {{.*}} kernel [2, 2]
// CHECK:           mnist.arg_max_pool {{.*}} kernel [2, 2]
// CHECK:         plan.step "max_pool" on kernel(%arg0)
// CHECK:           mnist.max_pool {{.*}} kernel [3, 3]
func.func @memory(%x: tensor<8x4x6x6xf32>) -> (tensor<8x4x3x3xui8>, tensor<8x4x3x3xf32>, tensor<8x4x2x2xf32>) {
  %0 = mnist.arg_max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x4x6x6xf32> -> tensor<8x4x3x3xui8>
  %1 = mnist.max_pool nchw %x kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x4x6x6xf32> -> tensor<8x4x3x3xf32>
  %2 = mnist.max_pool nchw %x kernel [3, 3] strides [3, 3] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x4x6x6xf32> -> tensor<8x4x2x2xf32>
  return %0, %1, %2 : tensor<8x4x3x3xui8>, tensor<8x4x3x3xf32>, tensor<8x4x2x2xf32>
}

// A block of a product has no whole windows.

// CHECK-LABEL: func.func @product
// CHECK:         plan.step "conv" on kernel
// CHECK:         plan.step "max_pool" on kernel
func.func @product(%x: tensor<8x28x28x1xf32>, %w: tensor<32x3x3x1xf32>) -> tensor<8x14x14x32xf32> {
  %0 = mnist.conv nhwc %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x28x28x1xf32>, tensor<32x3x3x1xf32>) -> tensor<8x28x28x32xf32>
  %1 = mnist.max_pool nhwc %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x28x28x32xf32> -> tensor<8x14x14x32xf32>
  return %1 : tensor<8x14x14x32xf32>
}

// A pool waits for what it also needs.

// CHECK-LABEL: func.func @later
// CHECK:         plan.step "conv" on kernel
// CHECK:         plan.step "exp" on kernel
// CHECK:         plan.step "mul" on kernel
func.func @later(%x: tensor<8x1x28x28xf32>, %w: tensor<32x1x3x3xf32>) -> (tensor<8x32x28x28xf32>, tensor<8x32x14x14xf32>) {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32>
  %1 = mnist.exp %0 : tensor<8x32x28x28xf32>
  %2 = mnist.reduce_sum %1 over [2, 3] : tensor<8x32x28x28xf32> -> tensor<8x32xf32>
  %3 = mnist.broadcast %2 along [0, 1] : tensor<8x32xf32> -> tensor<8x32x14x14xf32>
  %4 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xf32>
  %5 = mnist.mul %4, %3 : tensor<8x32x14x14xf32>
  return %1, %5 : tensor<8x32x28x28xf32>, tensor<8x32x14x14xf32>
}

// A mean joins the convolution, and its gradient needs no index.

// CHECK-LABEL: func.func @mean
// CHECK:         plan.step "avg_pool" on kernel(%arg0, %arg1)
// CHECK-NOT:     plan.step
func.func @mean(%x: tensor<8x1x28x28xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<8x32x14x14xf32> {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32>
  %1 = mnist.avg_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xf32>
  return %1 : tensor<8x32x14x14xf32>
}

// Only one of two, and what that leaves in memory is pooled from there; so is
// the pool's result.

// CHECK-LABEL: func.func @several
// CHECK:         %[[A:.*]]:2 = plan.step "max_pool.max_pool_2" on kernel(%arg0, %arg1)
// CHECK:           plan.yield %{{.*}}, %{{.*}} : tensor<8x32x14x14xf32>, tensor<8x32x28x28xf32>
// CHECK:         plan.step "max_pool.max_pool" on kernel(%[[A]]#1)
// CHECK:           kernel [4, 4]
// CHECK:         %[[B:.*]]:2 = plan.step {{.*}} on kernel(%[[A]]#0)
// CHECK:           mnist.arg_max_pool
func.func @several(%x: tensor<8x1x28x28xf32>, %w: tensor<32x1x3x3xf32>) -> (tensor<8x32x7x7xf32>, tensor<8x32x7x7xf32>, tensor<8x32x7x7xui8>) {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<8x1x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<8x32x28x28xf32>
  %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x14x14xf32>
  %2 = mnist.max_pool nchw %0 kernel [4, 4] strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x28x28xf32> -> tensor<8x32x7x7xf32>
  %3 = mnist.max_pool nchw %1 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<8x32x14x14xf32> -> tensor<8x32x7x7xf32>
  %4 = mnist.arg_max_pool nchw %1 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] in_window : tensor<8x32x14x14xf32> -> tensor<8x32x7x7xui8>
  return %2, %3, %4 : tensor<8x32x7x7xf32>, tensor<8x32x7x7xf32>, tensor<8x32x7x7xui8>
}
