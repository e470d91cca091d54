//===- train-model.cpp - a hand-written model that trains -----------------===//

#include "train-model.h"
#include "formats/protobuf.h"
#include "hand-written.h"
#include <algorithm>
#include <cmath>

using namespace trainmodel;

namespace {

// The parameter block, then what the plans share.
enum : size_t {
  weightAt = 0,
  biasAt = weightAt + pixels * classes * 4 + 128,
  initialEnd = biasAt + 256,
  seedAt = initialEnd,
  epochAt = seedAt + 8,
  batchAt = epochAt + 8,
  stepAt = batchAt + 8,
  lossSumAt = stepAt + 8,
  correctAt = lossSumAt + 8,
  seenAt = correctAt + 8,
  badStepAt = seenAt + 8,
  velocityAt = badStepAt + 8,
  recipeAt = velocityAt + pixels * classes * 4,
  blockEnd = recipeAt + 1024 * 40,
  inputAt = (blockEnd + 255) / 256 * 256,
  labelsAt = inputAt + batch * pixels * 4,
  validAt = labelsAt + batch * 4,
  scoresAt = validAt + 64,
  lossAt = scoresAt + batch * classes * 4,
  arenaEnd = lossAt + 64
};

void scores(mn::Context &ctx) {
  const float *w = ctx.at<float>(weightAt), *b = ctx.at<float>(biasAt);
  const float *x = ctx.at<float>(inputAt);
  float *y = ctx.at<float>(scoresAt);
  for (int64_t r = 0; r < batch; ++r)
    for (int64_t c = 0; c < classes; ++c) {
      float sum = b[c];
      for (int64_t i = 0; i < pixels; ++i)
        sum += w[c * pixels + i] * x[r * pixels + i];
      y[r * classes + c] = sum;
    }
}

/// Scores become the gradient.
float lossOf(float *y, int32_t label, int64_t &correct) {
  const float top = *std::max_element(y, y + classes);
  correct += std::max_element(y, y + classes) - y == label;
  float sum = 0;
  for (int64_t c = 0; c < classes; ++c)
    sum += std::exp(y[c] - top);
  const float loss = std::log(sum) + top - y[label];
  for (int64_t c = 0; c < classes; ++c)
    y[c] = std::exp(y[c] - top) / sum - (c == label);
  return loss;
}

void loss(mn::Context &ctx) {
  const int32_t valid = *ctx.at<int32_t>(validAt);
  double sum = 0;
  for (int32_t r = 0; r < valid; ++r)
    sum += lossOf(ctx.at<float>(scoresAt) + r * classes,
                  ctx.at<int32_t>(labelsAt)[r], *ctx.at<int64_t>(correctAt));
  *ctx.at<float>(lossAt) = static_cast<float>(sum / valid);
  *ctx.at<double>(lossSumAt) += sum;
  *ctx.at<int64_t>(seenAt) += valid;
  int64_t &bad = *ctx.at<int64_t>(badStepAt);
  if (!std::isfinite(sum) && bad < 0)
    bad = *ctx.at<int64_t>(stepAt);
  ++*ctx.at<int64_t>(batchAt);
}

void update(mn::Context &ctx) {
  int64_t &step = *ctx.at<int64_t>(stepAt);
  const float *row = ctx.at<float>(recipeAt) + step % 1024 * 10;
  const float lr = row[mn::RecipeColumn::lr];
  const float momentum = row[mn::RecipeColumn::momentum];
  const int32_t valid = *ctx.at<int32_t>(validAt);
  float *w = ctx.at<float>(weightAt), *v = ctx.at<float>(velocityAt);
  const float *x = ctx.at<float>(inputAt), *dy = ctx.at<float>(scoresAt);
  for (int64_t i = 0; i < pixels * classes; ++i) {
    float g = 0;
    for (int32_t r = 0; r < valid; ++r)
      g += dy[r * classes + i / pixels] * x[r * pixels + i % pixels];
    v[i] = momentum * v[i] + g / static_cast<float>(valid);
    w[i] -= lr * v[i];
  }
  ++step;
}

constexpr int64_t inputShape[] = {batch, pixels}, scoresShape[] = {batch, 10};
constexpr int64_t weightShape[] = {10, pixels}, biasShape[] = {10};
constexpr int64_t labelsShape[] = {batch}, recipeShape[] = {1024, 10};
using mn::Type;
const mn::Tensor inputs[] = {{"x", Type::f32, 2, inputShape, inputAt},
                             {"mn.labels", Type::i32, 1, labelsShape, labelsAt},
                             {"mn.valid", Type::i32, 0, nullptr, validAt}};
const mn::Tensor scoresTensor = {"y", Type::f32, 2, scoresShape, scoresAt};
const mn::Tensor lossTensor = {"mn.loss", Type::f32, 0, nullptr, lossAt};
const mn::Tensor weightTensor = {"w", Type::f32, 2, weightShape, weightAt};
const mn::Step trainSteps[] = {{"y", "matmul add", "/fc/Gemm", "kernel",
                                "[16, 10]", 0, 0, scores, &scoresTensor, 1},
                               {"mn.loss", "cross_entropy", "mn.loss", "kernel",
                                "[]", 0, 0, loss, &lossTensor, 1},
                               {"w", "sub mul", "/fc/Gemm", "kernel",
                                "[10, 784]", 0, 0, update, &weightTensor, 1}};
const mn::Plan plans[] = {
    {"infer_16", batch, arenaEnd, 0, inputs, 1, &scoresTensor, 1, trainSteps,
     1},
    {"train_16", batch, arenaEnd, 0, inputs, 3, &lossTensor, 1, trainSteps, 3},
    {"eval_16", batch, arenaEnd, 0, inputs, 3, &lossTensor, 1, trainSteps, 2}};
const mn::Parameter parameters[] = {
    {weightTensor, mn::Role::parameter},
    {{"b", Type::f32, 1, biasShape, biasAt}, mn::Role::parameter},
    byhand::state("mn.seed", Type::i64, seedAt),
    byhand::state("mn.epoch", Type::i64, epochAt),
    byhand::state("mn.batch", Type::i64, batchAt),
    byhand::state("mn.step", Type::i64, stepAt),
    byhand::state("mn.loss_sum", Type::f64, lossSumAt),
    byhand::state("mn.correct", Type::i64, correctAt),
    byhand::state("mn.seen", Type::i64, seenAt),
    byhand::state("mn.bad_step", Type::i64, badStepAt),
    {{"w.velocity", Type::f32, 2, weightShape, velocityAt}, mn::Role::state},
    {{"mn.recipe", Type::f32, 2, recipeShape, recipeAt}, mn::Role::state}};

std::string initializer(const char *name, std::initializer_list<int64_t> shape,
                        size_t count) {
  std::string tensor;
  for (int64_t size : shape)
    mn::putVarintField(tensor, 1, static_cast<uint64_t>(size));
  mn::putVarintField(tensor, 2, 1); // float
  mn::putBytesField(tensor, 8, name);
  mn::putBytesField(tensor, 9, std::string(4 * count, '\0'));
  return tensor;
}

/// y = Gemm(x, w, b), transB.
std::string onnxModel() {
  std::string attribute, node, graph, model;
  mn::putBytesField(attribute, 1, "transB");
  mn::putVarintField(attribute, 3, 1);
  mn::putVarintField(attribute, 20, 2);
  for (const char *input : {"x", "w", "b"})
    mn::putBytesField(node, 1, input);
  mn::putBytesField(node, 2, "y");
  mn::putBytesField(node, 4, "Gemm");
  mn::putBytesField(node, 5, attribute);
  mn::putBytesField(graph, 1, node);
  mn::putBytesField(graph, 2, "graph");
  mn::putBytesField(graph, 5,
                    initializer("w", {classes, pixels}, classes * pixels));
  mn::putBytesField(graph, 5, initializer("b", {classes}, classes));
  mn::putVarintField(model, 1, 8);
  mn::putBytesField(model, 7, graph);
  return model;
}

const mn::Recipe recipe = {"cross-entropy",
                           "momentum",
                           "torch",
                           "none",
                           "class",
                           "masked",
                           {0.05, 0.9, 0, 0, 0, 0, 0, 0, 0, 0}};

} // namespace

mn::Model trainmodel::renamed(const char *name) {
  static const std::string onnx = onnxModel();
  mn::Model model = byhand::model(name, plans, parameters, blockEnd);
  model.compiler = "hand-written";
  model.command = "";
  model.target = "cpu";
  model.arch = "x86-64";
  model.recipe = &recipe;
  model.onnx = reinterpret_cast<const unsigned char *>(onnx.data());
  model.onnxBytes = onnx.size();
  return model;
}

const mn::Model &trainmodel::model() {
  static const mn::Model model = renamed("softmax");
  return model;
}
