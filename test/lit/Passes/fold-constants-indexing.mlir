// RUN: mnist-opt %s --mnist-fold-constants | FileCheck %s

// The four ways to pad.

// CHECK-LABEL: @pads
// CHECK-DAG:     dense<[9, 9, 1, 2, 3, 9]> : tensor<6xi32>
// CHECK-DAG:     dense<[3, 2, 1, 2, 3, 2]> : tensor<6xi32>
// CHECK-DAG:     dense<[1, 1, 1, 2, 3, 3]> : tensor<6xi32>
// CHECK-DAG:     dense<[2, 3, 1, 2, 3, 1]> : tensor<6xi32>
// CHECK-DAG:     dense<2> : tensor<1xi32>
func.func @pads() -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<1xi32>) {
  %x = mnist.constant dense<[1, 2, 3]> : tensor<3xi32>
  %constant = mnist.pad constant %x low [2] value 9.0 : tensor<3xi32> -> tensor<6xi32>
  %reflect = mnist.pad reflect %x low [2] : tensor<3xi32> -> tensor<6xi32>
  %edge = mnist.pad edge %x low [2] : tensor<3xi32> -> tensor<6xi32>
  %wrap = mnist.pad wrap %x low [2] : tensor<3xi32> -> tensor<6xi32>
  %crop = mnist.pad constant %x low [-1] value 9.0 : tensor<3xi32> -> tensor<1xi32>
  return %constant, %reflect, %edge, %wrap, %crop : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<1xi32>
}

// A negative index counts from the end, one outside is clamped.

// CHECK-LABEL: @gather
// CHECK-NEXT:    mnist.constant dense<{{\[}}[3, 1, 3], [6, 4, 6]]> : tensor<2x3xi32>
func.func @gather() -> tensor<2x3xi32> {
  %x = mnist.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = mnist.constant dense<[-1, -9, 7]> : tensor<3xi64>
  %y = mnist.gather %x, %i dim 1 : (tensor<2x3xi32>, tensor<3xi64>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @concat
// CHECK-NEXT:    mnist.constant dense<{{\[}}[1, 2, 7, 5], [3, 4, 7, 6]]> : tensor<2x4xi32>
func.func @concat() -> tensor<2x4xi32> {
  %a = mnist.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = mnist.constant dense<7> : tensor<2x1xi32>
  %c = mnist.constant dense<[[5], [6]]> : tensor<2x1xi32>
  %y = mnist.concat %a, %b, %c dim 1 : (tensor<2x2xi32>, tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
  return %y : tensor<2x4xi32>
}

// What repeats is needed as a whole here.

// CHECK-LABEL: @broadcast
// CHECK-NEXT:    mnist.constant dense<{{\[}}[1, 2, 5], [1, 2, 6]]> : tensor<2x3xi32>
func.func @broadcast() -> tensor<2x3xi32> {
  %a = mnist.constant dense<[1, 2]> : tensor<2xi32>
  %b = mnist.broadcast %a along [1] : tensor<2xi32> -> tensor<2x2xi32>
  %c = mnist.constant dense<[[5], [6]]> : tensor<2x1xi32>
  %y = mnist.concat %b, %c dim 1 : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// A tensor without elements, and one without dimensions.

// CHECK-LABEL: @empty_and_scalar
// CHECK-DAG:     mnist.constant dense<> : tensor<0x2xi32>
// CHECK-DAG:     mnist.constant dense<0> : tensor<2xi32>
// CHECK-DAG:     mnist.constant dense<6> : tensor<i32>
func.func @empty_and_scalar() -> (tensor<0x2xi32>, tensor<2xi32>, tensor<i32>) {
  %x = mnist.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %e = mnist.slice %x starts [0, 0] steps [1, 1] : tensor<1x3xi32> -> tensor<0x2xi32>
  %s = mnist.reduce_sum %e over [0] : tensor<0x2xi32> -> tensor<2xi32>
  %t = mnist.reduce_sum %x over [0, 1] : tensor<1x3xi32> -> tensor<i32>
  return %e, %s, %t : tensor<0x2xi32>, tensor<2xi32>, tensor<i32>
}

// Extremes over no elements are the type's; the last of equal ones on demand.

// CHECK-LABEL: @extremes
// CHECK-DAG:     mnist.constant dense<0xFF800000> : tensor<f32>
// CHECK-DAG:     mnist.constant dense<0x7F800000> : tensor<f32>
// CHECK-DAG:     mnist.constant dense<0> : tensor<i64>
// CHECK-DAG:     mnist.constant dense<2> : tensor<i32>
func.func @extremes() -> (tensor<f32>, tensor<f32>, tensor<i64>, tensor<i32>) {
  %x = mnist.constant dense<> : tensor<0xf32>
  %max = mnist.reduce_max %x over [0] : tensor<0xf32> -> tensor<f32>
  %min = mnist.reduce_min %x over [0] : tensor<0xf32> -> tensor<f32>
  %y = mnist.constant dense<[5, 4, 5]> : tensor<3xi32>
  %first = mnist.arg_max %y over 0 : tensor<3xi32> -> tensor<i64>
  %last = mnist.arg_max %y over 0 last : tensor<3xi32> -> tensor<i32>
  return %max, %min, %first, %last : tensor<f32>, tensor<f32>, tensor<i64>, tensor<i32>
}

// A stack of two products, one side transposed.

// CHECK-LABEL: @products
// CHECK-NEXT:    mnist.constant dense<{{\[\[}}[1.100000e+01]], {{\[}}[3.900000e+01]]]> : tensor<2x1x1xf64>
func.func @products() -> tensor<2x1x1xf64> {
  %a = mnist.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf64>
  %b = mnist.constant dense<[[[3.0], [4.0]], [[5.0], [6.0]]]> : tensor<2x2x1xf64>
  %y = mnist.matmul %a, %b transposed [true, false] : (tensor<2x2x1xf64>, tensor<2x2x1xf64>) -> tensor<2x1x1xf64>
  return %y : tensor<2x1x1xf64>
}
