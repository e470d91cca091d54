//===- rows.cpp - steps that reduce rows, on the CPU ----------------------===//

#include "mnistrt/generated.h"
#include "reference.h"
#include <cmath>
#include <gtest/gtest.h>
#include <omp.h>

namespace {

using reference::Numbers;
mn::Context context;

/// Rows `channels` apart in memory, made to have the mean 0 and a variance
/// below 1; their sums follow. Or their elements are in runs.
template <mn::Index channels, mn::Index size> struct Normalize {
  float *y;
  const float *x;
  float *sums;
  struct ElementValues {
    float x;
  };
  struct RowValues {
    float sum, mean, scale;
  };
  using Phases = mn::Phases<mn::RowPhase<mn::Sum, float, 1>,
                            mn::RowPhase<mn::Sum, float, 2>>;
  static constexpr bool storesElements = true;
  static constexpr bool storesInLastPhase = false;
  MN_FN mn::Index placeOf(mn::Index o, mn::Index r) const {
    return r * channels + o;
  }
  MN_FN ElementValues load(mn::Index place) const { return {x[place]}; }
  MN_FN void begin(RowValues &, mn::Index) const {}
  MN_FN mn::Values<float, 1> values(mn::Phase<0>, const RowValues &,
                                    const ElementValues &e, mn::Index, auto,
                                    const mn::Neighbour &) const {
    return {{e.x}};
  }
  MN_FN void take(mn::Phase<0>, const mn::Values<float, 1> &v, RowValues &row,
                  mn::Index) const {
    row.sum = v.v[0];
    row.mean = v.v[0] / float(size);
  }
  MN_FN mn::Values<float, 2> values(mn::Phase<1>, const RowValues &row,
                                    const ElementValues &e, mn::Index, auto,
                                    const mn::Neighbour &) const {
    const float difference = e.x - row.mean;
    return {{difference * difference, 1.0f}};
  }
  MN_FN void take(mn::Phase<1>, const mn::Values<float, 2> &v, RowValues &row,
                  mn::Index) const {
    row.scale = 1.0f / mn::sqrt(v.v[0] / v.v[1] + 1.0f);
  }
  struct StoredValues {
    float y;
  };
  MN_FN StoredValues results(const RowValues &row, const ElementValues &e,
                             mn::Index, auto, const mn::Neighbour &) const {
    return {(e.x - row.mean) * row.scale};
  }
  template <int n>
  MN_FN void store(const StoredValues (&v)[n], mn::Index place) const {
    for (int i = 0; i < n; ++i)
      y[place + i] = v[i].y;
  }
  MN_FN void storeRow(const RowValues &row, mn::Index o) const {
    sums[o] = row.sum;
  }
};

template <mn::Index channels, mn::Index size>
struct NormalizeColumns : Normalize<channels, size> {
  using RowValues = typename Normalize<channels, size>::RowValues;
  template <int n> struct RowArrays {
    float sum[n], mean[n], scale[n];
    RowValues at(mn::Index i) const { return {sum[i], mean[i], scale[i]}; }
    void set(mn::Index i, const RowValues &row) {
      sum[i] = row.sum, mean[i] = row.mean, scale[i] = row.scale;
    }
  };
};

/// Twice each element, known before the row is, and the row's sum.
template <mn::Index channels, mn::Index size>
struct Double : NormalizeColumns<channels, size> {
  using Base = NormalizeColumns<channels, size>;
  using RowValues = typename Base::RowValues;
  using ElementValues = typename Base::ElementValues;
  using StoredValues = typename Base::StoredValues;
  using Phases = mn::Phases<mn::RowPhase<mn::Sum, float, 1>>;
  static constexpr bool storesInLastPhase = true;
  MN_FN StoredValues results(const RowValues &, const ElementValues &e,
                             mn::Index, mn::Index,
                             const mn::Neighbour &) const {
    return {2 * e.x};
  }
};

template <mn::Index channels, mn::Index size, mn::Index length>
struct NormalizeRuns : Normalize<channels, size> {
  static constexpr mn::Index run = length;
  MN_FN mn::Index placeOf(mn::Index o, auto r) const {
    return r / length * (channels * length) + o * length + r % length;
  }
};

template <typename F, mn::Index channels, mn::Index size>
void expectNormalized(const mn::Reduce &s) {
  const Numbers x = reference::random(size_t(channels * size), 7);
  Numbers y(x.size()), sums(channels);
  F f;
  f.y = y.data(), f.x = x.data(), f.sums = sums.data();
  mn::rows(context, "", s, f);
  for (mn::Index o = 0; o < channels; ++o) {
    double sum = 0, squares = 0;
    for (mn::Index r = 0; r < size; ++r)
      sum += x[size_t(f.placeOf(o, r))];
    for (mn::Index r = 0; r < size; ++r)
      squares += std::pow(x[size_t(f.placeOf(o, r))] - sum / size, 2);
    ASSERT_NEAR(sums[size_t(o)], sum, 1e-6 * size + 1e-5) << "row " << o;
    for (mn::Index r = 0; r < size; ++r) {
      const auto at = size_t(f.placeOf(o, r));
      ASSERT_NEAR(y[at], (x[at] - sum / size) / std::sqrt(squares / size + 1),
                  1e-5)
          << "element " << r << " of row " << o;
    }
  }
}

template <mn::Index channels, mn::Index size> void expectColumns() {
  expectNormalized<NormalizeColumns<channels, size>, channels, size>(
      {.outputs = channels, .size = size, .contiguous = false});
}
template <mn::Index channels, mn::Index size, mn::Index run> void expectRuns() {
  expectNormalized<NormalizeRuns<channels, size, run>, channels, size>(
      {.outputs = channels, .size = size, .contiguous = false, .run = run});
}

TEST(RowSteps, OfColumns) {
  expectColumns<1, 1>();
  expectColumns<12, 1000>();
  expectColumns<64, 49>();
  expectColumns<150, 3000>(); // Some at once, in parts.
  expectColumns<16, 20000>();
}

TEST(RowSteps, OfRuns) {
  expectRuns<1, 16, 16>();
  expectRuns<24, 490, 49>();
  expectRuns<3, 78400, 784>();
  expectRuns<5, 4096, 1024>();
}

TEST(RowSteps, ElementsThatNeedNoSumAreStoredWithIt) {
  constexpr mn::Index channels = 20, size = 5000;
  const Numbers x = reference::random(channels * size, 7);
  Numbers y(x.size()), sums(channels);
  Double<channels, size> f;
  f.y = y.data(), f.x = x.data(), f.sums = sums.data();
  mn::rows(context, "",
           {.outputs = channels, .size = size, .contiguous = false}, f);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], 2 * x[i]) << "element " << i;
  double sum = 0;
  for (mn::Index r = 0; r < size; ++r)
    sum += x[size_t(r * channels + 3)];
  EXPECT_NEAR(sums[3], sum, 1e-3);
}

TEST(RowSteps, SameBitsOnAnyNumberOfThreads) {
  constexpr mn::Index channels = 24, size = 20000;
  const Numbers x = reference::random(channels * size, 5);
  std::vector<Numbers> found;
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 3, 7}) {
    omp_set_num_threads(count);
    Numbers y(x.size()), sums(channels);
    NormalizeColumns<channels, size> f;
    f.y = y.data(), f.x = x.data(), f.sums = sums.data();
    mn::rows(context, "",
             {.outputs = channels, .size = size, .contiguous = false}, f);
    found.push_back(y);
    found.push_back(sums);
  }
  omp_set_num_threads(threads);
  for (size_t i = 2; i < found.size(); ++i)
    EXPECT_EQ(found[i], found[i % 2]);
}

} // namespace
