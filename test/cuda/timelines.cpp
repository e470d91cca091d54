//===- timelines.cpp - where blocks write down when they run --------------===//

#include "mnistrt/batch.h"
#include "plan.h"
#include <cstring>

using namespace test;
using fake::driver;
using mn::BlockTimes;

namespace {

/// How many arguments a kernel of these plans has before the one for times.
size_t argumentsOf(const std::string &kernel) {
  return kernel.starts_with("mn_") ? 1 : kernel.ends_with("_filters") ? 2 : 3;
}

/// A plan of a program that was compiled with --timestamps, and a GPU that
/// gives block b of launch i of a graph the times 1000 i + 10 + b and the
/// following.
struct Timed : PlanModel {
  explicit Timed(std::vector<StepShape> shapes, const char *name,
                 bool timestamps = true)
      : PlanModel(std::move(shapes), name) {
    model.timestamps = timestamps;
    samples.inputs = bytes.data();
    samples.targets = classes.data();
    samples.count = int64_t(classes.size());
    samples.inputElements = elements;
    samples.targetElements = 1;
    runs.take = [this](const std::vector<BlockTimes> &times) {
      taken.push_back(times);
      return mn::Status::success();
    };
  }

  mn::Status run(bool graph, bool batches) {
    executor = open(*this, graph);
    EXPECT_TRUE(executor->prepare(0).ok());
    if (batches) {
      EXPECT_TRUE(executor->load(0, samples).ok());
    }
    runs.set = batches ? 0 : -1;
    runs.count = 32;
    driver().onLaunch = [this](const std::string &kernel, void **with, bool) {
      if (kernel.starts_with("step"))
        arena = *static_cast<char **>(with[0]);
      places.push_back(*static_cast<BlockTimes **>(with[argumentsOf(kernel)]));
    };
    driver().onGraph = [this](int) { write(); };
    return executor->timeline(0, runs);
  }

  /// What the blocks of the graph that was captured last write.
  void write() {
    int64_t now;
    std::memcpy(&now, arena + PlanModel::epoch, sizeof now);
    epochs.push_back(now);
    const size_t count = runs.launches.size();
    for (size_t i = 0; i < count; ++i) {
      BlockTimes *to = places[places.size() - count + i];
      for (uint32_t b = 0; to && b < runs.launches[i].blocks; ++b)
        to[b] = {1000 * i + 10 + b, 1000 * i + 20 + b, 1000 * i + 30 + b, b};
    }
  }

  std::vector<uint8_t> bytes = std::vector<uint8_t>(600 * elements);
  std::vector<int32_t> classes = std::vector<int32_t>(600);
  mn::Samples samples;
  std::unique_ptr<mn::Executor> executor;
  mn::TimedRuns runs;
  const char *arena = nullptr;
  std::vector<int64_t> epochs;      ///< of each graph
  std::vector<BlockTimes *> places; ///< of each launch since; null: nowhere
  std::vector<std::vector<BlockTimes>> taken;
};

/// Each launch has a place of its own, one after the other.
void checkPlaces(const Timed &made, size_t first) {
  BlockTimes *next = made.places[first];
  ASSERT_NE(next, nullptr);
  for (size_t i = 0; i < made.runs.launches.size(); ++i) {
    EXPECT_EQ(made.places[first + i], next) << i;
    next += made.runs.launches[i].blocks;
  }
}

std::vector<std::string> namesOf(const mn::TimedRuns &runs, int turn) {
  std::vector<std::string> names;
  for (const mn::TimedLaunch &launch : runs.launches)
    if (launch.turn == turn)
      names.push_back(launch.kernel + launch.part + " " +
                      std::to_string(launch.step) + " " +
                      std::to_string(launch.stream) + " " +
                      std::to_string(launch.blocks));
  return names;
}

TEST(Timelines, BatchesOfAGraphAreAsTheyAlwaysRun) {
  Timed made({{}, {.stream = 1, .after = {0}, .packsEarly = true}},
             mn::kinds::train);
  made.plan.prefetches = true;
  const mn::Status status = made.run(true, true);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(made.runs.turns, many);
  // Packed on stream 2; copied, of the next batch, on stream 3.
  const std::vector<std::string> middle = {
      "step1_filters 1 2 2", "step0 0 0 140", "mn_next_batch -1 3 4",
      "step1 1 1 140"};
  for (int turn = 1; turn + 1 < many; ++turn)
    EXPECT_EQ(namesOf(made.runs, turn), middle) << turn;
  EXPECT_EQ(namesOf(made.runs, 0).size(), 5u) << "its own batch, and the next";
  EXPECT_EQ(namesOf(made.runs, many - 1).size(), 3u);
  // First a graph that records nothing, then one that does.
  const size_t count = made.runs.launches.size();
  ASSERT_EQ(made.places.size(), 2 * count);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(made.places[i], nullptr);
  checkPlaces(made, count);
}

TEST(Timelines, TimesOfAllBlocksAreTold) {
  Timed made({{}, {}}, mn::kinds::train);
  const mn::Status status = made.run(true, true);
  ASSERT_TRUE(status.ok()) << status.message;
  ASSERT_EQ(made.taken.size(), 2u) << "two graphs of sixteen";
  for (const auto &times : made.taken) {
    size_t at = 0;
    for (size_t i = 0; i < made.runs.launches.size(); ++i)
      for (uint32_t b = 0; b < made.runs.launches[i].blocks; ++b, ++at) {
        ASSERT_EQ(times[at].end, 1000 * i + 30 + b);
        ASSERT_EQ(times[at].multiprocessor, b);
      }
    EXPECT_EQ(times.size(), at);
  }
  // By the fake driver a graph takes a millisecond.
  EXPECT_DOUBLE_EQ(made.runs.microseconds, 1000.0 / (2 * many));
  EXPECT_DOUBLE_EQ(made.runs.recordedMicroseconds, 1000.0 / (2 * many));
}

TEST(Timelines, RowsDifferFromRunToRun) {
  Timed made({{}}, mn::kinds::train);
  const mn::Status status = made.run(true, true);
  ASSERT_TRUE(status.ok()) << status.message;
  // Three graphs without and three with times, one after the other; then twice
  // two.
  EXPECT_EQ(made.epochs, std::vector<int64_t>({0, 0, 0, 0, 0, 0, 0, 0, 1, 1}));
  // In the end all parameters are what they were.
  std::vector<char> now(PlanModel::parameterBytes), begin = now;
  ASSERT_TRUE(made.executor->readParameters(0, now.data(), now.size()).ok());
  std::memcpy(begin.data(), made.model.initial, made.model.initialBytes);
  EXPECT_EQ(now, begin);
}

TEST(Timelines, WithoutBatchesARunIsWhatASubmissionIs) {
  Timed made({{}, {}}, mn::kinds::infer);
  const mn::Status status = made.run(true, false);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(made.runs.turns, 1);
  EXPECT_EQ(made.taken.size(), 32u);
  EXPECT_EQ(
      namesOf(made.runs, 0),
      std::vector<std::string>({"mn_transfer -1 0 1", "mn_transfer -1 0 1",
                                "mn_transfer -1 0 1", "step0 0 0 140",
                                "step1 1 0 140", "mn_transfer -1 0 1"}));
}

TEST(Timelines, WithoutGraphsTheyAreLaunchedOneByOne) {
  Timed made({{}, {}}, mn::kinds::train);
  const mn::Status status = made.run(false, true);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(made.runs.turns, 1);
  EXPECT_EQ(made.taken.size(), 32u);
  EXPECT_EQ(namesOf(made.runs, 0),
            std::vector<std::string>(
                {"mn_next_batch -1 0 4", "step0 0 0 140", "step1 1 0 140"}));
  checkPlaces(made, made.places.size() - 3);
}

TEST(Timelines, OtherRunsWriteNothing) {
  Timed made({{}, {.packsEarly = true}}, mn::kinds::train);
  ASSERT_TRUE(made.run(true, true).ok());
  driver().onGraph = nullptr;
  made.places.clear();
  ASSERT_TRUE(made.executor->submit(0, 0).ok());
  ASSERT_TRUE(made.executor->runBatches(0, 0, false, many).ok());
  double microseconds;
  ASSERT_TRUE(made.executor->time(0, 1, microseconds).ok());
  ASSERT_FALSE(made.places.empty());
  for (const BlockTimes *place : made.places)
    EXPECT_EQ(place, nullptr);
}

TEST(Timelines, NothingIsLeft) {
  Timed made({{}}, mn::kinds::train);
  ASSERT_TRUE(made.run(true, true).ok());
  const size_t graphs = driver().graphs.size();
  made.executor = nullptr;
  EXPECT_EQ(driver().allocations, 0);
  EXPECT_EQ(size_t(driver().destroyedGraphs), graphs);
}

TEST(Timelines, WhatIsMissingIsSaid) {
  Timed made({{.run = [](mn::Context &) {}}}, mn::kinds::infer);
  made.plan.inputCount = made.plan.outputCount = 0;
  made.executor = open(made, false);
  mn::Status status = made.executor->timeline(0, made.runs);
  EXPECT_EQ(status.code, mn::Code::usage);
  EXPECT_EQ(status.message, "expected a plan with kernels, got 'infer', whose "
                            "steps all run in libraries");
  Timed full({{}}, mn::kinds::train);
  full.executor = open(full, true);
  full.runs.set = 0;
  EXPECT_EQ(full.executor->timeline(0, full.runs).message,
            "expected data set 0 to be loaded, got none");
  full.runs.set = -1;
  ASSERT_TRUE(full.executor->prepare(0).ok());
  driver().free = 100;
  status = full.executor->timeline(0, full.runs);
  EXPECT_EQ(status.code, mn::Code::outOfMemory) << status.message;
  EXPECT_TRUE(full.taken.empty());
}

} // namespace
