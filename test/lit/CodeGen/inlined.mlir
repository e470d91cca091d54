// Reductions that are computed where they are read: loops among statements.
// RUN: mnistc %s --target=cpu --emit=source -o - | FileCheck %s

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
  // CHECK-LABEL: namespace infer {
  func.func @infer(%x: tensor<4x3xf32> {mnist.name = "x", plan.offset = 0 : i64},
                   %labels: tensor<4xi32> {mnist.name = "labels", plan.offset = 256 : i64})
      -> (tensor<4x3xf32> {mnist.name = "p"}, tensor<i64> {mnist.name = "right"})
      attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // The maximum and the sum are of the row, the result of the element.
    // CHECK:      void operator()(mn::Element i) const {
    // CHECK-NEXT:   float top = mn::Max::empty<float>();
    // CHECK-NEXT:   for (mn::Index [[R:r[_a-z]*]] = 0; [[R]] < 3; ++[[R]]) {
    // CHECK-NEXT:     top = mn::Max::both(top, x[i / 3 * 3 + [[R]]]);
    // CHECK-NEXT:   }
    // CHECK-NEXT:   float total = 0;
    // CHECK-NEXT:   for (mn::Index [[R]] = 0; [[R]] < 3; ++[[R]]) {
    // CHECK-NEXT:     total += mn::exp(x[i / 3 * 3 + [[R]]] - top);
    // CHECK-NEXT:   }
    // CHECK-NEXT:   p[i] = mn::softmaxElement<true>(x[i], top, total);
    %p = plan.step "p" on kernel at [512] (%x) {
    ^bb0(%a: tensor<4x3xf32>):
      %0 = mnist.log_softmax %a dim 1 {plan.inline} : tensor<4x3xf32>
      plan.yield %0 : tensor<4x3xf32>
    } : (tensor<4x3xf32>) -> tensor<4x3xf32>
    // CHECK:      int64_t load(mn::Index, mn::Index r) const {
    // CHECK:        float top = mn::Max::empty<float>();
    // CHECK-NEXT:   int32_t best = 0;
    // CHECK:          if (mn::ArgMaxFirst::wins({{.*}}, top)) top = {{.*}}, best = {{.*}};
    %right = plan.step "right" on kernel at [768] (%x, %labels) {
    ^bb0(%a: tensor<4x3xf32>, %l: tensor<4xi32>):
      %0 = mnist.arg_max %a over 1 {plan.inline} : tensor<4x3xf32> -> tensor<4xi32>
      %1 = mnist.compare eq %0, %l : tensor<4xi32> -> tensor<4xi1>
      %2 = mnist.cast %1 : tensor<4xi1> -> tensor<4xi64>
      %3 = mnist.reduce_sum %2 over [0] : tensor<4xi64> -> tensor<i64>
      plan.yield %3 : tensor<i64>
    } : (tensor<4x3xf32>, tensor<4xi32>) -> tensor<i64>
    return %p, %right : tensor<4x3xf32>, tensor<i64>
  }
}
