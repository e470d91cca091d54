// RUN: mnist-opt %s --mnist-join-products | FileCheck %s
// RUN: mnist-opt %s --mnist-join-products=weights=128 | FileCheck %s
// RUN: mnist-opt %s --mnist-join-products=weights=127 | FileCheck %s --check-prefix=LARGE

// Queries, keys and values, each through its own reshape.
// LARGE-LABEL: @biases
// LARGE:         mnist.matmul {{.*}} -> tensor<6x12xf32>
// CHECK-LABEL: @biases
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x8xf32>, %[[Q:.*]]: tensor<8x8xf32>, %[[K:.*]]: tensor<4x8xf32>, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK:         %[[ROWS:.*]] = mnist.reshape %[[X]]
// CHECK:         %[[W:.*]] = mnist.concat %[[Q]], %[[K]] dim 0 {{.*}} -> tensor<12x8xf32>
// CHECK:         %[[Y:.*]] = mnist.matmul %[[ROWS]], %[[W]] transposed [false, true] {{.*}} -> tensor<6x12xf32>
// CHECK:         %[[C:.*]] = mnist.concat %[[A]], %[[B]] dim 0
// CHECK:         %[[REPEATED:.*]] = mnist.broadcast %[[C]] along [1]
// CHECK:         %[[Z:.*]] = mnist.add %[[Y]], %[[REPEATED]]
// CHECK:         %[[FIRST:.*]] = mnist.slice %[[Z]] starts [0, 0] steps [1, 1] : tensor<6x12xf32> -> tensor<6x8xf32>
// CHECK:         %[[P:.*]] = mnist.reshape %[[FIRST]] : tensor<6x8xf32> -> tensor<2x3x8xf32>
// CHECK:         %[[SECOND:.*]] = mnist.slice %[[Z]] starts [0, 8] steps [1, 1] : tensor<6x12xf32> -> tensor<6x4xf32>
// CHECK-NOT:     mnist.matmul
// CHECK:         return %[[P]], %[[SECOND]]
func.func @biases(%x: tensor<2x3x8xf32>, %q: tensor<8x8xf32>, %k: tensor<4x8xf32>, %a: tensor<8xf32>, %b: tensor<4xf32>) -> (tensor<2x3x8xf32>, tensor<6x4xf32>) {
  %0 = mnist.reshape %x : tensor<2x3x8xf32> -> tensor<6x8xf32>
  %1 = mnist.matmul %0, %q transposed [false, true] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %2 = mnist.reshape %1 : tensor<6x8xf32> -> tensor<2x3x8xf32>
  %3 = mnist.broadcast %a along [2] : tensor<8xf32> -> tensor<2x3x8xf32>
  %4 = mnist.add %3, %2 : tensor<2x3x8xf32>
  %5 = mnist.reshape %x : tensor<2x3x8xf32> -> tensor<6x8xf32>
  %6 = mnist.matmul %5, %k transposed [false, true] : (tensor<6x8xf32>, tensor<4x8xf32>) -> tensor<6x4xf32>
  %7 = mnist.broadcast %b along [1] : tensor<4xf32> -> tensor<6x4xf32>
  %8 = mnist.add %6, %7 : tensor<6x4xf32>
  return %4, %8 : tensor<2x3x8xf32>, tensor<6x4xf32>
}

// A constant that stands after the first product; not all have biases.
// CHECK-LABEL: @constant
// CHECK-DAG:     %[[C:.*]] = mnist.constant
// CHECK:         %[[W:.*]] = mnist.concat %arg1, %[[C]] dim 1 {{.*}} -> tensor<8x12xf32>
// CHECK:         %[[Y:.*]] = mnist.matmul %arg0, %[[W]] : {{.*}} -> tensor<6x12xf32>
// CHECK:         %[[P:.*]] = mnist.slice %[[Y]] starts [0, 0]
// CHECK:         %[[Q:.*]] = mnist.slice %[[Y]] starts [0, 8]
// CHECK:         %[[SUM:.*]] = mnist.add %[[P]], {{.*}} : tensor<6x8xf32>
// CHECK:         return %[[SUM]], %[[Q]]
func.func @constant(%x: tensor<6x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<6x8xf32>, tensor<6x4xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %1 = mnist.broadcast %b along [1] : tensor<8xf32> -> tensor<6x8xf32>
  %2 = mnist.add %0, %1 : tensor<6x8xf32>
  %3 = mnist.constant dense<2.000000e+00> : tensor<8x4xf32>
  %4 = mnist.matmul %x, %3 : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %2, %4 : tensor<6x8xf32>, tensor<6x4xf32>
}

// What is added to one is no bias: it is the same along rows, computed, or of
// every element; or another reads the product without it.
// LARGE-LABEL: @rows
// LARGE-COUNT-2: mnist.matmul {{.*}} -> tensor<8x8xf32>
// CHECK-LABEL: @rows
// CHECK:         %[[Y:.*]] = mnist.matmul {{.*}} -> tensor<8x16xf32>
// CHECK:         mnist.slice %[[Y]]
// CHECK:         mnist.slice %[[Y]]
func.func @rows(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.matmul %x, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = mnist.broadcast %a along [0] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = mnist.broadcast %b along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %4 = mnist.add %0, %2 : tensor<8x8xf32>
  %5 = mnist.add %1, %3 : tensor<8x8xf32>
  return %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @computed
// CHECK:         %[[Y:.*]] = mnist.matmul {{.*}} -> tensor<8x16xf32>
// CHECK:         mnist.slice %[[Y]]
// CHECK:         mnist.slice %[[Y]]
func.func @computed(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.matmul %x, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = mnist.relu %a : tensor<8xf32>
  %3 = mnist.broadcast %2 along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %4 = mnist.broadcast %b along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %5 = mnist.add %0, %3 : tensor<8x8xf32>
  %6 = mnist.add %1, %4 : tensor<8x8xf32>
  return %5, %6 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @elements
// CHECK:         %[[Y:.*]] = mnist.matmul {{.*}} -> tensor<8x16xf32>
// CHECK:         mnist.slice %[[Y]]
// CHECK:         mnist.slice %[[Y]]
func.func @elements(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.matmul %x, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = mnist.broadcast %b along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = mnist.add %0, %a : tensor<8x8xf32>
  %4 = mnist.add %1, %2 : tensor<8x8xf32>
  return %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @read_before
// CHECK:         %[[Y:.*]] = mnist.matmul {{.*}} -> tensor<8x16xf32>
// CHECK:         %[[P:.*]] = mnist.slice %[[Y]] starts [0, 0]
// CHECK:         mnist.relu %[[P]]
func.func @read_before(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = mnist.matmul %x, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = mnist.relu %0 : tensor<8x8xf32>
  %2 = mnist.broadcast %a along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %3 = mnist.broadcast %b along [1] : tensor<8xf32> -> tensor<8x8xf32>
  %4 = mnist.add %0, %2 : tensor<8x8xf32>
  %5 = mnist.add %1, %3 : tensor<8x8xf32>
  return %4, %5, %r : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Another matrix, other options, weights that are computed, columns that are no
// multiple of four.
// CHECK-LABEL: @apart
// CHECK-NOT:     mnist.concat
// CHECK-COUNT-5: mnist.matmul
func.func @apart(%x: tensor<6x8xf32>, %y: tensor<6x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %u: tensor<8x6xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x6xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %1 = mnist.matmul %y, %w : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %2 = mnist.matmul %x, %v transposed [false, true] : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %3 = mnist.relu %v : tensor<8x8xf32>
  %4 = mnist.matmul %x, %3 : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %5 = mnist.matmul %x, %u : (tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<6x6xf32>
  return %0, %1, %2, %4, %5 : tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x6xf32>
}
