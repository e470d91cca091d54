//===- train-schedule.cpp - the learning rate of each step ----------------===//

#include "train/rate_finder.h"
#include "train/schedule.h"
#include <gtest/gtest.h>
#include <vector>

namespace {

using mn::LearningRate;
using mn::Schedule;

std::vector<double> rates(const std::string &text, double lr, int64_t steps,
                          int64_t stepsPerEpoch = 1) {
  Schedule schedule;
  LearningRate rate;
  mn::Status status = Schedule::parse(text, schedule);
  EXPECT_TRUE(status.ok()) << status.message;
  status = LearningRate::create(schedule, lr, steps, stepsPerEpoch, rate);
  EXPECT_TRUE(status.ok()) << status.message;
  std::vector<double> result;
  for (int64_t step = 0; step < steps; ++step)
    result.push_back(rate.at(step));
  return result;
}

void expectNear(const std::vector<double> &found,
                const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-14) << "step " << i;
}

std::string errorOf(const std::string &text) {
  Schedule schedule;
  return Schedule::parse(text, schedule).message;
}

TEST(Schedule, Constant) { expectNear(rates("constant", .1, 3), {.1, .1, .1}); }

TEST(Schedule, StepGoesDownAfterWholeEpochs) {
  expectNear(rates("step,gamma=0.5,every=2", .4, 12, 2),
             {.4, .4, .4, .4, .2, .2, .2, .2, .1, .1, .1, .1});
}

// torch.optim.lr_scheduler.CosineAnnealingLR(T_max=8, eta_min=.001) by its
// recursive form.
TEST(Schedule, CosineIsTorchs) {
  expectNear(rates("cosine,lr-min=0.001", .1, 8),
             {0.1, 0.0962320368593087, 0.0855017856687341, 0.06944282990207196,
              0.0505, 0.03155717009792806, 0.0154982143312659,
              0.004767963140691306});
}

// OneCycleLR.get_lr's two phases, written out in Python.
TEST(Schedule, OneCycleIsTorchs) {
  expectNear(rates("one-cycle", .1, 10),
             {0.0040000000000000036, 0.052000000000000005, 0.1,
              0.09504846320134738, 0.0811745653949763, 0.06112620219362893,
              0.03887419780637107, 0.0188258346050237, 0.004951936798652629,
              4e-07});
  expectNear(rates("one-cycle,pct-start=0.25,div=10,final-div=100", 1, 7),
             {0.1, 0.9944209976994517, 0.8666594099789982, 0.611649206511179,
              0.31801215832898566, 0.08779373222916066, 0.001});
}

TEST(Schedule, OneCycleOfFewSteps) {
  for (int64_t steps = 1; steps < 8; ++steps)
    for (const double rate : rates("one-cycle", 1, steps)) {
      EXPECT_GT(rate, 0);
      EXPECT_LE(rate, 1);
    }
  expectNear(rates("one-cycle,pct-start=1", 1, 1), {1});
}

// Three steps on the way up to the first rate, then the schedule's six.
TEST(Schedule, WarmUpComesFirst) {
  expectNear(rates("constant,warm-up=3", .4, 6), {.1, .2, .3, .4, .4, .4});
  const std::vector<double> cosine = rates("cosine", .1, 6);
  std::vector<double> warm = rates("cosine,warm-up=3", .1, 9);
  expectNear({warm.begin() + 3, warm.end()}, cosine);
  EXPECT_NEAR(warm[2], .075, 1e-14);
}

TEST(Schedule, StaysAtItsLastRate) {
  Schedule schedule;
  LearningRate rate;
  ASSERT_TRUE(Schedule::parse("cosine,lr-min=0.01", schedule).ok());
  ASSERT_TRUE(LearningRate::create(schedule, .1, 10, 5, rate).ok());
  EXPECT_EQ(rate.at(10), rate.at(9));
  EXPECT_EQ(rate.at(1 << 30), rate.at(9));
}

TEST(Schedule, TextReadsBack) {
  for (const char *text :
       {"constant", "step,gamma=0.1,every=3", "cosine,lr-min=1e-05,warm-up=7",
        "one-cycle,pct-start=0.1,div=3,final-div=100"}) {
    Schedule schedule;
    ASSERT_TRUE(Schedule::parse(text, schedule).ok());
    EXPECT_EQ(schedule.text(), text);
  }
}

TEST(Schedule, Errors) {
  EXPECT_EQ(errorOf("cosin"),
            "expected '--schedule' to be constant, step, cosine or one-cycle, "
            "got 'cosin'; did you mean 'cosine'?");
  EXPECT_EQ(errorOf(""), "expected '--schedule' to be constant, step, cosine "
                         "or one-cycle, got ''");
  EXPECT_EQ(errorOf("cosine,gamma=1"),
            "expected an option of schedule 'cosine' (lr-min or warm-up), got "
            "'gamma'");
  EXPECT_EQ(errorOf("step,gama=1"),
            "expected an option of schedule 'step' (gamma, every or warm-up), "
            "got 'gama'; did you mean 'gamma'?");
  EXPECT_EQ(errorOf("step,every"), "expected a value in --schedule, as in "
                                   "'every=10', got 'every'");
  EXPECT_EQ(errorOf("step,every=1.5"), "expected epochs, 1 or more for 'every' "
                                       "of --schedule, got '1.5'");
  EXPECT_EQ(errorOf("step,gamma=nan"), "expected a number above 0 for 'gamma' "
                                       "of --schedule, got 'nan'");
  EXPECT_EQ(errorOf("one-cycle,pct-start=1.1"),
            "expected a number from 0 to 1 for 'pct-start' of --schedule, "
            "got '1.1'");
  EXPECT_EQ(errorOf("step,every=2,every=3"),
            "expected one 'every' in --schedule, got two");
}

TEST(Schedule, ErrorsOfTheRun) {
  Schedule schedule;
  LearningRate rate;
  ASSERT_TRUE(Schedule::parse("constant,warm-up=10", schedule).ok());
  EXPECT_EQ(LearningRate::create(schedule, .1, 10, 5, rate).message,
            "expected a warm-up of fewer steps than the training's 10, got 10");
  EXPECT_EQ(LearningRate::create(schedule, -1, 20, 5, rate).message,
            "expected a learning rate of 0 or more, got '-1'");
  EXPECT_EQ(LearningRate::create(schedule, .1, 0, 5, rate).message,
            "expected at least one step to train, got 0");
}

TEST(RateFinder, ATenthOfTheRateWithTheSmallestLoss) {
  std::vector<mn::RatePoint> points;
  EXPECT_EQ(mn::suggestedRate(points), 0);
  for (int i = 0; i < 100; ++i)
    points.push_back(
        {std::pow(10, i / 20.0), 1, 2 + 1e-4 * (i - 70) * (i - 70)});
  EXPECT_EQ(mn::suggestedRate(points), 0.1 * points[70].rate);
  for (size_t i = 0; i < 100; ++i) // All alike, but for noise.
    points[i].smooth = 2 - (i == 50 ? 0.01 : 0);
  EXPECT_EQ(mn::suggestedRate(points), 0);
  points.resize(5);
  EXPECT_EQ(mn::suggestedRate(points), 0);
}

} // namespace
