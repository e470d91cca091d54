// RUN: mnist-opt %s --mnist-join-terms=fewest=3 | FileCheck %s
// RUN: mnist-opt %s --mnist-join-terms="fewest=3 most=72" | FileCheck %s
// RUN: mnist-opt %s --mnist-join-terms="fewest=3 most=71" | FileCheck %s --check-prefix=LARGE
// RUN: mnist-opt %s --mnist-join-terms=fewest=4 | FileCheck %s --check-prefix=LARGE

// The gradient of weights that are used three times, with rows that are as many
// or not; another term stays.
// LARGE-LABEL: @gradients
// LARGE-COUNT-3: mnist.matmul
// LARGE:         return
// CHECK-LABEL: @gradients
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4xf32>, %[[A:.*]]: tensor<2x5xf32>, %[[Y:.*]]: tensor<3x4xf32>, %[[B:.*]]: tensor<3x5xf32>, %[[C:.*]]: tensor<4x5xf32>)
// CHECK:         %[[LEFT:.*]] = mnist.concat %[[Y]], %[[X]], %[[Y]] dim 0 {{.*}} -> tensor<8x4xf32>
// CHECK:         %[[RIGHT:.*]] = mnist.concat %[[B]], %[[A]], %[[B]] dim 0 {{.*}} -> tensor<8x5xf32>
// CHECK:         %[[SUM:.*]] = mnist.matmul %[[LEFT]], %[[RIGHT]] transposed [true, false] {{.*}} -> tensor<4x5xf32>
// CHECK:         %[[ALL:.*]] = mnist.add %[[C]], %[[SUM]]
// CHECK-NOT:     mnist.matmul
// CHECK:         return %[[ALL]]
func.func @gradients(%x: tensor<2x4xf32>, %a: tensor<2x5xf32>, %y: tensor<3x4xf32>, %b: tensor<3x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = mnist.matmul %x, %a transposed [true, false] : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %1 = mnist.matmul %y, %b transposed [true, false] : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  %2 = mnist.matmul %y, %b transposed [true, false] : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  %3 = mnist.add %0, %1 : tensor<4x5xf32>
  %4 = mnist.add %3, %c : tensor<4x5xf32>
  %5 = mnist.add %2, %4 : tensor<4x5xf32>
  return %5 : tensor<4x5xf32>
}

// Sums that others read are no terms, nor are products that are.
// CHECK-LABEL: @read
// CHECK-NOT:     mnist.concat
// CHECK:         return
func.func @read(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = mnist.matmul %x, %x transposed [true, false] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = mnist.matmul %x, %y transposed [true, false] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = mnist.matmul %y, %y transposed [true, false] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %3 = mnist.add %0, %1 : tensor<4x4xf32>
  %4 = mnist.add %3, %2 : tensor<4x4xf32>
  return %4, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @sum_read
// CHECK-NOT:     mnist.concat
// CHECK:         return
func.func @sum_read(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = mnist.matmul %x, %x transposed [true, false] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = mnist.matmul %x, %y transposed [true, false] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = mnist.matmul %y, %y transposed [true, false] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %3 = mnist.add %0, %1 : tensor<4x4xf32>
  %4 = mnist.add %3, %2 : tensor<4x4xf32>
  return %4, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Along the dimension that each sums over, whichever that is.
// CHECK-LABEL: @flags
// CHECK:         mnist.concat {{.*}} dim 1 {{.*}} -> tensor<4x6xf32>
// CHECK:         mnist.concat {{.*}} dim 1 {{.*}} -> tensor<4x6xf32>
// CHECK:         mnist.matmul {{.*}} transposed [false, true] {{.*}} -> tensor<4x4xf32>
func.func @flags(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>) -> tensor<4x4xf32> {
  %0 = mnist.matmul %x, %y transposed [false, true] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %1 = mnist.matmul %y, %y transposed [false, true] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %2 = mnist.matmul %y, %x transposed [false, true] : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %3 = mnist.add %0, %1 : tensor<4x4xf32>
  %4 = mnist.add %3, %2 : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
