//===- sweep-space.cpp - the values that a sweep tries --------------------===//

#include "sweep/space.h"
#include "sweep/sweep_run.h"
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace {

using mn::Axis;
using mn::OptionTexts;

/// Options of which some are given: {"lr", "0.1,0.01"}.
mn::Options given(const OptionTexts &texts, int64_t random = 0) {
  mn::Options options;
  for (const mn::Flag &flag : mn::sweepFlags())
    if (const auto found = texts.find(flag.name); found != texts.end()) {
      options.sweep.*std::get<std::string mn::SweepOptions::*>(flag.to) =
          found->second;
      options.given.push_back(flag.name);
    }
  options.sweep.random = random;
  return options;
}

std::vector<Axis> axesOf(const OptionTexts &texts, int64_t random = 0) {
  std::vector<Axis> axes;
  const mn::Status status = mn::readAxes(given(texts, random), axes);
  EXPECT_TRUE(status.ok()) << status.message;
  return axes;
}

std::vector<std::string> valuesOf(const char *option, const char *text) {
  const std::vector<Axis> axes = axesOf({{option, text}});
  return axes.size() == 1 ? axes[0].values : std::vector<std::string>();
}

using Values = std::vector<std::string>;

TEST(SweepSpace, ValuesAndRangesOfIntegers) {
  EXPECT_EQ(valuesOf("lr", "0.1,0.03,1e-4"), Values({"0.1", "0.03", "1e-4"}));
  EXPECT_EQ(valuesOf("seed", "1..4"), Values({"1", "2", "3", "4"}));
  EXPECT_EQ(valuesOf("seed", "7,0..2,9"), Values({"7", "0", "1", "2", "9"}));
  EXPECT_EQ(valuesOf("seed", "5..5"), Values({"5"}));
  EXPECT_EQ(valuesOf("epochs", "3"), Values({"3"}));
  EXPECT_EQ(valuesOf("seed", "9223372036854775806..9223372036854775807"),
            Values({"9223372036854775806", "9223372036854775807"}));
}

TEST(SweepSpace, OptionsOfAScheduleBelongToIt) {
  EXPECT_EQ(valuesOf("schedule", "constant,cosine,lr-min=0.01,warm-up=5,step"),
            Values({"constant", "cosine,lr-min=0.01,warm-up=5", "step"}));
}

TEST(SweepSpace, ProductsHaveTheLastOptionDifferFirst) {
  std::vector<OptionTexts> runs;
  ASSERT_TRUE(
      mn::productOf(axesOf({{"seed", "1,2"}, {"lr", "0.1,0.2"}}), runs).ok());
  const std::vector<OptionTexts> wanted = {{{"lr", "0.1"}, {"seed", "1"}},
                                           {{"lr", "0.1"}, {"seed", "2"}},
                                           {{"lr", "0.2"}, {"seed", "1"}},
                                           {{"lr", "0.2"}, {"seed", "2"}}};
  EXPECT_EQ(runs, wanted);
  ASSERT_TRUE(mn::productOf({}, runs).ok());
  EXPECT_EQ(runs, std::vector<OptionTexts>(1));
}

TEST(SweepSpace, RandomNumbersFillTheirRange) {
  constexpr int64_t count = 4000;
  const auto runs = mn::drawRuns(
      axesOf({{"lr", "1e-4..1e-1"}, {"momentum", "0.5..0.9"}, {"seed", "1..4"}},
             count),
      count, 1);
  double logarithms = 0, momenta = 0;
  std::map<std::string, int> seeds;
  std::set<std::string> rates;
  for (const OptionTexts &run : runs) {
    const double lr = std::stod(run.at("lr"));
    const double momentum = std::stod(run.at("momentum"));
    EXPECT_TRUE(lr >= 1e-4 && lr <= 1e-1) << lr;
    EXPECT_TRUE(momentum >= 0.5 && momentum <= 0.9) << momentum;
    EXPECT_LE(run.at("lr").size(), 9u) << run.at("lr"); // 0.0001234
    logarithms += std::log10(lr) / count;
    momenta += momentum / count;
    ++seeds[run.at("seed")];
    rates.insert(run.at("lr"));
  }
  // The means of uniform numbers, within four standard deviations.
  EXPECT_NEAR(logarithms, -2.5, 4 * 3 / std::sqrt(12.0 * count));
  EXPECT_NEAR(momenta, 0.7, 4 * 0.4 / std::sqrt(12.0 * count));
  ASSERT_EQ(seeds.size(), 4u);
  for (const auto &[seed, times] : seeds)
    EXPECT_NEAR(times, count / 4, 4 * std::sqrt(count * 3.0 / 16)) << seed;
  EXPECT_GT(rates.size(), count * 3u / 4);
}

TEST(SweepSpace, RandomRunsDependOnTheirNumberOnly) {
  const auto axes = axesOf({{"lr", "1e-4..1"}, {"seed", "1..1000"}}, 5);
  const auto five = mn::drawRuns(axes, 5, 1), nine = mn::drawRuns(axes, 9, 1);
  EXPECT_EQ(five, std::vector<OptionTexts>(nine.begin(), nine.begin() + 5));
  EXPECT_NE(five, mn::drawRuns(axes, 5, 2));
  // Another option leaves the rates.
  const auto more =
      mn::drawRuns(axesOf({{"lr", "1e-4..1"}, {"beta1", "0.8..0.9"}}, 5), 5, 1);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(more[i].at("lr"), five[i].at("lr"));
}

TEST(SweepSpace, RunsThatAreTheSameAreOne) {
  std::vector<mn::SweepRun> runs;
  ASSERT_TRUE(mn::makeRuns({},
                           {{{"lr", "0.1"}},
                            {{"lr", "0.10"}},
                            {{"schedule", "cosine"}},
                            {{"schedule", "cosine,lr-min=0"}},
                            {{"init", "he"}},
                            {}},
                           runs)
                  .ok());
  ASSERT_EQ(runs.size(), 4u);
  std::set<std::string> ids;
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].number, int64_t(i) + 1);
    ids.insert(runs[i].id);
  }
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(runs[0].options.train.lr, 0.1);
  EXPECT_EQ(mn::trainCommand(runs[2].options), "--init=he");
}

TEST(SweepSpace, WhereDataIsMakesNoOtherRun) {
  mn::Options here, there;
  here.data = "here", there.data = "there";
  std::vector<mn::SweepRun> runs, same, other;
  ASSERT_TRUE(mn::makeRuns(here, {{}}, runs).ok());
  ASSERT_TRUE(mn::makeRuns(there, {{}}, same).ok());
  there.limit = 5;
  ASSERT_TRUE(mn::makeRuns(there, {{}}, other).ok());
  EXPECT_EQ(runs[0].id, same[0].id);
  EXPECT_NE(runs[0].id, other[0].id);
}

} // namespace
