//===- ways.cpp - which way a contraction is computed ---------------------===//

#include "mnistrt/cuda/kernels/schedule_choice.cuh"
#include <gtest/gtest.h>

namespace {

using namespace mn;

/// 32 to 64 channels, 3 x 3.
Conv secondConv(Mma mma) {
  return {.batch = 64,
          .inChannels = 32,
          .outChannels = 64,
          .in = {14, 14, 1},
          .kernel = {3, 3, 1},
          .out = {14, 14, 1},
          .pads = {1, 1, 0},
          .padsAfter = {1, 1, 0},
          .schedule = {.mma = mma}};
}

TEST(Ways, PatchesHaveStridesThatFold) {
  const Conv s = secondConv(Mma::tf32x3);
  const auto forward = [](const Conv &shape) {
    return shape::chooseConv(shape).schedule.way;
  };
  EXPECT_EQ(forward(s), Way::patches);
  Conv other = s;
  other.groups = 2;
  EXPECT_EQ(forward(other), Way::patches);
  // Each group has blocks and filters of its own.
  const shape::Windows w = shape::windowsOf(other);
  const shape::Patch t = shape::counted(shape::Patch{32}, w);
  EXPECT_EQ(shape::allBlocks(w, t), 2 * t.blocks());
  EXPECT_EQ(shape::packedWords(w, t),
            2 * t.across * shape::turnsOf(w) * shape::filterWords(w, t));
  other = s;
  other.strides[0] = 2, other.out[0] = 7;
  EXPECT_EQ(forward(other), Way::patches);
  EXPECT_EQ(shape::chooseInputGrad(other).schedule.way, Way::patches);
  other.in[0] = 13;
  EXPECT_NE(forward(other), Way::patches);
  // But a phase of the gradient has strides of 1.
  EXPECT_EQ(shape::chooseInputGrad(other).schedule.way, Way::patches);
  other = s;
  other.schedule.mma = Mma::ffma;
  EXPECT_NE(forward(other), Way::patches);
}

TEST(Ways, LongSumsOfFewTilesHaveSlices) {
  const ProductSchedule how = {.mma = Mma::tf32x3};
  const auto slices = [&](int m, int n, int k) {
    return shape::choose({.m = m, .n = n, .k = k, .schedule = how})
        .schedule.slices;
  };
  EXPECT_GT(slices(64, 256, 512), 1);
  EXPECT_EQ(slices(64, 256, 32), 1);
  EXPECT_EQ(slices(4096, 4096, 512), 1);
}

/// Times of products without slices are known beside other ways'.
TEST(Ways, SlicesMakeNoGradientAProduct) {
  for (Mma mma : {Mma::tf32x3, Mma::tf32, Mma::bf16}) {
    const Conv s = shape::chooseFilterGrad(secondConv(mma));
    EXPECT_EQ(s.schedule.way, Way::bands);
  }
}

/// Depthwise, of 256 channels.
Conv depthwise(int size, int window, int batch) {
  const int pad = window / 2;
  return shape::chooseConv({.batch = batch,
                            .inChannels = 256,
                            .outChannels = 256,
                            .groups = 256,
                            .in = {size, size, 1},
                            .kernel = {window, window, 1},
                            .out = {size, size, 1},
                            .pads = {pad, pad, 0},
                            .padsAfter = {pad, pad, 0}});
}

TEST(Ways, ProductsOfFewRowsAreDots) {
  for (bool transposed : {false, true})
    for (int rows : {1, shape::mostDotsRows, shape::mostDotsRows + 1}) {
      const Matmul s = shape::choose(
          {.m = rows, .n = 256, .k = 784, .transposedB = transposed});
      EXPECT_EQ(s.schedule.way == Way::dots, rows <= shape::mostDotsRows)
          << rows << transposed;
    }
  Matmul cores{.m = 2, .n = 256, .k = 784};
  cores.schedule.mma = Mma::tf32;
  EXPECT_EQ(shape::choose(cores).schedule.way, Way::product);
}

TEST(Ways, LargeWindowsOfAChannelAreColumns) {
  EXPECT_EQ(depthwise(7, 7, 512).schedule.way, Way::columns);
  EXPECT_EQ(depthwise(7, 3, 512).schedule.way, Way::direct);
  EXPECT_EQ(depthwise(14, 3, 64).schedule.way, Way::direct);
}

} // namespace
