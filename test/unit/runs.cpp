//===- runs.cpp - maps and reductions that count in runs ------------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <cmath>
#include <gtest/gtest.h>
#include <omp.h>

namespace {

using reference::Numbers;
mn::Context context;

TEST(InRun, QuotientsAndRemaindersAreThoseOfTheNumber) {
  for (mn::Index run = 0; run < 40; ++run)
    for (mn::Index place = 0; place < 12; ++place) {
      const mn::InRun<12> i = {run, place};
      const mn::Index number = run * 12 + place;
      EXPECT_EQ(i + 0, number);
      for (int by : {1, 4, 5, 12, 18, 24, 60, 500}) {
        EXPECT_EQ(i / by, number / by) << number << " / " << by;
        EXPECT_EQ(i % by, number % by) << number << " % " << by;
      }
    }
}

/// Images of `channels` x `size` pixels, and a number for each channel.
template <mn::Index size, mn::Index channels> struct Shift {
  float *y;
  const float *x, *bias;
  static constexpr mn::Index run = size;
  MN_FN void operator()(auto i) const {
    y[i] = x[i] + bias[i / size % channels];
  }
};
/// Of all numbers of a channel.
template <typename T, mn::Index size, mn::Index channels> struct Channel {
  T *y;
  const float *x;
  static constexpr mn::Index run = size;
  MN_FN float load(mn::Index o, auto r) const {
    return x[r / size * (size * channels) + o * size + r % size];
  }
  MN_FN void store(mn::Index o, T v) const { y[o] = v; }
};

template <mn::Index size, mn::Index channels>
void expectShifted(mn::Index images) {
  const mn::Index count = images * channels * size;
  const Numbers x = reference::random(size_t(count), 1);
  const Numbers bias = reference::random(channels, 2);
  Numbers y(count), inSegments(count + 7);
  const Shift<size, channels> f = {y.data(), x.data(), bias.data()};
  mn::pointwise(context, "", count, f);
  // Ranges begin and end within runs.
  const Shift<size, channels> segment[] = {
      {inSegments.data() + 7, x.data(), bias.data()}};
  const Shift<7, 1> before[] = {{inSegments.data(), x.data(), bias.data()}};
  mn::segments(context, "", mn::Elements<2>{{7, count}}, before, segment);
  for (mn::Index i = 0; i < count; ++i) {
    ASSERT_EQ(y[i], x[i] + bias[i / size % channels]) << "element " << i;
    ASSERT_EQ(inSegments[i + 7], y[i]) << "element " << i;
  }
}

TEST(Runs, OfAMap) {
  expectShifted<49, 3>(5);
  expectShifted<49, 12>(300);
  expectShifted<1000, 2>(64);
}

template <mn::Index size, mn::Index channels>
void expectReduced(mn::Index images) {
  const mn::Reduce s = {.outputs = channels,
                        .size = images * size,
                        .contiguous = false,
                        .run = size};
  const Numbers x = reference::random(size_t(images * channels * size), 3);
  Numbers sum(channels), most(channels);
  std::vector<int64_t> first(channels);
  mn::reduce<mn::Sum, float>(
      context, "", s, Channel<float, size, channels>{sum.data(), x.data()});
  mn::reduce<mn::Max, float>(
      context, "", s, Channel<float, size, channels>{most.data(), x.data()});
  mn::reduce<mn::ArgMaxFirst, float>(
      context, "", s, Channel<int64_t, size, channels>{first.data(), x.data()});
  for (mn::Index o = 0; o < channels; ++o) {
    double expected = 0;
    float max = -INFINITY;
    int64_t where = 0;
    for (mn::Index r = 0; r < s.size; ++r) {
      const float v = x[r / size * (size * channels) + o * size + r % size];
      expected += v;
      if (v > max)
        max = v, where = r;
    }
    ASSERT_NEAR(sum[o], expected, 1e-6 * double(s.size) + 1e-5);
    ASSERT_EQ(most[o], max);
    ASSERT_EQ(first[o], where);
  }
}

TEST(Runs, OfReductions) {
  expectReduced<16, 1>(1);
  expectReduced<49, 33>(7);
  expectReduced<49, 3>(4000); // Cut into parts.
  expectReduced<784, 1>(300);
}

/// Of all pixels of a channel, of images whose channels are next to each other.
template <typename T, mn::Index size, mn::Index channels> struct Pixels {
  T *y;
  const float *x;
  static constexpr mn::Index resultRun = channels;
  MN_FN float load(auto o, mn::Index r) const {
    return x[o / channels * (size * channels) + r * channels + o % channels];
  }
  MN_FN void store(mn::Index o, T v) const { y[o] = v; }
};

template <mn::Index size, mn::Index channels>
void expectResultsInRuns(mn::Index images) {
  const mn::Reduce s = {
      .outputs = images * channels, .size = size, .contiguous = false};
  const Numbers x = reference::random(size_t(s.outputs * size), 3);
  Numbers sum(size_t(s.outputs), -1);
  std::vector<int64_t> first(size_t(s.outputs), -1);
  mn::reduce<mn::Sum, float>(
      context, "", s, Pixels<float, size, channels>{sum.data(), x.data()});
  mn::reduce<mn::ArgMaxFirst, float>(
      context, "", s, Pixels<int64_t, size, channels>{first.data(), x.data()});
  for (mn::Index o = 0; o < s.outputs; ++o) {
    const float *of = &x[o / channels * size * channels + o % channels];
    double expected = 0;
    mn::Index where = 0;
    for (mn::Index r = 0; r < size; ++r) {
      expected += of[r * channels];
      where = of[r * channels] > of[where * channels] ? r : where;
    }
    ASSERT_NEAR(sum[o], expected, 1e-6 * double(size) + 1e-5) << o;
    ASSERT_EQ(first[o], where) << o;
  }
}

TEST(Runs, OfResults) {
  expectResultsInRuns<49, 32>(7);
  expectResultsInRuns<49, 40>(5); // Tiles end with a run.
  expectResultsInRuns<10, 17>(3);
  expectResultsInRuns<20000, 24>(2); // Cut into parts.
}

/// As the background of images gives them: each addition rounds the same way.
TEST(Runs, ManyEqualNumbers) {
  const Numbers x(12544 * 16, 0.1F);
  Numbers sum(16);
  mn::reduce<mn::Sum, float>(
      context, "",
      {.outputs = 16, .size = 12544, .contiguous = false, .run = 784},
      Channel<float, 784, 16>{sum.data(), x.data()});
  for (float found : sum)
    ASSERT_NEAR(found / (double(0.1F) * 12544), 1, 2e-6);
}

TEST(Runs, SameBitsOnAnyNumberOfThreads) {
  const Numbers x = reference::random(1000 * 3 * 196, 4);
  std::vector<Numbers> sums;
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 3, 7}) {
    omp_set_num_threads(count);
    sums.emplace_back(3);
    mn::reduce<mn::Sum, float>(
        context, "",
        {.outputs = 3, .size = 196000, .contiguous = false, .run = 196},
        Channel<float, 196, 3>{sums.back().data(), x.data()});
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(sums, std::vector<Numbers>(4, sums[0]));
}

} // namespace
