// RUN: mnist-opt %s --split-input-file --mnist-add-loss --canonicalize --cse | FileCheck %s
// RUN: mnist-opt %s --split-input-file "--mnist-add-loss=kind=mse targets=values" --canonicalize --cse | FileCheck %s --check-prefix=MSE
// RUN: mnist-opt %s --split-input-file "--mnist-add-loss=kind=nll smoothing=0.1" --canonicalize --cse | FileCheck %s --check-prefix=NLL
// RUN: mnist-opt %s --split-input-file "--mnist-add-loss=class-weights=1,2,0.5 data-parallel=true" --canonicalize --cse | FileCheck %s --check-prefix=WEIGHED
// RUN: mnist-opt %s --split-input-file "--mnist-add-loss=accumulate=2" --canonicalize --cse | FileCheck %s --check-prefix=PARTS
// RUN: not mnist-opt %s --split-input-file "--mnist-add-loss=accumulate=2 class-weights=1" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not mnist-opt %s --split-input-file --mnist-add-loss=kind=hinge 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not mnist-opt %s --split-input-file --mnist-add-loss=smoothing=2 2>&1 | FileCheck %s --check-prefix=SMOOTHING
// RUN: not mnist-opt %s --split-input-file --mnist-add-loss=targets=rows 2>&1 | FileCheck %s --check-prefix=TARGETS

// Behind a softmax the loss is computed on its operand; rows from mn.valid on do
// not count. The function that infers stays.

// CHECK: module attributes {mnist.loss = "cross-entropy on the logits, input of 'softmax'", mnist.targets = "class"}
// CHECK-LABEL: func.func @infer_4
// CHECK-NEXT:    mnist.softmax
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @train_4
// CHECK-SAME:      (%[[X:.*]]: tensor<4x3xf32> {mnist.name = "x"}, %[[LABELS:.*]]: tensor<4xi32> {mnist.name = "mn.labels"}, %[[VALID:.*]]: tensor<i32> {mnist.name = "mn.valid"})
// CHECK-SAME:      mnist.name = "mn.loss"
// CHECK:         %[[P:.*]] = mnist.log_softmax %[[X]] dim 1
// CHECK:         %[[COST:.*]] = mnist.neg %[[P]]
// CHECK:         %[[CLASS:.*]] = mnist.broadcast %[[LABELS]] along [0]
// CHECK:         %[[IS:.*]] = mnist.compare eq %{{.*}}, %[[CLASS]]
// CHECK:         %[[CHOSEN:.*]] = mnist.select %[[IS]], %[[COST]]
// CHECK:         %[[ROWS:.*]] = mnist.broadcast %[[VALID]] along []
// CHECK:         %[[USED:.*]] = mnist.compare lt %{{.*}}, %[[ROWS]]
// CHECK:         %[[COUNTED:.*]] = mnist.select %[[USED]], %[[CHOSEN]]
// CHECK:         %[[SUM:.*]] = mnist.reduce_sum %[[COUNTED]] over [0, 1]
// CHECK:         %[[COUNT:.*]] = mnist.cast %[[VALID]]
// CHECK:         %[[LOSS:.*]] = mnist.div %[[SUM]], %[[COUNT]]
// CHECK:         mnist.arg_max %[[X]] over 1
// CHECK-DAG:     ml_program.global_store @mn.loss_sum
// CHECK-DAG:     ml_program.global_store @mn.correct
// CHECK-DAG:     ml_program.global_store @mn.seen
// CHECK-DAG:     ml_program.global_store @mn.bad_step
// CHECK-DAG:     ml_program.global_store @mn.batch
// CHECK:         return %[[LOSS]]
// CHECK-LABEL: func.func @eval_4

// Weights of classes are a state. The mean is over those of the labels that
// count, of all ranks; what evaluates does not weigh.

// WEIGHED: mnist.loss = "cross-entropy on the logits, input of 'softmax', weighted by class"
// WEIGHED: ml_program.global private mutable @mn.class_weights(dense<[1.000000e+00, 2.000000e+00, 5.000000e-01]> : tensor<3xf32>)
// WEIGHED-LABEL: func.func @train_4
// WEIGHED-SAME:    %[[LABELS:[a-z0-9]*]]: tensor<4xi32>
// WEIGHED-DAG:   %[[W:.*]] = ml_program.global_load @mn.class_weights
// WEIGHED-DAG:   %[[EACH:.*]] = mnist.gather %[[W]], %[[LABELS]] dim 0
// WEIGHED:       %[[COUNTED:.*]] = mnist.select %{{.*}}, %[[EACH]]
// WEIGHED:       %[[OWN:.*]] = mnist.reduce_sum %[[COUNTED]] over [0]
// WEIGHED:       %[[ALL:.*]] = mnist.all_reduce %[[OWN]]
// WEIGHED:       %[[TOTAL:.*]] = mnist.max %[[ALL]]
// WEIGHED:       %[[CLASS:.*]] = mnist.broadcast %[[W]] along [1]
// WEIGHED:       mnist.mul %{{.*}}, %[[CLASS]]
// WEIGHED:       mnist.div %{{.*}}, %[[TOTAL]]
// WEIGHED-LABEL: func.func @eval_4
// WEIGHED-NOT:   mnist.gather

// Of several batches of an update each has a share of the mean; what evaluates
// has one.

// PARTS-LABEL: func.func @train_4
// PARTS-SAME:    %[[ALL:[a-z0-9]*]]: tensor<i32> {mnist.name = "mn.global_valid"}
// PARTS:         %[[TOTAL:.*]] = mnist.cast %[[ALL]] : tensor<i32> -> tensor<f32>
// PARTS:         mnist.div %{{.*}}, %[[TOTAL]]
// PARTS-LABEL: func.func @eval_4
// PARTS-NOT:     mn.global_valid
// BOTH: expected no class weights where an update has several batches

// Values have the shape of the output; the mean is over rows and elements.

// MSE-LABEL: func.func @train_4
// MSE-SAME:      (%{{.*}}: tensor<4x3xf32> {mnist.name = "x"}, %[[T:.*]]: tensor<4x3xf32> {mnist.name = "mn.labels"}
// MSE:         %[[P:.*]] = mnist.softmax
// MSE:         %[[D:.*]] = mnist.sub %[[P]], %[[T]]
// MSE:         mnist.mul %[[D]], %[[D]]

// NLL-LABEL: func.func @train_4
// NLL:         %[[P:.*]] = mnist.softmax
// NLL:         mnist.neg %[[P]]

// KIND: expected a loss of auto, cross-entropy, nll, mse, l1, bce or bce-logits, got 'hinge'
// SMOOTHING: expected a smoothing from 0 to 1, got 2
// TARGETS: expected targets of auto, class or values, got 'rows'
func.func @infer_4(%x: tensor<4x3xf32> {mnist.name = "x"}) -> (tensor<4x3xf32> {mnist.name = "y"}) {
  %y = mnist.softmax %x dim 1 : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
