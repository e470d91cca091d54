// RUN: mnist-opt %s --split-input-file --mnist-differentiate \
// RUN:   | sed 's/{mnist.role = "parameter"}//' \
// RUN:   | mnist-opt --split-input-file --mnist-freeze-parameters --mnist-fold-constants \
// RUN:   | FileCheck %s

// Gradients where the formula without its edge case would be wrong, computed by the compiler from
// constants. The numbers are those of PyTorch.

// Equal operands of a maximum get a half each, of a minimum too.

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[5.000000e-01, 2.000000e+00, 2.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK:         %[[DB:.*]] = mnist.constant dense<[5.000000e-01, 0.000000e+00, 2.000000e+00, 8.000000e+00]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]], %[[DB]]
ml_program.global private mutable @a(dense<[1.0, 2.0, 3.0, 0.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
ml_program.global private mutable @b(dense<[1.0, 0.0, 3.0, 5.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %b = ml_program.global_load @b : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %y = mnist.max %a, %b : tensor<4xf32>
  %m = mnist.mul %y, %c : tensor<4xf32>
  %l = mnist.reduce_sum %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// The other way round.

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[5.000000e-01, 0.000000e+00, 2.000000e+00, 8.000000e+00]> : tensor<4xf32>
// CHECK:         %[[DB:.*]] = mnist.constant dense<[5.000000e-01, 2.000000e+00, 2.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]], %[[DB]]
ml_program.global private mutable @a(dense<[1.0, 2.0, 3.0, 0.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
ml_program.global private mutable @b(dense<[1.0, 0.0, 3.0, 5.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %b = ml_program.global_load @b : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %y = mnist.min %a, %b : tensor<4xf32>
  %m = mnist.mul %y, %c : tensor<4xf32>
  %l = mnist.reduce_sum %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// By one number, a limit, what is inside gets all, what is at it nothing: as
// PyTorch's ReLU6 has it.

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[0.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 1.600000e+01]> : tensor<5xf32>
// CHECK:         return %{{.*}}, %[[DA]]
ml_program.global private mutable @a(dense<[0.0, 3.0, 6.0, -1.0, 5.5]> : tensor<5xf32>) : tensor<5xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<5xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0, 16.0]> : tensor<5xf32>
  %zero = mnist.constant dense<0.0> : tensor<5xf32>
  %six = mnist.constant dense<6.0> : tensor<5xf32>
  %x = mnist.max %a, %zero : tensor<5xf32>
  %y = mnist.min %x, %six : tensor<5xf32>
  %m = mnist.mul %y, %c : tensor<5xf32>
  %l = mnist.reduce_sum %m over [0] : tensor<5xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// An extreme element shares with those that equal it: a c = [8, 8, 4, 8].

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[0.333333343, 0.666666686, 0.000000e+00, 2.66666675]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]]
ml_program.global private mutable @a(dense<[8.0, 4.0, 1.0, 1.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %m = mnist.mul %a, %c : tensor<4xf32>
  %l = mnist.reduce_max %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// a c = [2, 4, 2, 8].

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[5.000000e-01, 0.000000e+00, 2.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]]
ml_program.global private mutable @a(dense<[2.0, 2.0, 0.5, 1.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %m = mnist.mul %a, %c : tensor<4xf32>
  %l = mnist.reduce_min %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// a^0 does not depend on a, 0^b not on b.

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[0.000000e+00, 0.000000e+00, 0.000000e+00, 8.000000e+00]> : tensor<4xf32>
// CHECK:         %[[DB:.*]] = mnist.constant dense<[0.000000e+00, 0.000000e+00, 2.77258873, 26.3666954]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]], %[[DB]]
ml_program.global private mutable @a(dense<[0.0, 0.0, 2.0, 3.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
ml_program.global private mutable @b(dense<[0.0, 2.0, 0.0, 1.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %b = ml_program.global_load @b : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %y = mnist.pow %a, %b : tensor<4xf32>
  %m = mnist.mul %y, %c : tensor<4xf32>
  %l = mnist.reduce_sum %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Nothing flows through 0.

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[0.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]]
ml_program.global private mutable @a(dense<[0.0, -1.0, 1.0, -0.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %y = mnist.relu %a : tensor<4xf32>
  %m = mnist.mul %y, %c : tensor<4xf32>
  %l = mnist.reduce_sum %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// Nor here.

// CHECK-LABEL: @train_1
// CHECK:         %[[DA:.*]] = mnist.constant dense<[0.000000e+00, -2.000000e+00, 4.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK:         return %{{.*}}, %[[DA]]
ml_program.global private mutable @a(dense<[0.0, -1.0, 1.0, -0.0]> : tensor<4xf32>) : tensor<4xf32> {mnist.role = "parameter"}
func.func @train_1() -> (tensor<f32> {mnist.loss = "own"}) {
  %a = ml_program.global_load @a : tensor<4xf32>
  %c = mnist.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %y = mnist.abs %a : tensor<4xf32>
  %m = mnist.mul %y, %c : tensor<4xf32>
  %l = mnist.reduce_sum %m over [0] : tensor<4xf32> -> tensor<f32>
  return %l : tensor<f32>
}
