//===- rows.cpp - tests of which threads have a row -----------------------===//

#define MN_TARGET_CUDA
#include "mnistrt/generated.h"
#include <gtest/gtest.h>

using namespace mn;

namespace {

TEST(Rows, NumbersAreDrawnByFoursOfRunsThatBeginAnywhere) {
  const Reduce images{
      .outputs = 128, .size = 3136, .contiguous = false, .run = 49};
  const auto drawn = [](const Reduce &s, bool hasTotals = false) {
    return shape::rowTeams(s, hasTotals, /*drawsNumbers=*/true);
  };
  EXPECT_TRUE(drawn(images).ragged);
  EXPECT_EQ(drawn(images).wide, 4);
  EXPECT_FALSE(shape::rowTeams(images).ragged);
  // Of a run that begins with the last of a four.
  EXPECT_EQ(shape::foursOfRun(images), 13);
  EXPECT_EQ(shape::raggedFours(images), 64 * 13);
  EXPECT_FALSE(drawn(images, /*hasTotals=*/true).ragged);
  Reduce other = images;
  other.run = 56;
  EXPECT_FALSE(drawn(other).ragged);
  EXPECT_EQ(drawn(other).wide, 4);
  // The last four would be beyond the tensor.
  other = images;
  other.outputs = 3, other.size = 49;
  EXPECT_FALSE(drawn(other).ragged);
  // Half of what is read would be other rows'.
  other = images;
  other.run = 7;
  EXPECT_FALSE(drawn(other).ragged);
}

} // namespace
