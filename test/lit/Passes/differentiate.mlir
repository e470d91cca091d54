// RUN: mnist-opt %s --split-input-file --mnist-differentiate --cse | FileCheck %s

// A chain: each op's rule, last to first.

// CHECK-LABEL: func.func @train_4
// CHECK-SAME:      (%[[X:.*]]: tensor<4x3xf32>) -> (tensor<f32> {mnist.loss = "own"}, tensor<3x2xf32> {mnist.gradient = "w", mnist.name = "gradient of w"})
// CHECK:         %[[W:.*]] = ml_program.global_load @w
// CHECK:         %[[Y:.*]] = mnist.matmul %[[X]], %[[W]]
// CHECK:         %[[R:.*]] = mnist.relu %[[Y]]
// CHECK:         %[[L:.*]] = mnist.reduce_sum %[[R]]
// CHECK:         %[[ONE:.*]] = mnist.constant dense<1.000000e+00> : tensor<4x2xf32>
// CHECK:         %[[ZERO:.*]] = mnist.constant dense<0.000000e+00> : tensor<4x2xf32>
// CHECK:         %[[ON:.*]] = mnist.compare gt %[[R]], %[[ZERO]]
// CHECK:         %[[DY:.*]] = mnist.select %[[ON]], %[[ONE]], %[[ZERO]]
// CHECK:         %[[DW:.*]] = mnist.matmul %[[X]], %[[DY]] transposed [true, false]
// CHECK:         return %[[L]], %[[DW]]
ml_program.global private mutable @w(dense<1.0> : tensor<3x2xf32>) : tensor<3x2xf32> {mnist.role = "parameter"}
func.func @train_4(%x: tensor<4x3xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<3x2xf32>
  %y = mnist.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %r = mnist.relu %y : tensor<4x2xf32>
  %l = mnist.reduce_sum %r over [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A value that is read twice, by one op or by two loads, gets the sum. A
// parameter that the loss does not depend on gets zeros, a buffer nothing.

// CHECK-LABEL: func.func @train_1
// CHECK-SAME:      mnist.gradient = "w"
// CHECK-SAME:      mnist.gradient = "unused"
// CHECK-NOT:       mnist.gradient
// CHECK:         %[[W:.*]] = ml_program.global_load @w
// CHECK:         %[[B:.*]] = ml_program.global_load @buffer
// CHECK:         %[[L:.*]] = mnist.reduce_sum
// CHECK:         %[[ONE:.*]] = mnist.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK:         %[[DY:.*]] = mnist.mul %[[ONE]], %[[B]]
// CHECK:         %[[SIDE:.*]] = mnist.mul %[[DY]], %[[W]]
// CHECK:         %[[DW:.*]] = mnist.add %[[SIDE]], %[[SIDE]]
// CHECK:         %[[ZERO:.*]] = mnist.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK:         return %[[L]], %[[DW]], %[[ZERO]]
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @unused(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @buffer(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<2xf32>
  %again = ml_program.global_load @w : tensor<2xf32>
  %unused = ml_program.global_load @unused : tensor<2xf32>
  %b = ml_program.global_load @buffer : tensor<2xf32>
  %y = mnist.mul %w, %again : tensor<2xf32>
  %z = mnist.mul %y, %b : tensor<2xf32>
  %l = mnist.reduce_sum %z over [0] : tensor<2xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// An op without a derivative does no harm where no parameter depends on it.

// CHECK-LABEL: func.func @train_1
// CHECK:         mnist.max_pool_grad
// CHECK:         return %{{.*}}, %{{.*}} : tensor<f32>, tensor<1x1x4xf32>
ml_program.global private mutable @w(dense<1.0> : tensor<1x1x4xf32>) : tensor<1x1x4xf32> {mnist.role = "parameter"}
func.func @train_1(%x: tensor<1x1x4xf32>, %g: tensor<1x1x2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<1x1x4xf32>
  %d = mnist.max_pool_grad nchw %x, %g kernel [2] strides [2] pads [0, 0] dilations [1]
      : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x4xf32>
  %y = mnist.mul %d, %w : tensor<1x1x4xf32>
  %l = mnist.reduce_sum %y over [0, 1, 2] : tensor<1x1x4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// What only infers or evaluates stays as it is.

// CHECK-LABEL: func.func @eval_1
// CHECK-SAME:      -> (tensor<f32> {mnist.loss = "own"}) {
// CHECK-NEXT:    ml_program.global_load
// CHECK-NEXT:    mnist.reduce_sum
// CHECK-NEXT:    return
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @eval_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<2xf32>
  %l = mnist.reduce_sum %w over [0] : tensor<2xf32> -> tensor<f32>
  return %l : tensor<f32>
}
