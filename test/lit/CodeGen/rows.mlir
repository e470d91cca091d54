// A step that reduces rows: what an element gives to each phase, what a row
// knows after it, and the results.
// RUN: mnistc %s --target=cpu --emit=source -o - | FileCheck %s

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
  func.func @infer(%x: tensor<2x3x4xf32> {mnist.name = "x", plan.offset = 0 : i64},
                   %row: tensor<3xf32> {mnist.name = "row", plan.offset = 256 : i64})
      -> (tensor<2x3x4xf32> {mnist.name = "y"}, tensor<3xf32> {mnist.name = "scaled"})
      attributes {plan.arena_bytes = 1024 : i64, plan.workspace_bytes = 0 : i64} {
    // CHECK:      struct Y {
    // CHECK:        struct ElementValues {
    // CHECK-NEXT:     float x;
    // CHECK-NEXT:   };
    // CHECK-NEXT:   struct RowValues {
    // CHECK:          float row_t;
    // CHECK:        using Phases = mn::Phases<mn::RowPhase<mn::Max, float, 1>,
    // CHECK-NEXT:                             mn::RowPhase<mn::Sum, float, 2>>;
    // CHECK-NEXT:   static constexpr bool storesElements = true;
    // CHECK:        ElementValues load(mn::Index o, mn::Index r) const {
    // CHECK-NEXT:     const mn::Index at = r / 4 * 12 + o * 4 + r % 4;
    // CHECK-NEXT:     return {x[at]};
    // CHECK:        void begin(RowValues &row, mn::Index o) const { row.row_t = row_t[o]; }
    // CHECK:        values(mn::Phase<0>, const RowValues &,
    // CHECK:          return {{[{][{]}}e.x{{[}][}]}};
    // CHECK:        void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
    // CHECK:          row.[[TOP:[a-z_0-9]+]] = v.v[0];
    // CHECK:        values(mn::Phase<1>, const RowValues &row,
    // CHECK:          const float [[D:[a-z_0-9]+]] = e.x - row.[[TOP]];
    // CHECK:          return {{[{][{]}}{{.*}}, [[D]]{{[}][}]}};
    // CHECK:        void store(const RowValues &row, const ElementValues &e, mn::Index o,
    // CHECK:          y[at] =
    // CHECK:        void storeRow(const RowValues &row, mn::Index o) const {
    // CHECK-NEXT:     const float product = row.row_t * row.sum_2;
    // CHECK-NEXT:     mul[o] = product;
    // CHECK:      constexpr mn::Reduce y_shape{
    // CHECK:      MN_ROWS_KERNEL(infer_y, Y, y_shape)
    // CHECK:      mn::rows(ctx, "infer_y", y_shape,
    %y:2 = plan.step "y" on kernel at [512, 768] (%x, %row) {
    ^bb0(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>):
      %top = mnist.reduce_max %a over [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
      %tops = mnist.broadcast %top along [1] : tensor<3xf32> -> tensor<2x3x4xf32>
      %0 = mnist.sub %a, %tops : tensor<2x3x4xf32>
      %1 = mnist.exp %0 : tensor<2x3x4xf32>
      %sum = mnist.reduce_sum %1 over [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
      %other = mnist.reduce_sum %0 over [0, 2] : tensor<2x3x4xf32> -> tensor<3xf32>
      %scaled = mnist.mul %b, %other : tensor<3xf32>
      %sums = mnist.broadcast %sum along [1] : tensor<3xf32> -> tensor<2x3x4xf32>
      %2 = mnist.div %1, %sums : tensor<2x3x4xf32>
      plan.yield %2, %scaled : tensor<2x3x4xf32>, tensor<3xf32>
    } : (tensor<2x3x4xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>)
    return %y#0, %y#1 : tensor<2x3x4xf32>, tensor<3xf32>
  }
}
