//===- train-executor.cpp - batches and parameters on the CPU -------------===//

#include "core/executor.h"
#include "core/random_inputs.h"
#include "hand-written.h"
#include "mnistrt/shuffle.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace {

/// What the step of the plan below was given.
struct Seen {
  std::vector<float> inputs;
  std::vector<int32_t> labels;
  int32_t valid;
};
std::vector<Seen> seen;

constexpr int rows = 3, elements = 2;
constexpr int64_t inputShape[] = {rows, elements}, rowShape[] = {rows},
                  weightShape[] = {2};

// The parameters, and after them what a run needs.
enum : size_t {
  weight = 0,
  seed = 256,
  epoch = 512,
  batch = 768,
  parameterBytes = 1024,
  inputs = 1024,
  labels = 1280,
  valid = 1536,
  arenaBytes = 1792
};

/// Counts batches, and how many rows the first weight has seen.
void train(mn::Context &ctx) {
  const float *x = ctx.at<float>(inputs);
  const int32_t *label = ctx.at<int32_t>(labels);
  const int32_t count = *ctx.at<int32_t>(valid);
  seen.push_back({{x, x + rows * elements}, {label, label + rows}, count});
  *ctx.at<float>(weight) += float(count);
  *ctx.at<int64_t>(batch) += 1;
}

const mn::Tensor planInputs[] = {
    {"x", mn::Type::f32, 2, inputShape, inputs},
    {"mn.labels", mn::Type::i32, 1, rowShape, labels},
    {"mn.valid", mn::Type::i32, 0, nullptr, valid}};
const mn::Step steps[] = {
    {"update", "add", "", "kernel", "[2]", 0, 0, train, nullptr, 0}};
const mn::Plan plans[] = {
    {"train_3", rows, arenaBytes, 0, planInputs, 3, nullptr, 0, steps, 1},
    {"infer_3", rows, arenaBytes, 0, planInputs, 1, nullptr, 0, steps, 1}};
const mn::Parameter parameters[] = {
    {{"w", mn::Type::f32, 1, weightShape, weight}, mn::Role::parameter},
    byhand::state("mn.seed", mn::Type::i64, seed),
    byhand::state("mn.epoch", mn::Type::i64, epoch),
    byhand::state("mn.batch", mn::Type::i64, batch)};
const float initial[] = {10, 20};

mn::Model makeModel() {
  mn::Model model =
      byhand::model("by-hand", plans, parameters, parameterBytes, initial);
  model.target = "cpu";
  return model;
}

const uint8_t bytes[] = {0,  255, 51, 102, 153, 204, 10,
                         20, 30,  40, 50,  60,  70,  80};
const int32_t classes[] = {0, 1, 2, 3, 4, 5, 6};

mn::Samples sevenRows() {
  mn::Samples samples;
  samples.inputs = bytes;
  samples.targets = classes;
  samples.count = 7;
  samples.inputElements = elements;
  samples.targetElements = 1;
  samples.scale = 1.0f / 255;
  return samples;
}

class TrainExecutor : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(mn::Executor::open(model, {}, executor).ok());
    seen.clear();
  }
  /// What the plan was given in `count` runs from the epoch's beginning.
  std::vector<Seen> run(const mn::Samples &samples, bool shuffle, int count) {
    expect(executor->load(0, samples));
    EXPECT_TRUE(executor->prepare(0).ok());
    write(batch, 0);
    seen.clear();
    expect(executor->runBatches(0, 0, shuffle, count));
    expect(executor->finish());
    return seen;
  }
  void write(size_t offset, int64_t value) {
    expect(executor->writeParameters(offset, &value, sizeof value));
  }
  void expect(const mn::Status &status) {
    EXPECT_TRUE(status.ok()) << status.message;
  }
  std::vector<float> weights() {
    std::vector<float> values(2);
    expect(executor->readParameters(weight, values.data(), 8));
    return values;
  }

  const mn::Model model = makeModel();
  std::unique_ptr<mn::Executor> executor;
};

TEST_F(TrainExecutor, BeginsWithTheInitialValuesAndZeros) {
  EXPECT_EQ(weights(), (std::vector<float>{10, 20}));
  int64_t value = -1;
  expect(executor->readParameters(batch, &value, sizeof value));
  EXPECT_EQ(value, 0);
}

TEST_F(TrainExecutor, KeepsParametersWhereItOnlyLooks) {
  *static_cast<int32_t *>(executor->input(0, 2, 0)) = 3;
  expect(executor->prepare(0));
  double microseconds;
  expect(executor->time(0, 5, microseconds));
  std::vector<mn::StepTime> times;
  expect(executor->profile(0, times));
  expect(executor->trace(
      0, [](void *, int) { return mn::Status::success(); }, nullptr));
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(weights(), (std::vector<float>{10, 20}));
  // A submission is a step of training.
  expect(executor->submit(0, 0));
  EXPECT_EQ(weights(), (std::vector<float>{13, 20}));
}

TEST_F(TrainExecutor, MeasuresRandomInputs) {
  expect(mn::fillInputs(*executor, plans[0], 0, {.rows = 2, .classes = 4}));
  seen.clear(); // the run that prepares
  double microseconds;
  expect(executor->time(0, 1, microseconds));
  std::vector<mn::StepTime> times;
  expect(executor->profile(0, times));
  ASSERT_EQ(seen.size(), 2u);
  for (const Seen &batch : seen) {
    EXPECT_EQ(batch.valid, 2);
    EXPECT_NE(batch.inputs[0], batch.inputs[1]);
    for (const float x : batch.inputs)
      EXPECT_LE(std::abs(x), 1);
    for (const int32_t label : batch.labels)
      EXPECT_TRUE(label >= 0 && label < 4) << label;
  }
}

TEST_F(TrainExecutor, TakesRowsInOrderAndFillsUpWithZeros) {
  const std::vector<Seen> found = run(sevenRows(), false, 4);
  const std::vector<int32_t> wanted[] = {
      {0, 1, 2}, {3, 4, 5}, {6, 0, 0}, {0, 0, 0}};
  ASSERT_EQ(found.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i].labels, wanted[i]) << "batch " << i;
    EXPECT_EQ(found[i].valid, (std::vector<int>{3, 3, 1, 0})[i]);
  }
  EXPECT_FLOAT_EQ(found[0].inputs[1], 1);
  EXPECT_FLOAT_EQ(found[0].inputs[2], 0.2f);
  EXPECT_FLOAT_EQ(found[2].inputs[1], 80.0f / 255);
  EXPECT_EQ(found[2].inputs[2], 0);
  EXPECT_EQ(weights(), (std::vector<float>{17, 20}));
}

TEST_F(TrainExecutor, ShufflesBySeedAndEpoch) {
  std::vector<std::vector<int32_t>> orders;
  for (const auto &[s, e] : {std::pair(1, 0), {1, 1}, {2, 0}, {1, 0}}) {
    write(seed, s);
    write(epoch, e);
    std::vector<int32_t> order, wanted;
    for (const Seen &each : run(sevenRows(), true, 3))
      order.insert(order.end(), each.labels.begin(), each.labels.end());
    order.resize(7);
    for (int i = 0; i < 7; ++i)
      wanted.push_back(int32_t(mn::shuffled(i, 7, s, e)));
    EXPECT_EQ(order, wanted);
    orders.push_back(order);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
  EXPECT_EQ(orders[0], orders[3]);
}

TEST_F(TrainExecutor, NormalizesWhatAPlanSees) {
  const float values[] = {0, 255, 51, 102, 153, 204};
  for (mn::Type type : {mn::Type::u8, mn::Type::f32})
    for (bool invert : {false, true}) {
      mn::Samples samples = sevenRows();
      samples.inputs =
          type == mn::Type::u8 ? static_cast<const void *>(bytes) : values;
      samples.inputType = type;
      samples.count = rows;
      samples.mean = 0.5f;
      samples.deviation = 0.25f;
      samples.invert = invert;
      const std::vector<Seen> found = run(samples, false, 1);
      for (int i = 0; i < rows * elements; ++i) {
        const float x = (invert ? 255 - values[i] : values[i]) / 255;
        EXPECT_NEAR(found[0].inputs[i], (x - 0.5f) / 0.25f, 1e-6);
      }
    }
}

TEST_F(TrainExecutor, UsesDataSetsWhereTheyAreAndCountsThem) {
  const size_t before = executor->deviceBytes();
  std::vector<uint8_t> own(bytes, bytes + 14);
  mn::Samples samples = sevenRows();
  samples.inputs = own.data();
  expect(executor->load(1, samples));
  expect(executor->load(1, samples));
  EXPECT_EQ(executor->deviceBytes(), before + 14 + 7 * 4);
  EXPECT_TRUE(executor->usesHostMemory());
  own[1] = 51;
  seen.clear();
  expect(executor->runBatches(0, 1, false, 1));
  EXPECT_FLOAT_EQ(seen.back().inputs[1], 0.2f);
}

TEST_F(TrainExecutor, SharesDataSetsButNotParameters) {
  expect(executor->load(0, sevenRows()));
  std::unique_ptr<mn::Executor> other;
  expect(executor->share(other));
  EXPECT_EQ(other->deviceBytes(), executor->deviceBytes());
  seen.clear();
  expect(other->runBatches(0, 0, false, 2)); // the first run prepares
  EXPECT_EQ(seen.back().labels, (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(weights(), (std::vector<float>{10, 20}));
  float weight = 0;
  expect(other->readParameters(0, &weight, 4));
  EXPECT_EQ(weight, 16);
  // What is shared lives as long as one that uses it.
  executor = nullptr;
  expect(other->runBatches(0, 0, false, 1));
  EXPECT_EQ(seen.back().labels[0], 6);
  // Another set is only its own.
  expect(other->share(executor));
  mn::Samples one = sevenRows();
  one.count = 1;
  expect(other->load(0, one));
  seen.clear();
  expect(executor->runBatches(0, 0, false, 1));
  EXPECT_EQ(seen.back().valid, 3);
}

TEST_F(TrainExecutor, SaysWhatDoesNotFit) {
  const auto message = [&](const mn::Status &status) { return status.message; };
  EXPECT_EQ(message(executor->runBatches(0, 0, false, 1)),
            "expected data set 0 to be loaded, got none");
  mn::Samples samples = sevenRows();
  samples.inputElements = 1;
  expect(executor->load(0, samples));
  EXPECT_EQ(message(executor->runBatches(0, 0, false, 1)),
            "expected data for plan 'train_3' in rows of 2 numbers with 1 "
            "targets of int32, got rows of 1 numbers with 1 targets of int32");
  EXPECT_EQ(message(executor->runBatches(1, 0, false, 1)),
            "expected plan 'infer_3' to have one input besides 'mn.labels' and "
            "'mn.valid', got 1 inputs in total");
  EXPECT_EQ(message(executor->writeParameters(1020, classes, 8)),
            "expected a range inside of the parameters of 1024 bytes, got "
            "1020 + 8");
  EXPECT_EQ(message(executor->load(3, samples)),
            "expected data set 0, 1 or 2, got 3");
  samples.inputType = mn::Type::i64;
  EXPECT_EQ(message(executor->load(0, samples)),
            "expected inputs of uint8 or float, got int64");
}

} // namespace
