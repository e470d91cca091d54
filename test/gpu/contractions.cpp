//===- contractions.cpp - products, convolutions, their gradients ---------===//

#include "contractions.h"

namespace test {

namespace {

/// Every library's relu once more, with some operands that are NaN. No NaN may
/// be lost; cuDNN's transforms spread one over a tile, or over an image.
void addWithNan(std::vector<Case> &cases) {
  const size_t count = cases.size();
  for (size_t i = 0; i < count; ++i) {
    Case c = cases[i];
    if (c.name.find("-relu") == std::string::npos)
      continue;
    c.name += " nan";
    c.hasNan = true;
    c.nanSpreads = std::string_view(c.implementation) == "cudnn";
    cases.push_back(c);
  }
}

} // namespace

std::vector<Case> contractionCases() {
  std::vector<Case> cases;
  MN_TEST_CONVS(MN_CASE_CONV)
  MN_TEST_SCHEDULES(MN_CASE_CONV)
  addSpecial(cases);
  MN_CASE_PACKED(by_patches_inside_tf32x3)
  MN_CASE_PACKED(by_patches_inside_bf16)
  MN_CASE_PACKED(by_patches_split)

  Case f64 = make<double>(
      "conv-f64 strided",
      [](mn::Context &ctx) {
        const Pointers<double, double> p(ctx, outputs(strided), inputs(strided),
                                         weights(strided));
        mn::conv<double>(ctx, "conv_f64_strided", strided_forward,
                         Forward<double>{{p.y, p.a, p.b}});
      },
      outputs(strided), inputs(strided), weights(strided), flops(strided));
  f64.reference = [](const Inputs &in, Numbers &y) { forward(strided, in, y); };
  cases.push_back(f64);

  MN_TEST_MATMULS(MN_CASE_MATMUL)
  MN_TEST_DOTS(MN_CASE_MATMUL)
  addMatmul<float>(cases, "matmul dots_computed", dots_warps,
                   MN_RUN_MATMUL(float, Computed, "dots_computed", dots_warps));
  addMatmul<double>(
      cases, "matmul-f64 dots_clusters", dots_clusters,
      MN_RUN_MATMUL(double, Plain<double>, "dots_f64", dots_clusters));
  addMatmul<double>(
      cases, "matmul-f64 both_transposed", both_transposed,
      MN_RUN_MATMUL(double, Plain<double>, "matmul_f64", both_transposed));
  addMatmul<int32_t>(
      cases, "matmul-i32 long_sum", long_sum,
      MN_RUN_MATMUL(int32_t, Plain<int32_t>, "matmul_i32", long_sum));
  return cases;
}

std::vector<Case> libraryCases() {
  std::vector<Case> cases;
  MN_TEST_CONVS(MN_CASE_CUDNN)
  MN_TEST_ROUNDED_CONVS(MN_CASE_CUDNN_ROUNDED)

#define MN_CASE_CUDNN_FUSED(NAME, RESIDUAL, RELU)                              \
  {                                                                            \
    Case c = make<float>(                                                      \
        "cudnn-conv-bias" + std::string(RESIDUAL ? "-residual" : "") +         \
            (RELU ? "-relu" : "") + " " #NAME,                                 \
        [](mn::Context &ctx) {                                                 \
          const Pointers<float, float> p(ctx, outputs(NAME), inputs(NAME),     \
                                         weights(NAME), NAME.outChannels);     \
          mn::cudnn::conv(ctx, p.y, p.a, p.b, NAME,                            \
                          {.bias = p.extra[0],                                 \
                           .residual = RESIDUAL ? p.extra[1] : nullptr,        \
                           .relu = RELU});                                     \
        },                                                                     \
        outputs(NAME), inputs(NAME), weights(NAME), flops(NAME));              \
    c.operands.push_back({mn::Type::f32, NAME.outChannels});                   \
    c.operands.push_back({mn::Type::f32, outputs(NAME)});                      \
    c.implementation = "cudnn";                                                \
    c.tolerance = 1e-5;                                                        \
    c.reference = [](const Inputs &in, Numbers &y) {                           \
      forward(NAME, in, y);                                                    \
      const size_t pixels = size_t(NAME.out[0]) * NAME.out[1] * NAME.out[2];   \
      const bool first = NAME.layout == mn::Layout::nchw;                      \
      epilogue(y, in, RESIDUAL, RELU, [&](size_t i) {                          \
        return (first ? i / pixels : i) % size_t(NAME.outChannels);            \
      });                                                                      \
    };                                                                         \
    cases.push_back(c);                                                        \
  }
  MN_CASE_CUDNN_FUSED(conv1_64_big, false, true)
  MN_CASE_CUDNN_FUSED(conv2_64_big, false, true)
  MN_CASE_CUDNN_FUSED(conv2_64_nhwc_big, false, true)
  MN_CASE_CUDNN_FUSED(conv2_1_big, true, true)
  MN_CASE_CUDNN_FUSED(conv2_1024_big, false, true)
  MN_CASE_CUDNN_FUSED(strided, false, false)
  MN_CASE_CUDNN_FUSED(strided_nhwc, true, false)
  MN_CASE_CUDNN_FUSED(one_dim, true, true)

  MN_TEST_MATMULS(MN_CASE_CUBLAS)
  addWithNan(cases);
  return cases;
}

} // namespace test
