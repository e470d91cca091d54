// The gradients of an attention: those of values, keys and queries are computed
// by other warps at the same time, though the one of the values could be first.
// RUN: mnist-opt %s --plan-form-rows --plan-form-steps --plan-select-implementations --plan-choose-schedules \
// RUN:   --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// What products read is brought first, beside the map.

// CHECK:      _chain = mn::Chain<{{.*}}_blocks, mn::BringLink<60, 80>,
// CHECK-NEXT:   mn::Beside<mn::BringLink<60, 416>>,
// CHECK-NEXT:   mn::Beside<mn::BringLink<60, 496>>,
// CHECK-NEXT:   mn::Beside<mn::BringLink<100, 576>>,
// CHECK-NEXT:   mn::Beside<mn::HeldLink<mn::MapLink<{{.*}}, 15>, mn::Held<0, 60, 0>>>,
// CHECK-NEXT:   mn::HeldLink<mn::MatmulLink<float, {{.*}}, weights_grad_shape>, mn::Held<0, 100, 160>, mn::Held<1, 60, 0>, mn::Held<2, 60, 80>>,
// CHECK-NEXT:   mn::HeldLink<mn::RowsLink<{{.*}}>, mn::Held<0, 100, 288>, mn::Held<1, 100, 160>, mn::Held<2, 100, 576>>,
// CHECK-NEXT:   mn::HeldLink<mn::MatmulLink<float, {{.*}}, queries_grad_shape>, mn::Held<1, 100, 288>, mn::Held<2, 60, 416>>,
// CHECK-NEXT:   mn::Beside<mn::HeldLink<mn::MatmulLink<float, {{.*}}, keys_grad_shape>, mn::Held<1, 100, 288>, mn::Held<2, 60, 496>>>,
// CHECK-NEXT:   mn::Beside<mn::HeldLink<mn::MatmulLink<float, {{.*}}, values_grad_shape>, mn::Held<1, 100, 576>, mn::Held<2, 60, 0>>>>;
func.func @train(%q: tensor<8x5x3xf32>, %k: tensor<8x5x3xf32>, %v: tensor<8x5x3xf32>, %p: tensor<8x5x5xf32>, %y: tensor<2x5x4x3xf32>) -> (tensor<8x5x3xf32>, tensor<8x5x3xf32>, tensor<8x5x3xf32>) {
  %h = mnist.transpose %y perm [0, 2, 1, 3] : tensor<2x5x4x3xf32> -> tensor<2x4x5x3xf32>
  %g = mnist.reshape %h : tensor<2x4x5x3xf32> -> tensor<8x5x3xf32> loc("heads")
  %0 = mnist.matmul %g, %v transposed [false, true] : (tensor<8x5x3xf32>, tensor<8x5x3xf32>) -> tensor<8x5x5xf32> loc("weights_grad")
  %dv = mnist.matmul %p, %g transposed [true, false] : (tensor<8x5x5xf32>, tensor<8x5x3xf32>) -> tensor<8x5x3xf32> loc("values_grad")
  %1 = mnist.mul %0, %p : tensor<8x5x5xf32>
  %2 = mnist.reduce_sum %1 over [2] : tensor<8x5x5xf32> -> tensor<8x5xf32>
  %3 = mnist.broadcast %2 along [0, 1] : tensor<8x5xf32> -> tensor<8x5x5xf32>
  %4 = mnist.sub %0, %3 : tensor<8x5x5xf32>
  %5 = mnist.mul %4, %p : tensor<8x5x5xf32> loc("scores_grad")
  %dq = mnist.matmul %5, %k : (tensor<8x5x5xf32>, tensor<8x5x3xf32>) -> tensor<8x5x3xf32> loc("queries_grad")
  %dk = mnist.matmul %5, %q transposed [true, false] : (tensor<8x5x5xf32>, tensor<8x5x3xf32>) -> tensor<8x5x3xf32> loc("keys_grad")
  return %dq, %dk, %dv : tensor<8x5x3xf32>, tensor<8x5x3xf32>, tensor<8x5x3xf32>
}
