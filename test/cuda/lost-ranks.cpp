//===- lost-ranks.cpp - who waits for a rank that is gone -----------------===//

#include "ranks.h"
#include <chrono>
#include <functional>
#include <future>

using namespace test;

namespace {

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
    for (const std::string &function : driver().called)
      EXPECT_FALSE(function.starts_with("cuMemcpyDtoH"))
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
