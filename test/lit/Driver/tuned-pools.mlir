// RUN: mnistc %s --tuned=%S/Inputs/tuned-pools.json --emit=plan -o - | FileCheck %s

// What was measured of a convolution decides one without a pool; with its pool it
// is another one.

// CHECK-LABEL: func.func @infer_alone
// CHECK:       plan.step "y" on cudnn
// CHECK-LABEL: func.func @infer_pooled
// CHECK-NOT:   cudnn
// CHECK:       plan.step "p" on kernel
// CHECK-NOT:   plan.tuned
func.func @infer_alone(%x: tensor<64x32x14x14xf32> {mnist.name = "x"}, %w: tensor<64x32x3x3xf32> {mnist.name = "w"}) -> (tensor<64x64x14x14xf32> {mnist.name = "y"}) {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32> loc("y")
  return %0 : tensor<64x64x14x14xf32>
}

func.func @infer_pooled(%x: tensor<64x32x14x14xf32> {mnist.name = "x"}, %w: tensor<64x32x3x3xf32> {mnist.name = "w"}) -> (tensor<64x64x7x7xf32> {mnist.name = "p"}) {
  %0 = mnist.conv nchw %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<64x32x14x14xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x14x14xf32> loc("c")
  %1 = mnist.max_pool nchw %0 kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<64x64x14x14xf32> -> tensor<64x64x7x7xf32> loc("p")
  return %1 : tensor<64x64x7x7xf32>
}
