//===- generated-model.cpp - a model as the compiler writes it ------------===//
//
// What docs/generated-code.md describes, written manually: a small network of
// which every step has another implementation, for two batch sizes. The sizes
// are template parameters here, literals in generated code.
//
//===----------------------------------------------------------------------===//

#include "mnistrt/generated.h"

namespace infer {

// features = relu(conv + conv1.bias)
struct Features {
  float *features;           // [B, 2, 4, 4]
  const float *image;        // [B, 1, 4, 4]
  const float *conv1_weight; // [2, 1, 3, 3]
  const float *conv1_bias;   // [2]
  MN_FN float loadInput(mn::Index i) const { return image[i]; }
  MN_FN float loadFilter(mn::Index i) const { return conv1_weight[i]; }
  MN_FN void store(mn::Index i, float v) const {
    const float sum = v + conv1_bias[i / 16 % 2];
    features[i] = mn::relu(sum);
  }
};
MN_CONV_KERNEL(infer_features, float, Features,
               mn::Conv{.batch = 4, .outChannels = 2, .in = {4, 4, 1}})

struct Pooled {
  float *pooled;     // [B, 2, 2, 2]
  const float *both; // [B, 2, 4, 4]
  MN_FN float load(mn::Index i) const { return both[i]; }
  MN_FN void store(mn::Index i, float v) const { pooled[i] = v; }
};
MN_MAX_POOL_KERNEL(infer_pooled, float, Pooled, mn::Pool{.batch = 4})

struct Centered {
  float *centered;     // [B, 8]
  const float *pooled; // [B, 8]
  MN_FN void operator()(mn::Element i) const { centered[i] = pooled[i] - 0.5f; }
};
MN_POINTWISE_KERNEL(infer_centered, Centered)

struct Probabilities {
  float *probabilities; // [B, 3]
  const float *scores;  // [B, 3]
  MN_FN float load(mn::Index i) const { return scores[i]; }
  MN_FN void store(mn::Index i, float v) const { probabilities[i] = v; }
};
MN_SOFTMAX_KERNEL(infer_probabilities, float, Probabilities,
                  mn::Softmax{.outer = 4, .size = 3})

} // namespace infer

#if MN_HOST
namespace {

template <int B> struct Infer {
  static constexpr size_t image = 0, features = image + B * 64,
                          both = features + B * 128, pooled = both + B * 128,
                          centered = pooled + B * 32,
                          scores = centered + B * 32,
                          probabilities = scores + B * 12,
                          arenaBytes = probabilities + B * 12;

  static void step_1(mn::Context &ctx) {
    mn::conv<float>(
        ctx, "infer_features",
        mn::Conv{.batch = B,
                 .outChannels = 2,
                 .in = {4, 4, 1},
                 .kernel = {3, 3, 1},
                 .out = {4, 4, 1},
                 .pads = {1, 1, 0},
                 .padsAfter = {1, 1, 0}},
        infer::Features{ctx.at<float>(features), ctx.at<float>(image),
                        ctx.constant<float>(0), ctx.constant<float>(72)});
  }
  static void step_2(mn::Context &ctx) {
    mn::onednn::conv(ctx, ctx.at<float>(both), ctx.at<float>(features),
                     ctx.constant<float>(80),
                     mn::Conv{.batch = B,
                              .inChannels = 2,
                              .outChannels = 2,
                              .in = {4, 4, 1},
                              .kernel = {3, 3, 1},
                              .out = {4, 4, 1},
                              .pads = {1, 1, 0},
                              .padsAfter = {1, 1, 0}},
                     mn::Epilogue{.bias = ctx.constant<float>(224),
                                  .residual = ctx.at<float>(features),
                                  .relu = true});
  }
  static void step_3(mn::Context &ctx) {
    mn::maxPool<float>(
        ctx, "infer_pooled",
        mn::Pool{.batch = B,
                 .channels = 2,
                 .in = {4, 4, 1},
                 .kernel = {2, 2, 1},
                 .out = {2, 2, 1},
                 .strides = {2, 2, 1}},
        infer::Pooled{ctx.at<float>(pooled), ctx.at<float>(both)});
  }
  static void step_4(mn::Context &ctx) {
    mn::pointwise(
        ctx, "infer_centered", B * 8,
        infer::Centered{ctx.at<float>(centered), ctx.at<float>(pooled)});
  }
  static void step_5(mn::Context &ctx) {
    mn::openblas::matmul(
        ctx, ctx.at<float>(scores), ctx.at<float>(centered),
        ctx.constant<float>(232),
        mn::Matmul{.m = B, .n = 3, .k = 8, .transposedB = true},
        mn::Epilogue{.bias = ctx.constant<float>(328)});
  }
  static void step_6(mn::Context &ctx) {
    mn::softmax<float>(ctx, "infer_probabilities",
                       mn::Softmax{.outer = B, .size = 3},
                       infer::Probabilities{ctx.at<float>(probabilities),
                                            ctx.at<float>(scores)});
  }

  static constexpr int64_t imageShape[] = {B, 1, 4, 4}, resultShape[] = {B, 3},
                           featureShape[] = {B, 2, 4, 4},
                           pooledShape[] = {B, 2, 2, 2},
                           centeredShape[] = {B, 8};
  static constexpr mn::Tensor inputs[] = {
      {"image", mn::Type::f32, 4, imageShape, image}};
  static constexpr mn::Tensor outputs[] = {
      {"probabilities", mn::Type::f32, 2, resultShape, probabilities}};
  static constexpr mn::Tensor results[] = {
      {"features", mn::Type::f32, 4, featureShape, features},
      {"both", mn::Type::f32, 4, featureShape, both},
      {"pooled", mn::Type::f32, 4, pooledShape, pooled},
      {"centered", mn::Type::f32, 2, centeredShape, centered},
      {"scores", mn::Type::f32, 2, resultShape, scores},
      {"probabilities", mn::Type::f32, 2, resultShape, probabilities}};
  static constexpr mn::Step steps[] = {
      {"features", "conv broadcast add relu", "/conv1/Conv, /relu1/Relu",
       "kernel", "[B, 2, 4, 4]", 576. * B, 264. * B, step_1, &results[0], 1},
      {"both", "conv broadcast add add relu", "/conv2/Conv, /Add", "onednn",
       "[B, 2, 4, 4]", 1152. * B, 400. * B, step_2, &results[1], 1},
      {"pooled", "max_pool", "/MaxPool", "kernel", "[B, 2, 2, 2]", 32. * B,
       160. * B, step_3, &results[2], 1},
      {"centered", "sub", "/Sub", "kernel", "[B, 8]", 8. * B, 64. * B, step_4,
       &results[3], 1},
      {"scores", "matmul broadcast add", "/fc/Gemm", "openblas", "[B, 3]",
       48. * B, 44. * B, step_5, &results[4], 1},
      {"probabilities", "softmax", "/Softmax", "kernel", "[B, 3]", 15. * B,
       24. * B, step_6, &results[5], 1}};
};

// The k-th number is ((37 k) mod 17 - 8) / 16.
struct Constants {
  float values[85];
  constexpr Constants() : values() {
    for (int k = 0; k < 85; ++k)
      values[k] = static_cast<float>(37 * k % 17 - 8) / 16;
  }
};
alignas(64) constexpr Constants constants;

template <int B> constexpr mn::Plan planOf(const char *name) {
  return {name,
          B,
          Infer<B>::arenaBytes,
          0,
          Infer<B>::inputs,
          1,
          Infer<B>::outputs,
          1,
          Infer<B>::steps,
          6};
}
constexpr mn::Plan plans[] = {planOf<1>("infer_1"), planOf<4>("infer_4")};

} // namespace

extern "C" const mn::Model mn_model = {
    mn::modelVersion,
    "unit",
    "mnistc 0.1.0",
    "--target=cpu --batch=1,4",
    "cpu",
    "x86-64-v3",
    reinterpret_cast<const unsigned char *>(constants.values),
    sizeof constants.values,
    nullptr,
    0,
    plans,
    2,
    nullptr,
    0,
};
#endif
