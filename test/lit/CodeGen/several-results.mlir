// What several results of a product need of memory is loaded before the first
// is stored: a kernel computes some elements at once.
// RUN: mnistc %s --target=cuda --emit=source -o - | FileCheck %s

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @infer(%a: tensor<8x2xf32> {mnist.name = "a", plan.offset = 0 : i64},
                   %b: tensor<2x4xf32> {mnist.name = "b", plan.offset = 256 : i64},
                   %m: tensor<8x4xf32> {mnist.name = "m", plan.offset = 512 : i64},
                   %w: tensor<8x4xf32> {mnist.name = "w", plan.offset = 768 : i64})
      -> (tensor<8x4xf32> {mnist.name = "moment"}, tensor<8x4xf32> {mnist.name = "weight"})
      attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // CHECK:        struct StoredValues {
    // CHECK-NEXT:     float moment;
    // CHECK-NEXT:     float sub;
    // CHECK-NEXT:   };
    // CHECK-NEXT:   MN_FN StoredValues result(auto i, float v) const {
    // CHECK-NEXT:     const float sum = m[i] + v;
    // CHECK-NEXT:     const float difference = w[i] - sum;
    // CHECK-NEXT:     return {sum, difference};
    // CHECK-NEXT:   }
    // CHECK-NEXT:   MN_FN void store(mn::Index i, const StoredValues &v) const {
    // CHECK-NEXT:     moment[i] = v.moment;
    // CHECK-NEXT:     sub[i] = v.sub;
    // CHECK-NEXT:   }
    %moment:2 = plan.step "moment" on kernel at [512, 768] schedule(#plan.product<tile = [16, 32, 8], warps = [4, 1]>) (%a, %b, %m, %w) {
    ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>, %k: tensor<8x4xf32>, %l: tensor<8x4xf32>):
      %0 = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
      %1 = mnist.add %k, %0 : tensor<8x4xf32>
      %2 = mnist.sub %l, %1 : tensor<8x4xf32>
      plan.yield %1, %2 : tensor<8x4xf32>, tensor<8x4xf32>
    } : (tensor<8x2xf32>, tensor<2x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    return %moment#0, %moment#1 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
