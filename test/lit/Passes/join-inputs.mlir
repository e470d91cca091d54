// RUN: mnist-opt %s --mnist-join-inputs | FileCheck %s
// RUN: mnist-opt %s --mnist-join-inputs=inputs=40 | FileCheck %s
// RUN: mnist-opt %s --mnist-join-inputs=inputs=39 | FileCheck %s --check-prefix=LARGE
// RUN: mnist-opt %s --mnist-join-inputs=fewest=3 | FileCheck %s --check-prefix=LARGE

// The rows of both, with the bias that both have; the second input comes after
// the first product.
// LARGE-LABEL: @biases
// LARGE-COUNT-2: mnist.matmul
// CHECK-LABEL: @biases
// CHECK-SAME:    (%[[X:.*]]: tensor<2x8xf32>, %[[Y:.*]]: tensor<3x8xf32>, %[[W:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK:         %[[ACTIVE:.*]] = mnist.relu %[[Y]]
// CHECK:         %[[ROWS:.*]] = mnist.concat %[[X]], %[[ACTIVE]] dim 0 {{.*}} -> tensor<5x8xf32>
// CHECK:         %[[P:.*]] = mnist.matmul %[[ROWS]], %[[W]] transposed [false, true] {{.*}} -> tensor<5x4xf32>
// CHECK:         %[[REPEATED:.*]] = mnist.broadcast %[[B]] along [1] : tensor<4xf32> -> tensor<5x4xf32>
// CHECK:         %[[SUM:.*]] = mnist.add %[[P]], %[[REPEATED]]
// CHECK:         %[[FIRST:.*]] = mnist.slice %[[SUM]] starts [0, 0] steps [1, 1] : tensor<5x4xf32> -> tensor<2x4xf32>
// CHECK:         %[[SECOND:.*]] = mnist.slice %[[SUM]] starts [2, 0] steps [1, 1] : tensor<5x4xf32> -> tensor<3x4xf32>
// CHECK:         %[[NEXT:.*]] = mnist.relu %[[FIRST]]
// CHECK-NOT:     mnist.matmul
// CHECK:         return %[[NEXT]], %[[SECOND]]
func.func @biases(%x: tensor<2x8xf32>, %y: tensor<3x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<3x4xf32>) {
  %0 = mnist.matmul %x, %w transposed [false, true] : (tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2x4xf32>
  %1 = mnist.broadcast %b along [1] : tensor<4xf32> -> tensor<2x4xf32>
  %2 = mnist.add %0, %1 : tensor<2x4xf32>
  %3 = mnist.relu %2 : tensor<2x4xf32>
  %4 = mnist.relu %y : tensor<3x8xf32>
  %5 = mnist.matmul %4, %w transposed [false, true] : (tensor<3x8xf32>, tensor<4x8xf32>) -> tensor<3x4xf32>
  %6 = mnist.broadcast %b along [1] : tensor<4xf32> -> tensor<3x4xf32>
  %7 = mnist.add %6, %5 : tensor<3x4xf32>
  return %3, %7 : tensor<2x4xf32>, tensor<3x4xf32>
}

// Of a recurrence the products with inputs are one; those with states wait for
// each other.
// LARGE-LABEL: @recurrence
// LARGE-COUNT-2: mnist.matmul {{.*}} -> tensor<2x4xf32>
// CHECK-LABEL: @recurrence
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<8x4xf32>, %[[U:[a-z0-9]+]]: tensor<4x4xf32>)
// CHECK-DAG:     mnist.matmul %{{.*}}, %[[W]] : (tensor<4x8xf32>, {{.*}} -> tensor<4x4xf32>
// CHECK-DAG:     mnist.matmul %{{.*}}, %[[U]] : {{.*}} -> tensor<2x4xf32>
// CHECK:         mnist.tanh
// CHECK:         mnist.matmul %{{.*}}, %[[U]] : {{.*}} -> tensor<2x4xf32>
// CHECK-NOT:     mnist.matmul
// CHECK:         return
func.func @recurrence(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %h: tensor<2x4xf32>, %w: tensor<8x4xf32>, %u: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = mnist.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = mnist.matmul %h, %u : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %2 = mnist.add %0, %1 : tensor<2x4xf32>
  %3 = mnist.tanh %2 : tensor<2x4xf32>
  %4 = mnist.matmul %y, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %5 = mnist.matmul %3, %u : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %6 = mnist.add %4, %5 : tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}

// With different biases, or weights that are used otherwise, or are computed,
// each is its own.
// CHECK-LABEL: @others
// CHECK-COUNT-6: mnist.matmul
// CHECK:         return
func.func @others(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %w: tensor<8x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = mnist.matmul %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = mnist.broadcast %a along [1] : tensor<8xf32> -> tensor<2x8xf32>
  %2 = mnist.add %0, %1 : tensor<2x8xf32>
  %3 = mnist.matmul %y, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %4 = mnist.broadcast %b along [1] : tensor<8xf32> -> tensor<2x8xf32>
  %5 = mnist.add %3, %4 : tensor<2x8xf32>
  %6 = mnist.matmul %y, %w transposed [false, true] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %7 = mnist.matmul %w, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = mnist.matmul %x, %7 : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %9 = mnist.matmul %y, %7 : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %2, %5, %6, %8, %9 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}

// Two layers: what the second one reads comes from all of the first.
// CHECK-LABEL: @layers
// CHECK-COUNT-2: mnist.matmul {{.*}} -> tensor<4x8xf32>
// CHECK-NOT:     mnist.matmul
// CHECK:         return
func.func @layers(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<2x8xf32> {
  %0 = mnist.matmul %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = mnist.relu %0 : tensor<2x8xf32>
  %2 = mnist.matmul %1, %v : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %3 = mnist.matmul %y, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %4 = mnist.add %3, %1 : tensor<2x8xf32>
  %5 = mnist.matmul %4, %v : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %6 = mnist.add %2, %5 : tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
}

// Two layers in both orders: once the first is joined, one product of the second
// needs what the other one gives.
// CHECK-LABEL: @crossed
// CHECK:         mnist.matmul {{.*}}, %arg2 : {{.*}} -> tensor<2x8xf32>
// CHECK:         mnist.matmul {{.*}}, %arg3 : {{.*}} -> tensor<4x8xf32>
// CHECK:         mnist.matmul {{.*}}, %arg2 : {{.*}} -> tensor<2x8xf32>
// CHECK-NOT:     mnist.matmul
// CHECK:         return
func.func @crossed(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = mnist.matmul %y, %v : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %1 = mnist.matmul %x, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %2 = mnist.matmul %0, %w : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %3 = mnist.matmul %1, %v : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  return %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>
}
