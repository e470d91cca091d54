// RUN: mnist-opt %s --plan-form-steps=max-recompute=1.5 --split-input-file | FileCheck %s

// Parts of a tensor that are read element by element, here by two steps that a
// product is between, are read from it.

// CHECK-LABEL: @elements
// CHECK-SAME:    (%[[X:.*]]: tensor<4x8xf32>
// CHECK-NOT:     mnist.slice
// CHECK:         %[[A:.*]] = plan.step {{.*}}(%[[X]])
// CHECK:           mnist.slice
// CHECK:           mnist.relu
// CHECK:         %[[Y:.*]] = plan.step {{.*}}(%[[A]], {{.*}}, %[[X]])
// CHECK:           mnist.slice %{{.*}} starts [0, 4]
// CHECK:           mnist.matmul
// CHECK:           mnist.add
func.func @elements(%x: tensor<4x8xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %part = mnist.slice %x starts [0, 4] steps [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %a = mnist.relu %part : tensor<4x4xf32>
  %m = mnist.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = mnist.add %m, %part : tensor<4x4xf32>
  return %a, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// One that is read otherwise, here by sums, is stored once for all.

// CHECK-LABEL: @sums
// CHECK:         %[[PART:.*]] = plan.step {{.*}}(%{{.*}})
// CHECK:           mnist.slice
// CHECK:         plan.step {{.*}}(%[[PART]])
// CHECK:         plan.step {{.*}}(%[[PART]])
// CHECK-NOT:     mnist.slice
func.func @sums(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %part = mnist.slice %x starts [0, 4] steps [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %m = mnist.reduce_sum %part over [0] : tensor<4x4xf32> -> tensor<4xf32>
  %n = mnist.reduce_sum %part over [1] : tensor<4x4xf32> -> tensor<4xf32>
  return %m, %n : tensor<4xf32>, tensor<4xf32>
}

// -----

// A function is computed where its parts are put side by side: each element of
// a part once, however large the whole is.

// CHECK-LABEL: @beside
// CHECK:         plan.step
// CHECK:           mnist.sigmoid
// CHECK-NOT:     plan.step
// CHECK:           mnist.concat
// CHECK-NOT:     plan.step
func.func @beside(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x12xf32> {
  %s = mnist.sigmoid %x : tensor<4x4xf32>
  %a = mnist.mul %s, %y : tensor<4x4xf32>
  %c = mnist.concat %a, %y, %z dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x12xf32>
  return %c : tensor<4x12xf32>
}
