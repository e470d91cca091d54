// A step that reduces rows: what an element gives to each phase, what a row
// knows after it, and the results.
// RUN: mnistc %s --target=cpu --emit=source -o - | FileCheck %s

module attributes {plan.constant_bytes = 0 : i64, plan.target = "cpu"} {
  func.func @infer(%x: tensor<2x3x4xf32> {mnist.name = "x", plan.offset = 0 : i64},
                   %row: tensor<3xf32> {mnist.name = "row", plan.offset = 256 : i64})
      -> (tensor<2x3x4xf32> {mnist.name = "y"}, tensor<3xf32> {mnist.name = "scaled"},
          tensor<f32> {mnist.name = "mean"}, tensor<i32> {mnist.name = "best"})
      attributes {plan.arena_bytes = 1536 : i64, plan.workspace_bytes = 0 : i64} {
    // CHECK:      struct Y {
    // CHECK:        struct ElementValues {
    // CHECK-NEXT:     float x;
    // CHECK-NEXT:   };
    // CHECK-NEXT:   struct RowValues {
    // CHECK:          float row_t;
    // CHECK:        using Phases = mn::Phases<mn::RowPhase<mn::Max, float, 1>,
    // CHECK-NEXT:                             mn::RowPhase<mn::Sum, float, 2>>;
    // CHECK-NOT:    runsApart
    // CHECK:        mn::Index placeOf(mn::Index o, mn::Index r) const {
    // CHECK-NEXT:     return r / 4 * 12 + o * 4 + r % 4;
    // CHECK:        ElementValues load(mn::Offset place) const { return {x[place]}; }
    // CHECK:        void begin(RowValues &row, mn::Index o) const { row.row_t = row_t[o]; }
    // CHECK:        values(mn::Phase<0>, const RowValues &,
    // CHECK:          return {{[{][{]}}e.x{{[}][}]}};
    // CHECK:        void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
    // CHECK:          row.[[TOP:[a-z_0-9]+]] = v.v[0];
    // CHECK:        values(mn::Phase<1>, const RowValues &row,
    // CHECK:          const float [[D:[a-z_0-9]+]] = e.x - row.[[TOP]];
    // CHECK:          return {{[{][{]}}{{.*}}, [[D]]{{[}][}]}};
    // CHECK-NOT:    drawsNumbers
    // CHECK:        static constexpr bool storesElements = true;
    // CHECK-NEXT:   static constexpr bool storesInLastPhase = false;
    // CHECK-NEXT:   struct StoredValues {
    // CHECK-NEXT:     float y;
    // CHECK-NEXT:   };
    // CHECK:        StoredValues results(const RowValues &row, const ElementValues &e,
    // CHECK:        template <int n>
    // CHECK-NEXT:   void store(const StoredValues (&v)[n], mn::Offset place) const {
    // CHECK-NEXT:     for (int i = 0; i < n; ++i)
    // CHECK-NEXT:       y[place + i] = v[i].y;
    // CHECK:        void storeRow(const RowValues &row, mn::Index o) const {
    // CHECK-NEXT:     const float product = row.row_t * row.sum_2;
    // CHECK-NEXT:     mul[o] = product;
    // CHECK:      constexpr mn::Reduce y_shape{
    // CHECK:      MN_ROWS_KERNEL(infer_y, Y, y_shape)
    // Totals over all rows, one of what an arg-max knows of each, and numbers
    // that need them or nothing.
    // CHECK:      struct Mean {
    // CHECK:          int32_t best;
    // CHECK:        using Phases = mn::Phases<mn::RowPhase<mn::ArgMaxFirst, float, 1>,
    // CHECK-NEXT:                             mn::RowPhase<mn::Sum, float, 1>>;
    // CHECK:        void take(mn::Phase<0>, const mn::Values<int64_t, 1> &v, RowValues &row,
    // CHECK-NEXT:             mn::Index) const {
    // CHECK-NEXT:     row.best = static_cast<int32_t>(v.v[0]);
    // CHECK:        static constexpr bool storesElements = false;
    // CHECK-NOT:    storesInLastPhase
    // CHECK:        struct TotalValues {
    // CHECK-NEXT:     float sum;
    // CHECK-NEXT:     int32_t top;
    // CHECK-NEXT:   };
    // CHECK-NEXT:   using Totals = mn::Phases<mn::RowPhase<mn::Sum, float, 1>,
    // CHECK-NEXT:                             mn::RowPhase<mn::Max, int32_t, 1>>;
    // CHECK:        mn::Values<float, 1> values(mn::Total<0>, const RowValues &row,
    // CHECK:          return {{[{][{]}}row.sum{{[}][}]}};
    // CHECK:        void take(mn::Total<1>, const mn::Values<int32_t, 1> &v,
    // CHECK-NEXT:             TotalValues &totals) const {
    // CHECK-NEXT:     totals.top = v.v[0];
    // CHECK:        void storeTotals(const TotalValues &totals) const {
    // CHECK:          mean[0] = {{.*}};
    // CHECK-NEXT:     reduce_max[0] = {{.*}};
    // CHECK:      mn::rows(ctx, "infer_y", y_shape,
    // CHECK:      mn::rows(ctx, "infer_mean", mean_shape,
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

    %t:2 = plan.step "mean" on kernel at [1024, 1280] (%x) {
    ^bb0(%a: tensor<2x3x4xf32>):
      %n = mnist.constant dense<6.0> : tensor<f32>
      %flat = mnist.reshape %a : tensor<2x3x4xf32> -> tensor<6x4xf32>
      %best = mnist.arg_max %flat over 1 : tensor<6x4xf32> -> tensor<6xi32>
      %sum = mnist.reduce_sum %flat over [1] : tensor<6x4xf32> -> tensor<6xf32>
      %all = mnist.reduce_sum %sum over [0] : tensor<6xf32> -> tensor<f32>
      %top = mnist.reduce_max %best over [0] : tensor<6xi32> -> tensor<i32>
      %mean = mnist.div %all, %n : tensor<f32>
      plan.yield %mean, %top : tensor<f32>, tensor<i32>
    } : (tensor<2x3x4xf32>) -> (tensor<f32>, tensor<i32>)
    return %y#0, %y#1, %t#0, %t#1 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<f32>, tensor<i32>
  }
}
