// RUN: mnist-opt %s --mnist-add-optimizer=average=0.75 --cse | FileCheck %s
// RUN: mnist-opt %s --mnist-add-optimizer --cse | FileCheck %s --check-prefix=NONE

// A mean begins as its parameter, follows it, and is what others read.

// CHECK: ml_program.global private mutable @w.ema(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "state"}
// CHECK-LABEL: func.func @train_1
// CHECK:         %[[W:.*]] = ml_program.global_load @w : tensor<2xf32>
// CHECK:         %[[NEW:.*]] = mnist.sub %[[W]]
// CHECK:         ml_program.global_store @w = %[[NEW]]
// CHECK:         %[[OLD:.*]] = ml_program.global_load @w.ema
// CHECK:         %[[PART:.*]] = mnist.constant dense<2.500000e-01>
// CHECK:         %[[AWAY:.*]] = mnist.sub %[[NEW]], %[[OLD]]
// CHECK:         %[[STEP:.*]] = mnist.mul %[[PART]], %[[AWAY]]
// CHECK:         %[[MEAN:.*]] = mnist.add %[[OLD]], %[[STEP]]
// CHECK:         ml_program.global_store @w.ema = %[[MEAN]]
// CHECK-LABEL: func.func @infer_1
// CHECK:         ml_program.global_load @w.ema
// CHECK:         ml_program.global_load @running
// NONE-NOT: ema

ml_program.global private mutable @w(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @running(dense<3.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}

func.func @train_1(%g: tensor<2xf32>) -> (tensor<2xf32> {mnist.gradient = "w"}) {
  return %g : tensor<2xf32>
}

func.func @infer_1(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ml_program.global_load @w : tensor<2xf32>
  %r = ml_program.global_load @running : tensor<2xf32>
  %y = mnist.mul %x, %w : tensor<2xf32>
  %z = mnist.add %y, %r : tensor<2xf32>
  return %z : tensor<2xf32>
}
