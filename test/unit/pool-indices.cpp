//===- pool-indices.cpp - where in its window a maximum is ----------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <gtest/gtest.h>

namespace {

using reference::Numbers;
mn::Context context;

struct Where {
  int64_t *y;
  const float *x;
  MN_FN float load(mn::Index i) const { return x[i]; }
  MN_FN void store(mn::Index i, int64_t v) const { y[i] = v; }
};

struct Unpool {
  float *y;
  const float *x;
  const int64_t *where;
  MN_FN float load(mn::Index i) const { return x[i]; }
  MN_FN int64_t loadIndex(mn::Index i) const { return where[i]; }
  MN_FN void store(mn::Index i, float v) const { y[i] = v; }
};

TEST(PoolIndices, IndicesIntoWindows) {
  // Two windows of 2 x 3, of which the last one hangs over.
  const float x[] = {1, 2, 3, 7, 9, //
                     4, 8, 8, 9, 1};
  int64_t where[2];
  const mn::Pool s{.in = {2, 5, 1},
                   .kernel = {2, 3, 1},
                   .out = {1, 2, 1},
                   .strides = {2, 3, 1},
                   .inWindow = true};
  mn::argMaxPool<float>(context, "", s, Where{where, x});
  EXPECT_EQ(where[0], 4);
  EXPECT_EQ(where[1], 1);
  const float values[] = {5, 6};
  float y[10];
  mn::maxUnpool<float>(context, "", s, Unpool{y, values, where});
  EXPECT_EQ(Numbers(y, y + 10), (Numbers{0, 0, 0, 0, 6, 0, 5, 0, 0, 0}));
}

TEST(PoolIndices, UnpoolsChannels) {
  // Three channels of windows of 2; the last one hangs over.
  const float values[] = {1, 2, 3, 4, 5, 6};
  const int64_t where[] = {0, 1, 0, 0, 1, 0};
  float y[9];
  const mn::Pool s{.layout = mn::Layout::nhwc,
                   .spatial = 1,
                   .channels = 3,
                   .in = {3, 1, 1},
                   .kernel = {2, 1, 1},
                   .out = {2, 1, 1},
                   .strides = {2, 1, 1},
                   .inWindow = true};
  mn::maxUnpool<float>(context, "", s, Unpool{y, values, where});
  EXPECT_EQ(Numbers(y, y + 9), (Numbers{1, 0, 3, 0, 2, 0, 4, 0, 6}));
}

} // namespace
