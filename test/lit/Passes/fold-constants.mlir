// RUN: mnist-opt %s --mnist-fold-constants | FileCheck %s
// RUN: mnist-opt %s --mnist-fold-constants --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=NAMES
// RUN: mnist-opt %s --mnist-fold-constants=max-elements=5 | FileCheck %s --check-prefix=LIMIT

// CHECK-LABEL: @elementwise
// CHECK-NEXT:    %[[Y:.*]] = mnist.constant dense<[5.000000e+00, 1.600000e+01]> : tensor<2xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @elementwise() -> tensor<2xf32> {
  %a = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = mnist.constant dense<[5.0, 4.0]> : tensor<2xf32>
  %c = mnist.mul %a, %b : tensor<2xf32>
  %y = mnist.mul %c, %a : tensor<2xf32>
  %z = mnist.max %b, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}

// Splats are computed once, whatever their size, and stay splats.

// CHECK-LABEL: @splats
// CHECK-NEXT:    mnist.constant dense<3.000000e+00> : tensor<4096x4096x4096xf32>
func.func @splats() -> tensor<4096x4096x4096xf32> {
  %a = mnist.constant dense<1.0> : tensor<4096x4096x4096xf32>
  %b = mnist.constant dense<2.0> : tensor<4096x4096x4096xf32>
  %y = mnist.add %a, %b : tensor<4096x4096x4096xf32>
  return %y : tensor<4096x4096x4096xf32>
}

// CHECK-LABEL: @indexing
// CHECK-NEXT:    mnist.constant dense<{{\[}}[4, 1], [5, 2], [6, 3], [0, 0]]> : tensor<4x2xi64>
func.func @indexing() -> tensor<4x2xi64> {
  %a = mnist.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %b = mnist.slice %a starts [1, 0] steps [-1, 1] : tensor<2x3xi64> -> tensor<2x3xi64>
  %c = mnist.transpose %b perm [1, 0] : tensor<2x3xi64> -> tensor<3x2xi64>
  %y = mnist.pad constant %c low [0, 0] value 0.0 : tensor<3x2xi64> -> tensor<4x2xi64>
  return %y : tensor<4x2xi64>
}

// CHECK-LABEL: @reductions
// CHECK-DAG:     mnist.constant dense<[5, 7, 9]> : tensor<3xi32>
// CHECK-DAG:     mnist.constant dense<[2, 0]> : tensor<2xi64>
func.func @reductions() -> (tensor<3xi32>, tensor<2xi64>) {
  %a = mnist.constant dense<[[1, 2, 6], [4, 5, 3]]> : tensor<2x3xi32>
  %b = mnist.constant dense<[[1, 2, 6], [5, 4, 3]]> : tensor<2x3xi32>
  %sum = mnist.reduce_sum %a over [0] : tensor<2x3xi32> -> tensor<3xi32>
  %arg = mnist.arg_max %b over 1 : tensor<2x3xi32> -> tensor<2xi64>
  return %sum, %arg : tensor<3xi32>, tensor<2xi64>
}

// CHECK-LABEL: @product
// CHECK-NEXT:    mnist.constant dense<{{\[}}[1.700000e+01, 3.900000e+01]]> : tensor<1x2xf32>
func.func @product() -> tensor<1x2xf32> {
  %a = mnist.constant dense<[[5.0, 6.0]]> : tensor<1x2xf32>
  %b = mnist.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = mnist.matmul %a, %b transposed [false, true] : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// What repeats or counts costs nothing at run time: it is computed only for
// another op that becomes a constant.

// CHECK-LABEL: @repeated
// CHECK:         %[[BIAS:.*]] = mnist.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK:         mnist.broadcast %[[BIAS]] along [1]
func.func @repeated(%x: tensor<64x2xf32>) -> tensor<64x2xf32> {
  %b = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bs = mnist.broadcast %b along [1] : tensor<2xf32> -> tensor<64x2xf32>
  %y = mnist.add %x, %bs : tensor<64x2xf32>
  return %y : tensor<64x2xf32>
}

// CHECK-LABEL: @counted
// CHECK-NEXT:    mnist.constant dense<{{\[}}[true, false], [false, true]]> : tensor<2x2xi1>
func.func @counted() -> tensor<2x2xi1> {
  %i = mnist.iota dim 0 : tensor<2x2xi64>
  %j = mnist.iota dim 1 : tensor<2x2xi64>
  %y = mnist.compare eq %i, %j : tensor<2x2xi64> -> tensor<2x2xi1>
  return %y : tensor<2x2xi1>
}

// Arithmetic moves before the repetition.

// CHECK-LABEL: @before_broadcast
// CHECK-NEXT:    %[[SUM:.*]] = mnist.constant dense<[4.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %[[Y:.*]] = mnist.broadcast %[[SUM]] along [1] : tensor<2xf32> -> tensor<64x2xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @before_broadcast() -> tensor<64x2xf32> {
  %a = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = mnist.constant dense<2.0> : tensor<64x2xf32>
  %c = mnist.constant dense<1.0> : tensor<2xf32>
  %as = mnist.broadcast %a along [1] : tensor<2xf32> -> tensor<64x2xf32>
  %cs = mnist.broadcast %c along [1] : tensor<2xf32> -> tensor<64x2xf32>
  %d = mnist.mul %as, %b : tensor<64x2xf32>
  %e = mnist.add %cs, %cs : tensor<64x2xf32>
  %y = mnist.add %d, %e : tensor<64x2xf32>
  return %y : tensor<64x2xf32>
}

// CHECK-LABEL: @not_constant
// CHECK:         mnist.concat
func.func @not_constant(%x: tensor<3xf32>) -> tensor<6xf32> {
  %a = mnist.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = mnist.concat %a, %x dim 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// One element more than the limit.

// CHECK-LABEL: @limit
// CHECK-NEXT:    mnist.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]>
// LIMIT-LABEL: @limit
// LIMIT:         mnist.concat
func.func @limit() -> tensor<6xf32> {
  %a = mnist.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = mnist.concat %a, %a dim 0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// Nothing larger than 4096 elements and than all that it is made of.

// CHECK-LABEL: @small
// CHECK-NOT:     mnist.add
// CHECK:         return
func.func @small() -> tensor<64x64xi64> {
  %rows = mnist.iota dim 0 : tensor<64x64xi64>
  %columns = mnist.iota dim 1 : tensor<64x64xi64>
  %y = mnist.add %rows, %columns : tensor<64x64xi64>
  return %y : tensor<64x64xi64>
}

// CHECK-LABEL: @large
// CHECK:         mnist.add
// CHECK:         return
func.func @large() -> tensor<64x65xi64> {
  %rows = mnist.iota dim 0 : tensor<64x65xi64>
  %columns = mnist.iota dim 1 : tensor<64x65xi64>
  %y = mnist.add %rows, %columns : tensor<64x65xi64>
  return %y : tensor<64x65xi64>
}

// The result has the name of the op.

// NAMES-LABEL: @name
// NAMES:         mnist.constant dense<[4.000000e+00, 6.000000e+00]> : tensor<2xf32> loc("sum")
func.func @name() -> tensor<2xf32> {
  %a = mnist.constant dense<[2.0, 3.0]> : tensor<2xf32> loc("a")
  %y = mnist.add %a, %a : tensor<2xf32> loc("sum")
  return %y : tensor<2xf32>
}

// Values that are outside of the text.

// CHECK-LABEL: @resource
// CHECK-NEXT:    mnist.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
func.func @resource() -> tensor<2xf32> {
  %a = mnist.constant dense_resource<numbers> : tensor<2xf32>
  %y = mnist.add %a, %a : tensor<2xf32>
  return %y : tensor<2xf32>
}

{-#
  dialect_resources: { builtin: { numbers: "0x040000000000803F00000040" } }
#-}
