//===- launches.cpp - streams, events and overlaps of a plan --------------===//

#include "mnistrt/cuda/launch.h"
#include "plan.h"
#include <algorithm>

using namespace test;
using fake::driver;
using fake::What;

namespace {

std::vector<StepShape> chain(int steps) {
  return std::vector<StepShape>(size_t(steps));
}

TEST(Launches, StepsOfAnyPlanKeepItsOrder) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    PlanModel made(randomShape(random));
    const std::string what = text(made.shapes);
    // One after the other,
    auto executor = open(made, false);
    ASSERT_TRUE(executor->prepare(0).ok());
    driver().log.clear();
    for (int slot : {0, 1})
      ASSERT_TRUE(executor->submit(0, slot).ok());
    checkOrder(made, driver().log, 2, what);
    // and in the graphs: without copies, and with those of each slot.
    executor = open(made, true);
    const mn::Status status = executor->submit(0, 0);
    ASSERT_TRUE(status.ok()) << what << ": " << status.message;
    ASSERT_EQ(driver().graphs.size(), 3u);
    for (const auto &graph : driver().graphs)
      checkOrder(made, graph, 1, what);
    EXPECT_EQ(driver().log.at(driver().log.size() - 2).graph, 1) << what;
  }
}

TEST(Launches, OneStreamNeedsNoEvents) {
  PlanModel made(chain(4));
  auto executor = open(made, true);
  ASSERT_TRUE(executor->submit(0, 0).ok());
  for (const auto &graph : driver().graphs)
    for (const fake::Entry &entry : graph)
      EXPECT_TRUE(entry.what == What::launch || entry.what == What::copy);
}

TEST(Launches, TheEndWaitsOnlyForWhatItHasNotSeen) {
  // The end of the plan has seen step 1 by step 2.
  PlanModel made({{0, {}}, {1, {0}}, {0, {1}}, {0, {}}});
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  int waits = 0;
  for (const fake::Entry &entry : driver().graphs.at(0))
    waits += entry.what == What::wait;
  EXPECT_EQ(waits, 2);
}

TEST(Launches, FiltersArePackedBesideTheFirstSteps) {
  PlanModel made({{.packsEarly = true},
                  {.stream = 1, .packsEarly = true},
                  {.after = {1}, .packsEarly = true},
                  {.packsEarly = true}});
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  int waits = 0, packs = 0;
  for (const fake::Entry &entry : driver().graphs.at(0)) {
    const bool isPacking = entry.kernel.ends_with(mn::filtersSuffix);
    packs += isPacking && entry.stream == driver().graphs.at(0).at(2).stream;
    waits += entry.what == What::wait;
  }
  // All on one stream, before the steps. Step 0 waits for its own, step 1 for
  // the first two, step 2 for three, and step 3 for all.
  EXPECT_EQ(packs, 4);
  EXPECT_EQ(waits, 7);
}

TEST(Launches, WhoWritesOverAFilterWaitsForNoMoreThanItsPacking) {
  // Steps 0 and 1 take long; step 2 writes over the filter of step 0 meanwhile.
  PlanModel made({{.packsEarly = true},
                  {.packsEarly = true},
                  {.stream = 1, .packing = 0}});
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  const auto &graph = driver().graphs.at(0);
  const auto numberOf = [&](const std::string &kernel) {
    const auto is = [&](const fake::Entry &e) { return e.kernel == kernel; };
    return size_t(std::find_if(graph.begin(), graph.end(), is) - graph.begin());
  };
  const auto done = doneBefore(graph);
  const size_t writes = numberOf("step2");
  ASSERT_LT(writes, graph.size());
  EXPECT_TRUE(done[writes][numberOf("step0_filters")]);
  EXPECT_FALSE(done[writes][numberOf("step0")]);
  EXPECT_FALSE(done[writes][numberOf("step1")]);
  // What overlapped the packing's end could write before it.
  EXPECT_FALSE(graph[writes].overlaps);
}

TEST(Launches, APackingIsWaitedForOnce) {
  // Step 2 knows of both by step 1, which waits for its own and the one before.
  PlanModel made({{.packsEarly = true},
                  {.stream = 1, .packsEarly = true},
                  {.stream = 1, .packing = 0},
                  {.stream = 1, .packing = 1}});
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  int waits = 0;
  for (const fake::Entry &entry : driver().graphs.at(0))
    waits += entry.what == What::wait;
  // The packing for the beginning; step 0 for its filters; step 1 for the
  // beginning and its filters; the end for the other stream.
  EXPECT_EQ(waits, 5);
}

std::vector<bool> overlapsOf(const std::vector<fake::Entry> &graph) {
  std::vector<bool> overlaps;
  for (const fake::Entry &entry : graph)
    overlaps.push_back(entry.overlaps);
  return overlaps;
}

void convolve(mn::Context &ctx, const char *kernel) {
  void *arguments[] = {&ctx.arena, &ctx.workspace};
  mn::launch(ctx, kernel, {2, 64}, arguments, mn::filtersSuffix);
  mn::launch(ctx, kernel, {200, 64, 1, 64 << 10}, arguments);
}

TEST(Launches, FiltersAreNotPackedWhileTheyAreRead) {
  const auto one = [](mn::Context &ctx) { convolve(ctx, "step0"); };
  const auto other = [](mn::Context &ctx) { convolve(ctx, "step1"); };
  PlanModel made({{.run = one}, {.run = one}, {.run = other}, {.run = one}});
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  EXPECT_EQ(
      overlapsOf(driver().graphs.at(0)),
      std::vector<bool>({false, true, false, true, true, true, true, true}));
}

TEST(Launches, FiltersAreNotPackedWhileAStepBeforeInTheStreamReadsThem) {
  const auto one = [](mn::Context &ctx) { convolve(ctx, "step0"); };
  const auto other = [](mn::Context &ctx) { convolve(ctx, "step1"); };
  PlanModel made({{.run = other},
                  {.stream = 1, .after = {0}, .run = other},
                  {.run = one},
                  {.stream = 1, .run = other},
                  {.run = one}});
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  std::vector<bool> packs;
  for (const fake::Entry &entry : driver().graphs.at(0))
    if (entry.kernel.ends_with(mn::filtersSuffix))
      packs.push_back(entry.overlaps);
  EXPECT_EQ(packs, std::vector<bool>({false, false, true, false, false}));
}

/// Whether the kernel of a step overlaps the last one of its stream, in a
/// graph.
bool overlaps(const std::vector<StepShape> &shapes, const std::string &kernel) {
  PlanModel made(shapes);
  auto executor = open(made, true);
  EXPECT_TRUE(executor->prepare(0).ok());
  for (const fake::Entry &entry : driver().graphs.at(0))
    if (entry.kernel == kernel)
      return entry.overlaps;
  ADD_FAILURE() << "no " << kernel;
  return false;
}

TEST(Launches, AKernelThatWaitsForPackingOverlapsTheLastOfItsStream) {
  const StepShape other = {.stream = 1, .after = {0}};
  EXPECT_TRUE(overlaps({{}, {.packsEarly = true}, other}, "step1"));
  EXPECT_FALSE(overlaps({{.packsEarly = true}, other}, "step0"));
}

TEST(Launches, WithoutAGraphAWaitPartsKernels) {
  PlanModel made({{}, {.packsEarly = true}, {.stream = 1, .after = {0}}});
  auto executor = open(made, false);
  ASSERT_TRUE(executor->prepare(0).ok());
  driver().log.clear();
  ASSERT_TRUE(executor->submit(0, 0).ok());
  for (const fake::Entry &entry : driver().log) {
    if (entry.kernel == "step1") {
      EXPECT_FALSE(entry.overlaps);
    }
  }
}

TEST(Launches, OlderGpusDoNotOverlap) {
  for (int capability : {80, 89, 90, 100}) {
    PlanModel made(chain(3));
    const std::string arch = "sm_" + std::to_string(capability);
    made.code.arch = arch.c_str();
    driver() = {};
    driver().capability = capability;
    std::unique_ptr<mn::Executor> executor;
    ASSERT_TRUE(mn::Executor::open(made.model, {.graph = true}, executor).ok());
    ASSERT_TRUE(executor->prepare(0).ok());
    const bool can = capability >= 90;
    EXPECT_EQ(overlapsOf(driver().graphs.at(0)),
              std::vector<bool>({false, can, can}))
        << capability;
  }
}

TEST(Launches, HaveTheShapeThatWasAskedFor) {
  PlanModel made(chain(1));
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  const fake::Entry &entry = driver().graphs.at(0).at(0);
  EXPECT_EQ(entry.blocks, 140u);
  EXPECT_EQ(entry.threads, 64u);
  EXPECT_EQ(entry.shared, 96u << 10);
}

TEST(Launches, FirstRunWaitsForEachStep) {
  // What a step prepares is ready before the next: its error has its name.
  PlanModel made(chain(3));
  auto executor = open(made, true);
  ASSERT_TRUE(executor->prepare(0).ok());
  std::vector<What> seen;
  for (const fake::Entry &entry : driver().log)
    if (entry.what == What::launch || entry.what == What::synchronize)
      seen.push_back(entry.what);
  const auto at = std::find(seen.begin(), seen.end(), What::launch);
  ASSERT_GE(seen.end() - at, 6);
  EXPECT_EQ(
      std::vector<What>(at, at + 6),
      std::vector<What>({What::launch, What::synchronize, What::launch,
                         What::synchronize, What::launch, What::synchronize}));
}

TEST(Launches, KernelsAreFoundInTheirPart) {
  const unsigned char cubins[2] = {};
  PlanModel made(chain(3));
  made.code = {"sm_90", {{cubins, 1}, {cubins + 1, 1}}};
  const std::map<std::string, const void *> imageOf = {
      {"step0", cubins}, {"step1", cubins + 1}, {"step2", cubins}};
  auto executor = open(made, true);
  driver().imageOf = imageOf;
  ASSERT_TRUE(executor->prepare(0).ok());
  std::map<std::string, const void *> moduleOf;
  for (const fake::Entry &entry : driver().log)
    if (entry.what == What::launch)
      moduleOf[entry.kernel] = entry.module;
  EXPECT_EQ(moduleOf["step0"], moduleOf["step2"]);
  EXPECT_NE(moduleOf["step0"], moduleOf["step1"]);
  executor.reset();
  EXPECT_EQ(driver().allocations, 0);

  // The other part is not asked for where there is none.
  made.code = {"sm_90", {{cubins, 1}}};
  executor = open(made, true);
  driver().imageOf = imageOf;
  const mn::Status status = executor->prepare(0);
  EXPECT_EQ(status.code, mn::Code::wrongArch);
  EXPECT_NE(status.message.find("kernel 'step1' is not"), std::string::npos)
      << status.message;
}

TEST(Launches, KernelsThatAreMissingOrRefused) {
  PlanModel made(chain(3));
  auto executor = open(made, true);
  driver().missingKernels = {"step1"};
  mn::Status status = executor->prepare(0);
  EXPECT_EQ(status.code, mn::Code::wrongArch);
  EXPECT_NE(status.message.find("step 2 'step1' (relu): kernel 'step1' is not"),
            std::string::npos)
      << status.message;
  executor = open(made, true);
  driver().fails["cuLaunchKernelEx"] = 701;
  status = executor->prepare(0);
  EXPECT_EQ(status.code, mn::Code::noDevice);
  EXPECT_NE(status.message.find("140 blocks of 64 threads"), std::string::npos);
  executor = open(made, true);
  driver().fails["cuFuncSetAttribute"] = 1;
  status = executor->prepare(0);
  EXPECT_EQ(status.code, mn::Code::noDevice);
  EXPECT_NE(status.message.find("cannot have 98304 bytes of shared memory"),
            std::string::npos)
      << status.message;
}

} // namespace
