//===- prefetching.cpp - the next batch is copied while a plan runs -------===//

#include "mnistrt/batch.h"
#include "plan.h"
#include <algorithm>
#include <numeric>

using namespace test;
using fake::driver;
using fake::Entry;
using fake::What;

namespace {

/// A plan of which there are two copies of the inputs, with a data set, and
/// where the kernels of its batches read and write.
struct Trained : PlanModel {
  explicit Trained(std::vector<StepShape> shapes, bool prefetches = true)
      : PlanModel(std::move(shapes), mn::kinds::train) {
    plan.prefetches = prefetches;
    samples.inputs = bytes;
    samples.targets = classes;
    samples.count = 3;
    samples.inputElements = elements;
    samples.targetElements = 1;
  }

  /// Runs so many batches on a fresh driver.
  void run(int count, bool graph = true) {
    executor = open(*this, graph);
    ASSERT_TRUE(executor->load(0, samples).ok());
    ASSERT_TRUE(executor->prepare(0).ok());
    before = driver().graphs.size();
    driver().log.clear();
    driver().onLaunch = [&](const std::string &kernel, void **with, bool) {
      if (kernel == "mn_next_batch")
        batches.push_back(*static_cast<mn::Batch *>(with[0]));
      else if (kernel.ends_with("_filters"))
        return;
      else
        reads.push_back(*static_cast<const float **>(with[2]));
    };
    const mn::Status status = executor->runBatches(0, 0, false, count);
    ASSERT_TRUE(status.ok()) << status.message;
    driver().onLaunch = nullptr;
  }
  /// The first graph of that run.
  const std::vector<Entry> &graph() const { return driver().graphs.at(before); }

  uint8_t bytes[18] = {};
  int32_t classes[3] = {0, 1, 2};
  mn::Samples samples;
  std::unique_ptr<mn::Executor> executor;
  size_t before = 0;
  std::vector<mn::Batch> batches;   ///< that were copied
  std::vector<const float *> reads; ///< the input, of each step of each batch
};

std::vector<size_t> launchesOf(const std::vector<Entry> &log,
                               const std::string &kernel) {
  std::vector<size_t> found;
  for (size_t i = 0; i < log.size(); ++i)
    if (log[i].what == What::launch && log[i].kernel == kernel)
      found.push_back(i);
  return found;
}

/// Each batch is copied to where the plan does not read meanwhile, and is read
/// where it was copied to; and which batch it is does not depend on what the
/// plan writes meanwhile.
void checkCopies(const Trained &made, const std::string &what) {
  const auto done = doneBefore(made.graph());
  const auto copies = launchesOf(made.graph(), "mn_next_batch");
  const size_t steps = made.shapes.size();
  ASSERT_EQ(copies.size(), size_t(many)) << what;
  ASSERT_EQ(made.batches.size(), size_t(many)) << what;
  ASSERT_EQ(made.reads.size(), many * steps) << what;
  const mn::Batch &first = made.batches.front();
  for (size_t i = 0; i < size_t(many); ++i) {
    const mn::Batch &batch = made.batches[i];
    for (size_t step = 0; step < steps; ++step)
      EXPECT_EQ(made.reads[i * steps + step], batch.toInputs) << what;
    EXPECT_EQ(batch.ahead, int64_t(i)) << what;
    if (i == 0)
      continue;
    EXPECT_NE(batch.toInputs, made.batches[i - 1].toInputs) << what;
    EXPECT_EQ(batch.number, first.toNumber) << what;
    EXPECT_EQ(batch.toNumber, nullptr) << what;
    EXPECT_TRUE(done[copies[i]][copies[0]]) << what;
  }
}

TEST(Prefetching, BatchesOfAnyPlanAreThereInTime) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    Trained made(randomShape(random));
    made.run(many);
    // A batch is copied after the run before the last one, and before its own.
    checkOrder(made, made.graph(), many, text(made.shapes));
    checkCopies(made, text(made.shapes));
  }
}

TEST(Prefetching, NoStepWaitsForTheCopyOrItForOne) {
  Trained made({{}, {.stream = 1}, {.stream = 1}, {}});
  made.run(many);
  const auto done = doneBefore(made.graph());
  const auto copies = launchesOf(made.graph(), "mn_next_batch");
  for (const char *step : {"step0", "step1", "step2", "step3"})
    for (size_t i = 0; i + 1 < size_t(many); ++i) {
      const size_t beside = launchesOf(made.graph(), step)[i];
      EXPECT_FALSE(done[beside][copies[i + 1]]) << step;
      EXPECT_FALSE(done[copies[i + 1]][beside]) << step;
    }
}

TEST(Prefetching, FiltersArePackedFromTheBeginningOfAStep) {
  Trained made({{}, {.stream = 1, .packsEarly = true}});
  made.run(many);
  const auto done = doneBefore(made.graph());
  const auto packs = launchesOf(made.graph(), "step1_filters");
  const auto first = launchesOf(made.graph(), "step0");
  ASSERT_EQ(packs.size(), size_t(many));
  for (size_t i = 1; i < size_t(many); ++i) {
    EXPECT_FALSE(done[packs[i]][first[i]]);
    EXPECT_FALSE(done[first[i]][packs[i]]);
    // What is between the end of a step and them is no kernel.
    for (size_t k = launchesOf(made.graph(), "step1")[i - 1] + 1; k < packs[i];
         ++k)
      EXPECT_NE(made.graph()[k].what, What::launch);
  }
}

TEST(Prefetching, OneStreamPacksAsItDoesAlone) {
  Trained made({{}, {.packsEarly = true}});
  made.run(many);
  const std::vector<size_t> packs = launchesOf(made.graph(), "step1_filters");
  ASSERT_EQ(packs.size(), size_t(many));
  for (size_t at : packs)
    EXPECT_EQ(made.graph()[at].stream, made.graph().front().stream);
}

/// What is copied beside no step is always at the plan's own addresses, and
/// `mn.batch` says which batch it is.
void expectOneCopy(const Trained &made, const std::string &what) {
  ASSERT_FALSE(made.batches.empty());
  const auto *inputs = made.batches.front().toInputs;
  EXPECT_EQ(reinterpret_cast<const char *>(inputs) -
                reinterpret_cast<const char *>(made.batches.front().number),
            ptrdiff_t(PlanModel::inputs) - ptrdiff_t(PlanModel::batch))
      << what;
  for (const mn::Batch &batch : made.batches) {
    EXPECT_EQ(batch.toInputs, inputs) << what;
    EXPECT_EQ(batch.number, made.batches.front().number) << what;
    EXPECT_EQ(batch.ahead, 0) << what;
    EXPECT_EQ(batch.toNumber, nullptr) << what;
  }
  for (const float *read : made.reads)
    EXPECT_EQ(read, inputs) << what;
}

TEST(Prefetching, OnlyWhereThePlanAllowsIt) {
  Trained made({{}, {.stream = 1}}, false);
  made.run(many);
  expectOneCopy(made, "inputs that share memory");
  EXPECT_EQ(made.batches.size(), size_t(many));
}

TEST(Prefetching, OneBatchAndRunsWithoutGraphsHaveOneCopy) {
  for (bool graph : {false, true}) {
    Trained made({{}, {.stream = 1}});
    made.run(graph ? many - 1 : 2 * many, graph);
    expectOneCopy(made, graph ? "one batch" : "no graph");
    if (graph)
      checkOrder(made, made.graph(), 1, "one batch");
  }
}

TEST(Prefetching, TheOtherCopyIsInTheMapToTheByte) {
  // From the inputs to the row count's end; and a number.
  constexpr size_t copy = 1536, number = 256;
  const std::vector<StepShape> two(2);
  Trained made(two), sharing(two, false);
  made.run(many);
  EXPECT_EQ(mn::deviceBytes(made.model),
            mn::deviceBytes(sharing.model) + copy + number);
  const mn::Batch &even = made.batches[0], &odd = made.batches[1];
  const auto distance = [](const auto *to, const auto *from) {
    return reinterpret_cast<const char *>(to) -
           reinterpret_cast<const char *>(from);
  };
  EXPECT_GE(distance(odd.toInputs, even.toInputs),
            ptrdiff_t(PlanModel::arenaBytes - PlanModel::inputs));
  EXPECT_EQ(distance(even.toNumber, odd.toInputs), ptrdiff_t(copy));
  for (const mn::Batch *batch : {&even, &odd}) {
    EXPECT_EQ(distance(batch->toTargets, batch->toInputs),
              ptrdiff_t(PlanModel::labels - PlanModel::inputs));
    EXPECT_EQ(distance(batch->toValid, batch->toInputs),
              ptrdiff_t(PlanModel::valid - PlanModel::inputs));
    // The states are where they always are.
    EXPECT_EQ(batch->seed, even.seed);
    EXPECT_EQ(batch->epoch, even.epoch);
  }
  const auto block = std::prev(driver().memory.upper_bound(
      reinterpret_cast<const char *>(odd.toInputs)));
  EXPECT_LE(distance(even.toNumber, block->first) + ptrdiff_t(number),
            ptrdiff_t(block->second));
}

TEST(Prefetching, ExecutorsOfAGpuHaveTheirOwnCopies) {
  Trained made(std::vector<StepShape>(2));
  made.run(many);
  std::unique_ptr<mn::Executor> other;
  ASSERT_TRUE(made.executor->share(other).ok());
  std::set<const float *> places;
  for (const mn::Batch &batch : made.batches)
    places.insert(batch.toInputs);
  driver().onLaunch = [&](const std::string &kernel, void **with, bool) {
    if (kernel == "mn_next_batch")
      places.insert(static_cast<mn::Batch *>(with[0])->toInputs);
  };
  ASSERT_TRUE(other->runBatches(0, 0, false, many).ok());
  EXPECT_EQ(places.size(), 4u);
  made.executor = nullptr;
  other = nullptr;
  EXPECT_EQ(driver().allocations, 0);
}

} // namespace
