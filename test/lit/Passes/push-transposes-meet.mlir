// RUN: mnist-opt %s --mnist-push-transposes | FileCheck %s

// Transposes go past products, sums with a bias, reshapes and slices to where
// others follow, as around the projections of attention.

// Batches first, then tokens first, then three parts: the parts are transposed
// alone, from where the product left them.
// CHECK-LABEL: func @parts
// CHECK-SAME:  %[[X:.*]]: tensor<8x5x6xf32>, %[[W:.*]]: tensor<6x12xf32>, %[[B:.*]]: tensor<12xf32>
// CHECK-NOT:   mnist.transpose
// CHECK:       %[[FLAT:.*]] = mnist.reshape %[[X]] : tensor<8x5x6xf32> -> tensor<40x6xf32>
// CHECK:       %[[Y:.*]] = mnist.matmul %[[FLAT]], %[[W]]
// CHECK:       %[[BIAS:.*]] = mnist.broadcast %[[B]] along [2] : tensor<12xf32> -> tensor<8x5x12xf32>
// CHECK:       mnist.add {{.*}} : tensor<8x5x12xf32>
// CHECK:       mnist.slice {{.*}} -> tensor<8x5x1x4xf32>
// CHECK:       mnist.transpose {{.*}} perm [0, 2, 1, 3] : tensor<8x5x2x2xf32> -> tensor<8x2x5x2xf32>
// CHECK:       mnist.slice {{.*}} -> tensor<8x5x1x4xf32>
// CHECK:       mnist.transpose {{.*}} perm [0, 2, 1, 3] : tensor<8x5x2x2xf32> -> tensor<8x2x5x2xf32>
// CHECK-NOT:   mnist.transpose
// CHECK:       return
func.func @parts(%x: tensor<8x5x6xf32>, %w: tensor<6x12xf32>, %b: tensor<12xf32>)
    -> (tensor<16x5x2xf32>, tensor<16x5x2xf32>) {
  %turned = mnist.transpose %x perm [1, 0, 2] : tensor<8x5x6xf32> -> tensor<5x8x6xf32>
  %flat = mnist.reshape %turned : tensor<5x8x6xf32> -> tensor<40x6xf32>
  %product = mnist.matmul %flat, %w : (tensor<40x6xf32>, tensor<6x12xf32>) -> tensor<40x12xf32>
  %rows = mnist.reshape %product : tensor<40x12xf32> -> tensor<5x8x12xf32>
  %bias = mnist.broadcast %b along [2] : tensor<12xf32> -> tensor<5x8x12xf32>
  %sum = mnist.add %bias, %rows : tensor<5x8x12xf32>
  %split = mnist.reshape %sum : tensor<5x8x12xf32> -> tensor<1x5x8x3x4xf32>
  %first = mnist.transpose %split perm [3, 1, 2, 0, 4] : tensor<1x5x8x3x4xf32> -> tensor<3x5x8x1x4xf32>
  %parts = mnist.reshape %first : tensor<3x5x8x1x4xf32> -> tensor<3x5x8x4xf32>
  %q = mnist.slice %parts starts [0, 0, 0, 0] steps [1, 1, 1, 1] : tensor<3x5x8x4xf32> -> tensor<1x5x8x4xf32>
  %qheads = mnist.reshape %q : tensor<1x5x8x4xf32> -> tensor<5x16x2xf32>
  %0 = mnist.transpose %qheads perm [1, 0, 2] : tensor<5x16x2xf32> -> tensor<16x5x2xf32>
  %v = mnist.slice %parts starts [2, 0, 0, 0] steps [1, 1, 1, 1] : tensor<3x5x8x4xf32> -> tensor<1x5x8x4xf32>
  %vheads = mnist.reshape %v : tensor<1x5x8x4xf32> -> tensor<5x16x2xf32>
  %1 = mnist.transpose %vheads perm [1, 0, 2] : tensor<5x16x2xf32> -> tensor<16x5x2xf32>
  return %0, %1 : tensor<16x5x2xf32>, tensor<16x5x2xf32>
}

// Heads side by side, tokens first, and batches first again after the product.
// CHECK-LABEL: func @joined
// CHECK-SAME:  %[[X:.*]]: tensor<8x2x5x3xf32>
// CHECK:       %[[HEADS:.*]] = mnist.transpose %[[X]] perm [0, 2, 1, 3] : tensor<8x2x5x3xf32> -> tensor<8x5x2x3xf32>
// CHECK:       mnist.reshape %[[HEADS]] : tensor<8x5x2x3xf32> -> tensor<40x6xf32>
// CHECK:       mnist.matmul
// CHECK-NOT:   mnist.transpose
// CHECK:       return {{.*}} : tensor<8x5x6xf32>
func.func @joined(%x: tensor<8x2x5x3xf32>, %w: tensor<6x6xf32>, %b: tensor<6xf32>)
    -> tensor<8x5x6xf32> {
  %turned = mnist.transpose %x perm [2, 0, 1, 3] : tensor<8x2x5x3xf32> -> tensor<5x8x2x3xf32>
  %flat = mnist.reshape %turned : tensor<5x8x2x3xf32> -> tensor<40x6xf32>
  %product = mnist.matmul %flat, %w transposed [false, true] : (tensor<40x6xf32>, tensor<6x6xf32>) -> tensor<40x6xf32>
  %bias = mnist.broadcast %b along [1] : tensor<6xf32> -> tensor<40x6xf32>
  %sum = mnist.add %bias, %product : tensor<40x6xf32>
  %rows = mnist.reshape %sum : tensor<40x6xf32> -> tensor<5x8x6xf32>
  %0 = mnist.transpose %rows perm [1, 0, 2] : tensor<5x8x6xf32> -> tensor<8x5x6xf32>
  return %0 : tensor<8x5x6xf32>
}

// What a slice reverses stays reversed.
// CHECK-LABEL: func @reversed
// CHECK:       mnist.slice %{{.*}} starts [0, 0, 4, 0] steps [1, 1, -1, 1] : tensor<2x4x5x6xf32> -> tensor<2x4x5x6xf32>
// CHECK-NOT:   mnist.transpose
// CHECK:       return
func.func @reversed(%x: tensor<8x5x6xf32>) -> tensor<8x30xf32> {
  %turned = mnist.transpose %x perm [1, 0, 2] : tensor<8x5x6xf32> -> tensor<5x8x6xf32>
  %split = mnist.reshape %turned : tensor<5x8x6xf32> -> tensor<5x2x4x6xf32>
  %back = mnist.slice %split starts [4, 0, 0, 0] steps [-1, 1, 1, 1] : tensor<5x2x4x6xf32> -> tensor<5x2x4x6xf32>
  %joined = mnist.reshape %back : tensor<5x2x4x6xf32> -> tensor<5x8x6xf32>
  %again = mnist.transpose %joined perm [1, 0, 2] : tensor<5x8x6xf32> -> tensor<8x5x6xf32>
  %0 = mnist.reshape %again : tensor<8x5x6xf32> -> tensor<8x30xf32>
  return %0 : tensor<8x30xf32>
}

// A bias of each row, or who reads rows in this order, keeps them.
// CHECK-LABEL: func @stays
// CHECK:       mnist.transpose {{.*}} perm [1, 0, 2] : tensor<8x5x6xf32>
// CHECK:       mnist.matmul
// CHECK:       mnist.transpose {{.*}} perm [1, 0, 2] : tensor<5x8x6xf32>
func.func @stays(%x: tensor<8x5x6xf32>, %w: tensor<6x6xf32>)
    -> (tensor<8x5x6xf32>, tensor<40x6xf32>) {
  %turned = mnist.transpose %x perm [1, 0, 2] : tensor<8x5x6xf32> -> tensor<5x8x6xf32>
  %flat = mnist.reshape %turned : tensor<5x8x6xf32> -> tensor<40x6xf32>
  %product = mnist.matmul %flat, %w : (tensor<40x6xf32>, tensor<6x6xf32>) -> tensor<40x6xf32>
  %rows = mnist.reshape %product : tensor<40x6xf32> -> tensor<5x8x6xf32>
  %0 = mnist.transpose %rows perm [1, 0, 2] : tensor<5x8x6xf32> -> tensor<8x5x6xf32>
  return %0, %product : tensor<8x5x6xf32>, tensor<40x6xf32>
}

// CHECK-LABEL: func @biasOfRows
// CHECK-COUNT-2: mnist.transpose
func.func @biasOfRows(%x: tensor<8x5x6xf32>, %w: tensor<6x6xf32>, %b: tensor<40xf32>)
    -> tensor<8x5x6xf32> {
  %turned = mnist.transpose %x perm [1, 0, 2] : tensor<8x5x6xf32> -> tensor<5x8x6xf32>
  %flat = mnist.reshape %turned : tensor<5x8x6xf32> -> tensor<40x6xf32>
  %product = mnist.matmul %flat, %w : (tensor<40x6xf32>, tensor<6x6xf32>) -> tensor<40x6xf32>
  %bias = mnist.broadcast %b along [0] : tensor<40xf32> -> tensor<40x6xf32>
  %sum = mnist.add %bias, %product : tensor<40x6xf32>
  %rows = mnist.reshape %sum : tensor<40x6xf32> -> tensor<5x8x6xf32>
  %0 = mnist.transpose %rows perm [1, 0, 2] : tensor<5x8x6xf32> -> tensor<8x5x6xf32>
  return %0 : tensor<8x5x6xf32>
}

// Columns of a product, times a number, that become rows are computed as rows.
// CHECK-LABEL: func @columns
// CHECK-SAME:  %[[A:.*]]: tensor<6x4x5xf32>, %[[B:.*]]: tensor<6x4x7xf32>
// CHECK:       mnist.matmul %[[B]], %[[A]] transposed [true, false] : (tensor<6x4x7xf32>, tensor<6x4x5xf32>) -> tensor<6x7x5xf32>
// CHECK:       mnist.mul {{.*}} : tensor<2x3x7x5xf32>
// CHECK:       mnist.transpose {{.*}} perm [0, 2, 1, 3] : tensor<2x3x7x5xf32> -> tensor<2x7x3x5xf32>
func.func @columns(%a: tensor<6x4x5xf32>, %b: tensor<6x4x7xf32>, %n: tensor<f32>)
    -> tensor<2x7x3x5xf32> {
  %product = mnist.matmul %a, %b transposed [true, false] : (tensor<6x4x5xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %heads = mnist.reshape %product : tensor<6x5x7xf32> -> tensor<2x3x5x7xf32>
  %number = mnist.broadcast %n along [] : tensor<f32> -> tensor<2x3x5x7xf32>
  %scaled = mnist.mul %heads, %number : tensor<2x3x5x7xf32>
  %0 = mnist.transpose %scaled perm [0, 3, 1, 2] : tensor<2x3x5x7xf32> -> tensor<2x7x3x5xf32>
  return %0 : tensor<2x7x3x5xf32>
}

// So is what a product reads times a number.
// CHECK-LABEL: func @keys
// CHECK:       mnist.transpose %{{.*}} perm [0, 2, 1, 3] : tensor<2x7x3x5xf32> -> tensor<2x3x7x5xf32>
// CHECK:       mnist.mul {{.*}} : tensor<2x3x7x5xf32>
// CHECK:       mnist.matmul {{.*}} transposed [false, true] : (tensor<6x4x5xf32>, tensor<6x7x5xf32>)
func.func @keys(%q: tensor<6x4x5xf32>, %k: tensor<2x7x3x5xf32>) -> tensor<6x4x7xf32> {
  %turned = mnist.transpose %k perm [0, 2, 3, 1] : tensor<2x7x3x5xf32> -> tensor<2x3x5x7xf32>
  %number = mnist.constant dense<0.5> : tensor<2x3x5x7xf32>
  %scaled = mnist.mul %turned, %number : tensor<2x3x5x7xf32>
  %heads = mnist.reshape %scaled : tensor<2x3x5x7xf32> -> tensor<6x5x7xf32>
  %0 = mnist.matmul %q, %heads : (tensor<6x4x5xf32>, tensor<6x5x7xf32>) -> tensor<6x4x7xf32>
  return %0 : tensor<6x4x7xf32>
}
