//===- class-statistics.cpp - what a classifier gets right ----------------===//

#include "inference/class_statistics.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

std::vector<double> logsOf(std::vector<double> probabilities) {
  for (double &p : probabilities)
    p = std::log(p);
  return probabilities;
}

/// Four rows of three classes; the last two are wrong.
mn::ClassStatistics example(int64_t top, int64_t worst) {
  mn::ClassStatistics statistics(3, top, worst);
  statistics.add(0, 0, logsOf({0.7, 0.2, 0.1}));
  statistics.add(1, 1, logsOf({0.1, 0.6, 0.3}));
  statistics.add(2, 2, logsOf({0.1, 0.7, 0.2}));
  statistics.add(3, 2, logsOf({0.9, 0.06, 0.04}));
  return statistics;
}

TEST(ClassStatistics, CountsByClass) {
  const mn::ClassStatistics statistics = example(1, 0);
  EXPECT_EQ(statistics.rows(), 4);
  EXPECT_EQ(statistics.right(), 2);
  EXPECT_EQ(statistics.topRight(), 2);
  EXPECT_NEAR(statistics.loss(), -std::log(0.7 * 0.6 * 0.2 * 0.04), 1e-12);
  const int64_t expected[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  for (size_t label = 0; label < 3; ++label)
    for (size_t guess = 0; guess < 3; ++guess)
      EXPECT_EQ(statistics.confused(label, guess), expected[label][guess]);
  EXPECT_EQ(statistics.recall(0), 1);
  EXPECT_EQ(statistics.precision(0), 0.5);
  EXPECT_NEAR(statistics.f1(0), 2 / 3.0, 1e-12);
  EXPECT_EQ(statistics.recall(2), 0);
  EXPECT_EQ(statistics.precision(2), -1) << "no row was taken for it";
  ASSERT_EQ(statistics.mistakes().size(), 2u);
  EXPECT_EQ(statistics.mistakes()[0].label, 2u);
  EXPECT_EQ(statistics.mistakes()[0].guess, 0u);
  EXPECT_TRUE(statistics.worst().empty());
}

TEST(ClassStatistics, AmongTheMostProbable) {
  EXPECT_EQ(example(2, 0).topRight(), 3);
  EXPECT_EQ(example(3, 0).topRight(), 4);
  // Of equal ones, those with smaller numbers.
  mn::ClassStatistics equal(3, 2, 0);
  for (size_t label = 0; label < 3; ++label)
    equal.add(0, label, logsOf({0.25, 0.25, 0.25}));
  EXPECT_EQ(equal.topRight(), 2);
  EXPECT_EQ(equal.right(), 1);
}

TEST(ClassStatistics, CalibrationErrorByHand) {
  // Of 15 ranges, 0.7 is in the eleventh with 0.7, 0.6 in the ninth, 0.9 in the
  // fourteenth: |1.4 - 1| + |0.6 - 1| + |0.9 - 0| of 4 rows.
  EXPECT_NEAR(example(1, 0).calibrationError(), 1.7 / 4, 1e-12);
  mn::ClassStatistics sure(2, 1, 0);
  sure.add(0, 1, {-INFINITY, 0});
  EXPECT_EQ(sure.calibrationError(), 0);
}

TEST(ClassStatistics, TheWorstRowsComeFirst) {
  const std::vector<mn::JudgedRow> rows = example(1, 5).worst();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].row, 3);
  EXPECT_EQ(rows[0].label, 2u);
  EXPECT_EQ(rows[0].guess, 0u);
  EXPECT_NEAR(rows[0].probability, 0.9, 1e-12);
  EXPECT_NEAR(rows[0].loss, -std::log(0.04), 1e-12);
  EXPECT_EQ(rows[1].row, 2);
  const std::vector<mn::JudgedRow> one = example(1, 1).worst();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].row, 3);
}

} // namespace
