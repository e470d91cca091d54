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
    return shape::rowTeams(s, {hasTotals, /*drawsNumbers=*/true});
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

constexpr Reduce columnsOf(int64_t rows, int64_t size) {
  return {.outputs = rows, .size = size, .contiguous = false};
}

TEST(Rows, FewColumnsOfLargeTensorsAreSummedByAllBlocks) {
  const auto inFours = [](int64_t rows, int64_t size, bool hasTotals = false) {
    return shape::rowTeams(columnsOf(rows, size),
                           {.hasTotals = hasTotals, .rowsInFours = true});
  };
  const shape::RowTeams t = inFours(192, 50176);
  EXPECT_TRUE(t.byPhases);
  EXPECT_EQ(t.rows, 64);
  EXPECT_EQ(t.groups, 3);
  EXPECT_EQ(t.splits, shape::referenceSms / 3);
  // Few threads are left without.
  EXPECT_EQ(inFours(96, 50176).rows, 32);
  // 128 with a power of two.
  EXPECT_EQ(inFours(100, 50176).rows, 100);
  EXPECT_EQ(inFours(100, 50176).groups, 1);
  EXPECT_EQ(inFours(100, 50176).threads(), 500);
  EXPECT_EQ(inFours(120, 50176).rows, 64);
  EXPECT_EQ(inFours(16, 50176).rows, 16);
  EXPECT_EQ(inFours(260, 50176).rows, 88);
  EXPECT_EQ(inFours(260, 50176).groups, 3);
  // Clusters suffice.
  EXPECT_TRUE(inFours(1036, 50176).byPhases);
  EXPECT_FALSE(inFours(1040, 50176).byPhases);
  // Another launch would take longer than the sums.
  EXPECT_FALSE(inFours(64, 1000).byPhases);
  EXPECT_FALSE(inFours(192, 50176, /*hasTotals=*/true).byPhases);
  EXPECT_FALSE(shape::rowTeams(columnsOf(192, 50176)).byPhases);
}

TEST(Rows, ThreadsHaveElementsThatAreWholeRunsApart) {
  Reduce images{.outputs = 128, .size = 3136, .contiguous = false, .run = 49};
  shape::RowTeams t = shape::rowTeams(images);
  EXPECT_EQ(t.team, 512);
  EXPECT_EQ(shape::threadsOfRuns(images, t), 490);
  // Fours of 14 x 14.
  images.size = 12544, images.run = 196;
  t = shape::rowTeams(images);
  EXPECT_EQ(t.wide, 4);
  EXPECT_EQ(shape::threadsOfRuns(images, t), 0);
  // More than a quarter of the threads would have nothing to do.
  images.size = 300 * 64, images.run = 300;
  t = {.team = 512};
  EXPECT_EQ(shape::threadsOfRuns(images, t), 0);
  images.run = 600;
  EXPECT_EQ(shape::threadsOfRuns(images, t), 0);
}

TEST(Rows, AsManyThreadsHaveOneAsItHasLoadsFor) {
  const auto threads = [](int64_t outputs, int64_t size) {
    return shape::threadsOfRow({.outputs = outputs, .size = size}, 256);
  };
  EXPECT_EQ(threads(65536, 49), 8);
  EXPECT_EQ(threads(65536, 65), 16);
  EXPECT_EQ(threads(32768, 784), 32);
  EXPECT_EQ(threads(32768, 2048), 32);
  EXPECT_EQ(threads(32768, 2049), 64);
  EXPECT_EQ(threads(32768, 1 << 20), 256);
  // Of few rows more, but none without an element.
  EXPECT_EQ(threads(8192, 49), 16);
  EXPECT_EQ(threads(64, 784), 256);
  EXPECT_EQ(threads(64, 17), 16);
  EXPECT_EQ(threads(64, 10), 8);
  EXPECT_EQ(shape::threadsOfRow({.outputs = 64, .size = 784}, 32), 32);
}

TEST(Rows, BlocksHaveTheElementsOfTheirTurns) {
  const Reduce row{.outputs = 1, .size = 1000};
  int64_t all = 0;
  for (int part = 0; part < 3; ++part)
    all += shape::elementsOf(row, 128, 3, part);
  EXPECT_EQ(all, 1000);
  EXPECT_EQ(shape::elementsOf(row, 128, 3, 0), 384);
  EXPECT_EQ(shape::elementsOf(row, 128, 3, 1), 256 + 104);
  EXPECT_EQ(shape::elementsOf(row, 128, 3, 2), 256);
  EXPECT_EQ(shape::elementsOf(row, 512, 3, 2), 0);
}

/// What a step says whose threads have two numbers of an element.
constexpr shape::RowTraits pairs = {.hasRunsApart = true, .elementBytes = 8};

TEST(Rows, LargeOnesAreSharedByBlocksThatKeepThem) {
  const Reduce images{
      .outputs = 384, .size = 25088, .contiguous = false, .run = 49};
  const shape::RowTeams t = shape::rowTeams(images);
  EXPECT_EQ(t.splits, 1);
  EXPECT_FALSE(shape::keepsRows(images, pairs, t, t.threads()));
  const shape::RowTeams kept = shape::rowTeamsOf(images, pairs);
  EXPECT_EQ(kept.splits, 2);
  EXPECT_TRUE(shape::keepsRows(images, pairs, kept, kept.threads()));
  // Loops that draw numbers are long; caches hold less.
  shape::RowTraits drawn = pairs;
  drawn.drawsNumbers = true;
  EXPECT_EQ(shape::rowTeamsOf(images, drawn).splits, 1);
  Reduce other = images;
  other.outputs = 150;
  EXPECT_EQ(shape::rowTeamsOf(other, pairs).splits,
            shape::rowTeams(other).splits);
}

TEST(Rows, LargeOnesThatNoClusterKeepsHaveBlocksForAllMultiprocessors) {
  Reduce images{
      .outputs = 128, .size = 200704, .contiguous = false, .run = 784};
  EXPECT_EQ(shape::rowTeams(images).splits, 1);
  const shape::RowTeams few = shape::rowTeamsOf(images, pairs);
  EXPECT_FALSE(shape::keepsRows(images, pairs, few, few.threads()));
  EXPECT_EQ(few.splits, shape::largestCluster);
  images.outputs = 384;
  EXPECT_EQ(shape::rowTeamsOf(images, pairs).splits, 3);
  // Each has a few turns.
  images = {.outputs = 2048, .size = 250880, .contiguous = false, .run = 49};
  EXPECT_EQ(shape::rowTeamsOf(images, pairs).splits, 1);
  // One row of a million elements has as many as are a cluster anyway.
  images = {.outputs = 1, .size = int64_t(1) << 23, .contiguous = true};
  EXPECT_EQ(shape::rowTeamsOf(images, pairs).splits,
            shape::rowTeams(images).splits);
}

TEST(Rows, FewBlocksAreSpreadWhereNoOthersRun) {
  const Reduce images{
      .outputs = 16, .size = 64 * 784, .contiguous = false, .run = 784};
  const LaunchShape few = shape::rows(images, pairs);
  EXPECT_GT(few.blocks, 44u);
  EXPECT_LE(few.blocks, unsigned(shape::referenceSms));
  EXPECT_TRUE(few.spread);
  shape::RowTraits beside = pairs;
  beside.runsBeside = true;
  EXPECT_FALSE(shape::rows(images, beside).spread);
  // But for launches of phases that store elements.
  const Reduce columns{.outputs = 192, .size = 50176, .contiguous = false};
  beside.rowsInFours = true;
  EXPECT_TRUE(shape::rowTeamsOf(columns, beside).byPhases);
  EXPECT_FALSE(shape::rows(columns, beside).spread);
  beside.storesElements = true;
  EXPECT_TRUE(shape::rows(columns, beside).spread);
  Reduce many = images;
  many.outputs = 1024;
  EXPECT_FALSE(shape::rows(many, pairs).spread);
}

} // namespace
