// RUN: mnist-opt %s --split-input-file --mnist-order-parameters | FileCheck %s

// A dense layer takes images as they are computed; both functions agree.

// CHECK:       ml_program.global private mutable @w({{.*}}) : tensor<5x12xf32> {mnist.order = array<i64: 0, 3, 1, 2>, mnist.order_shape = array<i64: 5, 2, 3, 2>, mnist.role = "parameter"}
// CHECK-LABEL: @train
// CHECK-SAME:  (%[[X:.*]]: tensor<4x2x2x3xf32>)
// CHECK-NEXT:  %[[W:.*]] = ml_program.global_load @w
// CHECK-NEXT:  %[[FLAT:.*]] = mnist.reshape %[[X]] : tensor<4x2x2x3xf32> -> tensor<4x12xf32>
// CHECK-NEXT:  mnist.matmul %[[FLAT]], %[[W]] transposed [false, true]
// CHECK-LABEL: @eval
// CHECK-SAME:  (%[[X:.*]]: tensor<8x2x2x3xf32>)
// CHECK-NEXT:  %[[W:.*]] = ml_program.global_load @w
// CHECK-NEXT:  %[[FLAT:.*]] = mnist.reshape %[[X]] : tensor<8x2x2x3xf32> -> tensor<8x12xf32>
// CHECK-NEXT:  mnist.matmul %[[FLAT]], %[[W]] transposed [false, true]
ml_program.global private mutable @w(dense<1.0> : tensor<5x12xf32>) : tensor<5x12xf32> {mnist.role = "parameter"}
func.func @train(%x: tensor<4x2x2x3xf32>) -> tensor<4x5xf32> {
  %w = ml_program.global_load @w : tensor<5x12xf32>
  %t = mnist.transpose %x perm [0, 2, 3, 1] : tensor<4x2x2x3xf32> -> tensor<4x2x3x2xf32>
  %f = mnist.reshape %t : tensor<4x2x3x2xf32> -> tensor<4x12xf32>
  %y = mnist.matmul %f, %w transposed [false, true] : (tensor<4x12xf32>, tensor<5x12xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
func.func @eval(%x: tensor<8x2x2x3xf32>) -> tensor<8x5xf32> {
  %w = ml_program.global_load @w : tensor<5x12xf32>
  %t = mnist.transpose %x perm [0, 2, 3, 1] : tensor<8x2x2x3xf32> -> tensor<8x2x3x2xf32>
  %f = mnist.reshape %t : tensor<8x2x3x2xf32> -> tensor<8x12xf32>
  %y = mnist.matmul %f, %w transposed [false, true] : (tensor<8x12xf32>, tensor<5x12xf32>) -> tensor<8x5xf32>
  return %y : tensor<8x5xf32>
}

// -----

// Rows first; the transpose stays for who else reads it.

// CHECK:       @w({{.*}}) : tensor<12x5xf32> {mnist.order = array<i64: 2, 0, 1, 3>, mnist.order_shape = array<i64: 2, 3, 2, 5>, mnist.role = "parameter"}
// CHECK-LABEL: @rows_first
// CHECK-SAME:  (%[[X:.*]]: tensor<4x2x2x3xf32>)
// CHECK:       %[[T:.*]] = mnist.transpose %[[X]]
// CHECK:       %[[FLAT:.*]] = mnist.reshape %[[X]]
// CHECK:       mnist.matmul %[[FLAT]]
// CHECK:       return %{{.*}}, %[[T]]
ml_program.global private mutable @w(dense<1.0> : tensor<12x5xf32>) : tensor<12x5xf32> {mnist.role = "parameter"}
func.func @rows_first(%x: tensor<4x2x2x3xf32>) -> (tensor<4x5xf32>, tensor<4x2x3x2xf32>) {
  %w = ml_program.global_load @w : tensor<12x5xf32>
  %t = mnist.transpose %x perm [0, 2, 3, 1] : tensor<4x2x2x3xf32> -> tensor<4x2x3x2xf32>
  %f = mnist.reshape %t : tensor<4x2x3x2xf32> -> tensor<4x12xf32>
  %y = mnist.matmul %f, %w : (tensor<4x12xf32>, tensor<12x5xf32>) -> tensor<4x5xf32>
  return %y, %t : tensor<4x5xf32>, tensor<4x2x3x2xf32>
}

// -----

// Another use has another order, or none.

// CHECK:       @w({{.*}}) : tensor<5x12xf32> {mnist.role = "parameter"}
// CHECK:       @v({{.*}}) : tensor<5x12xf32> {mnist.role = "parameter"}
// CHECK-LABEL: @other_orders
// CHECK:       mnist.transpose
// CHECK:       mnist.transpose
// CHECK:       mnist.matmul
ml_program.global private mutable @w(dense<1.0> : tensor<5x12xf32>) : tensor<5x12xf32> {mnist.role = "parameter"}
ml_program.global private mutable @v(dense<1.0> : tensor<5x12xf32>) : tensor<5x12xf32> {mnist.role = "parameter"}
func.func @other_orders(%x: tensor<4x2x2x3xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<5x12xf32>) {
  %w = ml_program.global_load @w : tensor<5x12xf32>
  %v = ml_program.global_load @v : tensor<5x12xf32>
  %t = mnist.transpose %x perm [0, 2, 3, 1] : tensor<4x2x2x3xf32> -> tensor<4x2x3x2xf32>
  %f = mnist.reshape %t : tensor<4x2x3x2xf32> -> tensor<4x12xf32>
  %u = mnist.transpose %x perm [0, 3, 1, 2] : tensor<4x2x2x3xf32> -> tensor<4x3x2x2xf32>
  %g = mnist.reshape %u : tensor<4x3x2x2xf32> -> tensor<4x12xf32>
  %a = mnist.matmul %f, %w transposed [false, true] : (tensor<4x12xf32>, tensor<5x12xf32>) -> tensor<4x5xf32>
  %b = mnist.matmul %g, %w transposed [false, true] : (tensor<4x12xf32>, tensor<5x12xf32>) -> tensor<4x5xf32>
  %c = mnist.matmul %f, %v transposed [false, true] : (tensor<4x12xf32>, tensor<5x12xf32>) -> tensor<4x5xf32>
  %n = mnist.neg %v : tensor<5x12xf32>
  return %a, %b, %c, %n : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<5x12xf32>
}

// -----

// What does not train stays as it is.

// CHECK:       @w({{.*}}) : tensor<5x12xf32> {mnist.role = "buffer"}
// CHECK-LABEL: @buffer
// CHECK:       mnist.transpose
ml_program.global private mutable @w(dense<1.0> : tensor<5x12xf32>) : tensor<5x12xf32> {mnist.role = "buffer"}
func.func @buffer(%x: tensor<4x2x2x3xf32>) -> tensor<4x5xf32> {
  %w = ml_program.global_load @w : tensor<5x12xf32>
  %t = mnist.transpose %x perm [0, 2, 3, 1] : tensor<4x2x2x3xf32> -> tensor<4x2x3x2xf32>
  %f = mnist.reshape %t : tensor<4x2x3x2xf32> -> tensor<4x12xf32>
  %y = mnist.matmul %f, %w transposed [false, true] : (tensor<4x12xf32>, tensor<5x12xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
