// RUN: mnist-opt %s --plan-form-steps --split-input-file | FileCheck %s

// On a GPU a large transpose is a step of its own where windows would read it
// across: 4,214,784 elements are, 4,164,608 are not.

// CHECK-LABEL: @windows
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK:         plan.step
// CHECK-NOT:       mnist.transpose
// CHECK:           mnist.avg_pool
// CHECK-LABEL: @smaller
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK-NEXT:      mnist.avg_pool
module attributes {plan.target = "cuda"} {
func.func @windows(%x: tensor<84x56x56x16xf32>) -> tensor<84x16x28x28xf32> {
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<84x56x56x16xf32> -> tensor<84x16x56x56xf32>
  %y = mnist.avg_pool nchw %t kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<84x16x56x56xf32> -> tensor<84x16x28x28xf32>
  return %y : tensor<84x16x28x28xf32>
}
func.func @smaller(%x: tensor<83x56x56x16xf32>) -> tensor<83x16x28x28xf32> {
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<83x56x56x16xf32> -> tensor<83x16x56x56xf32>
  %y = mnist.avg_pool nchw %t kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<83x16x56x56xf32> -> tensor<83x16x28x28xf32>
  return %y : tensor<83x16x28x28xf32>
}
}

// -----

// So is one of several inputs that are put side by side, also after maps. Not
// what maps and products read, nor what only moves whole lines.

// CHECK-LABEL: @beside
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK:           mnist.relu
// CHECK:         plan.step
// CHECK-NOT:       mnist.transpose
// CHECK:           mnist.concat
// CHECK-LABEL: @map
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK-NEXT:      mnist.add
// CHECK-LABEL: @product
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK:           mnist.matmul
// CHECK-LABEL: @lines
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK:           mnist.concat
module attributes {plan.target = "cuda"} {
func.func @beside(%x: tensor<84x56x56x16xf32>, %b: tensor<84x8x56x56xf32>) -> tensor<84x24x56x56xf32> {
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<84x56x56x16xf32> -> tensor<84x16x56x56xf32>
  %r = mnist.relu %t : tensor<84x16x56x56xf32>
  %y = mnist.concat %r, %b dim 1 : (tensor<84x16x56x56xf32>, tensor<84x8x56x56xf32>) -> tensor<84x24x56x56xf32>
  return %y : tensor<84x24x56x56xf32>
}
func.func @map(%x: tensor<84x56x56x16xf32>, %b: tensor<84x16x56x56xf32>) -> tensor<84x16x56x56xf32> {
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<84x56x56x16xf32> -> tensor<84x16x56x56xf32>
  %y = mnist.add %t, %b : tensor<84x16x56x56xf32>
  return %y : tensor<84x16x56x56xf32>
}
func.func @product(%x: tensor<64x65536xf32>, %w: tensor<64x8xf32>) -> tensor<65536x8xf32> {
  %t = mnist.transpose %x perm [1, 0] : tensor<64x65536xf32> -> tensor<65536x64xf32>
  %y = mnist.matmul %t, %w : (tensor<65536x64xf32>, tensor<64x8xf32>) -> tensor<65536x8xf32>
  return %y : tensor<65536x8xf32>
}
func.func @lines(%x: tensor<84x56x56x16xf32>, %b: tensor<56x8x56x16xf32>) -> tensor<56x92x56x16xf32> {
  %t = mnist.transpose %x perm [1, 0, 2, 3] : tensor<84x56x56x16xf32> -> tensor<56x84x56x16xf32>
  %y = mnist.concat %t, %b dim 1 : (tensor<56x84x56x16xf32>, tensor<56x8x56x16xf32>) -> tensor<56x92x56x16xf32>
  return %y : tensor<56x92x56x16xf32>
}
}

// -----

// Nor on a CPU.

// CHECK-LABEL: @cpu
// CHECK:         plan.step
// CHECK:           mnist.transpose
// CHECK-NEXT:      mnist.avg_pool
module attributes {plan.target = "cpu"} {
func.func @cpu(%x: tensor<84x56x56x16xf32>) -> tensor<84x16x28x28xf32> {
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<84x56x56x16xf32> -> tensor<84x16x56x56xf32>
  %y = mnist.avg_pool nchw %t kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] : tensor<84x16x56x56xf32> -> tensor<84x16x28x28xf32>
  return %y : tensor<84x16x28x28xf32>
}
}
