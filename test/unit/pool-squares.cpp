//===- pool-squares.cpp - gradients of pools of 2 x 2 ---------------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

using reference::Numbers;
mn::Context context;

struct Square {
  float *dx;
  const float *x, *dy;
  const int64_t *where;
  MN_FN float loadInput(mn::Index i) const { return x[i]; }
  MN_FN float loadOutputGrad(mn::Index i) const { return dy[i]; }
  MN_FN float load(mn::Index i) const { return dy[i]; }
  MN_FN int64_t loadIndex(mn::Index i) const { return where[i]; }
  MN_FN void store(mn::Index i, float v) const { dx[i] = v; }
};

/// Planes of `height` x `width` squares.
mn::Pool squares(int planes, int height, int width) {
  return {.channels = planes,
          .in = {2 * height, 2 * width, 1},
          .kernel = {2, 2, 1},
          .out = {height, width, 1},
          .strides = {2, 2, 1},
          .inWindow = true};
}

TEST(PoolSquares, TheFirstLargestOrNaNGetsAll) {
  const float low = -INFINITY, nan = NAN;
  const float x[] = {1,   nan, low, low, 2, 2, //
                     nan, 5,   low, low, 1, 2};
  const float dy[] = {3, 5, 7};
  float dx[12];
  mn::maxPoolGrad<float>(context, "", squares(1, 1, 3),
                         Square{dx, x, dy, nullptr});
  EXPECT_EQ(Numbers(dx, dx + 12),
            Numbers({0, 3, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(PoolSquares, WhatTheIndexSaysGetsAll) {
  // Two planes of two rows of squares, whose maxima are each element once.
  const int64_t where[] = {0, 1, 2, 3, 3, 2, 1, 0};
  const float values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  float y[32];
  mn::maxUnpool<float>(context, "", squares(2, 2, 2),
                       Square{y, nullptr, values, where});
  EXPECT_EQ(Numbers(y, y + 32), (Numbers{1, 0, 0, 2, 0, 0, 0, 0, //
                                         0, 0, 0, 0, 3, 0, 0, 4, //
                                         0, 0, 0, 0, 0, 5, 6, 0, //
                                         0, 7, 8, 0, 0, 0, 0, 0}));
}

} // namespace
