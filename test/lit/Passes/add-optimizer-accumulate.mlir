// RUN: mnist-opt %s "--mnist-add-optimizer=kind=momentum accumulate=3 clipping=value" --cse | FileCheck %s
// RUN: mnist-opt %s --mnist-add-optimizer=kind=momentum --cse | FileCheck %s --check-prefix=NONE

// The batch with the last of an update's rows is the last one: the count of
// batches begins again, that of steps goes on, and the sum of the gradients, which
// is what is clipped, makes new values. Until then the old ones stay.

// CHECK: mnist.recipe = {accumulate = 3 : i64
// CHECK-LABEL: func.func @train_4
// CHECK-SAME:    %[[ALL:[a-z0-9]*]]: tensor<i32> {mnist.name = "mn.global_valid"}, %[[G:[a-z0-9]*]]: tensor<2xf32>
// CHECK:         %[[STEP:.*]] = ml_program.global_load @mn.step
// CHECK:         %[[PART:.*]] = ml_program.global_load @mn.part
// CHECK:         %[[NEXT:.*]] = mnist.add %[[PART]]
// CHECK:         %[[ROWS:.*]] = mnist.mul %[[NEXT]]
// CHECK:         %[[WANTED:.*]] = mnist.cast %[[ALL]]
// CHECK:         %[[GOES_ON:.*]] = mnist.compare lt %[[ROWS]], %[[WANTED]]
// CHECK:         %[[COUNT:.*]] = mnist.select %[[GOES_ON]], %[[NEXT]]
// CHECK:         ml_program.global_store @mn.part = %[[COUNT]]
// CHECK:         %[[LAST:.*]] = mnist.compare eq %[[COUNT]]
// CHECK:         %[[ONE:.*]] = mnist.cast %[[LAST]]
// CHECK:         mnist.add %[[STEP]], %[[ONE]]
// CHECK:         %[[OLD:.*]] = ml_program.global_load @w.sum
// CHECK:         %[[SUM:.*]] = mnist.add %[[OLD]], %[[G]]
// CHECK:         %[[UPDATES:.*]] = mnist.broadcast %[[LAST]] along []
// CHECK:         %[[REST:.*]] = mnist.select %[[UPDATES]], %{{.*}}, %[[SUM]]
// CHECK:         ml_program.global_store @w.sum = %[[REST]]
// CHECK:         mnist.min %[[SUM]]
// CHECK:         %[[W:.*]] = ml_program.global_load @w :
// CHECK:         %[[V:.*]] = ml_program.global_load @w.momentum
// CHECK:         %[[KEPT:.*]] = mnist.select %[[UPDATES]], %{{.*}}, %[[V]]
// CHECK:         ml_program.global_store @w.momentum = %[[KEPT]]
// CHECK:         %[[NEW:.*]] = mnist.select %[[UPDATES]], %{{.*}}, %[[W]]
// CHECK:         ml_program.global_store @w = %[[NEW]]
// NONE-NOT: w.sum
// NONE-NOT: mn.part

ml_program.global private mutable @w(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}

func.func @train_4(%x: tensor<4x2xf32> {mnist.name = "x"}, %labels: tensor<4xi32> {mnist.name = "mn.labels"}, %valid: tensor<i32> {mnist.name = "mn.valid"}, %all: tensor<i32> {mnist.name = "mn.global_valid"}, %g: tensor<2xf32>) -> (tensor<2xf32> {mnist.gradient = "w"}) {
  return %g : tensor<2xf32>
}
