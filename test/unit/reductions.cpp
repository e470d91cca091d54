//===- reductions.cpp - reductions, softmax, maps -------------------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <cmath>
#include <gtest/gtest.h>
#include <omp.h>

namespace {

using reference::Numbers;
mn::Context context;

template <typename T> struct Column {
  T *y;
  const float *x;
  mn::Index outer, inner; // strides of the result and of what is reduced
  MN_FN float load(mn::Index o, mn::Index r) const {
    return x[o * outer + r * inner];
  }
  MN_FN void store(mn::Index o, T v) const { y[o] = v; }
};

struct Shape {
  int64_t outputs, size;
};

class ReduceTest : public testing::TestWithParam<Shape> {};

TEST_P(ReduceTest, BothDirections) {
  const auto [outputs, size] = GetParam();
  const Numbers x = reference::random(size_t(outputs * size), 3);
  for (bool contiguous : {true, false}) {
    const mn::Reduce s{
        .outputs = outputs, .size = size, .contiguous = contiguous};
    const auto outer = static_cast<mn::Index>(contiguous ? size : 1);
    const auto inner = static_cast<mn::Index>(contiguous ? 1 : outputs);
    Numbers sum(outputs), most(outputs), least(outputs);
    std::vector<int64_t> first(outputs), last(outputs);
    mn::reduce<mn::Sum, float>(
        context, "", s, Column<float>{sum.data(), x.data(), outer, inner});
    mn::reduce<mn::Max, float>(
        context, "", s, Column<float>{most.data(), x.data(), outer, inner});
    mn::reduce<mn::Min, float>(
        context, "", s, Column<float>{least.data(), x.data(), outer, inner});
    mn::reduce<mn::ArgMaxFirst, float>(
        context, "", s, Column<int64_t>{first.data(), x.data(), outer, inner});
    mn::reduce<mn::ArgMaxLast, float>(
        context, "", s, Column<int64_t>{last.data(), x.data(), outer, inner});
    for (int64_t o = 0; o < outputs; ++o) {
      double expected = 0;
      float max = -INFINITY, min = INFINITY;
      int64_t front = 0, back = 0;
      for (int64_t r = 0; r < size; ++r) {
        const float value = x[size_t(o * outer + r * inner)];
        expected += value;
        if (value > max)
          front = r;
        if (value >= max)
          back = r;
        max = std::max(max, value), min = std::min(min, value);
      }
      ASSERT_NEAR(sum[o], expected, 1e-6 * double(size) + 1e-5);
      ASSERT_EQ(most[o], max);
      ASSERT_EQ(least[o], min);
      ASSERT_EQ(first[o], front);
      ASSERT_EQ(last[o], back);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReduceTest,
                         testing::Values(Shape{1, 1}, Shape{64, 10},
                                         Shape{3, 0}, Shape{17, 33},
                                         Shape{1, 100000}, Shape{20, 50000},
                                         Shape{5, 8193}));

/// As the background of images gives them: each addition rounds the same way.
TEST(Reduce, ManyEqualNumbers) {
  constexpr float x = 0.1F;
  for (const Shape shape : {Shape{8, 43264}, Shape{200, 12544}})
    for (bool contiguous : {true, false}) {
      Numbers sum(shape.outputs);
      mn::reduce<mn::Sum, float>(context, "",
                                 {.outputs = shape.outputs,
                                  .size = shape.size,
                                  .contiguous = contiguous},
                                 Column<float>{sum.data(), &x, 0, 0});
      for (float found : sum)
        ASSERT_NEAR(found / (double(x) * double(shape.size)), 1, 2e-6);
    }
}

TEST(Reduce, SameBitsOnAnyNumberOfThreads) {
  const Numbers x = reference::random(1000000, 4);
  Numbers sums;
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 3, 7}) {
    omp_set_num_threads(count);
    float sum;
    mn::reduce<mn::Sum, float>(context, "", {.outputs = 1, .size = 1000000},
                               Column<float>{&sum, x.data(), 0, 1});
    sums.push_back(sum);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(sums, Numbers(4, sums[0]));
}

TEST(Reduce, NanWins) {
  const float x[] = {1, NAN, 5, NAN};
  float most, least;
  int64_t first, last;
  const mn::Reduce s{.outputs = 1, .size = 4};
  mn::reduce<mn::Max, float>(context, "", s, Column<float>{&most, x, 0, 1});
  mn::reduce<mn::Min, float>(context, "", s, Column<float>{&least, x, 0, 1});
  mn::reduce<mn::ArgMaxFirst, float>(context, "", s,
                                     Column<int64_t>{&first, x, 0, 1});
  mn::reduce<mn::ArgMaxLast, float>(context, "", s,
                                    Column<int64_t>{&last, x, 0, 1});
  EXPECT_TRUE(std::isnan(most) && std::isnan(least));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(last, 3);
}

template <typename T> struct Row {
  T *y;
  const T *x;
  MN_FN T load(mn::Index i) const { return x[i]; }
  MN_FN void store(mn::Index i, T v) const { y[i] = v; }
};

TEST(Softmax, AlongAnyDimension) {
  for (mn::Softmax s :
       {mn::Softmax{64, 10, 1, false}, mn::Softmax{3, 37, 5, true},
        mn::Softmax{2, 1000, 1, true}, mn::Softmax{2, 1000, 1, false},
        mn::Softmax{4, 9, 8, false}}) {
    const int64_t count = s.outer * s.size * s.inner;
    Numbers x = reference::random(size_t(count), 5), y(x.size());
    for (float &value : x)
      value *= s.inner == 1 && !s.log ? 1 : 100; // would overflow without care
    mn::softmax<float>(context, "", s, Row<float>{y.data(), x.data()});
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t i = 0; i < s.inner; ++i) {
        const auto at = [&](int64_t k) {
          return size_t((o * s.size + k) * s.inner + i);
        };
        double most = -INFINITY, sum = 0;
        for (int64_t k = 0; k < s.size; ++k)
          most = std::max<double>(most, x[at(k)]);
        for (int64_t k = 0; k < s.size; ++k)
          sum += std::exp(x[at(k)] - most);
        for (int64_t k = 0; k < s.size; ++k) {
          const double expected = x[at(k)] - most - std::log(sum);
          if (s.log)
            ASSERT_NEAR(y[at(k)], expected, 1e-4);
          else
            ASSERT_NEAR(y[at(k)], std::exp(expected), 1e-6);
        }
      }
  }
}

struct Twice {
  double *y;
  const double *x;
  MN_FN void operator()(mn::Element i) const { y[i] = 2 * x[i]; }
};

TEST(Map, WritesEveryElementOnce) {
  for (int count : {0, 1, 63, 64, 100000}) {
    std::vector<double> x(static_cast<size_t>(count), 1.5), y(x.size());
    mn::pointwise(context, "", count, Twice{y.data(), x.data()});
    EXPECT_EQ(y, std::vector<double>(x.size(), 3));
  }
}

struct Plus {
  double *y;
  const double *x, *more;
  MN_FN void operator()(mn::Element i) const { y[i] += x[i] + more[0]; }
};

/// What a thread begins with may be anywhere in a segment.
TEST(Map, WritesEveryElementOfEverySegmentOnce) {
  constexpr mn::Elements<5> sizes{{1, 63, 70000, 5, 100001}};
  std::vector<std::vector<double>> x, y;
  for (int64_t size : sizes.of) {
    const Numbers numbers = reference::random(size_t(size), int(size));
    x.emplace_back(numbers.begin(), numbers.end());
    y.emplace_back(size_t(size), 0.5);
  }
  const double more = 4;
  const Twice segments[] = {{y[0].data(), x[0].data()},
                            {y[1].data(), x[1].data()},
                            {y[2].data(), x[2].data()}};
  const Plus segments_2[] = {{y[3].data(), x[3].data(), &more},
                             {y[4].data(), x[4].data(), &more}};
  mn::segments(context, "", sizes, segments, segments_2);
  for (size_t s = 0; s < x.size(); ++s)
    for (size_t i = 0; i < x[s].size(); ++i)
      ASSERT_EQ(y[s][i], s < 3 ? 2 * x[s][i] : 0.5 + (x[s][i] + more)) << s;
}

} // namespace
