// RUN: mnist-opt %s --plan-assign-memory --plan-check-steps --mlir-print-debuginfo -o %t.mlir
// RUN: mnistc %t.mlir --emit=source --target=cuda -o %t.cpp
// RUN: FileCheck %s < %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fopenmp -fsyntax-only -DMN_TARGET_CPU -I%root/runtime/include %t.cpp
// RUN: g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -DMN_TARGET_CUDA -I%root/runtime/include %t.cpp

// What is adjacent in an operand and not in the result is computed in the order
// of the operand, a tile at a time, and what follows in that of the result.

// CHECK-LABEL: namespace last {
// CHECK:      struct Y {
// CHECK:        static constexpr mn::MatrixSides matrices{784, 32};
// CHECK-NEXT:   struct TransposedValues {
// CHECK-NEXT:     float transposed;
// CHECK-NEXT:   };
// CHECK-NEXT:   MN_FN TransposedValues transposed(mn::Index matrix, mn::Offset row,
// CHECK-NEXT:                                     mn::Index column) const {
// CHECK-NEXT:     return {-x[matrix * 25088 + column * 784 + row]};
// CHECK-NEXT:   }
// CHECK-NEXT:   struct ElementValues {
// CHECK-NEXT:     float z;
// CHECK-NEXT:   };
// CHECK-NEXT:   MN_FN ElementValues load(mn::Offset place) const { return {z[place]}; }
// CHECK-NEXT:   struct StoredValues {
// CHECK-NEXT:     float y;
// CHECK-NEXT:   };
// CHECK-NEXT:   MN_FN StoredValues results(const TransposedValues &t, const ElementValues &e,
// CHECK-NEXT:                              const mn::Neighbour &i) const {
// CHECK-NEXT:     const float sum = t.transposed + e.z + b[i.first / 4 % 8 * 4 + i.number];
// CHECK-NEXT:     return {sum};
// CHECK-NEXT:   }
func.func @last(%x_in: tensor<64x32x28x28xf32> {mnist.name = "x"},
                %z_in: tensor<64x28x28x32xf32> {mnist.name = "z"},
                %b_in: tensor<32xf32> {mnist.name = "b"}) -> tensor<64x28x28x32xf32> {
  %y = plan.step "y" on kernel (%x_in, %z_in, %b_in) {
  ^bb0(%x: tensor<64x32x28x28xf32>, %z: tensor<64x28x28x32xf32>, %b: tensor<32xf32>):
    %0 = mnist.neg %x : tensor<64x32x28x28xf32>
    %1 = mnist.transpose %0 perm [0, 2, 3, 1] : tensor<64x32x28x28xf32> -> tensor<64x28x28x32xf32>
    %2 = mnist.add %1, %z : tensor<64x28x28x32xf32>
    %3 = mnist.broadcast %b along [3] : tensor<32xf32> -> tensor<64x28x28x32xf32>
    %4 = mnist.add %2, %3 : tensor<64x28x28x32xf32>
    plan.yield %4 : tensor<64x28x28x32xf32>
  } : (tensor<64x32x28x28xf32>, tensor<64x28x28x32xf32>, tensor<32xf32>) -> tensor<64x28x28x32xf32> loc("y")
  return %y : tensor<64x28x28x32xf32>
}

// Dimensions of 1 are none, and any others may come before. What is transposed
// is the last dimension with those that stay before it.

// CHECK-LABEL: namespace sides {
// CHECK:      struct A {
// CHECK:        matrices{600, 1200};
// CHECK:      struct B {
// CHECK:        matrices{32768, 32};
// CHECK:      struct C {
// CHECK-NOT:    matrices
// CHECK:      struct D {
// CHECK-NOT:    matrices
// CHECK:      struct E_t {
// CHECK:        matrices{784, 32};
func.func @sides(%a_in: tensor<2x1x600x600xf32> {mnist.name = "x"},
                 %b_in: tensor<32x32x32x32xf32> {mnist.name = "u"},
                 %c_in: tensor<7x256x1024xf32> {mnist.name = "v"},
                 %e_in: tensor<64x32x28x1x28xf32> {mnist.name = "w"})
    -> (tensor<600x600x1x2xf32>, tensor<32x32x32x32xf32>, tensor<256x1024x7xf32>, tensor<256x256xf32>, tensor<64x28x1x28x32xf32>) {
  %a = plan.step "a" on kernel (%a_in) {
  ^bb0(%x: tensor<2x1x600x600xf32>):
    %0 = mnist.transpose %x perm [3, 2, 1, 0] : tensor<2x1x600x600xf32> -> tensor<600x600x1x2xf32>
    plan.yield %0 : tensor<600x600x1x2xf32>
  } : (tensor<2x1x600x600xf32>) -> tensor<600x600x1x2xf32> loc("a")
  %b = plan.step "b" on kernel (%b_in) {
  ^bb0(%x: tensor<32x32x32x32xf32>):
    %0 = mnist.transpose %x perm [1, 2, 3, 0] : tensor<32x32x32x32xf32> -> tensor<32x32x32x32xf32>
    plan.yield %0 : tensor<32x32x32x32xf32>
  } : (tensor<32x32x32x32xf32>) -> tensor<32x32x32x32xf32> loc("b")
  // Seven are too few.
  %c = plan.step "c" on kernel (%c_in) {
  ^bb0(%x: tensor<7x256x1024xf32>):
    %0 = mnist.transpose %x perm [1, 2, 0] : tensor<7x256x1024xf32> -> tensor<256x1024x7xf32>
    plan.yield %0 : tensor<256x1024x7xf32>
  } : (tensor<7x256x1024xf32>) -> tensor<256x1024x7xf32> loc("c")
  // Of what is small each thread has one element.
  %d = plan.step "d" on kernel (%c_in) {
  ^bb0(%x: tensor<7x256x1024xf32>):
    %0 = mnist.slice %x starts [0, 0, 0] steps [1, 1, 1] : tensor<7x256x1024xf32> -> tensor<1x256x256xf32>
    %1 = mnist.reshape %0 : tensor<1x256x256xf32> -> tensor<256x256xf32>
    %2 = mnist.transpose %1 perm [1, 0] : tensor<256x256xf32> -> tensor<256x256xf32>
    plan.yield %2 : tensor<256x256xf32>
  } : (tensor<7x256x1024xf32>) -> tensor<256x256xf32> loc("d")
  %e = plan.step "e" on kernel (%e_in) {
  ^bb0(%x: tensor<64x32x28x1x28xf32>):
    %0 = mnist.transpose %x perm [0, 2, 3, 4, 1] : tensor<64x32x28x1x28xf32> -> tensor<64x28x1x28x32xf32>
    plan.yield %0 : tensor<64x28x1x28x32xf32>
  } : (tensor<64x32x28x1x28xf32>) -> tensor<64x28x1x28x32xf32> loc("e")
  return %a, %b, %c, %d, %e : tensor<600x600x1x2xf32>, tensor<32x32x32x32xf32>, tensor<256x1024x7xf32>, tensor<256x256xf32>, tensor<64x28x1x28x32xf32>
}

// All transposes of a step have to be of the same matrices.

// CHECK-LABEL: namespace others {
// CHECK-NOT:     matrices
// CHECK:       } // namespace others
func.func @others(%x_in: tensor<64x32x28x28xf32> {mnist.name = "x"},
                  %z_in: tensor<28x28x32x64xf32> {mnist.name = "z"}) -> tensor<64x28x28x32xf32> {
  %y = plan.step "y" on kernel (%x_in, %z_in) {
  ^bb0(%x: tensor<64x32x28x28xf32>, %z: tensor<28x28x32x64xf32>):
    %0 = mnist.transpose %x perm [0, 2, 3, 1] : tensor<64x32x28x28xf32> -> tensor<64x28x28x32xf32>
    %1 = mnist.transpose %z perm [3, 0, 1, 2] : tensor<28x28x32x64xf32> -> tensor<64x28x28x32xf32>
    %2 = mnist.add %0, %1 : tensor<64x28x28x32xf32>
    plan.yield %2 : tensor<64x28x28x32xf32>
  } : (tensor<64x32x28x28xf32>, tensor<28x28x32x64xf32>) -> tensor<64x28x28x32xf32> loc("y")
  return %y : tensor<64x28x28x32xf32>
}
