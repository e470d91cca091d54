//===- sharing.cpp - several executors on one GPU -------------------------===//

#include "mnistrt/batch.h"
#include "plan.h"

using namespace test;
using fake::driver;
using fake::What;

namespace {

constexpr unsigned char constants[] = {1, 2, 3, 5, 8, 13};

/// A model that trains, with constants and a data set of three rows.
struct Shared : PlanModel {
  Shared() : PlanModel({{0, {}}, {1, {0}}}, mn::kinds::train) {
    model.constants = constants;
    model.constantBytes = sizeof constants;
    samples.inputs = bytes;
    samples.targets = classes;
    samples.count = 3;
    samples.inputElements = PlanModel::elements;
    samples.targetElements = 1;
  }

  uint8_t bytes[18] = {7, 6, 5};
  int32_t classes[3] = {0, 1, 2};
  mn::Samples samples;
};

std::unique_ptr<mn::Executor> shareOf(mn::Executor &executor) {
  std::unique_ptr<mn::Executor> other;
  const mn::Status status = executor.share(other);
  EXPECT_TRUE(status.ok()) << status.message;
  return other;
}

TEST(Sharing, OneContextAndSetButTwoArenas) {
  Shared made;
  auto first = open(made, true);
  ASSERT_TRUE(first->load(0, made.samples).ok());
  driver().called.clear();
  auto second = shareOf(*first);
  for (const char *once : {"cuDevicePrimaryCtxRetain", "cuMemcpyHtoD_v2"})
    EXPECT_EQ(driver().called.count(once), 0u) << once;
  EXPECT_EQ(first->deviceBytes(), second->deviceBytes());
  std::set<const void *> inputs, arenas;
  driver().onLaunch = [&](const std::string &kernel, void **arguments, bool) {
    if (kernel != "mn_next_batch")
      return;
    const auto &batch = *static_cast<mn::Batch *>(arguments[0]);
    inputs.insert(batch.inputs);
    arenas.insert(batch.seed);
  };
  ASSERT_TRUE(first->runBatches(0, 0, false, 1).ok());
  ASSERT_TRUE(second->runBatches(0, 0, false, 1).ok());
  EXPECT_EQ(inputs.size(), 1u);
  EXPECT_EQ(arenas.size(), 2u);
  // Streams too are of one executor.
  std::set<int> streams;
  for (const fake::Entry &entry : driver().log)
    if (entry.what == What::graph)
      streams.insert(entry.stream);
  EXPECT_EQ(streams.size(), 2u);
}

/// A kernel's scratch memory belongs to its module: two executors that ran the
/// same one at a time would spoil each other's sums.
TEST(Sharing, KernelsAreOfOneExecutor) {
  Shared made;
  auto first = open(made, true);
  ASSERT_TRUE(first->load(0, made.samples).ok());
  auto second = shareOf(*first);
  ASSERT_TRUE(first->runBatches(0, 0, false, 1).ok());
  ASSERT_TRUE(second->runBatches(0, 0, false, 1).ok());
  std::map<const void *, std::set<std::string>> kernels;
  for (const auto &graph : driver().graphs)
    for (const fake::Entry &entry : graph)
      if (entry.what == What::launch)
        kernels[entry.module].insert(entry.kernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels.begin()->second, kernels.rbegin()->second);
}

TEST(Sharing, ParametersAreOfOneExecutor) {
  Shared made;
  auto first = open(made, true);
  auto second = shareOf(*first);
  const float weight = 4;
  ASSERT_TRUE(first->writeParameters(0, &weight, 4).ok());
  float found = 0;
  ASSERT_TRUE(second->readParameters(0, &found, 4).ok());
  EXPECT_EQ(found, 0.5f);
  ASSERT_TRUE(first->readParameters(0, &found, 4).ok());
  EXPECT_EQ(found, 4);
}

TEST(Sharing, AnotherSetIsOfOneExecutor) {
  Shared made, other;
  auto first = open(made, true);
  ASSERT_TRUE(first->load(0, made.samples).ok());
  auto second = shareOf(*first);
  other.bytes[0] = 99;
  ASSERT_TRUE(second->load(0, other.samples).ok());
  std::vector<int> begins;
  driver().onLaunch = [&](const std::string &kernel, void **arguments, bool) {
    if (kernel == "mn_next_batch")
      begins.push_back(*static_cast<const uint8_t *>(
          static_cast<mn::Batch *>(arguments[0])->inputs));
  };
  ASSERT_TRUE(first->runBatches(0, 0, false, 1).ok());
  ASSERT_TRUE(second->runBatches(0, 0, false, 1).ok());
  EXPECT_EQ(begins, std::vector<int>({7, 99}));
}

TEST(Sharing, WhatIsSharedIsGivenBackByTheLast) {
  Shared made;
  auto first = open(made, true);
  ASSERT_TRUE(first->load(0, made.samples).ok());
  auto second = shareOf(*first);
  ASSERT_TRUE(second->runBatches(0, 0, false, 1).ok());
  first = nullptr;
  EXPECT_GT(driver().allocations, 0);
  ASSERT_TRUE(second->runBatches(0, 0, false, 17).ok());
  auto third = shareOf(*second);
  second = nullptr;
  ASSERT_TRUE(third->runBatches(0, 0, false, 1).ok());
  third = nullptr;
  EXPECT_EQ(driver().allocations, 0);
}

TEST(Sharing, AnotherThatDoesNotFitLeavesTheFirst) {
  Shared made;
  auto first = open(made, true);
  ASSERT_TRUE(first->load(0, made.samples).ok());
  const long before = driver().allocations;
  driver().free = 1000;
  std::unique_ptr<mn::Executor> other;
  const mn::Status status = first->share(other);
  EXPECT_EQ(status.code, mn::Code::outOfMemory);
  EXPECT_NE(status.message.find("got 1000 of"), std::string::npos)
      << status.message;
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(driver().allocations, before);
  EXPECT_TRUE(first->runBatches(0, 0, false, 1).ok());
}

TEST(Sharing, TheFirstNeedsRoomForConstantsToo) {
  Shared made;
  std::unique_ptr<mn::Executor> executor;
  driver() = {};
  driver().free = mn::deviceBytes(made.model) - 1;
  EXPECT_EQ(mn::Executor::open(made.model, {}, executor).code,
            mn::Code::outOfMemory);
  driver().free = mn::deviceBytes(made.model);
  EXPECT_TRUE(mn::Executor::open(made.model, {}, executor).ok());
}

TEST(Sharing, ThreadsSleepWhereTheyAreMany) {
  Shared made;
  for (bool shared : {false, true}) {
    driver() = {};
    std::unique_ptr<mn::Executor> executor;
    ASSERT_TRUE(
        mn::Executor::open(made.model, {.shared = shared}, executor).ok());
    EXPECT_EQ(driver().contextFlags, shared ? 4u : 0u);
  }
}

} // namespace
