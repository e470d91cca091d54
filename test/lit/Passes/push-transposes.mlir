// RUN: mnist-opt %s --mnist-push-transposes --canonicalize | FileCheck %s

// CHECK-LABEL: @through_elementwise
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4x5xf32>)
// CHECK:         %[[B:.*]] = mnist.broadcast %{{.*}} along [1] : tensor<3xf32> -> tensor<2x3x4x5xf32>
// CHECK-NEXT:    %[[Z:.*]] = mnist.add %[[X]], %[[B]]
// CHECK-NEXT:    %[[Y:.*]] = mnist.relu %[[Z]]
// CHECK-NEXT:    return %[[Y]]
func.func @through_elementwise(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %bias = mnist.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = mnist.transpose %x perm [0, 2, 3, 1] : tensor<2x3x4x5xf32> -> tensor<2x4x5x3xf32>
  %b = mnist.broadcast %bias along [3] : tensor<3xf32> -> tensor<2x4x5x3xf32>
  %a = mnist.add %t, %b : tensor<2x4x5x3xf32>
  %r = mnist.relu %a : tensor<2x4x5x3xf32>
  %y = mnist.transpose %r perm [0, 3, 1, 2] : tensor<2x4x5x3xf32> -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// A residual: both branches are turned, or none.

// CHECK-LABEL: @residual
// CHECK-NOT:     mnist.transpose
// CHECK:         return
func.func @residual(%x: tensor<2x4x4x3xf32>, %w: tensor<3x1x1x3xf32>) -> tensor<2x4x4x3xf32> {
  %a = mnist.transpose %x perm [0, 3, 1, 2] : tensor<2x4x4x3xf32> -> tensor<2x3x4x4xf32>
  %r = mnist.relu %a : tensor<2x3x4x4xf32>
  %b = mnist.transpose %r perm [0, 2, 3, 1] : tensor<2x3x4x4xf32> -> tensor<2x4x4x3xf32>
  %c = mnist.conv nhwc %b, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x4x4x3xf32>, tensor<3x1x1x3xf32>) -> tensor<2x4x4x3xf32>
  %d = mnist.transpose %c perm [0, 3, 1, 2] : tensor<2x4x4x3xf32> -> tensor<2x3x4x4xf32>
  %s = mnist.add %r, %d : tensor<2x3x4x4xf32>
  %y = mnist.transpose %s perm [0, 2, 3, 1] : tensor<2x3x4x4xf32> -> tensor<2x4x4x3xf32>
  return %y : tensor<2x4x4x3xf32>
}

// Ops that speak of dimensions speak of other ones then.

// CHECK-LABEL: @other_dimensions
// CHECK:         mnist.concat %{{.*}} dim 0
// CHECK:         mnist.pad constant %{{.*}} low [2, 1]
// CHECK:         mnist.slice %{{.*}} starts [1, 0] steps [2, 1]
// CHECK:         mnist.softmax %{{.*}} dim 0
// CHECK-NOT:     mnist.transpose
func.func @other_dimensions(%x: tensor<2x3xf32>) -> tensor<3x4xf32> {
  %t = mnist.transpose %x perm [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %c = mnist.concat %t, %t dim 1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %p = mnist.pad constant %c low [1, 2] value 0.0 : tensor<3x4xf32> -> tensor<4x8xf32>
  %s = mnist.slice %p starts [0, 1] steps [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>
  %m = mnist.softmax %s dim 1 : tensor<4x3xf32>
  %y = mnist.transpose %m perm [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// An image flattened as nchw but computed as nhwc: the rows of the weights
// change places, those of channel 0 being 0, 1, those of channel 1 being 2, 3.

// CHECK-LABEL: @flattened
// CHECK-SAME:    (%[[X:.*]]: tensor<5x1x2x2xf32>)
// CHECK-DAG:     %[[W:.*]] = mnist.constant dense<{{\[}}[0.000000e+00], [2.000000e+00], [1.000000e+00], [3.000000e+00]]>
// CHECK-DAG:     %[[FLAT:.*]] = mnist.reshape %[[X]] : tensor<5x1x2x2xf32> -> tensor<5x4xf32>
// CHECK:         mnist.matmul %[[FLAT]], %[[W]]
func.func @flattened(%x: tensor<5x1x2x2xf32>) -> tensor<5x1xf32> {
  %w = mnist.constant dense<[[0.0], [1.0], [2.0], [3.0]]> : tensor<4x1xf32>
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<5x1x2x2xf32> -> tensor<5x2x1x2xf32>
  %f = mnist.reshape %t : tensor<5x2x1x2xf32> -> tensor<5x4xf32>
  %y = mnist.matmul %f, %w : (tensor<5x4xf32>, tensor<4x1xf32>) -> tensor<5x1xf32>
  return %y : tensor<5x1xf32>
}

// An order that is not its own inverse.

// CHECK-LABEL: @flattened_image
// CHECK:         mnist.constant dense<{{\[}}[0.000000e+00], [6.000000e+00], [1.000000e+00], [7.000000e+00], [2.000000e+00], [8.000000e+00], [3.000000e+00], [9.000000e+00], [4.000000e+00], [1.000000e+01], [5.000000e+00], [1.100000e+01]]>
// CHECK-NOT:     mnist.transpose
func.func @flattened_image(%x: tensor<5x2x3x2xf32>) -> tensor<5x1xf32> {
  %w = mnist.constant dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0], [11.0]]> : tensor<12x1xf32>
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<5x2x3x2xf32> -> tensor<5x2x2x3xf32>
  %f = mnist.reshape %t : tensor<5x2x2x3xf32> -> tensor<5x12xf32>
  %y = mnist.matmul %f, %w : (tensor<5x12xf32>, tensor<12x1xf32>) -> tensor<5x1xf32>
  return %y : tensor<5x1xf32>
}

// The same with the weights transposed, and ops between.

// CHECK-LABEL: @flattened_then_relu
// CHECK-DAG:     %[[W:.*]] = mnist.constant dense<{{\[}}[0.000000e+00, 2.000000e+00, 1.000000e+00, 3.000000e+00]]>
// CHECK-NOT:     mnist.transpose
// CHECK:         mnist.matmul %{{.*}}, %[[W]] transposed [false, true]
func.func @flattened_then_relu(%x: tensor<5x1x2x2xf32>) -> tensor<5x1xf32> {
  %w = mnist.constant dense<[[0.0, 1.0, 2.0, 3.0]]> : tensor<1x4xf32>
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<5x1x2x2xf32> -> tensor<5x2x1x2xf32>
  %e = mnist.exp %t : tensor<5x2x1x2xf32>
  %f = mnist.reshape %e : tensor<5x2x1x2xf32> -> tensor<5x4xf32>
  %r = mnist.relu %f : tensor<5x4xf32>
  %y = mnist.matmul %r, %w transposed [false, true] : (tensor<5x4xf32>, tensor<1x4xf32>) -> tensor<5x1xf32>
  return %y : tensor<5x1xf32>
}

// CHECK-LABEL: @into_flags
// CHECK-SAME:    (%[[A:.*]]: tensor<7x2x3xf32>, %[[B:.*]]: tensor<7x4x2xf32>)
// CHECK-NEXT:    %[[Y:.*]] = mnist.matmul %[[B]], %[[A]] : (tensor<7x4x2xf32>, tensor<7x2x3xf32>)
// CHECK-NEXT:    return %[[Y]]
func.func @into_flags(%a: tensor<7x2x3xf32>, %b: tensor<7x4x2xf32>) -> tensor<7x4x3xf32> {
  %at = mnist.transpose %a perm [0, 2, 1] : tensor<7x2x3xf32> -> tensor<7x3x2xf32>
  %bt = mnist.transpose %b perm [0, 2, 1] : tensor<7x4x2xf32> -> tensor<7x2x4xf32>
  %c = mnist.matmul %at, %bt : (tensor<7x3x2xf32>, tensor<7x2x4xf32>) -> tensor<7x3x4xf32>
  %y = mnist.transpose %c perm [0, 2, 1] : tensor<7x3x4xf32> -> tensor<7x4x3xf32>
  return %y : tensor<7x4x3xf32>
}

// CHECK-LABEL: @behind_reductions
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4x5x3xf32>)
// CHECK-DAG:     %[[SUM:.*]] = mnist.reduce_sum %[[X]] over [1, 2] : tensor<2x4x5x3xf32> -> tensor<2x3xf32>
// CHECK-DAG:     %[[ARG:.*]] = mnist.arg_max %[[X]] over 3 : tensor<2x4x5x3xf32> -> tensor<2x4x5xi64>
// CHECK:         return %[[SUM]], %[[ARG]]
func.func @behind_reductions(%x: tensor<2x4x5x3xf32>) -> (tensor<2x3xf32>, tensor<2x4x5xi64>) {
  %t = mnist.transpose %x perm [0, 3, 1, 2] : tensor<2x4x5x3xf32> -> tensor<2x3x4x5xf32>
  %sum = mnist.reduce_sum %t over [2, 3] : tensor<2x3x4x5xf32> -> tensor<2x3xf32>
  %arg = mnist.arg_max %t over 1 : tensor<2x3x4x5xf32> -> tensor<2x4x5xi64>
  return %sum, %arg : tensor<2x3xf32>, tensor<2x4x5xi64>
}

// CHECK-LABEL: @sources
// CHECK-DAG:     mnist.constant dense<{{\[}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]>
// CHECK-DAG:     mnist.iota dim 0 : tensor<3x2xi64>
// CHECK-DAG:     mnist.broadcast %{{.*}} along [0] : tensor<3xf32> -> tensor<3x2xf32>
// CHECK-NOT:     mnist.transpose
func.func @sources(%x: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<3x2xi64>, tensor<3x2xf32>) {
  %c = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %i = mnist.iota dim 1 : tensor<2x3xi64>
  %b = mnist.broadcast %x along [1] : tensor<3xf32> -> tensor<2x3xf32>
  %ct = mnist.transpose %c perm [1, 0] : tensor<2x2xf32> -> tensor<2x2xf32>
  %it = mnist.transpose %i perm [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
  %bt = mnist.transpose %b perm [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return %ct, %it, %bt : tensor<2x2xf32>, tensor<3x2xi64>, tensor<3x2xf32>
}

// Turning the sum would turn the other operand too.

// CHECK-LABEL: @would_not_pay
// CHECK-NEXT:    %[[T:.*]] = mnist.transpose
// CHECK-NEXT:    %[[Y:.*]] = mnist.add %[[T]], %{{.*}}
// CHECK-NEXT:    return %[[Y]]
func.func @would_not_pay(%x: tensor<2x3xf32>, %z: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = mnist.transpose %x perm [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %y = mnist.add %t, %z : tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// The heads of an attention: a reshape that joins batches keeps the matrices,
// and their transposes are but flags, of what is scaled, too.

// CHECK-LABEL: @matrices_of_heads
// CHECK-NOT:     mnist.transpose
// CHECK:         mnist.matmul %{{.*}}, %{{.*}} transposed [false, true] : (tensor<6x5x4xf32>, tensor<6x7x4xf32>) -> tensor<6x5x7xf32>
// CHECK:         mnist.matmul %{{.*}}, %{{.*}} : (tensor<6x7x5xf32>, tensor<6x5x4xf32>) -> tensor<6x7x4xf32>
// CHECK-NOT:     mnist.transpose
// CHECK:         return
func.func @matrices_of_heads(%q: tensor<2x3x5x4xf32>, %k: tensor<2x3x7x4xf32>, %s: tensor<6x7x5xf32>) -> (tensor<6x5x7xf32>, tensor<2x3x7x4xf32>) {
  %c = mnist.constant dense<0.5> : tensor<2x3x4x7xf32>
  %kt = mnist.transpose %k perm [0, 1, 3, 2] : tensor<2x3x7x4xf32> -> tensor<2x3x4x7xf32>
  %scaled = mnist.mul %kt, %c : tensor<2x3x4x7xf32>
  %a = mnist.reshape %q : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  %b = mnist.reshape %scaled : tensor<2x3x4x7xf32> -> tensor<6x4x7xf32>
  %y = mnist.matmul %a, %b : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  // The gradient of k: transposed after the product.
  %g = mnist.matmul %a, %s transposed [true, true] : (tensor<6x5x4xf32>, tensor<6x7x5xf32>) -> tensor<6x4x7xf32>
  %heads = mnist.reshape %g : tensor<6x4x7xf32> -> tensor<2x3x4x7xf32>
  %z = mnist.transpose %heads perm [0, 1, 3, 2] : tensor<2x3x4x7xf32> -> tensor<2x3x7x4xf32>
  return %y, %z : tensor<6x5x7xf32>, tensor<2x3x7x4xf32>
}

// What is read as it is by something else is moved all the same.

// CHECK-LABEL: @matrices_of_others
// CHECK-COUNT-2: mnist.transpose
func.func @matrices_of_others(%k: tensor<2x3x7x4xf32>, %q: tensor<6x5x7xf32>) -> (tensor<2x3x4x7xf32>, tensor<6x5x4xf32>, tensor<6x28xf32>, tensor<6x7x5xf32>) {
  %kt = mnist.transpose %k perm [0, 1, 3, 2] : tensor<2x3x7x4xf32> -> tensor<2x3x4x7xf32>
  %n = mnist.neg %kt : tensor<2x3x4x7xf32>
  %b = mnist.reshape %n : tensor<2x3x4x7xf32> -> tensor<6x4x7xf32>
  %y = mnist.matmul %q, %b transposed [false, true] : (tensor<6x5x7xf32>, tensor<6x4x7xf32>) -> tensor<6x5x4xf32>
  %flat = mnist.reshape %n : tensor<2x3x4x7xf32> -> tensor<6x28xf32>
  %z = mnist.transpose %q perm [0, 2, 1] : tensor<6x5x7xf32> -> tensor<6x7x5xf32>
  return %n, %y, %flat, %z : tensor<2x3x4x7xf32>, tensor<6x5x4xf32>, tensor<6x28xf32>, tensor<6x7x5xf32>
}

// Matrices that are read as they are, too, are moved before: nothing is gained
// by moving them after.

// CHECK-LABEL: @matrices_of_both
// CHECK-SAME:    (%[[K:[a-z0-9]*]]: tensor<2x3x7x4xf32>
// CHECK:         %[[T:.*]] = mnist.transpose %[[K]] perm [0, 1, 3, 2]
// CHECK-NEXT:    mnist.neg %[[T]]
// CHECK-NOT:     mnist.transpose
// CHECK:         return
func.func @matrices_of_both(%k: tensor<2x3x7x4xf32>, %q: tensor<6x5x4xf32>) -> (tensor<6x5x7xf32>, tensor<6x4x7xf32>) {
  %kt = mnist.transpose %k perm [0, 1, 3, 2] : tensor<2x3x7x4xf32> -> tensor<2x3x4x7xf32>
  %n = mnist.neg %kt : tensor<2x3x4x7xf32>
  %b = mnist.reshape %n : tensor<2x3x4x7xf32> -> tensor<6x4x7xf32>
  %y = mnist.matmul %q, %b : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %z = mnist.exp %b : tensor<6x4x7xf32>
  return %y, %z : tensor<6x5x7xf32>, tensor<6x4x7xf32>
}

// Heads and matrices transposed at once: the matrices are but a flag, and the
// elements of a key stay adjacent. Not where that would be a second transpose,
// or where elements would be no more adjacent than before.

// CHECK-LABEL: @heads_and_matrices
// CHECK:         %[[T:.*]] = mnist.transpose %arg1 perm [0, 2, 1, 3] : tensor<2x7x3x4xf32> -> tensor<2x3x7x4xf32>
// CHECK:         %[[K:.*]] = mnist.reshape %[[T]] : tensor<2x3x7x4xf32> -> tensor<6x7x4xf32>
// CHECK:         mnist.matmul %arg0, %[[K]] transposed [false, true] : (tensor<6x5x4xf32>, tensor<6x7x4xf32>)
// CHECK-LABEL: @of_several
// CHECK:         mnist.transpose {{.*}} perm [0, 2, 3, 1]
// CHECK-NOT:     mnist.transpose
// CHECK:         return
// CHECK-LABEL: @not_adjacent
// CHECK:         mnist.transpose {{.*}} perm [2, 0, 1]
// CHECK:         mnist.matmul %{{.*}}, %{{.*}} : (
// CHECK:         return
func.func @heads_and_matrices(%q: tensor<6x5x4xf32>, %k: tensor<2x7x3x4xf32>) -> tensor<6x5x7xf32> {
  %t = mnist.transpose %k perm [0, 2, 3, 1] : tensor<2x7x3x4xf32> -> tensor<2x3x4x7xf32>
  %r = mnist.reshape %t : tensor<2x3x4x7xf32> -> tensor<6x4x7xf32>
  %y = mnist.matmul %q, %r : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  return %y : tensor<6x5x7xf32>
}
func.func @of_several(%q: tensor<6x5x4xf32>, %k: tensor<2x7x3x4xf32>) -> (tensor<6x5x7xf32>, tensor<6x4x7xf32>) {
  %t = mnist.transpose %k perm [0, 2, 3, 1] : tensor<2x7x3x4xf32> -> tensor<2x3x4x7xf32>
  %r = mnist.reshape %t : tensor<2x3x4x7xf32> -> tensor<6x4x7xf32>
  %y = mnist.matmul %q, %r : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %z = mnist.relu %r : tensor<6x4x7xf32>
  return %y, %z : tensor<6x5x7xf32>, tensor<6x4x7xf32>
}
func.func @not_adjacent(%q: tensor<6x5x4xf32>, %k: tensor<4x7x6xf32>) -> tensor<6x5x7xf32> {
  %t = mnist.transpose %k perm [2, 0, 1] : tensor<4x7x6xf32> -> tensor<6x4x7xf32>
  %y = mnist.matmul %q, %t : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  return %y : tensor<6x5x7xf32>
}

// An image of one channel has both layouts: the gradient of a filter takes that
// of the other image. With more channels it would be transposed.
// CHECK-LABEL: @filter_gradient
// CHECK-NOT:     mnist.transpose
// CHECK:         mnist.conv_filter_grad nhwc
// CHECK-NOT:     mnist.transpose
// CHECK:         return
// CHECK-LABEL: @filter_gradient_of_channels
// CHECK:         mnist.transpose
// CHECK:         mnist.conv_filter_grad nchw
// CHECK:         return
func.func @filter_gradient(%x: tensor<2x1x6x6xf32>, %dy: tensor<2x6x6x8xf32>) -> tensor<8x1x3x3xf32> {
  %t = mnist.transpose %dy perm [0, 3, 1, 2] : tensor<2x6x6x8xf32> -> tensor<2x8x6x6xf32>
  %w = mnist.conv_filter_grad nchw %x, %t strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x1x6x6xf32>, tensor<2x8x6x6xf32>) -> tensor<8x1x3x3xf32>
  return %w : tensor<8x1x3x3xf32>
}
func.func @filter_gradient_of_channels(%x: tensor<2x3x6x6xf32>, %dy: tensor<2x6x6x8xf32>) -> tensor<8x3x3x3xf32> {
  %t = mnist.transpose %dy perm [0, 3, 1, 2] : tensor<2x6x6x8xf32> -> tensor<2x8x6x6xf32>
  %w = mnist.conv_filter_grad nchw %x, %t strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : (tensor<2x3x6x6xf32>, tensor<2x8x6x6xf32>) -> tensor<8x3x3x3xf32>
  return %w : tensor<8x3x3x3xf32>
}
