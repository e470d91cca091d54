// RUN: mnist-opt %s --mnist-freeze-parameters --canonicalize | FileCheck %s --check-prefix=FROZEN
// RUN: mnist-opt %s --mnist-freeze-parameters --mnist-fold-constants | FileCheck %s --check-prefix=FOLDED
// RUN: mnist-opt %s --mnist-freeze-parameters --mnist-push-transposes | FileCheck %s --check-prefix=PUSHED
// RUN: mnist-opt %s --mnist-freeze-parameters --mnist-choose-layout=layout=nhwc | FileCheck %s --check-prefix=FLIPPED

// A constant has the name of the parameter that it was, or of the first one that
// it is made of.

ml_program.global private mutable @fc.weight(dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
ml_program.global private mutable @fc.scale(dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>) : tensor<2x2xf32>
ml_program.global private mutable @conv.weight(dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>) : tensor<1x2x1x1xf32>

// FROZEN-LABEL: @product
// FROZEN-DAG:     mnist.constant dense<{{.*}}> : tensor<2x2xf32> {mnist.name = "fc.weight"}
// FROZEN-DAG:     mnist.constant dense<{{.*}}> : tensor<2x2xf32> {mnist.name = "fc.scale"}
// FOLDED-LABEL: @product
// FOLDED-NEXT:    mnist.constant dense<{{\[\[}}5.000000e+00, 1.200000e+01], {{.*}} {mnist.name = "fc.weight"}
// FOLDED-NEXT:    mnist.matmul
func.func @product(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = ml_program.global_load @fc.weight : tensor<2x2xf32>
  %s = ml_program.global_load @fc.scale : tensor<2x2xf32>
  %ws = mnist.mul %w, %s : tensor<2x2xf32>
  %y = mnist.matmul %x, %ws : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// PUSHED-LABEL: @turned
// PUSHED-NEXT:    mnist.constant dense<{{\[\[}}1.000000e+00, 3.000000e+00], {{.*}} {mnist.name = "fc.weight"}
// PUSHED-NEXT:    mnist.add
func.func @turned(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = ml_program.global_load @fc.weight : tensor<2x2xf32>
  %t = mnist.transpose %w perm [1, 0] : tensor<2x2xf32> -> tensor<2x2xf32>
  %y = mnist.add %x, %t : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// FLIPPED-LABEL: @image
// FLIPPED:         mnist.constant dense<{{.*}}> : tensor<1x1x1x2xf32> {mnist.name = "conv.weight"}
// FLIPPED:         mnist.conv nhwc
func.func @image(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = ml_program.global_load @conv.weight : tensor<1x2x1x1xf32>
  %y = mnist.conv nchw %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1
      : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// Numbers that no parameter holds have no name.

// FOLDED-LABEL: @nameless
// FOLDED-NEXT:    mnist.constant dense<[3.000000e+00, 8.000000e+00]> : tensor<2xf32>{{$}}
func.func @nameless() -> tensor<2xf32> {
  %a = mnist.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = mnist.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %c = mnist.mul %a, %b : tensor<2xf32>
  return %c : tensor<2xf32>
}
