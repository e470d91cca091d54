//===- spread.cpp - blocks on multiprocessors -----------------------------===//

#include "cuda/spread.h"
#include "plan.h"

using namespace test;
using fake::driver;
using mn::LaunchShape;
using mn::cuda::Spread;

namespace {

/// An H100.
constexpr int64_t multiprocessors = 132, all = 228 << 10, reserved = 1 << 10;

Spread spread(const LaunchShape &shape, unsigned declared = 0) {
  mn::cuda::Device device;
  device.multiprocessors = int(multiprocessors);
  device.shared = int(all);
  device.reservedShared = int(reserved);
  return mn::cuda::spreadBlocks(device, shape, declared);
}

/// How many blocks a multiprocessor has room for.
int64_t roomFor(const Spread &spread, unsigned declared) {
  return all / (spread.shared + declared + reserved);
}

TEST(Spread, AMultiprocessorHasRoomForItsShare) {
  struct {
    LaunchShape shape;
    unsigned declared;
    int64_t share;
  } cases[] = {
      {{.blocks = 44, .spread = true}, 0, 1},
      {{.blocks = 132, .spread = true}, 0, 1},
      {{.blocks = 132, .shared = 64 << 10, .spread = true}, 5000, 1},
      {{.blocks = 133, .spread = true}, 0, 2},
      {{.blocks = 264, .spread = true}, 40000, 2},
      {{.blocks = 396, .shared = 1000, .spread = true}, 0, 3},
      {{.blocks = 528, .spread = true}, 777, 4},
      // Clusters of eight: fifteen run at once where each block is alone.
      {{.blocks = 120, .cluster = 8, .spread = true}, 0, 1},
      {{.blocks = 128, .cluster = 8, .spread = true}, 0, 2},
      {{.blocks = 132, .cluster = 2, .spread = true}, 0, 1},
  };
  for (const auto &[shape, declared, share] : cases) {
    const Spread s = spread(shape, declared);
    EXPECT_TRUE(s.isEven) << shape.blocks;
    EXPECT_GE(s.shared, shape.shared) << shape.blocks;
    EXPECT_EQ(roomFor(s, declared), share) << shape.blocks;
  }
}

TEST(Spread, BlocksThatUseMuchSharedMemoryAreEvenAsTheyAre) {
  const Spread s = spread({.blocks = 132, .shared = 200 << 10, .spread = true});
  EXPECT_TRUE(s.isEven);
  EXPECT_EQ(s.shared, 200u << 10);
}

TEST(Spread, OtherKernelsAreAsTheyAre) {
  const LaunchShape cases[] = {
      {.blocks = 132, .shared = 512},                        // no need
      {.blocks = 43, .shared = 512, .spread = true},         // few
      {.blocks = 529, .shared = 512, .spread = true},        // many
      {.blocks = 264, .shared = 120 << 10, .spread = true}}; // not all at once
  for (const LaunchShape &shape : cases) {
    const Spread s = spread(shape);
    EXPECT_FALSE(s.isEven) << shape.blocks;
    EXPECT_EQ(s.shared, shape.shared) << shape.blocks;
  }
}

TEST(Spread, WhatMayRunBesideASumIsNot) {
  // Step 2 is beside the first sum, step 5 beside the second; 6 and 7 follow.
  const test::PlanModel made({{},
                              {},
                              {1, {0}},
                              {2, {1}, "nccl"},
                              {0, {2}},
                              {1},
                              {2, {4}, "nccl"},
                              {0, {5, 6}},
                              {1, {7}}});
  const std::vector<bool> apart = mn::cuda::stepsApartFromSums(made.plan);
  EXPECT_EQ(apart, (std::vector<bool>{true, true, false, true, false, false,
                                      true, true, true}));
}

template <int blocks> void launchSpread(mn::Context &ctx) {
  void *arguments[] = {&ctx.arena, &ctx.workspace};
  mn::launch(ctx, "step0",
             {.blocks = blocks, .threads = 64, .alone = true, .spread = true},
             arguments);
}

std::vector<fake::Entry> launched(void (*run)(mn::Context &),
                                  const char *arch = "sm_90",
                                  bool shared = false) {
  PlanModel made({{.run = run}, {.run = run}, {}});
  made.code.arch = arch;
  std::unique_ptr<mn::Executor> executor;
  const mn::ExecutorOptions options = {.graph = true, .shared = shared};
  EXPECT_TRUE(mn::Executor::open(made.model, options, executor).ok());
  EXPECT_TRUE(executor->prepare(0).ok());
  return driver().graphs.at(0);
}

TEST(Spread, AKernelWhoseBlocksAreSpreadMayStartEarly) {
  struct {
    void (*run)(mn::Context &);
    int multiprocessors;
    bool isSpread, mayStart;
  } cases[] = {
      {launchSpread<140>, 132, true, true},
      {launchSpread<140>, 200, true, true},
      {launchSpread<40>, 132, false, false}, // would share some
      {launchSpread<600>, 132, false, true},
  };
  for (const auto &[run, multiprocessors, isSpread, mayStart] : cases) {
    driver() = {};
    driver().multiprocessors = multiprocessors;
    const std::vector<fake::Entry> graph = launched(run);
    EXPECT_EQ(graph[1].overlaps, mayStart) << multiprocessors;
    EXPECT_EQ(graph[1].shared != 0, isSpread) << multiprocessors;
    EXPECT_TRUE(graph[2].overlaps);
  }
}

TEST(Spread, WhatAKernelDeclaresCounts) {
  driver() = {};
  const unsigned without = launched(launchSpread<140>)[0].shared;
  driver() = {};
  driver().declared["step0"] = 4096;
  EXPECT_EQ(launched(launchSpread<140>)[0].shared, without - 4096);
}

TEST(Spread, OlderGpusHaveNothingToSpread) {
  driver() = {};
  driver().capability = 80;
  EXPECT_EQ(launched(launchSpread<140>, "sm_80")[0].shared, 0u);
}

TEST(Spread, OthersKernelsAreNotKeptOff) {
  driver() = {};
  EXPECT_EQ(launched(launchSpread<140>, "sm_90", true)[0].shared, 0u);
}

} // namespace
