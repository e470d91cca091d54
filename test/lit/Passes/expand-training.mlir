// RUN: mnist-opt %s --split-input-file --verify-diagnostics --mnist-expand-training --cse | FileCheck %s

// The statistics are the batch's, and the running ones move towards them.

// CHECK: module attributes {mnist.partial = "dropped"}
// CHECK-LABEL: func.func @train_4
// CHECK-SAME:      (%[[X:.*]]: tensor<4x2xf32>, 
// CHECK-DAG:     %[[MEAN:.*]] = ml_program.global_load @mean
// CHECK-DAG:     %[[COUNT:.*]] = mnist.constant dense<4.000000e+00>
// CHECK:         %[[SUM:.*]] = mnist.reduce_sum %[[X]] over [0]
// CHECK:         %[[M:.*]] = mnist.div %[[SUM]], %[[COUNT]]
// CHECK:         %[[MX:.*]] = mnist.broadcast %[[M]] along [1]
// CHECK:         %[[C:.*]] = mnist.sub %[[X]], %[[MX]]
// CHECK:         %[[CC:.*]] = mnist.mul %[[C]], %[[C]]
// CHECK:         mnist.reduce_sum %[[CC]] over [0]
// CHECK:         mnist.sqrt
// CHECK:         %[[KEEP:.*]] = mnist.constant dense<8.000000e-01>
// CHECK:         %[[OLD:.*]] = mnist.mul %[[KEEP]], %[[MEAN]]
// CHECK:         %[[TAKE:.*]] = mnist.constant dense<2.000000e-01>
// CHECK:         %[[NEW:.*]] = mnist.mul %[[TAKE]], %[[M]]
// CHECK:         %[[BOTH:.*]] = mnist.add %[[OLD]], %[[NEW]]
// CHECK:         ml_program.global_store @mean = %[[BOTH]]
// CHECK:         ml_program.global_store @variance
ml_program.global private mutable @mean(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
ml_program.global private mutable @variance(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
func.func @train_4(%x: tensor<4x2xf32>, %w: tensor<2xf32>) -> tensor<4x2xf32> {
  %m = ml_program.global_load @mean : tensor<2xf32>
  %v = ml_program.global_load @variance : tensor<2xf32>
  %y = mnist.batch_norm %x, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 8.000000e-01
      : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// Elsewhere the running ones count.

// CHECK-LABEL: func.func @eval_4
// CHECK:         mnist.batch_norm
// CHECK-NEXT:    return
func.func @eval_4(%x: tensor<4x2xf32>, %w: tensor<2xf32>) -> tensor<4x2xf32> {
  %m = ml_program.global_load @mean : tensor<2xf32>
  %v = ml_program.global_load @variance : tensor<2xf32>
  %y = mnist.batch_norm %x, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 9.000000e-01
      : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Statistics of two nodes go through both, in the order of these: first through
// what reads %y.

// CHECK-LABEL: func.func @train_4
// CHECK-SAME:      (%[[X:.*]]: tensor<4x2xf32>, %[[Y:.*]]: tensor<4x2xf32>, 
// CHECK:         %[[MEAN:.*]] = ml_program.global_load @mean
// CHECK:         %[[COUNT:.*]] = mnist.constant dense<4.000000e+00>
// CHECK:         %[[SX:.*]] = mnist.reduce_sum %[[X]] over [0]
// CHECK:         %[[MX:.*]] = mnist.div %[[SX]], %[[COUNT]]
// CHECK:         %[[SY:.*]] = mnist.reduce_sum %[[Y]] over [0]
// CHECK:         %[[MY:.*]] = mnist.div %[[SY]], %[[COUNT]]
// CHECK-NOT:     global_store
// CHECK:         %[[KEPT:.*]] = mnist.mul {{.*}}, %[[MEAN]]
// CHECK:         %[[OF_Y:.*]] = mnist.mul {{.*}}, %[[MY]]
// CHECK:         %[[FIRST:.*]] = mnist.add %[[KEPT]], %[[OF_Y]]
// CHECK:         %[[AGAIN:.*]] = mnist.mul {{.*}}, %[[FIRST]]
// CHECK:         %[[OF_X:.*]] = mnist.mul {{.*}}, %[[MX]]
// CHECK:         %[[LAST:.*]] = mnist.add %[[AGAIN]], %[[OF_X]]
// CHECK:         ml_program.global_store @mean = %[[LAST]]
// CHECK-NEXT:    ml_program.global_store @variance
// CHECK-NEXT:    return
ml_program.global private mutable @mean(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
ml_program.global private mutable @variance(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
func.func @train_4(%x: tensor<4x2xf32>, %y: tensor<4x2xf32>, %w: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %m = ml_program.global_load @mean : tensor<2xf32>
  %v = ml_program.global_load @variance : tensor<2xf32>
  %0 = mnist.batch_norm %x, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 8.000000e-01 {mnist.number = 7 : i64}
      : tensor<4x2xf32>, tensor<2xf32>
  %1 = mnist.batch_norm %y, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 8.000000e-01 {mnist.number = 3 : i64}
      : tensor<4x2xf32>, tensor<2xf32>
  return %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
}

// -----

// Frozen statistics are constants; a batch need not be full.

// CHECK: module {
// CHECK-LABEL: func.func @train_4
// CHECK:         mnist.batch_norm
func.func @train_4(%x: tensor<4x2xf32>, %w: tensor<2xf32>) -> tensor<4x2xf32> {
  %m = mnist.constant dense<0.0> : tensor<2xf32>
  %v = mnist.constant dense<1.0> : tensor<2xf32>
  %y = mnist.batch_norm %x, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 9.000000e-01
      : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// -----

ml_program.global private mutable @mean(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
func.func @train_4(%x: tensor<4x2xf32>, %w: tensor<2xf32>) -> tensor<4x2xf32> {
  %m = ml_program.global_load @mean : tensor<2xf32>
  %v = mnist.constant dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{'mnist.batch_norm' op expected both its mean and its variance to be frozen, or neither}}
  %y = mnist.batch_norm %x, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 9.000000e-01
      : tensor<4x2xf32>, tensor<2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Each dropout has its own random numbers, by seed and step.

// CHECK-LABEL: func.func @train_1
// CHECK-SAME:      (%[[X:.*]]: tensor<8xf32>)
// CHECK-DAG:     %[[SEED:.*]] = ml_program.global_load @mn.seed
// CHECK-DAG:     %[[STEP:.*]] = ml_program.global_load @mn.step
// CHECK:         %[[U:.*]] = mnist.random_uniform %[[SEED]], %[[STEP]] stream 1
// CHECK:         %[[RATIO:.*]] = mnist.constant dense<2.500000e-01>
// CHECK:         %[[KEPT:.*]] = mnist.compare ge %[[U]], %[[RATIO]]
// CHECK:         %[[ZERO:.*]] = mnist.constant dense<0.0
// CHECK:         %[[SELECTED:.*]] = mnist.select %[[KEPT]], %[[X]], %[[ZERO]]
// CHECK:         %[[SCALE:.*]] = mnist.constant dense<1.33333337>
// CHECK:         mnist.mul %[[SELECTED]], %[[SCALE]]
// CHECK:         mnist.random_uniform %{{.*}}, %{{.*}} stream 2
func.func @train_1(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = mnist.dropout %x ratio 2.500000e-01 : tensor<8xf32>
  %z = mnist.dropout %y ratio 5.000000e-01 : tensor<8xf32>
  return %z : tensor<8xf32>
}
