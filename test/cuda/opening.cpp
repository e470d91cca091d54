//===- opening.cpp - what a program needs of a GPU, and exit codes --------===//

#include "plan.h"

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
  const mn::DeviceCode codes[] = {{"sm_80", nullptr, 0},
                                  {"sm_90a", nullptr, 0},
                                  {"sm_90", nullptr, 0},
                                  {"sm_100a", nullptr, 0}};
  PlanModel made(std::vector<StepShape>(1));
  made.model.codes = codes;
  made.model.codeCount = 4;
  for (auto [capability, code] : std::map<int, int>{
           {75, 11}, {80, 0}, {86, 0}, {90, 0}, {92, 0}, {100, 0}, {103, 11}}) {
    driver() = {};
    driver().capability = capability;
    EXPECT_EQ(int(run(made).code), code) << capability;
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
