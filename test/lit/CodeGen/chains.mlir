// A chain: a functor for each link, one kernel, one call. Functors that read
// alike are shared, and what one link makes the next ones read.
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules \
// RUN:   --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// CHECK:      // 1. logits: matmul reduce_max broadcast sub reduce_sum exp
// CHECK:      struct Logits {
// CHECK:      struct Top {
// CHECK:        void store(mn::Index o, float v) const { top[o] = v; }
// CHECK:      struct Sub {
// CHECK:        void operator()(mn::Element i) const {
// CHECK:      struct Total {
// CHECK:      struct Power {
// CHECK:      constexpr mn::Matmul y_shape{
// CHECK-NEXT:     .m = 6,
// CHECK-NEXT:     .n = 8,
// CHECK-NEXT:     .k = 5,
// CHECK-NEXT:     .schedule = {.mma = mn::Mma::tf32x3},
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::ChainBlocks logits_blocks{.rows = 6, .ofBlock = 1,
// CHECK-NEXT:                                         .threads = 1024};
// CHECK-NEXT: using logits_chain = mn::Chain<logits_blocks,
// CHECK-NEXT:                                mn::MatmulLink<float, Logits, logits_shape>,
// CHECK-NEXT:                                mn::ReduceLink<mn::Max, float, Top, top_shape>,
// CHECK-NEXT:                                mn::MapLink<Sub, 5>,
// CHECK-NEXT:                                mn::ReduceLink<mn::Sum, float, Total, total_shape>,
// CHECK-NEXT:                                mn::MapLink<Power, 5>,
// CHECK-NEXT:                                mn::MatmulLink<float, Logits, y_shape>>;
// CHECK-NEXT: MN_CHAIN_KERNEL(infer_logits, logits_chain)

// CHECK:      static void step_1(mn::Context &ctx) {
// CHECK-NEXT:   auto *logits = ctx.at<float>(512);
// CHECK:        auto *y = ctx.at<float>(1792);
// CHECK-NEXT:   const auto *x = ctx.at<float>(0);
// CHECK-NEXT:   const auto *w = ctx.at<float>(256);
// CHECK-NEXT:   const Logits link{logits, x, w};
// CHECK-NEXT:   const Top link_2{top, logits};
// CHECK:        const Logits link_6{y, power, w};
// CHECK-NEXT:   mn::chain<logits_chain>(ctx, "infer_logits", link, link_2, link_3, link_4,
// CHECK-NEXT:                           link_5, link_6);

// Each tensor has its own name in the tables.

// CHECK:      {"logits", mn::Type::f32, 2, shape_6x5, 512},
// CHECK-NEXT: {"top", mn::Type::f32, 1, shape_6, 768},
// CHECK:      {"logits", "matmul reduce_max broadcast sub reduce_sum exp", "", "kernel", "84 elements", {{.*}}, step_1, results, 6, 0, nullptr, 0, "", "a chain of logits, top, sub, total, power, y"},
func.func @infer(%x: tensor<6x8xf32> {mnist.name = "x"}, %w: tensor<5x8xf32> {mnist.name = "w"}) -> (tensor<6x8xf32> {mnist.name = "y"}) {
  %2 = mnist.matmul %x, %w transposed [false, true] : (tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<6x5xf32> loc("logits")
  %3 = mnist.reduce_max %2 over [1] : tensor<6x5xf32> -> tensor<6xf32> loc("top")
  %4 = mnist.broadcast %3 along [0] : tensor<6xf32> -> tensor<6x5xf32>
  %5 = mnist.sub %2, %4 : tensor<6x5xf32>
  %6 = mnist.reduce_sum %5 over [1] : tensor<6x5xf32> -> tensor<6xf32> loc("total")
  %7 = mnist.broadcast %6 along [0] : tensor<6xf32> -> tensor<6x5xf32>
  %8 = mnist.sub %5, %7 : tensor<6x5xf32> loc("share")
  %10 = mnist.exp %8 : tensor<6x5xf32> loc("power")
  %9 = mnist.matmul %10, %w : (tensor<6x5xf32>, tensor<5x8xf32>) -> tensor<6x8xf32> loc("y")
  return %9 : tensor<6x8xf32>
}
