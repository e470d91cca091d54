//===- train-parts.cpp - the trainer's smaller parts ----------------------===//

#include "core/batch_plan.h"
#include "formats/onnx_uses.h"
#include "formats/protobuf.h"
#include "train-model.h"
#include "train/feeder.h"
#include "train/initialize.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

std::string node(const char *op, std::initializer_list<const char *> inputs,
                 const char *output, const char *flag = nullptr) {
  std::string node, attribute;
  for (const char *input : inputs)
    mn::putBytesField(node, 1, input);
  mn::putBytesField(node, 2, output);
  mn::putBytesField(node, 4, op);
  if (flag) {
    mn::putBytesField(attribute, 1, flag);
    mn::putVarintField(attribute, 3, 1);
    mn::putBytesField(node, 5, attribute);
  }
  return node;
}

TEST(OnnxUses, SaysWhichDimensionIsWhich) {
  using Kind = mn::WeightUse::Kind;
  struct {
    std::vector<std::string> nodes;
    Kind kind;
    bool outFirst;
    const char *bias;
  } cases[] = {
      {{node("Gemm", {"x", "w", "b"}, "y", "transB")}, Kind::dense, true, "b"},
      {{node("Gemm", {"x", "w", "b"}, "y")}, Kind::dense, false, "b"},
      {{node("Gemm", {"w", "x"}, "y")}, Kind::dense, true, ""},
      {{node("MatMul", {"x", "w"}, "p"), node("Add", {"p", "b"}, "y")},
       Kind::dense,
       false,
       "b"},
      {{node("MatMul", {"x", "w"}, "p"), node("Add", {"b", "p"}, "y")},
       Kind::dense,
       false,
       "b"},
      {{node("Transpose", {"w"}, "t"), node("MatMul", {"x", "t"}, "p")},
       Kind::dense,
       true,
       ""},
      {{node("Identity", {"w"}, "t"), node("Gemm", {"x", "t"}, "p")},
       Kind::dense,
       false,
       ""},
      {{node("Conv", {"x", "w", "b"}, "y")}, Kind::conv, true, "b"},
      {{node("ConvTranspose", {"x", "w"}, "y")}, Kind::conv, false, ""}};
  for (const auto &test : cases) {
    std::string graph, model;
    for (const std::string &each : test.nodes)
      mn::putBytesField(graph, 1, each);
    mn::putBytesField(model, 7, graph);
    const mn::WeightUses uses = mn::weightUsesOf(model);
    ASSERT_TRUE(uses.count("w")) << test.nodes[0];
    const mn::WeightUse &use = uses.find("w")->second;
    EXPECT_EQ(use.kind, test.kind) << test.nodes[0];
    EXPECT_EQ(use.outFirst, test.outFirst) << test.nodes[0];
    EXPECT_EQ(use.bias, test.bias) << test.nodes[0];
  }
}

TEST(TrainModel, CountsTheClassesOfScores) {
  struct {
    std::vector<int64_t> shape; ///< of the first result of inference
    int64_t classes;            ///< 0: it is a loss
  } cases[] = {{{16, 10}, 10}, {{16, 1}, 2}, {{16}, 2}, {{}, 0}};
  for (const auto &test : cases) {
    mn::Model tables = trainmodel::model();
    std::vector<mn::Plan> plans(tables.plans, tables.plans + tables.planCount);
    mn::Tensor scores = plans[0].outputs[0];
    scores.rank = static_cast<int>(test.shape.size());
    scores.shape = test.shape.data();
    plans[0].outputs = &scores;
    tables.plans = plans.data();
    mn::TrainModel model;
    ASSERT_TRUE(mn::TrainModel::create(tables, 0, model).ok());
    EXPECT_EQ(model.classes, test.classes);
    EXPECT_EQ(model.accuracy({}) < 0, test.classes == 0);
  }
}

TEST(Initialize, HasTheDeviationsOfTheFormulas) {
  mn::TrainModel model;
  ASSERT_TRUE(mn::TrainModel::create(trainmodel::model(), 0, model).ok());
  struct {
    mn::Initialization kind;
    double deviation, bias; ///< bounds of it
  } cases[] = {{mn::Initialization::file, 0, 0},
               {mn::Initialization::he, std::sqrt(2.0 / 784), 0},
               {mn::Initialization::xavier, std::sqrt(2.0 / 794), 0},
               {mn::Initialization::keras, std::sqrt(2.0 / 794), 0},
               {mn::Initialization::torch, std::sqrt(1.0 / 784 / 3), 1.0 / 28}};
  for (const auto &test : cases) {
    std::vector<char> block = model.initialBlock(), again = block;
    ASSERT_TRUE(mn::initialize(model, test.kind, 3, block).ok());
    ASSERT_TRUE(mn::initialize(model, test.kind, 3, again).ok());
    EXPECT_EQ(block, again);
    const auto values = [&](const char *name) {
      return reinterpret_cast<const float *>(block.data() +
                                             model.find(name)->tensor.offset);
    };
    double square = 0, most = 0;
    for (int i = 0; i < 7840; ++i)
      square += values("w")[i] * values("w")[i];
    for (int i = 0; i < 10; ++i)
      most = std::max(most, std::fabs(double(values("b")[i])));
    EXPECT_NEAR(std::sqrt(square / 7840), test.deviation,
                0.03 * test.deviation);
    EXPECT_LE(most, test.bias);
    EXPECT_EQ(most > 0, test.bias > 0);
  }
}

TEST(RoomForData, IsWhatIsAskedForOrFree) {
  constexpr int64_t MiB = 1 << 20, GiB = 1024 * MiB;
  const struct {
    int64_t asked, freeBytes, room;
  } cases[] = {
      {-1, 140 * GiB, 140 * GiB - 512 * MiB},
      {-1, 513 * MiB, MiB},
      {-1, 512 * MiB, 0},
      {-1, 100 * MiB, 0},
      {-1, 0, 0},
      {-1, -1, INT64_MAX}, // of the host
      {0, 140 * GiB, 0},
      {GiB, 100 * MiB, GiB},
      {9 * GiB, -1, 9 * GiB},
  };
  for (const auto &test : cases)
    EXPECT_EQ(mn::roomForData(test.asked, test.freeBytes), test.room)
        << test.asked << " asked for, " << test.freeBytes << " free";
}

TEST(FillBatch, IsTheSameWithAnyNumberOfThreads) {
  std::vector<uint8_t> images(300 * 5000);
  std::vector<int32_t> labels(300);
  for (size_t i = 0; i < images.size(); ++i)
    images[i] = static_cast<uint8_t>(i * i / 7);
  for (int i = 0; i < 300; ++i)
    labels[i] = i;
  mn::Samples samples;
  samples.inputs = images.data(), samples.targets = labels.data();
  samples.count = 300, samples.inputElements = 5000;
  samples.targetElements = 1;
  const int64_t seed = 1, epoch = 2, number = 1; // rows 200 to 399
  std::vector<float> one(200 * 5000, -1), many = one;
  std::vector<uint32_t> firstLabels(200, 7), otherLabels = firstLabels;
  int32_t valid = 0;
  mn::Batch batch = mn::batchOf(samples, true);
  batch.inputs = samples.inputs;
  batch.targets = static_cast<const uint32_t *>(samples.targets);
  batch.rows = 200, batch.toValid = &valid;
  batch.seed = &seed, batch.epoch = &epoch, batch.number = &number;
  batch.toInputs = one.data(), batch.toTargets = firstLabels.data();
  mn::fillBatch(batch, mn::Type::u8, 1);
  batch.toInputs = many.data(), batch.toTargets = otherLabels.data();
  mn::fillBatch(batch, mn::Type::u8, 4);
  EXPECT_EQ(valid, 100);
  EXPECT_EQ(one, many);
  EXPECT_EQ(firstLabels, otherLabels);
  EXPECT_EQ(firstLabels[100], 0u);
  EXPECT_EQ(one[100 * 5000], 0);
  EXPECT_EQ(one[0], images[firstLabels[0] * 5000]);
}

} // namespace
