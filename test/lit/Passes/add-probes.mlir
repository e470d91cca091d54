// RUN: mnist-opt %s --split-input-file --mnist-add-probes | FileCheck %s

// Each operand that depends on a parameter gets its own probe; a parameter
// that is read once is one already.

// CHECK-DAG: @w({{.*}}) : tensor<2xf32> {mnist.downstream = ["probe.y", "probe.y.2"], mnist.reader = "mul of node 'first' (Mul)", mnist.role = "parameter"}
// CHECK-DAG: @probe.y(dense<0.000000e+00> : tensor<2xf32>) : tensor<2xf32> {mnist.downstream = ["probe.z"], mnist.reader = "mul of node 'second' (Mul)", mnist.role = "parameter"}
// CHECK-DAG: @probe.y.2({{.*}}) : tensor<2xf32> {mnist.downstream = ["probe.z"], mnist.reader = "mul of node 'second' (Mul)", mnist.role = "parameter"}
// CHECK-DAG: @probe.z({{.*}}) : tensor<2xf32> {mnist.downstream = [], mnist.reader = "reduce_sum of the loss", mnist.role = "parameter"}
// CHECK-LABEL: func.func @train_1
// CHECK:         %[[Y:.*]] = mnist.mul %{{.*}}, %w
// CHECK-NEXT:    %[[P1:.*]] = ml_program.global_load @probe.y :
// CHECK-NEXT:    %[[Y1:.*]] = mnist.add %[[Y]], %[[P1]]
// CHECK-NEXT:    %[[P2:.*]] = ml_program.global_load @probe.y.2 :
// CHECK-NEXT:    %[[Y2:.*]] = mnist.add %[[Y]], %[[P2]]
// CHECK-NEXT:    %[[Z:.*]] = mnist.mul %[[Y1]], %[[Y2]]
// CHECK-NEXT:    %[[PZ:.*]] = ml_program.global_load @probe.z
// CHECK-NEXT:    %[[SUM:.*]] = mnist.add %[[Z]], %[[PZ]]
// CHECK-NEXT:    mnist.reduce_sum %[[SUM]]
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @train_1(%x : tensor<2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<2xf32>
  %y = mnist.mul %x, %w : tensor<2xf32> loc("y"("first"("Mul")))
  %z = mnist.mul %y, %y : tensor<2xf32> loc("z"("second"("Mul")))
  %l = mnist.reduce_sum %z over [0] : tensor<2xf32> -> tensor<f32> loc("mn.loss")
  return %l : tensor<f32>
}

// -----

// What no parameter changes, and what does not change the loss, has no gradient.

// CHECK-NOT: @probe
// CHECK-LABEL: func.func @train_1
// CHECK-NOT:     @probe
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @train_1(%x : tensor<2xf32>) -> (tensor<f32> {mnist.loss = "own"}) {
  %w = ml_program.global_load @w : tensor<2xf32>
  %aside = mnist.relu %w : tensor<2xf32>
  %y = mnist.relu %x : tensor<2xf32>
  %l = mnist.reduce_sum %y over [0] : tensor<2xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @infer_1
// CHECK-NEXT:    ml_program.global_load @w
// CHECK-NEXT:    mnist.relu
// CHECK-NEXT:    return
ml_program.global private mutable @w(dense<1.0> : tensor<2xf32>) : tensor<2xf32> {mnist.role = "parameter"}
func.func @infer_1() -> tensor<2xf32> {
  %w = ml_program.global_load @w : tensor<2xf32>
  %y = mnist.relu %w : tensor<2xf32>
  return %y : tensor<2xf32>
}
