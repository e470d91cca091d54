// RUN: mnist-opt %s --mnist-expand-batch-norm | FileCheck %s
// RUN: mnist-opt %s --mnist-expand-batch-norm --canonicalize | FileCheck %s --check-prefix=SMALL

// x s + t with s = scale / sqrt(variance + epsilon), t = bias - mean s, by
// channel.

// CHECK-LABEL: @channels
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x4x4xf32>, %[[SCALE:.*]]: tensor<3xf32>, %[[BIAS:[^:]*]]: tensor<3xf32>, %[[MEAN:[^:]*]]: tensor<3xf32>, %[[VARIANCE:[^:]*]]: tensor<3xf32>)
// CHECK:         %[[EPSILON:.*]] = mnist.constant dense<9.99999974E-6> : tensor<3xf32>
// CHECK-NEXT:    %[[MORE:.*]] = mnist.add %[[VARIANCE]], %[[EPSILON]]
// CHECK-NEXT:    %[[DEVIATION:.*]] = mnist.sqrt %[[MORE]]
// CHECK-NEXT:    %[[S:.*]] = mnist.div %[[SCALE]], %[[DEVIATION]]
// CHECK-NEXT:    %[[MOVED:.*]] = mnist.mul %[[MEAN]], %[[S]]
// CHECK-NEXT:    %[[T:.*]] = mnist.sub %[[BIAS]], %[[MOVED]]
// CHECK-NEXT:    %[[SS:.*]] = mnist.broadcast %[[S]] along [1] : tensor<3xf32> -> tensor<2x3x4x4xf32>
// CHECK-NEXT:    %[[TT:.*]] = mnist.broadcast %[[T]] along [1] : tensor<3xf32> -> tensor<2x3x4x4xf32>
// CHECK-NEXT:    %[[SCALED:.*]] = mnist.mul %[[X]], %[[SS]]
// CHECK-NEXT:    %[[Y:.*]] = mnist.add %[[SCALED]], %[[TT]]
// CHECK-NEXT:    return %[[Y]]
func.func @channels(%x: tensor<2x3x4x4xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>,
                    %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<2x3x4x4xf32> {
  %y = mnist.batch_norm %x, %scale, %bias, %mean, %variance dim 1 epsilon 1.0e-05 momentum 9.0e-01
      : tensor<2x3x4x4xf32>, tensor<3xf32>
  return %y : tensor<2x3x4x4xf32>
}

// Constants make constants, two numbers for each channel:
// s = 6 / sqrt(8 + 1) = 2, t = 5 - 1 * 2 = 3.

// SMALL-LABEL: @constants
// SMALL-DAG:     %[[S:.*]] = mnist.constant dense<2.000000e+00>
// SMALL-DAG:     %[[T:.*]] = mnist.constant dense<3.000000e+00>
// SMALL:         %[[SCALED:.*]] = mnist.mul %{{.*}}, %[[S]]
// SMALL-NEXT:    mnist.add %[[SCALED]], %[[T]]
func.func @constants(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %scale = mnist.constant dense<6.0> : tensor<3xf32>
  %bias = mnist.constant dense<5.0> : tensor<3xf32>
  %mean = mnist.constant dense<1.0> : tensor<3xf32>
  %variance = mnist.constant dense<8.0> : tensor<3xf32>
  %y = mnist.batch_norm %x, %scale, %bias, %mean, %variance dim 1 epsilon 1.0 momentum 9.0e-01
      : tensor<2x3xf32>, tensor<3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @no_batch_norm
// CHECK-NEXT:    mnist.relu
// CHECK-NEXT:    return
func.func @no_batch_norm(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = mnist.relu %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
