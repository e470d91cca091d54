// RUN: mnist-opt %s --split-input-file --mnist-add-optimizer --cse | FileCheck %s
// RUN: mnist-opt %s --split-input-file "--mnist-add-optimizer=kind=adam lr=0.001" --cse | FileCheck %s --check-prefix=ADAM
// RUN: mnist-opt %s --split-input-file "--mnist-add-optimizer=clipping=norm" --cse | FileCheck %s --check-prefix=CLIP
// RUN: not mnist-opt %s --split-input-file --mnist-add-optimizer=kind=lion 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not mnist-opt %s --split-input-file --mnist-add-optimizer=form=jax 2>&1 | FileCheck %s --check-prefix=FORM

// The gradient is no result any more, but a new value of the parameter; the step
// is counted last. SGD has no state.

// CHECK: mnist.recipe = {clip = "none", form = "torch"
// CHECK-SAME: optimizer = "sgd"
// CHECK-NOT: @w.m
// CHECK-LABEL: func.func @train_1
// CHECK-SAME:      (%[[G:.*]]: tensor<2xf32>, %[[L:.*]]: tensor<f32>) -> (tensor<f32> {mnist.loss = "own"})
// CHECK:         %[[TABLE:.*]] = ml_program.global_load @mn.recipe : tensor<1024x10xf32>
// CHECK:         %[[STEP:.*]] = ml_program.global_load @mn.step
// CHECK:         mnist.gather %[[TABLE]]
// CHECK:         %[[W:.*]] = ml_program.global_load @w
// CHECK:         %[[NEW:.*]] = mnist.sub %[[W]]
// CHECK:         ml_program.global_store @w = %[[NEW]]
// CHECK:         %[[NEXT:.*]] = mnist.add %[[STEP]]
// CHECK:         ml_program.global_store @mn.step = %[[NEXT]]
// CHECK-NEXT:    return %[[L]] : tensor<f32>

// ADAM-DAG: @w.m(dense<0.000000e+00> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "state"}
// ADAM-DAG: @w.v(dense<0.000000e+00> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "state"}
// ADAM:     ml_program.global_store @w.m
// ADAM:     ml_program.global_store @w.v
// ADAM:     ml_program.global_store @w

// CLIP-LABEL: func.func @train_1
// CLIP-SAME:      (%[[G:.*]]: tensor<2xf32>,
// CLIP:         %[[SQUARES:.*]] = mnist.mul %[[G]], %[[G]]
// CLIP:         %[[SUM:.*]] = mnist.reduce_sum %[[SQUARES]]
// CLIP:         mnist.sqrt %[[SUM]]
// CLIP:         mnist.min

// KIND: expected an optimizer of sgd, momentum, nesterov, adam, adamw, rmsprop, adagrad, but got 'lion'
// FORM: expected a form of torch, keras, but got 'jax'
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @train_1(%g: tensor<2xf32>, %l: tensor<f32>)
    -> (tensor<f32> {mnist.loss = "own"}, tensor<2xf32> {mnist.gradient = "w"}) {
  return %l, %g : tensor<f32>, tensor<2xf32>
}

// What returns no gradients is left alone.

// CHECK-LABEL: func.func @infer_1
// CHECK-NEXT:    return
func.func @infer_1(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
