// RUN: mnist-opt %s --mnist-infer=target=cpu | FileCheck %s --implicit-check-not=mnist.transpose --implicit-check-not=mnist.batch_norm --implicit-check-not=mnist.dropout --implicit-check-not=ml_program --implicit-check-not=mnist.div
// RUN: mnist-opt %s --mnist-infer=layout=nchw | FileCheck %s --check-prefix=NCHW
// RUN: mnist-opt %s --mnist-infer="target=cpu fold-batch-norm=false push-transposes=false" | FileCheck %s --check-prefix=OFF

// The model in its smallest form: the normalization is in the filter, the
// images are nhwc without a transpose, for which the rows of the last weights
// have changed places.

// CHECK-LABEL: @infer_2
// CHECK-DAG:     dense<{{\[\[\[}}[2.000000e+00]]], {{\[\[}}[4.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG:     dense<{{\[}}[0.000000e+00], [2.000000e+00], [1.000000e+00], [3.000000e+00]]> : tensor<4x1xf32>
// CHECK:         mnist.conv nhwc
// CHECK:         mnist.max_pool nhwc
// CHECK:         mnist.matmul

// CHECK-LABEL: @infer_1
// CHECK:         mnist.relu

// NCHW-LABEL: @infer_2
// NCHW:         mnist.conv nchw

// OFF-LABEL: @infer_2
// OFF:         mnist.transpose
ml_program.global private @filter(dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>) : tensor<2x1x1x1xf32>
ml_program.global private @scale(dense<4.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @bias(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @variance(dense<3.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private @weight(dense<[[0.0, 1.0, 2.0, 3.0]]> : tensor<1x4xf32>) : tensor<1x4xf32>

func.func @infer_2(%x: tensor<2x1x4x2xf32>) -> tensor<2x1xf32> {
  %filter = ml_program.global_load @filter : tensor<2x1x1x1xf32>
  %scale = ml_program.global_load @scale : tensor<2xf32>
  %bias = ml_program.global_load @bias : tensor<2xf32>
  %variance = ml_program.global_load @variance : tensor<2xf32>
  %weight = ml_program.global_load @weight : tensor<1x4xf32>
  %c = mnist.conv nchw %x, %filter strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<2x1x4x2xf32>, tensor<2x1x1x1xf32>) -> tensor<2x2x4x2xf32>
  %n = mnist.batch_norm %c, %scale, %bias, %bias, %variance dim 1 epsilon 1.0 momentum 9.0e-01
      : tensor<2x2x4x2xf32>, tensor<2xf32>
  %r = mnist.relu %n : tensor<2x2x4x2xf32>
  %p = mnist.max_pool nchw %r kernel [2, 2] strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1]
      : tensor<2x2x4x2xf32> -> tensor<2x2x2x1xf32>
  %d = mnist.dropout %p ratio 5.0e-01 : tensor<2x2x2x1xf32>
  %f = mnist.reshape %d : tensor<2x2x2x1xf32> -> tensor<2x4xf32>
  %w = mnist.transpose %weight perm [1, 0] : tensor<1x4xf32> -> tensor<4x1xf32>
  %y = mnist.matmul %f, %w : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

func.func @infer_1(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %y = mnist.relu %x : tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
