//===- pools.cpp - pools and their gradients ------------------------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

using reference::expectNear;
using reference::Numbers;
mn::Context context;

struct Window {
  float *y;
  const float *x;
  MN_FN float load(mn::Index i) const { return x[i]; }
  MN_FN void store(mn::Index i, float v) const { y[i] = v; }
};

struct Where {
  int64_t *y;
  const float *x;
  MN_FN float load(mn::Index i) const { return x[i]; }
  MN_FN void store(mn::Index i, int64_t v) const { y[i] = v; }
};

struct MaxGrad {
  float *dx;
  const float *x, *dy;
  MN_FN float loadInput(mn::Index i) const { return x[i]; }
  MN_FN float loadOutputGrad(mn::Index i) const { return dy[i]; }
  MN_FN void store(mn::Index i, float v) const { dx[i] = v; }
};

class PoolTest : public testing::TestWithParam<mn::Pool> {
protected:
  mn::Pool s = GetParam();
  size_t in = size_t(s.batch) * s.channels * reference::product(s.in);
  size_t out = size_t(s.batch) * s.channels * reference::product(s.out);
  const mn::Layout layouts[2] = {mn::Layout::nchw, mn::Layout::nhwc};
};

TEST_P(PoolTest, MaximumAndWhereItIs) {
  for (int form = 0; form < 4; ++form) {
    s.layout = layouts[form % 2], s.columnMajor = form / 2;
    // Few different numbers: many are equal.
    Numbers x = reference::random(in, 1);
    for (float &value : x)
      value = std::round(value * 3);
    Numbers y(out), expected(out, -INFINITY);
    std::vector<int64_t> where(out), expectedWhere(out);
    reference::visitPool(
        s,
        [&](size_t to, size_t from, size_t position) {
          if (x[from] > expected[to])
            expected[to] = x[from],
            expectedWhere[to] = static_cast<int64_t>(position);
        },
        [](size_t, int) {});
    mn::maxPool<float>(context, "", s, Window{y.data(), x.data()});
    mn::argMaxPool<float>(context, "", s, Where{where.data(), x.data()});
    EXPECT_EQ(y, expected);
    // Of equal ones the first of the window, which column-major numbering does
    // not change.
    EXPECT_EQ(where, expectedWhere);
  }
}

TEST_P(PoolTest, MeanCountsWhatItShould) {
  for (int form = 0; form < 4; ++form) {
    s.layout = layouts[form % 2], s.countPads = form / 2;
    const Numbers x = reference::random(in, 1);
    Numbers y(out), expected(out);
    reference::visitPool(
        s, [&](size_t to, size_t from, size_t) { expected[to] += x[from]; },
        [&](size_t to, int counted) {
          expected[to] /= static_cast<float>(counted);
        });
    mn::avgPool<float>(context, "", s, Window{y.data(), x.data()});
    expectNear(y, expected, 1e-6);
  }
}

TEST_P(PoolTest, GradientOfTheMaximumGoesToTheFirstLargest) {
  for (mn::Layout layout : layouts) {
    s.layout = layout;
    Numbers x = reference::random(in, 1), dy = reference::random(out, 2);
    for (float &value : x)
      value = std::round(value * 3);
    Numbers dx(in, -1), expected(in);
    size_t best = 0;
    bool any = false;
    reference::visitPool(
        s,
        [&](size_t, size_t from, size_t) {
          if (!any || x[from] > x[best])
            best = from, any = true;
        },
        [&](size_t to, int) {
          expected[best] += any ? dy[to] : 0;
          any = false;
        });
    mn::maxPoolGrad<float>(context, "", s,
                           MaxGrad{dx.data(), x.data(), dy.data()});
    expectNear(dx, expected, 1e-5);
  }
}

TEST_P(PoolTest, GradientOfTheMeanIsShared) {
  for (int form = 0; form < 4; ++form) {
    s.layout = layouts[form % 2], s.countPads = form / 2;
    const Numbers dy = reference::random(out, 2);
    Numbers dx(in, -1), expected(in);
    std::vector<size_t> window;
    reference::visitPool(
        s, [&](size_t, size_t from, size_t) { window.push_back(from); },
        [&](size_t to, int counted) {
          for (size_t from : window)
            expected[from] += dy[to] / static_cast<float>(counted);
          window.clear();
        });
    mn::avgPoolGrad<float>(context, "", s, Window{dx.data(), dy.data()});
    expectNear(dx, expected, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PoolTest,
    testing::Values(mn::Pool{.batch = 2,
                             .channels = 3,
                             .in = {8, 8, 1},
                             .kernel = {2, 2, 1},
                             .out = {4, 4, 1},
                             .strides = {2, 2, 1}},
                    // ONNX's ceil_mode: the last windows hang over.
                    mn::Pool{.batch = 2,
                             .channels = 2,
                             .in = {7, 8, 1},
                             .kernel = {3, 3, 1},
                             .out = {4, 4, 1},
                             .strides = {2, 2, 1},
                             .pads = {1, 0, 0}},
                    mn::Pool{.batch = 2,
                             .channels = 35,
                             .in = {6, 70, 1},
                             .kernel = {3, 3, 1},
                             .out = {6, 70, 1},
                             .pads = {1, 1, 0},
                             .padsAfter = {1, 1, 0}},
                    mn::Pool{.channels = 2,
                             .in = {9, 9, 1},
                             .kernel = {2, 3, 1},
                             .out = {7, 5, 1},
                             .pads = {0, 0, 0},
                             .dilations = {2, 2, 1}},
                    mn::Pool{.spatial = 1,
                             .batch = 3,
                             .in = {11, 1, 1},
                             .kernel = {3, 1, 1},
                             .out = {5, 1, 1},
                             .strides = {2, 1, 1}},
                    mn::Pool{.spatial = 3,
                             .channels = 2,
                             .in = {4, 5, 6},
                             .kernel = {2, 2, 3},
                             .out = {4, 2, 2},
                             .strides = {1, 2, 3},
                             .pads = {1, 0, 0}},
                    // Gradients in several tiles: rows, channels, a line.
                    mn::Pool{.channels = 2,
                             .in = {75, 90, 1},
                             .kernel = {3, 2, 1},
                             .out = {37, 45, 1},
                             .strides = {2, 2, 1},
                             .pads = {1, 0, 0}},
                    mn::Pool{.channels = 64,
                             .in = {20, 20, 1},
                             .kernel = {3, 3, 1},
                             .out = {16, 16, 1},
                             .dilations = {2, 2, 1}},
                    mn::Pool{.spatial = 1,
                             .channels = 2,
                             .in = {5000, 1, 1},
                             .kernel = {4, 1, 1},
                             .out = {1666, 1, 1},
                             .strides = {3, 1, 1}},
                    // Few adjacent channels, lines in several groups.
                    mn::Pool{.batch = 2,
                             .channels = 3,
                             .in = {45, 12, 1},
                             .kernel = {2, 2, 1},
                             .out = {22, 6, 1},
                             .strides = {2, 2, 1}},
                    mn::Pool{.channels = 2,
                             .in = {40, 13, 1},
                             .kernel = {3, 3, 1},
                             .out = {20, 7, 1},
                             .strides = {2, 2, 1},
                             .pads = {1, 1, 0},
                             .padsAfter = {1, 1, 0}},
                    mn::Pool{.channels = 5,
                             .in = {9, 11, 1},
                             .kernel = {3, 3, 1},
                             .out = {3, 3, 1},
                             .strides = {3, 4, 1}},
                    // More channels and longer windows than are done at once.
                    mn::Pool{.channels = 130,
                             .in = {5, 5, 1},
                             .kernel = {2, 3, 1},
                             .out = {4, 3, 1}},
                    mn::Pool{.spatial = 1,
                             .channels = 2,
                             .in = {4000, 1, 1},
                             .kernel = {1500, 1, 1},
                             .out = {4, 1, 1},
                             .strides = {900, 1, 1},
                             .pads = {200, 0, 0}},
                    mn::Pool{.channels = 70,
                             .in = {3, 100, 1},
                             .kernel = {2, 5, 1},
                             .out = {2, 40, 1},
                             .strides = {1, 1, 1},
                             .dilations = {1, 15, 1}}));

TEST(Pool, GradientOfNothingButInfinities) {
  const float low = -INFINITY;
  const float x[] = {low, low, low, low}, dy[] = {3, 5};
  float dx[4];
  const mn::Pool s{.spatial = 1,
                   .in = {4, 1, 1},
                   .kernel = {2, 1, 1},
                   .out = {2, 1, 1},
                   .strides = {2, 1, 1}};
  mn::maxPoolGrad<float>(context, "", s, MaxGrad{dx, x, dy});
  EXPECT_EQ(Numbers(dx, dx + 4), Numbers({3, 0, 5, 0}));
}

TEST(Pool, MaximumOfNothingButPaddingIsTheLowest) {
  // Three windows of two: before the input, on it, after it.
  const float x[] = {1, 2, 3, 4};
  mn::Pool s{.channels = 2,
             .in = {1, 2, 1},
             .kernel = {1, 2, 1},
             .out = {3, 3, 1},
             .strides = {1, 2, 1},
             .pads = {1, 2, 0}};
  for (mn::Layout layout : {mn::Layout::nchw, mn::Layout::nhwc}) {
    s.layout = layout;
    Numbers y(18), expected(18, -INFINITY);
    const bool plane = layout == mn::Layout::nchw;
    expected[plane ? 4 : 8] = plane ? 2 : 3;
    expected[plane ? 13 : 9] = 4;
    mn::maxPool<float>(context, "", s, Window{y.data(), x});
    EXPECT_EQ(y, expected);
  }
}

TEST(Pool, SameBitsInBothLayouts) {
  mn::Pool s{.batch = 2,
             .channels = 6,
             .in = {30, 30, 1},
             .kernel = {3, 3, 1},
             .out = {14, 14, 1},
             .strides = {2, 2, 1}};
  const size_t pixels = 30 * 30, windows = 14 * 14;
  const Numbers x = reference::random(2 * 6 * pixels, 1);
  Numbers other(x.size()), y(2 * 6 * windows), z(y.size()), back(y.size());
  for (size_t i = 0; i < x.size(); ++i)
    other[(i / 6 / pixels * pixels + i % pixels) * 6 + i / pixels % 6] = x[i];
  mn::avgPool<float>(context, "", s, Window{y.data(), x.data()});
  s.layout = mn::Layout::nhwc;
  mn::avgPool<float>(context, "", s, Window{z.data(), other.data()});
  for (size_t i = 0; i < y.size(); ++i)
    back[i] =
        z[(i / 6 / windows * windows + i % windows) * 6 + i / windows % 6];
  EXPECT_EQ(y, back);
}

TEST(Pool, NanIsTheLargest) {
  const float x[] = {1, NAN, 3, 4};
  float y[1];
  int64_t where[1];
  const mn::Pool s{.spatial = 1, .in = {4, 1, 1}, .kernel = {4, 1, 1}};
  mn::maxPool<float>(context, "", s, Window{y, x});
  mn::argMaxPool<float>(context, "", s, Where{where, x});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(where[0], 1);
}

} // namespace
