//===- executor.cpp - running plans on the CPU ----------------------------===//

#include "core/executor.h"
#include "inference/runner.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

std::unique_ptr<mn::Executor> open(const mn::Model &model, mn::Status &status) {
  std::unique_ptr<mn::Executor> executor;
  status = mn::Executor::open(model, {}, executor);
  return executor;
}

TEST(Executor, SaysExactlyWhatItAllocates) {
  // The arena of the larger plan, to a multiple of 256, and the constants.
  EXPECT_EQ(mn::deviceBytes(mn_model), size_t(1792 + 85 * 4));
}

TEST(Executor, RefusesOtherModels) {
  mn::Status status;
  mn::Model model = mn_model;
  model.version = 0;
  EXPECT_EQ(open(model, status), nullptr);
  EXPECT_EQ(status.code, mn::Code::noLibrary);
  model = mn_model;
  model.target = "cuda";
  EXPECT_EQ(open(model, status), nullptr);
  EXPECT_EQ(status.message, "expected a model for target 'cpu', got one for "
                            "target 'cuda'");
  model = mn_model;
  model.arch = "x86-64-v9";
  EXPECT_EQ(open(model, status), nullptr);
  EXPECT_EQ(status.code, mn::Code::wrongArch);
}

TEST(Executor, LooksAtEveryStep) {
  mn::Status status;
  auto executor = open(mn_model, status);
  ASSERT_TRUE(status.ok()) << status.message;
  struct State {
    mn::Executor &executor;
    std::vector<int> steps;
    float scores[3];
  } state{*executor, {}, {}};
  ASSERT_TRUE(executor->prepare(0).ok());
  status = executor->trace(
      0,
      [](void *user, int step) {
        auto &state = *static_cast<State *>(user);
        state.steps.push_back(step);
        const mn::Tensor &result = mn_model.plans[0].steps[step].results[0];
        return step == 4 ? state.executor.read(result.offset, state.scores,
                                               sizeof state.scores)
                         : mn::Status::success();
      },
      &state);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(state.steps, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(std::isfinite(state.scores[0]));
  float beyond;
  EXPECT_FALSE(
      executor->read(mn_model.plans[1].arenaBytes + 4096, &beyond, 4).ok());
}

TEST(Executor, ProfilesEveryStep) {
  mn::Status status;
  auto executor = open(mn_model, status);
  std::vector<mn::StepTime> times;
  ASSERT_TRUE(executor->profile(1, times).ok());
  EXPECT_EQ(times.size(), 6u);
  EXPECT_GE(times[5].startMicroseconds, times[4].startMicroseconds);
  double microseconds = -1;
  ASSERT_TRUE(executor->time(1, 3, microseconds).ok());
  EXPECT_GE(microseconds, 0);
}

TEST(Runner, ChoosesTheSmallestPlanThatTakesAllRows) {
  mn::Status status;
  auto executor = open(mn_model, status);
  mn::Runner runner(mn_model, *executor);
  int plan;
  ASSERT_TRUE(runner.choosePlan(1, 0, plan).ok());
  EXPECT_EQ(plan, 0);
  ASSERT_TRUE(runner.choosePlan(3, 0, plan).ok());
  EXPECT_EQ(plan, 1);
  ASSERT_TRUE(runner.choosePlan(100, 0, plan).ok());
  EXPECT_EQ(plan, 1);
  ASSERT_TRUE(runner.choosePlan(100, 1, plan).ok());
  EXPECT_EQ(plan, 0);
  EXPECT_EQ(runner.choosePlan(1, 3, plan).message,
            "expected '--batch' to be one of 1, 4, got 3");
}

TEST(Runner, NamesTheFirstStepThatGivesNaN) {
  mn::Status status;
  auto executor = open(mn_model, status);
  mn::Runner runner(mn_model, *executor);
  runner.checkNumbers = true;
  mn::Array image;
  image.shape = {2, 1, 4, 4};
  const std::vector<float> pixels(32, INFINITY);
  const char *bytes = reinterpret_cast<const char *>(pixels.data());
  image.bytes = std::vector<char>(bytes, bytes + 128);
  std::vector<mn::Array> outputs;
  int plan;
  status = runner.run(0, {image}, outputs, plan);
  EXPECT_EQ(status.code, mn::Code::numeric);
  EXPECT_NE(status.message.find("'features', computed by step 1"),
            std::string::npos)
      << status.message;
}

} // namespace
