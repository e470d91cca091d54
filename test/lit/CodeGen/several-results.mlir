// What several results of a product need of memory is loaded before the first
// is computed or stored: a kernel computes some elements at once.
// RUN: mnistc %s --target=cuda --emit=source -o - | FileCheck %s

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cuda"} {
  func.func @infer(%a: tensor<8x2xf32> {mnist.name = "a", plan.offset = 0 : i64},
                   %b: tensor<2x4xf32> {mnist.name = "b", plan.offset = 256 : i64},
                   %m: tensor<8x4xf32> {mnist.name = "m", plan.offset = 512 : i64},
                   %w: tensor<8x4xf32> {mnist.name = "w", plan.offset = 768 : i64})
      -> (tensor<8x4xf32> {mnist.name = "moment"}, tensor<8x4xf32> {mnist.name = "weight"},
          tensor<8x4xf32> {mnist.name = "product"}, tensor<8x4xf32> {mnist.name = "elu"})
      attributes {plan.arena_bytes = 1536 : i64, plan.workspace_bytes = 0 : i64} {
    // CHECK:        struct ElementValues {
    // CHECK-DAG:      float m;
    // CHECK-DAG:      float w;
    // CHECK:        };
    // CHECK-NEXT:   MN_FN ElementValues elements(mn::Index i) const { return {{[{][wm]\[i\], [wm]\[i\][}]; [}]}}
    // CHECK:        struct StoredValues {
    // CHECK-NEXT:     float moment;
    // CHECK-NEXT:     float div;
    // CHECK-NEXT:   };
    // CHECK-NEXT:   MN_FN StoredValues result(auto, float v, const ElementValues &e) const {
    // CHECK-NEXT:     const float sum = e.m + v;
    // CHECK-NEXT:     const float quotient = mn::divideBy(e.w - sum, 3.0f);
    // CHECK-NEXT:     return {sum, quotient};
    // CHECK-NEXT:   }
    // CHECK-NEXT:   MN_FN void store(mn::Index i, const StoredValues &v) const {
    // CHECK-NEXT:     moment[i] = v.moment;
    // CHECK-NEXT:     div[i] = v.div;
    // CHECK-NEXT:   }
    // CHECK-NEXT:   template <int n>
    // CHECK-NEXT:   MN_FN void store(const StoredValues (&v)[n], mn::Offset place) const {
    // CHECK-NEXT:     for (int i = 0; i < n; ++i)
    // CHECK-NEXT:       moment[place + i] = v[i].moment;
    // CHECK-NEXT:     for (int i = 0; i < n; ++i)
    // CHECK-NEXT:       div[place + i] = v[i].div;
    // CHECK-NEXT:   }
    %moment:2 = plan.step "moment" on kernel at [512, 768] schedule(#plan.product<tile = [16, 32, 8], warps = [4, 1]>) (%a, %b, %m, %w) {
    ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>, %k: tensor<8x4xf32>, %l: tensor<8x4xf32>):
      %0 = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
      %1 = mnist.add %k, %0 : tensor<8x4xf32>
      %2 = mnist.sub %l, %1 : tensor<8x4xf32>
      %c = mnist.constant dense<3.0> : tensor<8x4xf32>
      %3 = mnist.div %2, %c : tensor<8x4xf32>
      plan.yield %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
    } : (tensor<8x2xf32>, tensor<2x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    // So it is where all that they need is the product.
    // CHECK:        struct StoredValues {
    // CHECK-NEXT:     float grown;
    // CHECK-NEXT:     float elu;
    // CHECK-NEXT:   };
    // CHECK-NEXT:   MN_FN StoredValues result(auto, float v) const {
    // CHECK-NEXT:     const float element = mn::elu(v, 1.0f);
    // CHECK-NEXT:     return {v, element};
    %grown:2 = plan.step "grown" on kernel at [1024, 1280] schedule(#plan.product<tile = [16, 32, 8], warps = [4, 1]>) (%a, %b) {
    ^bb0(%i: tensor<8x2xf32>, %j: tensor<2x4xf32>):
      %0 = mnist.matmul %i, %j : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
      %1 = mnist.elu %0 alpha 1.000000e+00 : tensor<8x4xf32>
      plan.yield %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
    } : (tensor<8x2xf32>, tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    return %moment#0, %moment#1, %grown#0, %grown#1 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}
