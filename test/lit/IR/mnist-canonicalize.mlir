// RUN: mnist-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @identities
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @identities(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = mnist.constant dense<0.0> : tensor<2xf32>
  %one = mnist.constant dense<1.0> : tensor<2xf32>
  %a = mnist.add %zero, %x : tensor<2xf32>
  %b = mnist.sub %a, %zero : tensor<2xf32>
  %c = mnist.mul %one, %b : tensor<2xf32>
  %d = mnist.div %c, %one : tensor<2xf32>
  %e = mnist.neg %d : tensor<2xf32>
  %f = mnist.neg %e : tensor<2xf32>
  %g = mnist.max %f, %f : tensor<2xf32>
  %h = mnist.cast %g : tensor<2xf32> -> tensor<2xf32>
  %y = mnist.reduce_sum %h over [] : tensor<2xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// NaN times 0 is NaN, and 0 minus x is not x.

// CHECK-LABEL: @no_identities
// CHECK:         mnist.mul
// CHECK:         mnist.sub
// CHECK:         mnist.div
func.func @no_identities(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = mnist.constant dense<0.0> : tensor<2xf32>
  %one = mnist.constant dense<1.0> : tensor<2xf32>
  %a = mnist.mul %x, %zero : tensor<2xf32>
  %b = mnist.sub %zero, %a : tensor<2xf32>
  %y = mnist.div %one, %b : tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @select
// CHECK-SAME:    (%[[C:.*]]: tensor<2xi1>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>)
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @select(%c: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %false = mnist.constant dense<false> : tensor<2xi1>
  %x = mnist.select %c, %a, %a : tensor<2xi1>, tensor<2xf32>
  %y = mnist.select %false, %a, %b : tensor<2xi1>, tensor<2xf32>
  return %x, %y : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @nothing_moves
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @nothing_moves(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = mnist.broadcast %x along [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %b = mnist.concat %a dim 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = mnist.pad edge %b low [0, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  %d = mnist.reshape %c : tensor<2x3xf32> -> tensor<2x3xf32>
  %e = mnist.slice %d starts [0, 0] steps [1, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  %y = mnist.transpose %e perm [0, 1] : tensor<2x3xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// The same type, but other elements.

// CHECK-LABEL: @something_moves
// CHECK:         mnist.pad
// CHECK:         mnist.slice
// CHECK:         mnist.transpose
func.func @something_moves(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %a = mnist.pad edge %x low [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  %b = mnist.slice %a starts [2, 0] steps [-1, 1] : tensor<3x3xf32> -> tensor<3x3xf32>
  %y = mnist.transpose %b perm [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// CHECK-LABEL: @pools_of_one_size
// CHECK:         mnist.max_pool
// CHECK:         mnist.avg_pool
func.func @pools_of_one_size(%x: tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> {
  %a = mnist.max_pool nchw %x kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]
      : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  %y = mnist.avg_pool nchw %a kernel [3, 3] strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1]
      : tensor<1x1x3x3xf32> -> tensor<1x1x3x3xf32>
  return %y : tensor<1x1x3x3xf32>
}

// CHECK-LABEL: @sum_of_repeated
// CHECK-SAME:    (%[[X:.*]]: tensor<3xf32>)
// CHECK:         %[[N:.*]] = mnist.constant dense<1.000000e+01> : tensor<3xf32>
// CHECK:         %[[Y:.*]] = mnist.mul %[[X]], %[[N]] : tensor<3xf32>
// CHECK:         mnist.broadcast %[[X]] along [1] : tensor<3xf32> -> tensor<2x3xf32>
// CHECK:         mnist.reduce_sum {{.*}} over [1]
func.func @sum_of_repeated(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>, tensor<2x5xf32>) {
  %b = mnist.broadcast %x along [1] : tensor<3xf32> -> tensor<2x3x5xf32>
  %y = mnist.reduce_sum %b over [0, 2] : tensor<2x3x5xf32> -> tensor<3xf32>
  %z = mnist.reduce_sum %b over [2] : tensor<2x3x5xf32> -> tensor<2x3xf32>
  %w = mnist.reduce_sum %b over [1] : tensor<2x3x5xf32> -> tensor<2x5xf32>
  return %y, %z, %w : tensor<3xf32>, tensor<2x3xf32>, tensor<2x5xf32>
}

// CHECK-LABEL: @splats
// CHECK-NEXT:    %[[Y:.*]] = mnist.constant dense<1.000000e+00> : tensor<2x6xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @splats() -> tensor<2x6xf32> {
  %c = mnist.constant dense<1.0> : tensor<3xf32>
  %b = mnist.broadcast %c along [0] : tensor<3xf32> -> tensor<3x4xf32>
  %r = mnist.reshape %b : tensor<3x4xf32> -> tensor<6x2xf32>
  %y = mnist.transpose %r perm [1, 0] : tensor<6x2xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// CHECK-LABEL: @twice
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4xf32>, %[[V:.*]]: tensor<3xf32>)
// CHECK-DAG:     mnist.broadcast %[[V]] along [2] : tensor<3xf32> -> tensor<5x2x3xf32>
// CHECK-DAG:     mnist.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<24xf32>
// CHECK-DAG:     mnist.slice %[[X]] starts [1, 1, 2] steps [1, 1, -2] : tensor<2x3x4xf32> -> tensor<1x1x2xf32>
// CHECK-DAG:     mnist.transpose %[[X]] perm [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
func.func @twice(%x: tensor<2x3x4xf32>, %v: tensor<3xf32>)
    -> (tensor<5x2x3xf32>, tensor<24xf32>, tensor<1x1x2xf32>, tensor<4x2x3xf32>) {
  %b = mnist.broadcast %v along [1] : tensor<3xf32> -> tensor<2x3xf32>
  %bb = mnist.broadcast %b along [1, 2] : tensor<2x3xf32> -> tensor<5x2x3xf32>
  %r = mnist.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %rr = mnist.reshape %r : tensor<6x4xf32> -> tensor<24xf32>
  %s = mnist.slice %x starts [1, 0, 3] steps [1, 1, -1] : tensor<2x3x4xf32> -> tensor<1x3x4xf32>
  %ss = mnist.slice %s starts [0, 1, 1] steps [1, 1, 2] : tensor<1x3x4xf32> -> tensor<1x1x2xf32>
  %t = mnist.transpose %x perm [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %tt = mnist.transpose %t perm [2, 1, 0] : tensor<3x2x4xf32> -> tensor<4x2x3xf32>
  return %bb, %rr, %ss, %tt : tensor<5x2x3xf32>, tensor<24xf32>, tensor<1x1x2xf32>, tensor<4x2x3xf32>
}

// CHECK-LABEL: @concat_parts
// CHECK-SAME:    (%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<3xf32>, %[[NOTHING:.*]]: tensor<0xf32>)
// CHECK-NEXT:    mnist.concat %[[A]], %[[B]], %[[A]] dim 0
func.func @concat_parts(%a: tensor<2xf32>, %b: tensor<3xf32>, %nothing: tensor<0xf32>) -> tensor<7xf32> {
  %c = mnist.concat %a, %nothing, %b dim 0 : (tensor<2xf32>, tensor<0xf32>, tensor<3xf32>) -> tensor<5xf32>
  %y = mnist.concat %c, %a dim 0 : (tensor<5xf32>, tensor<2xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// Dimensions of size 1 are only written down.

// CHECK-LABEL: @size_one
// CHECK-SAME:    (%[[X:.*]]: tensor<2x1x4xf32>, %[[S:.*]]: tensor<1xf32>)
// CHECK-DAG:     mnist.reshape %[[X]] : tensor<2x1x4xf32> -> tensor<1x2x4xf32>
// CHECK-DAG:     mnist.reshape %[[X]] : tensor<2x1x4xf32> -> tensor<2x4xf32>
// CHECK-DAG:     %[[SCALAR:.*]] = mnist.reshape %[[S]] : tensor<1xf32> -> tensor<f32>
// CHECK:         mnist.broadcast %[[SCALAR]] along [] : tensor<f32> -> tensor<12xf32>
func.func @size_one(%x: tensor<2x1x4xf32>, %s: tensor<1xf32>) -> (tensor<1x2x4xf32>, tensor<2x4xf32>, tensor<12xf32>) {
  %t = mnist.transpose %x perm [1, 0, 2] : tensor<2x1x4xf32> -> tensor<1x2x4xf32>
  %m = mnist.reduce_max %x over [1] : tensor<2x1x4xf32> -> tensor<2x4xf32>
  %b = mnist.broadcast %s along [0] : tensor<1xf32> -> tensor<1x12xf32>
  %r = mnist.reshape %b : tensor<1x12xf32> -> tensor<12xf32>
  return %t, %m, %r : tensor<1x2x4xf32>, tensor<2x4xf32>, tensor<12xf32>
}

// CHECK-LABEL: @pools_of_one
// CHECK-SAME:    (%[[X:.*]]: tensor<1x3x8xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @pools_of_one(%x: tensor<1x3x8xf32>) -> tensor<1x3x8xf32> {
  %a = mnist.avg_pool nchw %x kernel [1] strides [1] pads [0, 0] dilations [1] : tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  %y = mnist.max_pool nchw %a kernel [1] strides [1] pads [0, 0] dilations [2] : tensor<1x3x8xf32> -> tensor<1x3x8xf32>
  return %y : tensor<1x3x8xf32>
}

// Indices that are known and evenly spaced: a slice, whose gradient is no
// product with a matrix of zeros and ones.

// CHECK-LABEL: @gather_known
// CHECK-SAME:    (%[[X:.*]]: tensor<2x6x3xf32>)
// CHECK-DAG:     %[[LAST:.*]] = mnist.slice %[[X]] starts [0, 5, 0] steps [1, 1, 1] : tensor<2x6x3xf32> -> tensor<2x1x3xf32>
// CHECK-DAG:     mnist.reshape %[[LAST]] : tensor<2x1x3xf32> -> tensor<2x3xf32>
// CHECK-DAG:     mnist.slice %[[X]] starts [0, 4, 0] steps [1, -2, 1] : tensor<2x6x3xf32> -> tensor<2x3x3xf32>
// CHECK-DAG:     mnist.gather %[[X]], %{{.*}} dim 1 : (tensor<2x6x3xf32>, tensor<3xi64>) -> tensor<2x3x3xf32>
// CHECK-DAG:     mnist.gather %[[X]], %{{.*}} dim 0 : (tensor<2x6x3xf32>, tensor<2xi64>) -> tensor<2x6x3xf32>
// CHECK-DAG:     mnist.gather %[[X]], %{{.*}} dim 2 : (tensor<2x6x3xf32>, tensor<1xi64>) -> tensor<2x6x1xf32>
func.func @gather_known(%x: tensor<2x6x3xf32>) -> (tensor<2x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x6x3xf32>, tensor<2x6x1xf32>) {
  %last = mnist.constant dense<-1> : tensor<i64>
  %even = mnist.constant dense<[4, 2, 0]> : tensor<3xi64>
  %uneven = mnist.constant dense<[0, 1, 5]> : tensor<3xi64>
  %same = mnist.constant dense<1> : tensor<2xi64>
  %outside = mnist.constant dense<3> : tensor<1xi64>
  %a = mnist.gather %x, %last dim 1 : (tensor<2x6x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  %b = mnist.gather %x, %even dim 1 : (tensor<2x6x3xf32>, tensor<3xi64>) -> tensor<2x3x3xf32>
  %c = mnist.gather %x, %uneven dim 1 : (tensor<2x6x3xf32>, tensor<3xi64>) -> tensor<2x3x3xf32>
  %d = mnist.gather %x, %same dim 0 : (tensor<2x6x3xf32>, tensor<2xi64>) -> tensor<2x6x3xf32>
  %e = mnist.gather %x, %outside dim 2 : (tensor<2x6x3xf32>, tensor<1xi64>) -> tensor<2x6x1xf32>
  return %a, %b, %c, %d, %e : tensor<2x3xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x6x3xf32>, tensor<2x6x1xf32>
}

// What is sliced before it is transposed is not moved as a whole, unless
// somebody reads the whole.

// CHECK-LABEL: @slice_of_transpose
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4xf32>, %[[Z:.*]]: tensor<2x3x4xf32>)
// CHECK-DAG:     %[[S:.*]] = mnist.slice %[[X]] starts [1, 0, 3] steps [1, 2, -1] : tensor<2x3x4xf32> -> tensor<1x2x4xf32>
// CHECK-DAG:     mnist.transpose %[[S]] perm [2, 0, 1] : tensor<1x2x4xf32> -> tensor<4x1x2xf32>
// CHECK-DAG:     %[[T:.*]] = mnist.transpose %[[Z]] perm [2, 0, 1]
// CHECK-DAG:     mnist.slice %[[T]]
func.func @slice_of_transpose(%x: tensor<2x3x4xf32>, %z: tensor<2x3x4xf32>) -> (tensor<4x1x2xf32>, tensor<4x1x2xf32>, tensor<4x2x3xf32>) {
  %t = mnist.transpose %x perm [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %y = mnist.slice %t starts [3, 1, 0] steps [-1, 1, 2] : tensor<4x2x3xf32> -> tensor<4x1x2xf32>
  %whole = mnist.transpose %z perm [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %part = mnist.slice %whole starts [3, 1, 0] steps [-1, 1, 2] : tensor<4x2x3xf32> -> tensor<4x1x2xf32>
  return %y, %part, %whole : tensor<4x1x2xf32>, tensor<4x1x2xf32>, tensor<4x2x3xf32>
}

// The gradients of slices that cover a tensor are put one after another, and
// transposed before, where one element each is new.

// CHECK-LABEL: @sum_of_pads
// CHECK-SAME:    (%[[A:.*]]: tensor<1x4x5xf32>, %[[B:.*]]: tensor<1x4x5xf32>, %[[C:.*]]: tensor<1x4x5xf32>)
// CHECK:         %[[Y:.*]] = mnist.concat %[[C]], %[[B]], %[[A]] dim 0
// CHECK-DAG:     %[[TA:.*]] = mnist.transpose %[[A]] perm [2, 0, 1] : tensor<1x4x5xf32> -> tensor<5x1x4xf32>
// CHECK-DAG:     %[[TB:.*]] = mnist.transpose %[[B]] perm [2, 0, 1] : tensor<1x4x5xf32> -> tensor<5x1x4xf32>
// CHECK:         %[[T:.*]] = mnist.concat %[[TA]], %[[TB]] dim 1
// CHECK:         return %[[Y]], %[[T]]
func.func @sum_of_pads(%a: tensor<1x4x5xf32>, %b: tensor<1x4x5xf32>, %c: tensor<1x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<5x2x4xf32>) {
  %0 = mnist.pad constant %a low [2, 0, 0] : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
  %1 = mnist.pad constant %b low [1, 0, 0] : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
  %2 = mnist.pad constant %c low [0, 0, 0] : tensor<1x4x5xf32> -> tensor<3x4x5xf32>
  %3 = mnist.add %0, %1 : tensor<3x4x5xf32>
  %4 = mnist.add %3, %2 : tensor<3x4x5xf32>
  %5 = mnist.concat %a, %b dim 0 : (tensor<1x4x5xf32>, tensor<1x4x5xf32>) -> tensor<2x4x5xf32>
  %6 = mnist.transpose %5 perm [2, 0, 1] : tensor<2x4x5xf32> -> tensor<5x2x4xf32>
  return %4, %6 : tensor<3x4x5xf32>, tensor<5x2x4xf32>
}

// Pads that meet, leave elements out, go along different dimensions, add
// other numbers, or take elements away are added.

// CHECK-LABEL: @other_pads
// CHECK-NOT:     mnist.concat
// CHECK:         return
func.func @other_pads(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<3x2xf32>, %d: tensor<4x4xf32>, %e: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<5x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<5x4xf32>) {
  %0 = mnist.pad constant %a low [0, 0] : tensor<2x4xf32> -> tensor<3x4xf32>
  %1 = mnist.pad constant %b low [1, 0] : tensor<2x4xf32> -> tensor<3x4xf32>
  %meet = mnist.add %0, %1 : tensor<3x4xf32>
  %2 = mnist.pad constant %a low [0, 0] : tensor<2x4xf32> -> tensor<5x4xf32>
  %3 = mnist.pad constant %b low [3, 0] : tensor<2x4xf32> -> tensor<5x4xf32>
  %gap = mnist.add %2, %3 : tensor<5x4xf32>
  %4 = mnist.pad constant %c low [0, 2] : tensor<3x2xf32> -> tensor<3x4xf32>
  %dims = mnist.add %0, %4 : tensor<3x4xf32>
  %5 = mnist.pad constant %a low [0, 0] value 1.0 : tensor<2x4xf32> -> tensor<4x4xf32>
  %6 = mnist.pad constant %b low [2, 0] : tensor<2x4xf32> -> tensor<4x4xf32>
  %ones = mnist.add %5, %6 : tensor<4x4xf32>
  %7 = mnist.pad constant %d low [-2, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %less = mnist.add %7, %6 : tensor<4x4xf32>
  %8 = mnist.pad constant %e low [1, 0] : tensor<1x4xf32> -> tensor<3x4xf32>
  %twice = mnist.add %0, %8 : tensor<3x4xf32>
  %9 = mnist.pad constant %b low [2, 0] : tensor<2x4xf32> -> tensor<5x4xf32>
  %end = mnist.add %2, %9 : tensor<5x4xf32>
  return %meet, %gap, %dims, %ones, %less, %twice, %end : tensor<3x4xf32>, tensor<5x4xf32>, tensor<3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x4xf32>, tensor<5x4xf32>
}

// More than one element each stays as it is.

// CHECK-LABEL: @transpose_of_concat
// CHECK:         %[[Y:.*]] = mnist.concat
// CHECK:         mnist.transpose %[[Y]]
func.func @transpose_of_concat(%a: tensor<2x4xf32>, %b: tensor<1x4xf32>) -> tensor<4x3xf32> {
  %0 = mnist.concat %a, %b dim 0 : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %1 = mnist.transpose %0 perm [1, 0] : tensor<3x4xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
