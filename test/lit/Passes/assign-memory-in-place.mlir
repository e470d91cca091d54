// RUN: mnist-opt %s --plan-assign-memory=alignment=64 --plan-check-steps=alignment=64 \
// RUN:   | FileCheck %s

// What may be written over an operand that dies. Each function makes "a" first,
// which is at 64, then something of it.

// What follows a root reads the element that it writes.

// CHECK-LABEL: @epilogue
// CHECK:         "b" on kernel at [64]
func.func @epilogue(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.step "b" on kernel (%x, %a) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.add %0, %j : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// Not where the root reads it too, and not in a library.

// CHECK-LABEL: @prologue
// CHECK:         "b" on kernel at [0]
// CHECK:         "c" on cublas at [64]
// CHECK:         "d" on cublas at [128]
func.func @prologue(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.step "b" on kernel (%a) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    %1 = mnist.softmax %0 dim 1 : tensor<4x4xf32>
    %2 = mnist.add %1, %i : tensor<4x4xf32>
    plan.yield %2 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = plan.step "c" on cublas (%b) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = plan.step "d" on cublas (%b, %c) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.matmul %i, %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = mnist.add %0, %j : tensor<4x4xf32>
    plan.yield %1 : tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Each result of a map may take a place, but only of what no other segment
// reads, and among several only one of the same type.

// CHECK-LABEL: @results
// CHECK:         "a" on kernel at [64, 128, 192]
// CHECK:         "b" on kernel at [128, 64, 0, 256]
func.func @results(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<4x4xi32>) {
  %a:3 = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    %1 = mnist.exp %i : tensor<4x4xf32>
    plan.yield %0, %1, %i : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
  %b:4 = plan.step "b" on kernel (%a#1, %a#0, %a#2) {
  ^bb0(%i: tensor<4x4xf32>, %j: tensor<4x4xf32>, %k: tensor<4x4xf32>):
    %0 = mnist.add %i, %j : tensor<4x4xf32>
    %1 = mnist.sub %j, %i : tensor<4x4xf32>
    %2 = mnist.slice %k starts [0, 0] steps [4, 2] : tensor<4x4xf32> -> tensor<1x2xf32>
    %3 = mnist.reshape %2 : tensor<1x2xf32> -> tensor<2xf32>
    %4 = mnist.cast %k : tensor<4x4xf32> -> tensor<4x4xi32>
    plan.yield %0, %1, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<4x4xi32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<4x4xi32>)
  return %b#0, %b#1, %b#2, %b#3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<4x4xi32>
}

// A single result of another type as large.

// CHECK-LABEL: @type
// CHECK:         "b" on kernel at [64]
func.func @type(%x: tensor<4x4xf32>) -> tensor<4x4xi32> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.step "b" on kernel (%a) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.cast %i : tensor<4x4xf32> -> tensor<4x4xi32>
    plan.yield %0 : tensor<4x4xi32>
  } : (tensor<4x4xf32>) -> tensor<4x4xi32>
  return %b : tensor<4x4xi32>
}

// Not one that is larger, or smaller: a thread would write what another has yet
// to read. The larger one takes the place of "x" and what follows it.

// CHECK-LABEL: @larger
// CHECK:         "a" on kernel at [128]
// CHECK:         "b" on kernel at [0]
func.func @larger(%x: tensor<4x4xf32>) -> tensor<4x4xi64> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.step "b" on kernel (%a) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.cast %i : tensor<4x4xf32> -> tensor<4x4xi64>
    plan.yield %0 : tensor<4x4xi64>
  } : (tensor<4x4xf32>) -> tensor<4x4xi64>
  return %b : tensor<4x4xi64>
}

// CHECK-LABEL: @smaller
// CHECK:         "b" on kernel at [0]
func.func @smaller(%x: tensor<4x4xf32>) -> tensor<4x4xui8> {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = plan.step "b" on kernel (%a) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.cast %i : tensor<4x4xf32> -> tensor<4x4xui8>
    plan.yield %0 : tensor<4x4xui8>
  } : (tensor<4x4xf32>) -> tensor<4x4xui8>
  return %b : tensor<4x4xui8>
}

// A row step writes an element after it has read it, and one for each row after
// all of the row: not where it reads others too.

// CHECK-LABEL: @rows
// CHECK:         "b" on kernel at [64, {{[0-9]+}}]
// CHECK:         "c" on kernel at [128]
func.func @rows(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.neg %i : tensor<4x4xf32>
    plan.yield %0 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b:2 = plan.step "b" on kernel (%a) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.reduce_sum %i over [1] : tensor<4x4xf32> -> tensor<4xf32>
    %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x4xf32>
    %2 = mnist.sub %i, %1 : tensor<4x4xf32>
    plan.yield %2, %0 : tensor<4x4xf32>, tensor<4xf32>
  } : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %c = plan.step "c" on kernel (%b#0) {
  ^bb0(%i: tensor<4x4xf32>):
    %0 = mnist.reduce_sum %i over [1] : tensor<4x4xf32> -> tensor<4xf32>
    %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x4xf32>
    %2 = mnist.transpose %i perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %3 = mnist.sub %2, %1 : tensor<4x4xf32>
    plan.yield %3 : tensor<4x4xf32>
  } : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c, %b#1 : tensor<4x4xf32>, tensor<4xf32>
}

// What there is one of for each row is stored by one thread, which has read it
// if no other thread needs it, for elements of the row.

// CHECK-LABEL: @of_rows
// CHECK:         "b" on kernel at [128, 0]
// CHECK:         "c" on kernel at [64, 0]
func.func @of_rows(%x: tensor<4xf32>, %y: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %a = plan.step "a" on kernel (%x) {
  ^bb0(%i: tensor<4xf32>):
    %0 = mnist.neg %i : tensor<4xf32>
    plan.yield %0 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %b:2 = plan.step "b" on kernel (%a, %y) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.reduce_sum %j over [1] : tensor<4x4xf32> -> tensor<4xf32>
    %1 = mnist.broadcast %0 along [0] : tensor<4xf32> -> tensor<4x4xf32>
    %2 = mnist.sub %j, %1 : tensor<4x4xf32>
    %3 = mnist.add %i, %0 : tensor<4xf32>
    plan.yield %3, %2 : tensor<4xf32>, tensor<4x4xf32>
  } : (tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>)
  %c:2 = plan.step "c" on kernel (%b#0, %b#1) {
  ^bb0(%i: tensor<4xf32>, %j: tensor<4x4xf32>):
    %0 = mnist.reduce_sum %j over [1] : tensor<4x4xf32> -> tensor<4xf32>
    %1 = mnist.add %i, %0 : tensor<4xf32>
    %2 = mnist.broadcast %i along [0] : tensor<4xf32> -> tensor<4x4xf32>
    %3 = mnist.mul %j, %2 : tensor<4x4xf32>
    plan.yield %1, %3 : tensor<4xf32>, tensor<4x4xf32>
  } : (tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>)
  return %c#0, %c#1 : tensor<4xf32>, tensor<4x4xf32>
}
