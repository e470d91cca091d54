// RUN: mnist-opt %s --mnist-mask-by-dropout | FileCheck %s

// What the dropout gave says where the relu's result was above 0 and kept.

// CHECK-LABEL: func.func @relu
// CHECK:         mnist.random_uniform
// CHECK:         %[[K:.*]] = mnist.select
// CHECK-NEXT:    %[[D:.*]] = mnist.mul %[[K]], %{{.*}}
// CHECK-NEXT:    %[[G:.*]] = mnist.mul %arg1, %{{.*}}
// CHECK-NEXT:    %[[C:.*]] = mnist.compare gt %[[D]], %{{.*}}
// CHECK:         %[[S:.*]] = mnist.select %[[C]], %[[G]], %{{.*}}
// CHECK:         return %[[D]], %[[S]]
func.func @relu(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<4x8xf32>
  %ratio = mnist.constant dense<0.5> : tensor<4x8xf32>
  %scale = mnist.constant dense<2.0> : tensor<4x8xf32>
  %y = mnist.relu %x : tensor<4x8xf32>
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4x8xf32>
  %keep = mnist.compare ge %u, %ratio : tensor<4x8xf32> -> tensor<4x8xi1>
  %kept = mnist.select %keep, %y, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %d = mnist.mul %kept, %scale : tensor<4x8xf32>
  %scaled = mnist.mul %dy, %scale : tensor<4x8xf32>
  %g = mnist.select %keep, %scaled, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %positive = mnist.compare gt %y, %zero : tensor<4x8xf32> -> tensor<4x8xi1>
  %dx = mnist.select %positive, %g, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  return %d, %dx : tensor<4x8xf32>, tensor<4x8xf32>
}

// In another shape.

// CHECK-LABEL: func.func @flattened
// CHECK:         %[[K:.*]] = mnist.select
// CHECK-NEXT:    %[[D:.*]] = mnist.mul %[[K]], %{{.*}}
// CHECK-NEXT:    %[[G:.*]] = mnist.mul %arg1, %{{.*}} : tensor<2x12xf32>
// CHECK:         %[[R:.*]] = mnist.reshape %[[G]] : tensor<2x12xf32> -> tensor<2x3x4xf32>
// CHECK:         %[[DR:.*]] = mnist.reshape %[[D]] : tensor<2x12xf32> -> tensor<2x3x4xf32>
// CHECK:         %[[C:.*]] = mnist.compare gt %[[DR]], %{{.*}}
// CHECK:         mnist.select %[[C]], %[[R]], %{{.*}}
func.func @flattened(%y: tensor<2x3x4xf32>, %dy: tensor<2x12xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<2x12xf32>, tensor<2x3x4xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<2x12xf32>
  %zeros = mnist.constant dense<0.0> : tensor<2x3x4xf32>
  %ratio = mnist.constant dense<0.5> : tensor<2x12xf32>
  %scale = mnist.constant dense<2.0> : tensor<2x12xf32>
  %flat = mnist.reshape %y : tensor<2x3x4xf32> -> tensor<2x12xf32>
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<2x12xf32>
  %keep = mnist.compare ge %u, %ratio : tensor<2x12xf32> -> tensor<2x12xi1>
  %kept = mnist.select %keep, %flat, %zero : tensor<2x12xi1>, tensor<2x12xf32>
  %d = mnist.mul %kept, %scale : tensor<2x12xf32>
  %scaled = mnist.mul %dy, %scale : tensor<2x12xf32>
  %g = mnist.select %keep, %scaled, %zero : tensor<2x12xi1>, tensor<2x12xf32>
  %back = mnist.reshape %g : tensor<2x12xf32> -> tensor<2x3x4xf32>
  %positive = mnist.compare gt %y, %zeros : tensor<2x3x4xf32> -> tensor<2x3x4xi1>
  %dx = mnist.select %positive, %back, %zeros : tensor<2x3x4xi1>, tensor<2x3x4xf32>
  return %d, %dx : tensor<2x12xf32>, tensor<2x3x4xf32>
}

// A factor below 1 may make 0 of a small number; another mask keeps other
// elements; what was 0 or less may have a gradient.

// CHECK-LABEL: func.func @scaledDown
// CHECK:         mnist.compare gt %arg0, %{{.*}}
// CHECK-LABEL: func.func @otherMask
// CHECK:         mnist.compare gt %arg0, %{{.*}}
// CHECK-LABEL: func.func @notBelow
// CHECK:         mnist.compare ge %arg0, %{{.*}}
func.func @scaledDown(%y: tensor<4xf32>, %dy: tensor<4xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<4xf32>
  %half = mnist.constant dense<0.5> : tensor<4xf32>
  %two = mnist.constant dense<2.0> : tensor<4xf32>
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %keep = mnist.compare ge %u, %half : tensor<4xf32> -> tensor<4xi1>
  %kept = mnist.select %keep, %y, %zero : tensor<4xi1>, tensor<4xf32>
  %d = mnist.mul %kept, %half : tensor<4xf32>
  %scaled = mnist.mul %dy, %half : tensor<4xf32>
  %g = mnist.select %keep, %scaled, %zero : tensor<4xi1>, tensor<4xf32>
  %positive = mnist.compare gt %y, %zero : tensor<4xf32> -> tensor<4xi1>
  %dx = mnist.select %positive, %g, %zero : tensor<4xi1>, tensor<4xf32>
  return %d, %dx : tensor<4xf32>, tensor<4xf32>
}
func.func @otherMask(%y: tensor<4xf32>, %dy: tensor<4xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<4xf32>
  %half = mnist.constant dense<0.5> : tensor<4xf32>
  %two = mnist.constant dense<2.0> : tensor<4xf32>
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %keep = mnist.compare ge %u, %half : tensor<4xf32> -> tensor<4xi1>
  %other = mnist.compare lt %u, %half : tensor<4xf32> -> tensor<4xi1>
  %kept = mnist.select %keep, %y, %zero : tensor<4xi1>, tensor<4xf32>
  %d = mnist.mul %kept, %two : tensor<4xf32>
  %scaled = mnist.mul %dy, %two : tensor<4xf32>
  %g = mnist.select %other, %scaled, %zero : tensor<4xi1>, tensor<4xf32>
  %positive = mnist.compare gt %y, %zero : tensor<4xf32> -> tensor<4xi1>
  %dx = mnist.select %positive, %g, %zero : tensor<4xi1>, tensor<4xf32>
  return %d, %dx : tensor<4xf32>, tensor<4xf32>
}
func.func @notBelow(%y: tensor<4xf32>, %dy: tensor<4xf32>, %seed: tensor<i64>, %step: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = mnist.constant dense<0.0> : tensor<4xf32>
  %half = mnist.constant dense<0.5> : tensor<4xf32>
  %two = mnist.constant dense<2.0> : tensor<4xf32>
  %u = mnist.random_uniform %seed, %step stream 1 : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
  %keep = mnist.compare ge %u, %half : tensor<4xf32> -> tensor<4xi1>
  %kept = mnist.select %keep, %y, %zero : tensor<4xi1>, tensor<4xf32>
  %d = mnist.mul %kept, %two : tensor<4xf32>
  %scaled = mnist.mul %dy, %two : tensor<4xf32>
  %g = mnist.select %keep, %scaled, %zero : tensor<4xi1>, tensor<4xf32>
  %positive = mnist.compare ge %y, %zero : tensor<4xf32> -> tensor<4xi1>
  %dx = mnist.select %positive, %g, %zero : tensor<4xi1>, tensor<4xf32>
  return %d, %dx : tensor<4xf32>, tensor<4xf32>
}
