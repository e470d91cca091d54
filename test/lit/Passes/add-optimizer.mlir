// RUN: mnist-opt %s --split-input-file --mnist-add-optimizer --cse | FileCheck %s
// RUN: mnist-opt %s --split-input-file "--mnist-add-optimizer=kind=adam lr=0.001" --cse | FileCheck %s --check-prefix=ADAM
// RUN: mnist-opt %s --split-input-file "--mnist-add-optimizer=clipping=norm" --cse | FileCheck %s --check-prefix=CLIP
// RUN: mnist-opt %s --split-input-file "--mnist-add-optimizer=kind=adam lr=1 momentum=2 weight-decay=3 beta1=0.25 beta2=0.5 epsilon=6 dampening=7 clip=8" | FileCheck %s --check-prefix=NUMBERS
// RUN: not mnist-opt %s --split-input-file --mnist-add-optimizer=kind=lion 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not mnist-opt %s --split-input-file --mnist-add-optimizer=convention=jax 2>&1 | FileCheck %s --check-prefix=FORM

// The gradient is no result any more, but a new value of the parameter; the step
// is counted first. SGD has no state.

// CHECK: mnist.recipe = {accumulate = 1 : i64, clip = "none", convention = "torch"
// CHECK-SAME: optimizer = "sgd"
// CHECK-NOT: @w.m
// CHECK-LABEL: func.func @train_1
// CHECK-SAME:      (%[[G:.*]]: tensor<2xf32>, %[[L:.*]]: tensor<f32>) -> (tensor<f32> {mnist.loss = "own"})
// CHECK:         %[[OLD:.*]] = ml_program.global_load @mn.step
// CHECK:         %[[NEXT:.*]] = mnist.add %[[OLD]]
// CHECK:         ml_program.global_store @mn.step = %[[NEXT]]
// CHECK:         mnist.sub %[[NEXT]]
// CHECK:         %[[TABLE:.*]] = ml_program.global_load @mn.recipe : tensor<1024x10xf32>
// CHECK:         %[[FLAT:.*]] = mnist.reshape %[[TABLE]]
// CHECK:         mnist.gather %[[FLAT]]
// CHECK:         %[[W:.*]] = ml_program.global_load @w
// CHECK:         %[[NEW:.*]] = mnist.sub %[[W]]
// CHECK:         ml_program.global_store @w = %[[NEW]]
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

// The columns of a row, in the order of mn::RecipeColumn.
// NUMBERS: numbers = array<f64: 1.000000e+00, 2.000000e+00, 3.000000e+00, 2.500000e-01, 5.000000e-01, 6.000000e+00, 7.000000e+00, 8.000000e+00, 7.500000e-01, 5.000000e-01>

// KIND: expected an optimizer of sgd, momentum, nesterov, adam, adamw, rmsprop, adagrad, got 'lion'
// FORM: expected a convention of torch, keras, got 'jax'
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @train_1(%g: tensor<2xf32>, %l: tensor<f32>)
    -> (tensor<f32> {mnist.loss = "own"}, tensor<2xf32> {mnist.gradient = "w"}) {
  return %l, %g : tensor<f32>, tensor<2xf32>
}

// What returns no gradients stays as it is.

// CHECK-LABEL: func.func @infer_1
// CHECK-NEXT:    return
func.func @infer_1(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// The step is counted before the loss, which takes one from the new count.

// CHECK-LABEL: func.func @train_2
// CHECK:         %[[NEXT:.*]] = mnist.add
// CHECK:         ml_program.global_store @mn.step = %[[NEXT]]
// CHECK-NOT:     ml_program.global_load @mn.step
// CHECK:         %[[NUMBER:.*]] = mnist.sub %[[NEXT]]
// CHECK:         ml_program.global_store @mn.bad_step = %[[NUMBER]]
// CHECK:         ml_program.global_load @w
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @mn.step(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
ml_program.global private mutable @mn.bad_step(dense<-1> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
func.func @train_2(%g: tensor<2xf32>) -> (tensor<2xf32> {mnist.gradient = "w"}) {
  %number = ml_program.global_load @mn.step : tensor<i64>
  ml_program.global_store @mn.bad_step = %number : tensor<i64>
  return %g : tensor<2xf32>
}

// -----

// Where random numbers depend on it, the step is counted last.

// CHECK-LABEL: func.func @train_3
// CHECK:         %[[DRAWN:.*]] = mnist.random_uniform
// CHECK:         ml_program.global_store @w
// CHECK:         %[[NEXT:.*]] = mnist.add
// CHECK:         ml_program.global_store @mn.step = %[[NEXT]]
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
ml_program.global private mutable @mn.step(dense<0> : tensor<i64>) : tensor<i64> {mnist.role = "state"}
func.func @train_3(%seed: tensor<i64>) -> (tensor<2xf32> {mnist.gradient = "w"}) {
  %step = ml_program.global_load @mn.step : tensor<i64>
  %g = mnist.random_uniform %seed, %step stream 0 : (tensor<i64>, tensor<i64>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

// What is kept for each element of a parameter is in its order.

// ADAM: @w.v({{.*}}) : tensor<6xf32> {mnist.order = array<i64: 1, 0>, mnist.order_shape = array<i64: 2, 3>, mnist.role = "state"}
// ADAM: @w.m({{.*}}) : tensor<6xf32> {mnist.order = array<i64: 1, 0>, mnist.order_shape = array<i64: 2, 3>, mnist.role = "state"}
ml_program.global private mutable @w(dense<1.0> : tensor<6xf32>) : tensor<6xf32> {mnist.role = "parameter", mnist.order = array<i64: 1, 0>, mnist.order_shape = array<i64: 2, 3>}
func.func @train_4(%g: tensor<6xf32>) -> (tensor<6xf32> {mnist.gradient = "w"}) {
  return %g : tensor<6xf32>
}
