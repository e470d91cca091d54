//===- ranks.cpp - sums over ranks, on a driver without GPU ---------------===//

#include "ranks.h"
#include "mnistrt/cuda/launch.h"

using namespace test;

namespace {

TEST_F(Sums, GraphsHaveThemOnceRanksHaveJoined) {
  ASSERT_TRUE(executor->prepare(0).ok());
  EXPECT_TRUE(nccl().sums.empty()) << "a rank prepares when it likes";
  const size_t graphs = driver().graphs.size();
  const mn::Status status = executor->join();
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(nccl().ranks, 2);
  EXPECT_EQ(nccl().rank, 1);
  // Once step by step, and once in each graph.
  const size_t made = driver().graphs.size() - graphs;
  EXPECT_GE(made, 1u);
  EXPECT_EQ(nccl().sums.size(), 1 + made);
  for (const fake::Sum &sum : nccl().sums) {
    EXPECT_EQ(sum.from, sum.to) << "in place";
    EXPECT_EQ(sum.count, 24u);
    EXPECT_EQ(sum.type, 7) << "float";
  }
}

TEST_F(LargeSums, AreInMemoryThatRanksShare) {
  join();
  ASSERT_EQ(nccl().windows.size(), 1u);
  const fake::Window window = nccl().windows[0];
  for (const fake::Sum &sum : nccl().sums)
    if (const auto *begin = static_cast<const char *>(sum.to);
        sum.count == 300000) {
      EXPECT_GE(begin, window.begin);
      EXPECT_LE(begin + sum.count * 4, window.begin + window.bytes);
    }
  executor.reset();
  EXPECT_EQ(driver().allocations, 0) << "and it is freed";
}

/// NCCL's own kernels do not wait there for what comes before them.
TEST_F(LargeSums, BeginWhenAllBeforeThemHasEnded) {
  join();
  size_t edges = 0;
  for (const fake::Entry &entry : driver().graphs.back())
    if (entry.kernel == "nccl")
      for (const fake::Edge &edge : entry.edges) {
        ++edges;
        EXPECT_TRUE(edge.whole);
      }
  EXPECT_GE(edges, 2u);
}

TEST_F(LargeSums, AreWhereTheyWereIfARankCannotShare) {
  ranks.otherShares = false;
  join();
  EXPECT_EQ(nccl().windowsAsked, 0) << "it would wait for the other rank";
}

TEST_F(LargeSums, AreWhereTheyWereIfNcclCannot) {
  nccl().windowResult = 5;
  join();
  EXPECT_TRUE(nccl().windows.empty());
}

void launchSpread(mn::Context &ctx) {
  void *arguments[] = {&ctx.arena, &ctx.workspace};
  mn::launch(ctx, "step0", {.blocks = 132, .threads = 64, .spread = true},
             arguments);
}

/// Of a kernel, how much shared memory each launch asks for.
std::vector<unsigned> sharedOf(const std::string &kernel) {
  std::vector<unsigned> shared;
  for (const fake::Entry &entry : driver().log)
    if (entry.kernel == kernel)
      shared.push_back(entry.shared);
  return shared;
}

TEST_F(Sums, StepsBeforeThemAreSpread) {
  steps[0].run = launchSpread;
  driver().log.clear();
  ASSERT_TRUE(executor->prepare(0).ok());
  const std::vector<unsigned> shared = sharedOf("step0");
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_GT(shared[0], 0u);
}

TEST_F(Sums, NothingBesideThemIsSpread) {
  steps[0].run = launchSpread;
  steps[0].stream = 1;
  driver().log.clear();
  ASSERT_TRUE(executor->prepare(0).ok());
  EXPECT_EQ(sharedOf("step0"), std::vector<unsigned>{0});
}

/// With a step before the sum and one beside it, which have the same kernel.
struct SumBesideAStep : Sums {
  SumBesideAStep() : Sums({{}, {0, {}, "nccl"}, {1}}) {}
};

void launchLarge(mn::Context &ctx) {
  void *arguments[] = {&ctx.arena, &ctx.workspace};
  constexpr unsigned shared = 100 << 10;
  mn::launch(ctx, "step0",
             {.blocks = 132, .threads = 64, .shared = shared, .spread = true},
             arguments);
}

TEST_F(SumBesideAStep, AKernelHasTheSharedMemoryOfBoth) {
  steps[0].run = steps[2].run = launchLarge;
  driver().log.clear();
  mn::Status status = executor->prepare(0);
  ASSERT_TRUE(status.ok()) << status.message;
  status = executor->join();
  ASSERT_TRUE(status.ok()) << status.message;
  const std::vector<unsigned> shared = sharedOf("step0");
  ASSERT_GE(shared.size(), 4u) << "each step alone, and in a graph";
  EXPECT_GT(shared[0], shared[1]) << "only one is spread";
}

TEST_F(Sums, BatchesOfAGraphEachHaveOne) {
  ASSERT_TRUE(executor->prepare(0).ok());
  ASSERT_TRUE(executor->join().ok());
  std::vector<uint8_t> bytes(size_t(20 * PlanModel::elements));
  std::vector<int32_t> classes(20);
  mn::Samples samples;
  samples.inputs = bytes.data(), samples.targets = classes.data();
  samples.count = 20;
  samples.inputElements = PlanModel::elements, samples.targetElements = 1;
  ASSERT_TRUE(executor->load(0, samples).ok());
  nccl().sums.clear();
  ASSERT_TRUE(executor->runBatches(0, 0, false, 33).ok());
  EXPECT_EQ(nccl().sums.size(), 16u + 1u);
  ASSERT_TRUE(executor->runBatches(0, 0, false, 33).ok());
  EXPECT_EQ(nccl().sums.size(), 16u + 1u) << "captured once";
}

} // namespace
