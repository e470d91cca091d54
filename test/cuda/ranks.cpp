//===- ranks.cpp - sums over ranks, on a driver without GPU ---------------===//

#include "core/ranks.h"
#include "fake-nccl.h"
#include "mnistrt/cuda/launch.h"
#include "mnistrt/cuda/libraries.h"
#include "plan.h"
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>

using namespace test;
using fake::driver;
using fake::nccl;

namespace {

/// One of two; the other says the same.
struct Pair final : mn::Ranks {
  Pair() : mn::Ranks({1, 2, 1, 2}) {}
  mn::Status watch(double) override { return watched; }
  mn::Status reduce(mn::Reduction, double *values, int64_t) override {
    *values = otherShares ? *values : 0;
    return mn::Status::success();
  }

  mn::Status watched;
  bool otherShares = true; ///< its memory
};

void addUp(mn::Context &ctx) {
  mn::nccl::allReduce(ctx, ctx.at<float>(PlanModel::outputs), 24);
}

/// A plan whose second step is a sum, with an executor of rank 1 of 2.
struct Sums : testing::Test {
  explicit Sums(std::vector<StepShape> shapes = {{}, {0, {}, "nccl"}})
      : made(std::move(shapes), mn::kinds::train) {
    ::setenv("MNISTC_CUDA_PATH", MN_FAKE_LIBRARIES, 1);
    nccl() = {};
    driver() = {};
    steps.assign(made.plan.steps, made.plan.steps + made.plan.stepCount);
    steps[1].run = addUp;
    made.plan.steps = steps.data();
    made.plan.prefetches = true;
    open();
  }
  void open() {
    executor.reset();
    const mn::Status status =
        mn::Executor::open(made.model, {.ranks = &ranks}, executor);
    EXPECT_TRUE(status.ok()) << status.message;
  }
  ~Sums() override { ::unsetenv("MNISTC_CUDA_PATH"); }

  PlanModel made;
  std::vector<mn::Step> steps;
  Pair ranks;
  std::unique_ptr<mn::Executor> executor;
};

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

/// The sum of 300,000 floats follows a kernel, and then comes a small one.
void addUpMany(mn::Context &ctx) {
  mn::nccl::allReduce(ctx, ctx.at<float>(PlanModel::outputs), 300000);
}

struct LargeSums : Sums {
  LargeSums() : Sums({{}, {0, {}, "nccl"}, {0, {}, "nccl"}}) {
    made.plan.arenaBytes = PlanModel::outputs + 300000 * 4 + 256;
    steps[1].run = addUpMany;
    steps[2].run = [](mn::Context &ctx) {
      mn::nccl::allReduce(
          ctx, ctx.at<float>(PlanModel::outputs + 300000 * 4 + 192), 16);
    };
    open();
  }
  void join() {
    ASSERT_TRUE(executor->prepare(0).ok());
    ASSERT_TRUE(executor->join().ok());
  }
};

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

TEST_F(Sums, WhoWaitsFindsOutThatARankIsLost) {
  ASSERT_TRUE(executor->prepare(0).ok());
  ASSERT_TRUE(executor->join().ok());
  constexpr int notReady = 600; // CUDA_ERROR_NOT_READY
  driver().fails["cuStreamQuery"] = notReady;
  ranks.watched = mn::Status::error(mn::Code::rankLost, "expected rank 0");
  const mn::Status status = executor->finish();
  EXPECT_EQ(status.code, mn::Code::rankLost);
  EXPECT_EQ(status.message, "expected rank 0");
  EXPECT_EQ(nccl().aborted, 1) << "or its kernels would wait for ever";
}

TEST_F(Sums, WhatAnotherRankSaysIsNotSaidAgain) {
  ASSERT_TRUE(executor->prepare(0).ok());
  driver().fails["cuStreamQuery"] = 600;
  ranks.watched = mn::Status::error(mn::Code::rankLost, "");
  const mn::Status status = executor->join();
  EXPECT_EQ(status.code, mn::Code::rankLost);
  EXPECT_EQ(status.message, "");
}

TEST_F(Sums, WhateverWaitsFindsItOut) {
  const std::pair<const char *, std::function<mn::Status()>> waits[] = {
      {"cuEventQuery",
       [&] {
         double time;
         return executor->time(0, 1, time);
       }},
      {"cuEventQuery", [&] { return executor->wait(0); }},
      {"cuStreamQuery",
       [&] {
         std::vector<mn::StepTime> times;
         return executor->profile(0, times);
       }},
      {"cuEventQuery",
       [&] {
         const std::vector<char> bytes(made.model.parameterBytes);
         return executor->writeParameters(0, bytes.data(), bytes.size());
       }},
      {"cuStreamQuery", [&] {
         std::vector<char> bytes(made.model.parameterBytes);
         return executor->readParameters(0, bytes.data(), bytes.size());
       }}};
  for (const auto &[query, wait] : waits) {
    driver().fails.clear();
    ASSERT_TRUE(
        mn::Executor::open(made.model, {.ranks = &ranks}, executor).ok());
    ASSERT_TRUE(executor->prepare(0).ok());
    ranks.watched = {};
    ASSERT_TRUE(executor->join().ok());
    driver().fails[query] = 600;
    driver().called.clear();
    ranks.watched = mn::Status::error(mn::Code::rankLost, "expected rank 0");
    EXPECT_EQ(wait().message, "expected rank 0") << query;
    EXPECT_FALSE(driver().called.count("cuMemcpyDtoHAsync"))
        << "the driver would wait in it, and look after no rank";
  }
}

/// A call that blocks until the process would have ended.
struct Blocked {
  explicit Blocked(Pair &ranks) {
    ranks.giveUp = [this](const mn::Status &status) { end.set_value(status); };
  }
  void operator()(bool now) {
    if (!now || !said.message.empty())
      return;
    auto found = end.get_future();
    if (found.wait_for(std::chrono::seconds(30)) == std::future_status::ready)
      said = found.get();
  }

  mn::Status said;
  std::promise<mn::Status> end;
};

/// By their names, and "cuGraphLaunch" the one of a graph.
struct BlockingCalls : LargeSums, testing::WithParamInterface<const char *> {};

TEST_P(BlockingCalls, AreNotWaitedForIfARankIsLost) {
  const std::string name = GetParam();
  {
    Blocked blocked(ranks);
    ranks.watched = mn::Status::error(mn::Code::rankLost, "expected rank 0");
    nccl().onCall = [&](const std::string &function) {
      blocked(function == name);
    };
    driver().onGraph = [&](int) { blocked(name == "cuGraphLaunch"); };
    ASSERT_TRUE(executor->prepare(0).ok());
    ASSERT_TRUE(executor->join().ok());
    ASSERT_TRUE(executor->submit(0, 0).ok());
    EXPECT_EQ(blocked.said.message, "expected rank 0") << name;
    executor.reset(); // its thread looks no more
  }
  nccl().onCall = nullptr;
  driver().onGraph = nullptr;
}

INSTANTIATE_TEST_SUITE_P(All, BlockingCalls,
                         testing::Values("ncclCommInitRank", "ncclAllReduce",
                                         "ncclCommWindowRegister",
                                         "cuGraphLaunch"));

TEST_F(Sums, AnAbortThatBlocksEndsWithWhatIsKnown) {
  Blocked blocked(ranks);
  ASSERT_TRUE(executor->prepare(0).ok());
  ASSERT_TRUE(executor->join().ok());
  driver().fails["cuStreamQuery"] = 600;
  ranks.watched = mn::Status::error(mn::Code::rankLost, "expected rank 0");
  nccl().onCall = [&](const std::string &function) {
    ranks.watched = mn::Status::error(mn::Code::rankLost, "again");
    blocked(function == "ncclCommAbort");
  };
  EXPECT_EQ(executor->finish().message, "expected rank 0");
  EXPECT_EQ(blocked.said.message, "expected rank 0");
  nccl().onCall = nullptr;
  executor.reset();
}

TEST_F(Sums, FaultsOfTheLibraryAreErrors) {
  ASSERT_TRUE(executor->prepare(0).ok());
  ASSERT_TRUE(executor->join().ok());
  driver().fails["cuStreamQuery"] = 600;
  nccl().asyncError = 3;
  const mn::Status status = executor->finish();
  EXPECT_EQ(status.code, mn::Code::rankLost);
  EXPECT_EQ(status.message, "NCCL: running plans: a fault");
  executor.reset();
  EXPECT_EQ(nccl().destroyed, 0) << "it was aborted";
}

TEST_F(Sums, RanksThatDoNotConnect) {
  nccl().connectResult = 2;
  const mn::Status status = executor->join();
  EXPECT_EQ(status.code, mn::Code::rankLost);
  EXPECT_NE(status.message.find("connecting the ranks: a fault"),
            std::string::npos)
      << status.message;
}

} // namespace
