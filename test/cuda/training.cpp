//===- training.cpp - batches and parameters, on a driver without GPU -----===//

#include "mnistrt/batch.h"
#include "plan.h"
#include <cstring>
#include <numeric>

using namespace test;
using fake::driver;
using fake::What;

namespace {

struct Data {
  explicit Data(int64_t count) : bytes(size_t(count * PlanModel::elements)) {
    std::iota(bytes.begin(), bytes.end(), uint8_t(3));
    classes.resize(size_t(count));
    std::iota(classes.begin(), classes.end(), 100);
    samples.inputs = bytes.data();
    samples.targets = classes.data();
    samples.count = count;
    samples.inputElements = PlanModel::elements;
    samples.targetElements = 1;
    samples.scale = 0.5f;
  }
  std::vector<uint8_t> bytes;
  std::vector<int32_t> classes;
  mn::Samples samples;
};

/// The kernels of a graph.
std::vector<std::string> kernels(const std::vector<fake::Entry> &log) {
  std::vector<std::string> names;
  for (const fake::Entry &entry : log)
    if (entry.what == What::launch)
      names.push_back(entry.kernel);
  return names;
}

/// The graphs that were launched, by their kernels' number.
std::vector<size_t> launched() {
  std::vector<size_t> counts;
  for (const fake::Entry &entry : driver().log)
    if (entry.what == What::graph)
      counts.push_back(kernels(driver().graphs[size_t(entry.graph)]).size());
  return counts;
}

TEST(Training, SixteenBatchesAreOneGraph) {
  for (auto &shapes : {std::vector<StepShape>{{}, {}},
                       std::vector<StepShape>{{0, {}}, {1, {0}}}}) {
    PlanModel made(shapes, mn::kinds::train);
    auto executor = open(made, true);
    Data data(11);
    ASSERT_TRUE(executor->load(0, data.samples).ok());
    ASSERT_TRUE(executor->prepare(0).ok());
    driver().log.clear();
    const size_t before = driver().graphs.size();
    const mn::Status status = executor->runBatches(0, 0, false, 37);
    ASSERT_TRUE(status.ok()) << status.message;
    // A batch is three kernels.
    EXPECT_EQ(launched(), std::vector<size_t>({48, 48, 3, 3, 3, 3, 3}));
    ASSERT_EQ(driver().graphs.size(), before + 2);
    const auto names = kernels(driver().graphs[before]);
    for (size_t i = 0; i < names.size(); ++i)
      EXPECT_EQ(names[i], i % 3 == 0   ? "mn_next_batch"
                          : i % 3 == 1 ? "step0"
                                       : "step1");
    checkOrder(made, driver().graphs[before], 16, "sixteen batches");
    checkOrder(made, driver().graphs[before + 1], 1, "one batch");
    // They are kept.
    ASSERT_TRUE(executor->runBatches(0, 0, false, 17).ok());
    EXPECT_EQ(driver().graphs.size(), before + 2);
  }
}

TEST(Training, BatchesKnowTheirSetAndOrder) {
  PlanModel made({{}}, mn::kinds::train);
  for (bool graph : {false, true}) {
    auto executor = open(made, graph);
    Data first(11), second(23);
    std::vector<float> floats(second.bytes.begin(), second.bytes.end());
    second.samples.inputs = floats.data();
    second.samples.inputType = mn::Type::f32;
    ASSERT_TRUE(executor->load(0, first.samples).ok());
    ASSERT_TRUE(executor->load(1, second.samples).ok());
    std::vector<mn::Batch> batches;
    driver().onLaunch = [&](const std::string &kernel, void **arguments, bool) {
      if (kernel != "mn_next_batch")
        return;
      batches.push_back(*static_cast<mn::Batch *>(arguments[0]));
      EXPECT_EQ(batches.back().bytes, batches.back().count == 11);
    };
    for (int set : {0, 1})
      for (bool shuffle : {false, true}) {
        batches.clear();
        ASSERT_TRUE(executor->runBatches(0, set, shuffle, 2).ok());
        ASSERT_FALSE(batches.empty());
        for (const mn::Batch &batch : batches) {
          EXPECT_EQ(batch.count, set == 0 ? 11 : 23);
          EXPECT_EQ(batch.shuffle, shuffle);
          EXPECT_EQ(batch.rows, PlanModel::rows);
          EXPECT_EQ(batch.inputElements, PlanModel::elements);
          EXPECT_EQ(batch.scale, 0.5f);
          // The data were uploaded, and are where the kernel looks.
          const Data &data = set == 0 ? first : second;
          EXPECT_EQ(0, std::memcmp(batch.inputs, data.samples.inputs,
                                   set == 0 ? 11 * 6 : 23 * 6 * 4));
          EXPECT_EQ(0, reinterpret_cast<uintptr_t>(batch.targets) % 16);
          EXPECT_EQ(0, std::memcmp(batch.targets, data.classes.data(),
                                   data.classes.size() * 4));
          const char *arena =
              reinterpret_cast<const char *>(batch.seed) - PlanModel::seed;
          const auto at = [&](const void *address) {
            return size_t(static_cast<const char *>(address) - arena);
          };
          EXPECT_EQ(at(batch.epoch), size_t(PlanModel::epoch));
          EXPECT_EQ(at(batch.number), size_t(PlanModel::batch));
          EXPECT_EQ(at(batch.toInputs), size_t(PlanModel::inputs));
          EXPECT_EQ(at(batch.toTargets), size_t(PlanModel::labels));
          EXPECT_EQ(at(batch.toValid), size_t(PlanModel::valid));
        }
      }
  }
}

TEST(Training, AnotherSetMakesOtherGraphs) {
  PlanModel made({{}}, mn::kinds::train);
  auto executor = open(made, true);
  Data data(11), other(23);
  ASSERT_TRUE(executor->load(0, data.samples).ok());
  ASSERT_TRUE(executor->runBatches(0, 0, false, 16).ok());
  const size_t before = driver().graphs.size();
  const int destroyed = driver().destroyedGraphs;
  ASSERT_TRUE(executor->load(0, other.samples).ok());
  // The graph had the address of the old data.
  EXPECT_EQ(driver().destroyedGraphs, destroyed + 1);
  ASSERT_TRUE(executor->runBatches(0, 0, false, 16).ok());
  EXPECT_EQ(driver().graphs.size(), before + 1);
  EXPECT_EQ(executor->runBatches(0, 1, false, 1).code, mn::Code::usage);
}

TEST(Training, OnlyTrainingChangesParameters) {
  PlanModel made({{}}, mn::kinds::train);
  for (bool graph : {false, true}) {
    auto executor = open(made, graph);
    const auto weight = [&] {
      float value = 0;
      EXPECT_TRUE(executor->readParameters(0, &value, 4).ok());
      return value;
    };
    EXPECT_EQ(weight(), 0.5f);
    // Whatever runs trains a step, as the kernel here does.
    float *trained = nullptr;
    driver().onLaunch = [&](const std::string &, void **arguments, bool runs) {
      trained = *static_cast<float **>(arguments[0]);
      *trained += runs ? 1 : 0;
    };
    driver().onGraph = [&](int) { *trained += 1; };
    ASSERT_TRUE(executor->prepare(0).ok());
    EXPECT_EQ(weight(), 0.5f);
    // They are kept on the device, or on the host where memory has run out.
    for (bool room : {true, false}) {
      driver().fails["cuMemAlloc_v2"] = room ? 0 : 2;
      driver().called.clear();
      double microseconds = 0;
      ASSERT_TRUE(executor->time(0, 3, microseconds).ok());
      EXPECT_EQ(driver().called.contains("cuMemcpyDtoHAsync_v2"), !room);
      EXPECT_EQ(weight(), 0.5f);
      std::vector<mn::StepTime> times;
      ASSERT_TRUE(executor->profile(0, times).ok());
      EXPECT_EQ(weight(), 0.5f);
    }
    driver().fails.clear();
    ASSERT_TRUE(executor->submit(0, 0).ok());
    EXPECT_EQ(weight(), 1.5f);
  }
}

TEST(Training, WritesGoThroughPinnedMemoryInTurn) {
  PlanModel made({{}}, mn::kinds::train);
  const size_t bytes = 400 * 1024;
  made.model.parameterBytes = bytes;
  made.plan.arenaBytes = bytes + PlanModel::arenaBytes;
  auto executor = open(made, true);
  std::vector<char> to(bytes), from(bytes);
  for (size_t i = 0; i < bytes; ++i)
    from[i] = char(i * 7919 >> 5);
  driver().log.clear();
  ASSERT_TRUE(executor->writeParameters(0, from.data(), bytes).ok());
  // A chunk is written again only when its last copy has ended.
  std::vector<int> copied;
  for (size_t i = 0; i < driver().log.size(); i += 3) {
    ASSERT_EQ(driver().log[i].what, What::synchronize);
    ASSERT_EQ(driver().log[i + 1].what, What::copy);
    ASSERT_EQ(driver().log[i + 2].what, What::record);
    EXPECT_EQ(driver().log[i].event, driver().log[i + 2].event);
    EXPECT_LE(driver().log[i + 1].bytes, 64u * 1024);
    copied.push_back(driver().log[i].event);
  }
  ASSERT_EQ(copied.size(), 7u);
  EXPECT_EQ(std::set<int>(copied.begin(), copied.begin() + 4).size(), 4u);
  EXPECT_EQ(copied[4], copied[0]);
  ASSERT_TRUE(executor->readParameters(0, to.data(), bytes).ok());
  EXPECT_EQ(to, from);
  EXPECT_FALSE(executor->writeParameters(bytes - 1, from.data(), 2).ok());
}

} // namespace
