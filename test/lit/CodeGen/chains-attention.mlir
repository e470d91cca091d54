// A chain of an attention, whose rows are the heads: a link for each loop of a
// map, the second one beside the first, products of several matrices and a
// softmax. Only blocks hold what they make for each other.
// RUN: mnist-opt %s --plan-form-steps --plan-select-implementations --plan-choose-schedules \
// RUN:   --plan-fuse-horizontally --plan-form-chains --plan-assign-memory --plan-check-steps > %t.mlir
// RUN: mnistc %t.mlir --emit=source -o - | FileCheck %s

// CHECK:      constexpr mn::Matmul scores_shape{
// CHECK-NEXT:     .batch = 8,
// CHECK:          .transposedB = true,
// CHECK:      constexpr mn::ChainBlocks k_blocks{.rows = 8, .ofBlock = 1, .threads = 1024,
// CHECK-NEXT:                                    .held = 416};
// CHECK-NEXT: using k_chain = mn::Chain<k_blocks,
// CHECK-NEXT:   mn::HeldLink<mn::MapLink<K, 15>, mn::Held<0, 60, 0>>,
// CHECK-NEXT:   mn::Beside<mn::HeldLink<mn::MapLink<Transpose, 15>, mn::Held<0, 60, 80>>>,
// CHECK-NEXT:   mn::HeldLink<mn::MatmulLink<float, Scores, scores_shape>, mn::Held<0, 100, 160>, mn::Held<1, 60, 0>, mn::Held<2, 60, 80>>,
// CHECK-NEXT:   mn::HeldLink<mn::SoftmaxLink<float, Weights, weights_shape>, mn::Held<0, 100, 288>, mn::Held<1, 100, 160>>,
// CHECK-NEXT:   mn::HeldLink<mn::MatmulLink<float, Scores, y_shape>, mn::Held<1, 100, 288>, mn::Held<2, 60, 80>>>;
// CHECK:      auto *y = ctx.at<float>(1024);
// CHECK-NEXT: const auto *x = ctx.at<float>(0);
// CHECK-NEXT: const K link{nullptr, x};
// CHECK-NEXT: const Transpose link_2{nullptr, x};
// CHECK-NEXT: const Scores link_3{nullptr, nullptr, nullptr};
// CHECK-NEXT: const Weights link_4{nullptr, nullptr};
// CHECK-NEXT: const Scores link_5{y, nullptr, nullptr};
// CHECK-NEXT: mn::chain<k_chain>(ctx, "infer_k", link, link_2, link_3, link_4, link_5);
// CHECK:      "a chain of k, scores, weights, y in 416 bytes of shared memory"}
func.func @infer(%x: tensor<2x5x24xf32> {mnist.name = "x"}) -> (tensor<8x5x3xf32> {mnist.name = "y"}) {
  %q = mnist.slice %x starts [0, 0, 0] steps [1, 1, 1] : tensor<2x5x24xf32> -> tensor<2x5x12xf32>
  %qs = mnist.reshape %q : tensor<2x5x12xf32> -> tensor<2x5x4x3xf32>
  %qh = mnist.transpose %qs perm [0, 2, 1, 3] : tensor<2x5x4x3xf32> -> tensor<2x4x5x3xf32> loc("q")
  %k = mnist.slice %x starts [0, 0, 12] steps [1, 1, 1] : tensor<2x5x24xf32> -> tensor<2x5x12xf32>
  %ks = mnist.reshape %k : tensor<2x5x12xf32> -> tensor<2x5x4x3xf32>
  %kh = mnist.transpose %ks perm [0, 2, 1, 3] : tensor<2x5x4x3xf32> -> tensor<2x4x5x3xf32> loc("k")
  %a = mnist.reshape %qh : tensor<2x4x5x3xf32> -> tensor<8x5x3xf32>
  %b = mnist.reshape %kh : tensor<2x4x5x3xf32> -> tensor<8x5x3xf32>
  %0 = mnist.matmul %a, %b transposed [false, true] : (tensor<8x5x3xf32>, tensor<8x5x3xf32>) -> tensor<8x5x5xf32> loc("scores")
  %1 = mnist.softmax %0 dim 2 : tensor<8x5x5xf32> loc("weights")
  %2 = mnist.matmul %1, %b : (tensor<8x5x5xf32>, tensor<8x5x3xf32>) -> tensor<8x5x3xf32> loc("y")
  return %2 : tensor<8x5x3xf32>
}
