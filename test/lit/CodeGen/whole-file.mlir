// RUN: mnistc %s --emit=source --target=cuda | FileCheck %s --match-full-lines

// A whole generated file, line by line: a library call, a map, a product with
// what follows it, a reduction, and the tables.

// CHECK: // whole-file - written by mnistc 0.1.0. Do not edit; see
// CHECK-NEXT: // docs/generated-code.md.
// CHECK-NEXT: //
// CHECK-NEXT: //   mnistc --target=cuda
// CHECK-NEXT: //
// CHECK-NEXT: //   infer_64: 4 steps, 293.0 KiB of arena, 398.0 KiB of constants
// CHECK-EMPTY:
// CHECK-NEXT: #include "mnistrt/generated.h"
// CHECK-EMPTY:
// CHECK-NEXT: MN_TRANSFER_KERNEL
// CHECK-EMPTY:
// CHECK-NEXT: namespace infer_64 {
// CHECK-EMPTY:
// CHECK-NEXT: // 2. hidden: broadcast add relu
// CHECK-NEXT: struct Hidden {
// CHECK-NEXT: float *hidden;         // [64, 128]
// CHECK-NEXT: const float *product;  // [64, 128]
// CHECK-NEXT: const float *fc1_bias; // [128]
// CHECK-NEXT: MN_FN void operator()(mn::Element i) const {
// CHECK-NEXT: hidden[i] = mn::relu(product[i] + fc1_bias[i % 128]);
// CHECK-NEXT: }
// CHECK-NEXT: };
// CHECK-NEXT: MN_POINTWISE_KERNEL(infer_64_hidden, Hidden)
// CHECK-EMPTY:
// CHECK-NEXT: // 3. scores: matmul mul
// CHECK-NEXT: struct Scores {
// CHECK-NEXT: float *scores;           // [64, 10]
// CHECK-NEXT: const float *hidden;     // [64, 128]
// CHECK-NEXT: const float *fc2_weight; // [10, 128]
// CHECK-NEXT: MN_FN const float &loadA(mn::Index i) const { return hidden[i]; }
// CHECK-NEXT: MN_FN const float &loadB(mn::Index i) const { return fc2_weight[i]; }
// CHECK-NEXT: MN_FN void store(mn::Index i, float v) const { scores[i] = v * 0.1f; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Matmul scores_shape{
// CHECK-NEXT: .m = 64,
// CHECK-NEXT: .n = 10,
// CHECK-NEXT: .k = 128,
// CHECK-NEXT: .transposedB = true,
// CHECK-NEXT: .schedule = {{.*}},
// CHECK-NEXT: };
// CHECK-NEXT: MN_MATMUL_KERNEL(infer_64_scores, float, Scores, scores_shape)
// CHECK-EMPTY:
// CHECK-NEXT: // 4. digit: arg_max
// CHECK-NEXT: struct Digit {
// CHECK-NEXT: int64_t *digit;      // [64]
// CHECK-NEXT: const float *scores; // [64, 10]
// CHECK-NEXT: MN_FN float load(mn::Index o, mn::Index r) const {
// CHECK-NEXT: return scores[o * 10 + r];
// CHECK-NEXT: }
// CHECK-NEXT: MN_FN void store(mn::Index o, int64_t v) const { digit[o] = v; }
// CHECK-NEXT: };
// CHECK-NEXT: constexpr mn::Reduce digit_shape{.outputs = 64, .size = 10};
// CHECK-NEXT: MN_REDUCE_KERNEL(infer_64_digit, mn::ArgMaxFirst, float, Digit, digit_shape)
// CHECK-EMPTY:
// CHECK-NEXT: } // namespace infer_64
// CHECK-EMPTY:
// CHECK-NEXT: #if MN_HOST
// CHECK-EMPTY:
// CHECK-NEXT: namespace infer_64 {
// CHECK-EMPTY:
// CHECK-NEXT: // 1. product [64, 128]: reshape matmul                        /fc1/Gemm
// CHECK-NEXT: constexpr mn::Matmul product_shape{.m = 64, .n = 128, .k = 784};
// CHECK-NEXT: static void step_1(mn::Context &ctx) {
// CHECK-NEXT: auto *product = ctx.at<float>(200704);
// CHECK-NEXT: const auto *image = ctx.at<float>(0);
// CHECK-NEXT: const auto *fc1_weight = ctx.constant<float>(0);
// CHECK-NEXT: mn::cublas::matmul(ctx, product, image, fc1_weight, product_shape);
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: // 2. hidden [64, 128]: broadcast add relu                     /fc1/Gemm,
// CHECK-NEXT: //    /relu1/Relu
// CHECK-NEXT: static void step_2(mn::Context &ctx) {
// CHECK-NEXT: auto *hidden = ctx.at<float>(0);
// CHECK-NEXT: const auto *product = ctx.at<float>(200704);
// CHECK-NEXT: const auto *fc1_bias = ctx.constant<float>(401408);
// CHECK-NEXT: mn::pointwise(ctx, "infer_64_hidden", 64 * 128,
// CHECK-NEXT: Hidden{hidden, product, fc1_bias});
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: // 3. scores [64, 10]: matmul mul                              /fc2/Gemm, /Mul
// CHECK-NEXT: static void step_3(mn::Context &ctx) {
// CHECK-NEXT: auto *scores = ctx.at<float>(32768);
// CHECK-NEXT: const auto *hidden = ctx.at<float>(0);
// CHECK-NEXT: const auto *fc2_weight = ctx.constant<float>(402432);
// CHECK-NEXT: mn::matmul<float>(ctx, "infer_64_scores", scores_shape,
// CHECK-NEXT: Scores{scores, hidden, fc2_weight});
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: // 4. digit [64]: arg_max                                      /ArgMax
// CHECK-NEXT: static void step_4(mn::Context &ctx) {
// CHECK-NEXT: auto *digit = ctx.at<int64_t>(36864);
// CHECK-NEXT: const auto *scores = ctx.at<float>(32768);
// CHECK-NEXT: mn::reduce<mn::ArgMaxFirst, float>(ctx, "infer_64_digit", digit_shape,
// CHECK-NEXT: Digit{digit, scores});
// CHECK-NEXT: }
// CHECK-EMPTY:
// CHECK-NEXT: // clang-format off
// CHECK-NEXT: static const int64_t shape_64x1x28x28[] = {64, 1, 28, 28};
// CHECK-NEXT: static const int64_t shape_64x10[] = {64, 10};
// CHECK-NEXT: static const int64_t shape_64[] = {64};
// CHECK-NEXT: static const int64_t shape_64x128[] = {64, 128};
// CHECK-NEXT: static const mn::Tensor inputs[] = {
// CHECK-NEXT: {"image", mn::Type::f32, 4, shape_64x1x28x28, 0},
// CHECK-NEXT: };
// CHECK-NEXT: static const mn::Tensor outputs[] = {
// CHECK-NEXT: {"scores", mn::Type::f32, 2, shape_64x10, 32768},
// CHECK-NEXT: {"digit", mn::Type::i64, 1, shape_64, 36864},
// CHECK-NEXT: };
// CHECK-NEXT: static const mn::Tensor results[] = {
// CHECK-NEXT: {"product", mn::Type::f32, 2, shape_64x128, 200704},
// CHECK-NEXT: {"hidden", mn::Type::f32, 2, shape_64x128, 0},
// CHECK-NEXT: {"scores", mn::Type::f32, 2, shape_64x10, 32768},
// CHECK-NEXT: {"digit", mn::Type::i64, 1, shape_64, 36864},
// CHECK-NEXT: };
// CHECK-NEXT: static const mn::Step steps[] = {
// CHECK-NEXT: {"product", "reshape matmul", "/fc1/Gemm", "cublas", "[64, 128]", 12845056.0, 634880.0, step_1, results, 1},
// CHECK-NEXT: {"hidden", "broadcast add relu", "/fc1/Gemm, /relu1/Relu", "kernel", "[64, 128]", 16384.0, 66048.0, step_2, results + 1, 1},
// CHECK-NEXT: {"scores", "matmul mul", "/fc2/Gemm, /Mul", "kernel", "[64, 10]", 164480.0, 40448.0, step_3, results + 2, 1, 0, nullptr, 0, "", "product, {{.*}}"},
// CHECK-NEXT: {"digit", "arg_max", "/ArgMax", "kernel", "[64]", 640.0, 3072.0, step_4, results + 3, 1},
// CHECK-NEXT: };
// CHECK-NEXT: // clang-format on
// CHECK-EMPTY:
// CHECK-NEXT: } // namespace infer_64
// CHECK-EMPTY:
// CHECK-NEXT: // The constants and kernels, files linked to this one.
// CHECK-NEXT: extern "C" const unsigned char mn_constants[];
// CHECK-NEXT: extern "C" const unsigned char mn_code_1[], mn_code_1_end[];
// CHECK-NEXT: extern "C" const unsigned char mn_report[], mn_report_end[];
// CHECK-EMPTY:
// CHECK-NEXT: // clang-format off
// CHECK-NEXT: static const mn::Plan plans[] = {
// CHECK-NEXT: {"infer_64", 64, 300000, 0, infer_64::inputs, 1, infer_64::outputs, 2, infer_64::steps, 4},
// CHECK-NEXT: };
// CHECK-NEXT: static const mn::DeviceCode codes[] = {
// CHECK-NEXT: {"sm_90", {{[{][{]}}mn_code_1, static_cast<size_t>(mn_code_1_end - mn_code_1)}}},
// CHECK-NEXT: };
// CHECK-NEXT: // clang-format on
// CHECK-EMPTY:
// CHECK-NEXT: const mn::Model mn_model = {
// CHECK-NEXT: .version = mn::modelVersion,
// CHECK-NEXT: .name = "whole-file",
// CHECK-NEXT: .compiler = "mnistc 0.1.0",
// CHECK-NEXT: .command = "--target=cuda",
// CHECK-NEXT: .target = "cuda",
// CHECK-NEXT: .arch = "sm_90",
// CHECK-NEXT: .constants = mn_constants,
// CHECK-NEXT: .constantBytes = 407552,
// CHECK-NEXT: .codes = codes,
// CHECK-NEXT: .codeCount = 1,
// CHECK-NEXT: .plans = plans,
// CHECK-NEXT: .planCount = 1,
// CHECK-NEXT: .bounds = nullptr,
// CHECK-NEXT: .boundCount = 0,
// CHECK-NEXT: .report = mn_report,
// CHECK-NEXT: .reportEnd = mn_report_end,
// CHECK-NEXT: };
// CHECK-EMPTY:
// CHECK-NEXT: #endif // MN_HOST

module attributes {plan.constant_bytes = 407552 : i64} {
  func.func @infer_64(%image: tensor<64x1x28x28xf32> {mnist.name = "image", plan.offset = 0 : i64}) -> (tensor<64x10xf32> {mnist.name = "scores"}, tensor<64xi64> {mnist.name = "digit"}) attributes {plan.arena_bytes = 300000 : i64, plan.workspace_bytes = 0 : i64} {
    %w = mnist.constant dense<0.5> : tensor<784x128xf32> {plan.offset = 0 : i64} loc("fc1.weight")
    %b = mnist.constant dense<0.25> : tensor<128xf32> {plan.offset = 401408 : i64} loc("fc1.bias")
    %w2 = mnist.constant dense<0.25> : tensor<10x128xf32> {plan.offset = 402432 : i64} loc("fc2.weight")
    %product = plan.step "product" on cublas at [200704] (%image, %w) {
    ^bb0(%a: tensor<64x1x28x28xf32>, %c: tensor<784x128xf32>):
      %r = mnist.reshape %a : tensor<64x1x28x28xf32> -> tensor<64x784xf32>
      %0 = mnist.matmul %r, %c : (tensor<64x784xf32>, tensor<784x128xf32>) -> tensor<64x128xf32> loc("product"("/fc1/Gemm"))
      plan.yield %0 : tensor<64x128xf32>
    } : (tensor<64x1x28x28xf32>, tensor<784x128xf32>) -> tensor<64x128xf32>
    %hidden = plan.step "hidden" on kernel at [0] (%product, %b) {
    ^bb0(%a: tensor<64x128xf32>, %c: tensor<128xf32>):
      %1 = mnist.broadcast %c along [1] : tensor<128xf32> -> tensor<64x128xf32>
      %2 = mnist.add %a, %1 : tensor<64x128xf32> loc("biased"("/fc1/Gemm"))
      %3 = mnist.relu %2 : tensor<64x128xf32> loc("hidden"("/relu1/Relu"))
      plan.yield %3 : tensor<64x128xf32>
    } : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
    %scores = plan.step "scores" on kernel at [32768] (%hidden, %w2) {
    ^bb0(%a: tensor<64x128xf32>, %c: tensor<10x128xf32>):
      %0 = mnist.matmul %a, %c transposed [false, true] : (tensor<64x128xf32>, tensor<10x128xf32>) -> tensor<64x10xf32>  loc("scores"("/fc2/Gemm"))
      %1 = mnist.constant dense<0.1> : tensor<64x10xf32>
      %2 = mnist.mul %0, %1 : tensor<64x10xf32> loc("scaled"("/Mul"))
      plan.yield %2 : tensor<64x10xf32>
    } : (tensor<64x128xf32>, tensor<10x128xf32>) -> tensor<64x10xf32>
    %digit = plan.step "digit" on kernel at [36864] (%scores) {
    ^bb0(%a: tensor<64x10xf32>):
      %0 = mnist.arg_max %a over 1 : tensor<64x10xf32> -> tensor<64xi64> loc("digit"("/ArgMax"))
      plan.yield %0 : tensor<64xi64>
    } : (tensor<64x10xf32>) -> tensor<64xi64>
    return %scores, %digit : tensor<64x10xf32>, tensor<64xi64>
  }
}
