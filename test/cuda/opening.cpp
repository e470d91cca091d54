//===- opening.cpp - what a program needs of a GPU, and exit codes --------===//

#include "plan.h"
#include <algorithm>

using namespace test;
using fake::driver;

namespace {

/// The exit code of a program that runs a plan for the first time.
mn::Status run(const PlanModel &made, int device = 0) {
  std::unique_ptr<mn::Executor> executor;
  MN_TRY(mn::Executor::open(made.model, {.device = device, .graph = true},
                            executor));
  MN_TRY(executor->submit(0, 0));
  return executor->wait(0);
}

TEST(Opening, ExitCodesByNumber) {
  struct {
    const char *what;
    fake::Driver driver;
    int device, code;
  } cases[] = {
      {"fine", {}, 0, 0},
      {"no start", {.fails = {{"cuInit", 100}}}, 0, 10},
      {"no GPU", {.gpus = 0}, 0, 10},
      {"no GPU 3", {.gpus = 3}, 3, 10},
      {"no GPU -1", {}, -1, 10},
      {"an older GPU", {.capability = 80}, 0, 11},
      {"a newer GPU", {.capability = 100}, 0, 11},
      {"a later minor version", {.capability = 92}, 0, 0},
      {"no code for it", {.fails = {{"cuModuleLoadData", 209}}}, 0, 11},
      {"damaged code", {.fails = {{"cuModuleLoadData", 200}}}, 0, 11},
      {"little memory", {.free = 1000}, 0, 13},
      {"none left", {.fails = {{"cuMemAlloc_v2", 2}}}, 0, 13},
      {"no pinned memory", {.fails = {{"cuMemHostAlloc", 2}}}, 0, 13}};
  for (const auto &each : cases) {
    PlanModel made(std::vector<StepShape>(2));
    driver() = each.driver;
    const mn::Status status = run(made, each.device);
    EXPECT_EQ(int(status.code), each.code) << each.what << status.message;
    EXPECT_EQ(status.message.empty(), each.code == 0) << each.what;
  }
}

TEST(Opening, TheLatestCodeThatFitsIsTaken) {
  const unsigned char cubins[4] = {};
  std::vector<mn::DeviceCode> codes = {{"sm_80", {{cubins, 1}}},
                                       {"sm_90a", {{cubins + 1, 1}}},
                                       {"sm_90", {{cubins + 2, 1}}},
                                       {"sm_100a", {{cubins + 3, 1}}}};
  PlanModel made(std::vector<StepShape>(1));
  made.model.codeCount = int(codes.size());
  for (int turn : {0, 1}) {
    made.model.codes = codes.data();
    for (auto [capability, taken] : std::map<int, int>{{75, -1},
                                                       {80, 0},
                                                       {86, 0},
                                                       {90, 1},
                                                       {92, 2},
                                                       {100, 3},
                                                       {103, -1}}) {
      driver() = {};
      driver().capability = capability;
      EXPECT_EQ(int(run(made).code), taken < 0 ? 11 : 0) << capability;
      EXPECT_EQ(driver().image, taken < 0 ? nullptr : cubins + taken)
          << capability << " in order " << turn;
    }
    std::reverse(codes.begin(), codes.end());
  }
}

TEST(Opening, NoErrorOfTheDriverIsLost) {
  PlanModel made({{0, {}}, {1, {0}}, {0, {1}}});
  driver() = {};
  ASSERT_TRUE(run(made).ok());
  const std::set<std::string> called = driver().called;
  EXPECT_GE(called.size(), 25u);
  for (const std::string &name : called) {
    if (name == "cuDeviceGetCount")
      continue; // counts none: a message that says so
    driver() = {};
    driver().fails[name] = 719;
    const mn::Status status = run(made);
    EXPECT_FALSE(status.ok()) << name;
    EXPECT_NE(status.message.find("FAKE_719"), std::string::npos)
        << name << ": " << status.message;
  }
}

TEST(Opening, ClosingGivesBackEverything) {
  PlanModel made({{0, {}}, {1, {0}}});
  driver() = {};
  ASSERT_TRUE(run(made).ok());
  EXPECT_EQ(driver().allocations, 0);
  EXPECT_EQ(driver().destroyedGraphs, 3);
  for (const char *name : {"cuMemAlloc_v2", "cuModuleLoadData",
                           "cuMemHostAlloc", "cuGraphInstantiateWithFlags"}) {
    driver() = {};
    driver().fails[name] = 2;
    EXPECT_FALSE(run(made).ok());
    EXPECT_EQ(driver().allocations, 0) << name;
  }
}

} // namespace
