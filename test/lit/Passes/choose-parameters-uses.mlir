// RUN: mnist-opt %s --mnist-choose-parameters | FileCheck %s
// RUN: mnist-opt %s --mnist-choose-parameters=train-only=lo*,epsilon | FileCheck %s --check-prefix=ONLY
// RUN: mnist-opt %s --mnist-choose-parameters=all | FileCheck %s --check-prefix=ALL

// Which operand of which op a tensor is tells whether it is learned, also
// through what reshapes, repeats and transforms it.

// ONLY:     @table({{.*}} : tensor<9x4xf32>{{$}}
// ONLY:     @epsilon({{.*}} {mnist.role = "parameter"}
// ONLY:     @low({{.*}} {mnist.role = "parameter"}
// ALL:      @root({{.*}} : tensor<f32>{{$}}
// ALL:      @mask({{.*}} {mnist.role = "parameter"}

// CHECK:    @table({{.*}} {mnist.role = "parameter"}
ml_program.global private mutable @table(dense<1.0> : tensor<9x4xf32>) : tensor<9x4xf32>
// CHECK:    @weight({{.*}} {mnist.role = "parameter"}
ml_program.global private mutable @weight(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
// CHECK:    @bias({{.*}} {mnist.role = "parameter"}
ml_program.global private mutable @bias(dense<1.0> : tensor<1x4xf32>) : tensor<1x4xf32>
// CHECK:    @gain({{.*}} {mnist.role = "parameter"}
ml_program.global private mutable @gain(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
// CHECK:    @epsilon({{.*}} : tensor<1xf32>{{$}}
ml_program.global private mutable @epsilon(dense<1.0> : tensor<1xf32>) : tensor<1xf32>
// CHECK:    @mean({{.*}} : tensor<4xf32>{{$}}
ml_program.global private mutable @mean(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
// CHECK:    @root({{.*}} : tensor<f32>{{$}}
ml_program.global private mutable @root(dense<1.0> : tensor<f32>) : tensor<f32>
// CHECK:    @cosine({{.*}} : tensor<3x4xf32>{{$}}
ml_program.global private mutable @cosine(dense<1.0> : tensor<3x4xf32>) : tensor<3x4xf32>
// CHECK:    @mask({{.*}} : tensor<3x4xf32>{{$}}
ml_program.global private mutable @mask(dense<-1.0e9> : tensor<3x4xf32>) : tensor<3x4xf32>
// CHECK:    @bound({{.*}} : tensor<3x4xf32>{{$}}
ml_program.global private mutable @bound(dense<6.0> : tensor<3x4xf32>) : tensor<3x4xf32>
// CHECK:    @low({{.*}} {mnist.role = "parameter"}
ml_program.global private mutable @low(dense<1.0> : tensor<4x1xf32>) : tensor<4x1xf32>
// What is learned by one of its uses, the first here, is learned.
// CHECK:    @tied({{.*}} {mnist.role = "parameter"}
ml_program.global private mutable @tied(dense<1.0> : tensor<3x4xf32>) : tensor<3x4xf32>
// CHECK:    @unread({{.*}} : tensor<4xf32>{{$}}
ml_program.global private mutable @unread(dense<1.0> : tensor<4xf32>) : tensor<4xf32>
func.func @infer_3(%i: tensor<3xi64>) -> tensor<3x4xf32> {
  %table = ml_program.global_load @table : tensor<9x4xf32>
  %weight = ml_program.global_load @weight : tensor<4x4xf32>
  %bias = ml_program.global_load @bias : tensor<1x4xf32>
  %gain = ml_program.global_load @gain : tensor<4xf32>
  %epsilon = ml_program.global_load @epsilon : tensor<1xf32>
  %mean = ml_program.global_load @mean : tensor<4xf32>
  %root = ml_program.global_load @root : tensor<f32>
  %cosine = ml_program.global_load @cosine : tensor<3x4xf32>
  %mask = ml_program.global_load @mask : tensor<3x4xf32>
  %bound = ml_program.global_load @bound : tensor<3x4xf32>
  %low = ml_program.global_load @low : tensor<4x1xf32>
  %x = mnist.gather %table, %i dim 0 : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %low_rank = mnist.matmul %low, %low transposed [false, true] : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %sum = mnist.add %weight, %low_rank : tensor<4x4xf32>
  %turned = mnist.transpose %sum perm [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %h = mnist.matmul %x, %turned : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %flat = mnist.reshape %bias : tensor<1x4xf32> -> tensor<4xf32>
  %b = mnist.broadcast %flat along [1] : tensor<4xf32> -> tensor<3x4xf32>
  %h1 = mnist.add %h, %b : tensor<3x4xf32>
  %m = mnist.broadcast %mean along [1] : tensor<4xf32> -> tensor<3x4xf32>
  %h2 = mnist.sub %h1, %m : tensor<3x4xf32>
  %g = mnist.broadcast %gain along [1] : tensor<4xf32> -> tensor<3x4xf32>
  %h3 = mnist.mul %h2, %g : tensor<3x4xf32>
  %e0 = mnist.reshape %epsilon : tensor<1xf32> -> tensor<f32>
  %e = mnist.broadcast %e0 along [] : tensor<f32> -> tensor<3x4xf32>
  %h4 = mnist.add %h3, %e : tensor<3x4xf32>
  %r = mnist.broadcast %root along [] : tensor<f32> -> tensor<3x4xf32>
  %h5 = mnist.mul %h4, %r : tensor<3x4xf32>
  %h6 = mnist.mul %h5, %cosine : tensor<3x4xf32>
  %h7 = mnist.add %h6, %mask : tensor<3x4xf32>
  %h8 = mnist.min %h7, %bound : tensor<3x4xf32>
  %tied = ml_program.global_load @tied : tensor<3x4xf32>
  %again = ml_program.global_load @tied : tensor<3x4xf32>
  %h9 = mnist.matmul %h8, %tied transposed [false, true] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>
  %h10 = mnist.matmul %h9, %h8 : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = mnist.min %h10, %again : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
