// RUN: mnist-opt %s --mnist-choose-parameters=freeze=*.bias,mean | FileCheck %s
// RUN: mnist-opt %s "--mnist-choose-parameters=freeze=fc.weight train-only=fc.*" \
// RUN:   | FileCheck %s --check-prefix=BOTH
// RUN: not mnist-opt %s --mnist-choose-parameters=freeze=fc.wait 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mnist-opt %s --mnist-choose-parameters=freeze=fc.*,mean,variance 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING
// RUN: not mnist-opt %s "--mnist-choose-parameters=freeze=[w" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OPEN
// RUN: not mnist-opt %s "--pass-pipeline=builtin.module(mnist-choose-parameters{freeze='w})" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=QUOTE
// RUN: not mnist-opt %s "--mnist-choose-parameters=freeze=[w],'[',m]" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CLOSED

// What scales and shifts is trained, statistics are kept, and the rest are
// constants, each with its reason.

// CHECK:     reason = "weight", role = "parameter"
// CHECK:     @fc.weight({{.*}}) : tensor<2xf32> {mnist.role = "parameter"}
// CHECK:     @fc.bias({{.*}}) : tensor<2xf32>{{$}}
// CHECK:     @fc.scalar({{.*}}) : tensor<f32>{{$}}
// CHECK:     @fc.indices({{.*}}) : tensor<2xi64>{{$}}
// CHECK:     @mean({{.*}}) : tensor<2xf32>{{$}}
// CHECK:     @variance({{.*}}) : tensor<2xf32> {mnist.role = "buffer"}
// BOTH:      name = "fc.weight", reason = "--freeze", role = "constant"
// BOTH-SAME: name = "fc.bias", reason = "--train-only", role = "parameter"
// UNKNOWN: error: expected --freeze=fc.wait to name a tensor of the model, but none matches
// OPEN:    {{^}}error: expected each bracket and quote to be closed, got '[' open in --mnist-choose-parameters=freeze=[w{{$}}
// QUOTE:   {{^}}error: expected each bracket and quote to be closed, got ''' open in
// CLOSED:  error: expected
// CLOSED-SAME: --freeze
// NOTHING: error: expected a model with tensors to train, got one where none is used as weight, scale or bias or all are frozen; --train-only=NAMES chooses from 'fc.weight'
ml_program.global private mutable @fc.weight(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @fc.bias(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @fc.scalar(dense<1.0> : tensor<f32>) : tensor<f32>
ml_program.global private mutable @fc.indices(dense<1> : tensor<2xi64>) : tensor<2xi64>
ml_program.global private mutable @mean(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @variance(dense<1.0> : tensor<2xf32>) : tensor<2xf32>
func.func @infer_4(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = ml_program.global_load @fc.weight : tensor<2xf32>
  %b = ml_program.global_load @fc.bias : tensor<2xf32>
  %m = ml_program.global_load @mean : tensor<2xf32>
  %v = ml_program.global_load @variance : tensor<2xf32>
  %y = mnist.batch_norm %x, %w, %b, %m, %v dim 1 epsilon 1.000000e-05 momentum 9.000000e-01
      : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}
