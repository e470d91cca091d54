// RUN: mnist-opt %s "--mnist-expand-training=data-parallel=true" --cse | FileCheck %s
// RUN: mnist-opt %s "--mnist-expand-training=data-parallel=true sync-batch-norm=true" --cse | FileCheck %s --check-prefix=SYNC

// RUN: mnist-opt %s "--mnist-expand-training=accumulate=3" --cse | FileCheck %s --check-prefix=PART
// RUN: mnist-opt %s "--mnist-expand-training=accumulate=3 data-parallel=true" --cse | FileCheck %s --check-prefix=BOTH

// Each rank normalizes by its rows; the running statistics get the mean over
// ranks, or with sync-batch-norm both are of all rows.

// CHECK-LABEL: func.func @train_4
// CHECK:         %[[RANKS:.*]] = mnist.cast %{{.*}} : tensor<i64> -> tensor<f32>
// CHECK:         %[[SUM:.*]] = mnist.reduce_sum %{{.*}} over [0]
// CHECK-NEXT:    %[[MEAN:.*]] = mnist.div %[[SUM]]
// CHECK:         %[[ALL:.*]] = mnist.all_reduce %[[MEAN]] : tensor<2xf32>
// CHECK:         mnist.div %[[ALL]]
// CHECK:         ml_program.global_store @mean
// CHECK:         mnist.all_reduce
// CHECK-NOT:     mnist.all_reduce

// SYNC-LABEL: func.func @train_4
// SYNC:         %[[SUM:.*]] = mnist.reduce_sum %{{.*}} over [0]
// SYNC-NEXT:    %[[ALL:.*]] = mnist.all_reduce %[[SUM]]
// SYNC:         mnist.mul
// SYNC:         %[[MEAN:.*]] = mnist.div %[[ALL]]
// SYNC:         mnist.all_reduce
// SYNC-NOT:     mnist.all_reduce

// A row's random numbers are those of its place among the rows of all.

// CHECK:         mnist.random_uniform %{{.*}}, %{{.*}} rank %{{.*}} of %{{.*}} rows 4 stream 1
// CHECK-SAME:    tensor<4x2xf32>

// So are those of a batch that is one of several of an update.

// PART-NOT:     mnist.all_reduce
// PART:         %[[NUMBER:.*]] = ml_program.global_load @mn.part
// PART:         %[[BEFORE:.*]] = mnist.mul %[[NUMBER]]
// PART:         %[[TIMES:.*]] = mnist.mul %[[BEFORE]], %[[ONE:.*]] : tensor<i64>
// PART:         %[[RANK:.*]] = mnist.add %{{.*}}, %[[TIMES]]
// PART:         mnist.random_uniform %{{.*}}, %{{.*}} rank %[[RANK]] of %[[ONE]] rows 4 stream 1
// BOTH:         %[[OWN:.*]] = ml_program.global_load @mn.rank :
// BOTH:         %[[RANKS:.*]] = ml_program.global_load @mn.ranks
// BOTH:         %[[NUMBER:.*]] = ml_program.global_load @mn.part
// BOTH:         %[[BEFORE:.*]] = mnist.mul %[[NUMBER]]
// BOTH:         %[[ALL:.*]] = mnist.mul %[[BEFORE]], %[[RANKS]]
// BOTH:         %[[RANK:.*]] = mnist.add %[[OWN]], %[[ALL]]
// BOTH:         mnist.random_uniform %{{.*}}, %{{.*}} rank %[[RANK]] of %[[RANKS]] rows 4 stream 1
ml_program.global private mutable @mean(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
ml_program.global private mutable @variance(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "buffer"}
func.func @train_4(%x: tensor<4x2xf32>, %w: tensor<2xf32>) -> tensor<4x2xf32> {
  %m = ml_program.global_load @mean : tensor<2xf32>
  %v = ml_program.global_load @variance : tensor<2xf32>
  %y = mnist.batch_norm %x, %w, %w, %m, %v dim 1 epsilon 1.000000e-05 momentum 8.000000e-01
      : tensor<4x2xf32>, tensor<2xf32>
  %z = mnist.dropout %y ratio 5.000000e-01 : tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}
