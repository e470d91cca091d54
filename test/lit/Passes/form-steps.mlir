// RUN: mnist-opt %s --plan-form-steps --split-input-file | FileCheck %s
// RUN: mnist-opt %s --plan-form-steps=fuse=false --split-input-file \
// RUN:   | FileCheck %s --check-prefix=ALONE
// RUN: mnist-opt %s --plan-form-steps=epilogues=none --split-input-file \
// RUN:   | FileCheck %s --check-prefix=NONE

// What follows a convolution element by element is its epilogue. A bias that is
// no splat stays in memory.

// CHECK-LABEL: @epilogue
// CHECK-SAME:    (%[[X:.*]]: tensor<2x1x6x6xf32>, %[[W:.*]]: tensor<4x1x3x3xf32>)
// CHECK:         %[[BIAS:.*]] = mnist.constant
// CHECK-NEXT:    %[[Y:.*]] = plan.step "y" on undecided(%[[X]], %[[W]], %[[BIAS]])
// CHECK:           mnist.conv
// CHECK-NEXT:      mnist.broadcast
// CHECK-NEXT:      mnist.add
// CHECK-NEXT:      mnist.relu
// CHECK-NEXT:      plan.yield
// CHECK:         return %[[Y]]
// ALONE-LABEL: @epilogue
// ALONE:         plan.step "sum.conv"
// ALONE:         plan.step "sum.broadcast"
// ALONE:         plan.step "sum"
// ALONE:         plan.step "y"
// NONE-LABEL: @epilogue
// NONE:         plan.step "sum" on undecided
// NONE:         plan.step "y"
// NONE:           mnist.add
// NONE-NEXT:      mnist.relu
func.func @epilogue(%x: tensor<2x1x6x6xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<2x4x4x4xf32> {
  %bias = mnist.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x1x6x6xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x4x4xf32> loc("sum")
  %b = mnist.broadcast %bias along [1] : tensor<4xf32> -> tensor<2x4x4x4xf32> loc("sum")
  %s = mnist.add %c, %b : tensor<2x4x4x4xf32> loc("sum")
  %y = mnist.relu %s : tensor<2x4x4x4xf32> loc("y")
  return %y : tensor<2x4x4x4xf32>
}

// -----

// A result with a user elsewhere must be there for it.

// CHECK-LABEL: @two_users
// CHECK:         %[[S:.*]] = plan.step "exp"
// CHECK:         plan.step "softmax" on undecided(%[[S]])
// CHECK:         plan.step "relu" on undecided(%[[S]])
func.func @two_users(%x: tensor<4x10xf32>) -> (tensor<4x10xf32>, tensor<4x10xf32>) {
  %s = mnist.exp %x : tensor<4x10xf32>
  %a = mnist.softmax %s dim 1 : tensor<4x10xf32>
  %b = mnist.relu %s : tensor<4x10xf32>
  return %a, %b : tensor<4x10xf32>, tensor<4x10xf32>
}

// -----

// Both users come together again: all of it follows the product.

// CHECK-LABEL: @diamond
// CHECK:         plan.step "mul"
// CHECK:           %[[M:.*]] = mnist.matmul
// CHECK-NEXT:      %[[S:.*]] = mnist.sigmoid %[[M]]
// CHECK-NEXT:      mnist.mul %[[M]], %[[S]]
// CHECK-NOT:     plan.step
func.func @diamond(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %m = mnist.matmul %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %s = mnist.sigmoid %m : tensor<4x3xf32>
  %y = mnist.mul %m, %s : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// A softmax reads its input three times: worth it for a difference, not for a
// tanh.

// CHECK-LABEL: @prologue
// CHECK:         plan.step "softmax"
// CHECK:           mnist.sub
// CHECK-NEXT:      mnist.softmax
// CHECK:         plan.step "tanh"
// CHECK:         plan.step "log_softmax"
func.func @prologue(%x: tensor<4x10xf32>, %y: tensor<4x10xf32>) -> (tensor<4x10xf32>, tensor<4x10xf32>) {
  %d = mnist.sub %x, %y : tensor<4x10xf32>
  %a = mnist.softmax %d dim 1 : tensor<4x10xf32>
  %t = mnist.tanh %x : tensor<4x10xf32>
  %b = mnist.log_softmax %t dim 1 : tensor<4x10xf32>
  return %a, %b : tensor<4x10xf32>, tensor<4x10xf32>
}

// -----

// A sum reads each element once, so that anything may be done to it; what is
// repeated afterwards is computed once.

// CHECK-LABEL: @once
// CHECK:         %[[SUM:.*]] = plan.step "log"
// CHECK:           mnist.exp
// CHECK-NEXT:      mnist.reduce_sum
// CHECK-NEXT:      mnist.log
// CHECK:         plan.step "sub" on undecided(%{{.*}}, %[[SUM]])
// CHECK:           mnist.broadcast
// CHECK-NEXT:      mnist.sub
func.func @once(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
  %e = mnist.exp %x : tensor<4x10xf32>
  %s = mnist.reduce_sum %e over [1] : tensor<4x10xf32> -> tensor<4xf32>
  %l = mnist.log %s : tensor<4xf32>
  %b = mnist.broadcast %l along [0] : tensor<4xf32> -> tensor<4x10xf32>
  %y = mnist.sub %x, %b : tensor<4x10xf32>
  return %y : tensor<4x10xf32>
}

// -----

// Windows that overlap compute an element again and again.

// CHECK-LABEL: @windows
// CHECK:         plan.step "apart"
// CHECK:           mnist.sigmoid
// CHECK-NEXT:      mnist.max_pool
// CHECK:         plan.step "sigmoid"
// CHECK:         plan.step "overlapping"
func.func @windows(%x: tensor<1x1x9x9xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x7x7xf32>) {
  %s = mnist.sigmoid %x : tensor<1x1x9x9xf32>
  %a = mnist.max_pool nchw %s kernel [3, 3] strides [3, 3] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x1x9x9xf32> -> tensor<1x1x3x3xf32> loc("apart")
  %t = mnist.sigmoid %x : tensor<1x1x9x9xf32>
  %b = mnist.max_pool nchw %t kernel [3, 3] strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<1x1x9x9xf32> -> tensor<1x1x7x7xf32> loc("overlapping")
  return %a, %b : tensor<1x1x3x3xf32>, tensor<1x1x7x7xf32>
}

// -----

// A product reads from memory, but reshapes cost nothing: neither with fusion
// nor without.

// CHECK-LABEL: @operands
// CHECK:         %[[R:.*]] = plan.step "relu"
// CHECK:         plan.step "matmul" on undecided(%[[R]],
// CHECK:           mnist.reshape
// CHECK-NEXT:      mnist.matmul
// ALONE-LABEL: @operands
// ALONE:         plan.step "relu"
// ALONE-NOT:     plan.step "reshape"
// ALONE:         plan.step "matmul"
// ALONE:           mnist.reshape
// ALONE-NEXT:      mnist.matmul
func.func @operands(%x: tensor<4x2x4xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %r = mnist.relu %x : tensor<4x2x4xf32>
  %f = mnist.reshape %r : tensor<4x2x4xf32> -> tensor<4x8xf32>
  %y = mnist.matmul %f, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// The sum follows the later of two products, with the first as its residual.

// CHECK-LABEL: @two_roots
// CHECK:         %[[FIRST:.*]] = plan.step "matmul"
// CHECK:         plan.step "add" on undecided(%{{.*}}, %[[FIRST]])
// CHECK:           mnist.matmul
// CHECK-NEXT:      mnist.add
// NONE-LABEL: @two_roots
// NONE-COUNT-3:  plan.step
func.func @two_roots(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = mnist.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = mnist.matmul %w, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = mnist.add %a, %b : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A transposition changes the order and cannot follow a root.

// CHECK-LABEL: @order
// CHECK:         plan.step "matmul"
// CHECK:         plan.step "relu"
// CHECK:           mnist.transpose
// CHECK-NEXT:      mnist.relu
func.func @order(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = mnist.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = mnist.transpose %a perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %y = mnist.relu %t : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Every result has a separate step: arguments, constants and what is returned
// twice are copied.

// CHECK-LABEL: @results
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>)
// CHECK:         %[[Y:.*]] = plan.step "relu" on undecided(%[[X]])
// CHECK:         %[[COPY:.*]] = plan.step "copy" on undecided(%[[X]])
// CHECK:         %[[TWO:.*]] = plan.step {{.*}} on undecided()
// CHECK:           mnist.constant
// CHECK:         %[[AGAIN:.*]] = plan.step {{.*}} on undecided(%[[Y]])
// CHECK:         return %[[Y]], %[[COPY]], %[[TWO]], %[[AGAIN]]
func.func @results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {mnist.name = "copy"}, tensor<4xf32>, tensor<4xf32>) {
  %two = mnist.constant dense<2.0> : tensor<4xf32>
  %y = mnist.relu %x : tensor<4xf32>
  return %y, %x, %two, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A splat is copied into the body, unless it is read from memory.

// CHECK-LABEL: @splats
// CHECK:         %[[W:.*]] = mnist.constant dense<5.000000e-01> : tensor<4x4xf32>
// CHECK-NOT:     mnist.constant
// CHECK:         plan.step "mul" on undecided(%{{.*}}, %[[W]])
// CHECK:           mnist.constant dense<2.000000e+00>
func.func @splats(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = mnist.constant dense<0.5> : tensor<4x4xf32>
  %two = mnist.constant dense<2.0> : tensor<4x4xf32>
  %m = mnist.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = mnist.mul %m, %two : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// What numbers of a table are found by is computed once where random numbers
// are drawn: who reads them does not read the step's number, too.

// CHECK-LABEL: @numbers
// CHECK-SAME:    (%[[X:.*]]: tensor<4xf32>, %[[TABLE:.*]]: tensor<6xf32>, %[[STEP:.*]]: tensor<i64>)
// CHECK:         %[[PLACE:.*]] = plan.step {{.*}} on undecided(%[[STEP]])
// CHECK:           mnist.mul
// CHECK:         plan.step {{.*}} on undecided(%[[X]], %[[STEP]])
// CHECK:           mnist.random_uniform
// CHECK:         plan.step {{.*}} on undecided(%[[X]], %[[TABLE]], %[[PLACE]])
// CHECK:         plan.step {{.*}} on undecided(%[[X]], %[[TABLE]], %[[PLACE]])
func.func @numbers(%x: tensor<4xf32>, %table: tensor<6xf32>, %step: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = mnist.constant dense<1> : tensor<i64>
  %two = mnist.constant dense<2> : tensor<i64>
  %place = mnist.mul %step, %two : tensor<i64>
  %next = mnist.add %place, %one : tensor<i64>
  %i = mnist.reshape %place : tensor<i64> -> tensor<1xi64>
  %j = mnist.reshape %next : tensor<i64> -> tensor<1xi64>
  %a = mnist.gather %table, %i dim 0 : (tensor<6xf32>, tensor<1xi64>) -> tensor<1xf32>
  %b = mnist.gather %table, %j dim 0 : (tensor<6xf32>, tensor<1xi64>) -> tensor<1xf32>
  %c = mnist.reshape %a : tensor<1xf32> -> tensor<f32>
  %d = mnist.reshape %b : tensor<1xf32> -> tensor<f32>
  %u = mnist.random_uniform %step, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %e = mnist.broadcast %c along [] : tensor<f32> -> tensor<4xf32>
  %f = mnist.broadcast %d along [] : tensor<f32> -> tensor<4xf32>
  %r = mnist.mul %x, %u : tensor<4xf32>
  %s = mnist.mul %x, %e : tensor<4xf32>
  %t = mnist.mul %x, %f : tensor<4xf32>
  return %r, %s, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Nothing to do.

// CHECK-LABEL: @nothing
// CHECK-NOT:     plan.step
// CHECK:         return
func.func @nothing() {
  return
}
