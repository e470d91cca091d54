//===- draws.cpp - random numbers of neighbours ---------------------------===//

#include "mnistrt/generated.h"
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace {

mn::Context context;
constexpr int64_t seed = -5, step = (int64_t(1) << 40) + 3;

/// Ranges that begin and end within blocks of four, and in one or several of
/// the pieces that are drawn at once.
struct Range {
  int64_t first, count;
};
constexpr Range ranges[] = {{0, 1},    {0, 4},     {3, 2},
                            {1, 300},  {254, 515}, {(int64_t(1) << 35) + 6, 9},
                            {997, 256}};

std::vector<float> filled(const mn::Draw &draw, Range range) {
  std::vector<float> numbers(size_t(range.count));
  draw.fill(range.first, range.count, numbers.data());
  return numbers;
}

TEST(Draws, NumbersAreThoseOfTheElements) {
  for (Range range : ranges) {
    const std::vector<float> numbers = filled({seed, 3, step}, range);
    for (int64_t i = 0; i < range.count; ++i)
      EXPECT_EQ(numbers[size_t(i)],
                mn::randomUniform(seed, 3, step, range.first + i))
          << range.first << " + " << i;
  }
}

/// Of one of several ranks, and of one alone, which numbers the rows of a later
/// batch of an update as those of a later rank.
TEST(Draws, RowsOfARankAreAmongThoseOfAll) {
  for (auto [rank, ranks] : {std::pair(2, 3), std::pair(5, 1)})
    for (Range range : ranges) {
      const std::vector<float> numbers =
          filled({seed, 3, step, /*ofRow=*/37, rank, ranks}, range);
      for (int64_t i = 0; i < range.count; ++i)
        EXPECT_EQ(numbers[size_t(i)],
                  mn::randomUniform(
                      seed, 3, step,
                      mn::elementOfRank(range.first + i, 37, rank, ranks)))
            << range.first << " + " << i;
    }
}

struct Difference {
  float *y;
  mn::Draws<2> draws() const { return {{{seed, 1, step}, {seed, 2, step}}}; }
  MN_FN void operator()(mn::Element i, float a, float b) const { y[i] = a - b; }
};

float expected(int64_t i) {
  return mn::randomUniform(seed, 1, step, i) -
         mn::randomUniform(seed, 2, step, i);
}

TEST(Draws, MapsAreGivenTheNumbersOfTheirElement) {
  for (mn::Index count : {1, 5, 1000, 100003}) {
    std::vector<float> y(size_t(count), 2.0f);
    mn::pointwise(context, "", count, Difference{y.data()});
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(y[size_t(i)], expected(i)) << i << " of " << count;
  }
}

TEST(Draws, SegmentsBeginWithTheirFirstNumber) {
  std::vector<float> y(70000 + 333, 2.0f);
  const Difference maps[] = {{y.data()}, {y.data() + 70000}};
  mn::segments(context, "", mn::Elements<2>{{70000, 333}}, maps);
  for (int64_t i = 0; i < 70333; ++i)
    ASSERT_EQ(y[size_t(i)], expected(i < 70000 ? i : i - 70000)) << i;
}

} // namespace
