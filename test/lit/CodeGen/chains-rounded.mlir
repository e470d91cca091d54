// A link that is a product of what the link before it has rounded: it computes
// in f32, of what it loads as it is.
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations=precision=bf16 --plan-choose-schedules \
// RUN:   --plan-round-results=from=2048 --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// CHECK:      struct X {
// CHECK-NEXT:   mn::Bf16 *x;
// CHECK:        x[i] = mn::cast<mn::Bf16>(mn::tanh(x_in[i]));
// CHECK:      struct Y {
// CHECK:        const mn::Bf16 *x;
// CHECK:        MN_FN const mn::Bf16 &loadA(mn::Index i) const { return x[i]; }
// CHECK:      using x_chain = mn::Chain<x_blocks, mn::MapLink<X, 32>,
// CHECK-NEXT:                           mn::MatmulLink<float, Y, y_shape>>;
func.func @infer(%a: tensor<64x32xf32> {mnist.name = "x_in"}, %w: tensor<32x16xf32> {mnist.name = "w"}) -> (tensor<64x16xf32> {mnist.name = "y"}) {
  %0 = mnist.tanh %a : tensor<64x32xf32> loc("x")
  %1 = mnist.matmul %0, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32> loc("y")
  return %1 : tensor<64x16xf32>
}
