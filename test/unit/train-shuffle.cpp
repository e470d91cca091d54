//===- train-shuffle.cpp - a permutation that takes no memory -------------===//

#include "mnistrt/shuffle.h"
#include <gtest/gtest.h>
#include <vector>

namespace {

TEST(Shuffle, IsAPermutationOfEverySize) {
  for (uint64_t n :
       {1,   2,   3,   4,    5,    15,   16,   17,    63,    64,    65,
        255, 256, 257, 1000, 4095, 4096, 4097, 10000, 60000, 65536, 65537}) {
    std::vector<bool> seen(n);
    const mn::Shuffle shuffle(n, 1, 2);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t to = shuffle(i);
      ASSERT_LT(to, n);
      ASSERT_FALSE(seen[to]) << "twice " << to << " of " << n;
      seen[to] = true;
    }
  }
}

// Where an index goes, over many epochs: chi-square with 19 x 19 degrees of
// freedom, whose mean is 361 and deviation 26.9.
TEST(Shuffle, SendsEveryIndexEverywhereEquallyOften) {
  constexpr uint64_t n = 20, epochs = 20000;
  std::vector<double> counts(n * n);
  for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const mn::Shuffle shuffle(n, 5, epoch);
    for (uint64_t i = 0; i < n; ++i)
      ++counts[i * n + shuffle(i)];
  }
  const double expected = double(epochs) / n;
  double chiSquare = 0;
  for (const double count : counts)
    chiSquare += (count - expected) * (count - expected) / expected;
  EXPECT_GT(chiSquare, 361 - 4 * 26.9);
  EXPECT_LT(chiSquare, 361 + 4 * 26.9);
}

// All 6 orders of three things.
TEST(Shuffle, ReachesAllOrders) {
  std::vector<int> counts(27);
  for (uint64_t epoch = 0; epoch < 6000; ++epoch) {
    const mn::Shuffle shuffle(3, 1, epoch);
    ++counts[shuffle(0) * 9 + shuffle(1) * 3 + shuffle(2)];
  }
  int orders = 0;
  for (const int count : counts) {
    if (count == 0)
      continue;
    ++orders;
    EXPECT_NEAR(count, 1000, 150);
  }
  EXPECT_EQ(orders, 6);
}

// What two epochs, or two seeds, have in common is what chance gives: one place
// on average, whatever the size.
TEST(Shuffle, EpochsAndSeedsDiffer) {
  constexpr uint64_t n = 60000;
  int samePlace = 0, samePlaceOfSeed = 0, neighbours = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t to = mn::shuffled(i, n, 1, 0);
    samePlace += to == mn::shuffled(i, n, 1, 1);
    samePlaceOfSeed += to == mn::shuffled(i, n, 2, 0);
    neighbours += to + 1 == mn::shuffled((i + 1) % n, n, 1, 0);
  }
  EXPECT_LT(samePlace, 8);
  EXPECT_LT(samePlaceOfSeed, 8);
  EXPECT_LT(neighbours, 8);
}

TEST(Shuffle, LargeData) {
  const uint64_t n = (uint64_t(1) << 40) + 3;
  const mn::Shuffle shuffle(n, 1, 0);
  EXPECT_LT(shuffle(0), n);
  EXPECT_LT(shuffle(n - 1), n);
  EXPECT_NE(shuffle(0), shuffle(n - 1));
}

} // namespace
