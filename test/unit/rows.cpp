//===- rows.cpp - steps that reduce rows, on the CPU ----------------------===//

#include "../gpu/row-functors.h"
#include "reference.h"
#include <cmath>
#include <gtest/gtest.h>
#include <omp.h>

namespace {

using reference::Numbers;
mn::Context context;

template <mn::Index channels, mn::Index size>
constexpr mn::Reduce columns = {
    .outputs = channels, .size = size, .contiguous = false};

/// Rows of which neighbours are adjacent; their means follow the elements.
template <mn::Index channels, mn::Index size>
struct NormalizeColumns : Normalize<columns<channels, size>> {
  using RowValues = typename Normalize<columns<channels, size>>::RowValues;
  template <int n> struct RowArrays {
    float mean[n], scale[n];
    RowValues at(mn::Index i) const { return {mean[i], scale[i]}; }
    void set(mn::Index i, const RowValues &row) {
      mean[i] = row.mean, scale[i] = row.scale;
    }
  };
};

/// Twice each element, known before the row is, and the row's mean.
template <mn::Index channels, mn::Index size>
struct Double : NormalizeColumns<channels, size> {
  using Base = NormalizeColumns<channels, size>;
  using RowValues = typename Base::RowValues;
  using ElementValues = typename Base::ElementValues;
  using StoredValues = typename Base::StoredValues;
  using Phases = mn::Phases<mn::RowPhase<mn::Sum, float, 1>>;
  static constexpr bool storesInLastPhase = true;
  MN_FN mn::Values<float, 1> values(mn::Phase<0> phase, const RowValues &row,
                                    const ElementValues &e, mn::Index o,
                                    mn::Index r, const mn::Neighbour &place,
                                    StoredValues &stored) const {
    stored = {2 * e.a};
    return Base::values(phase, row, e, o, r, place);
  }
};

/// Rows whose elements are in runs.
template <mn::Index channels, mn::Index size, mn::Index length>
struct NormalizeRuns : Normalize<columns<channels, size>> {
  static constexpr mn::Index run = length;
  MN_FN mn::Index placeOf(mn::Index o, auto r) const {
    return r / length * (channels * length) + o * length + r % length;
  }
};

template <typename F, mn::Index channels, mn::Index size>
void expectNormalized(const mn::Reduce &s) {
  const Numbers x = reference::random(size_t(channels * size), 7);
  Numbers y(x.size() + channels);
  F f;
  f.y = y.data(), f.a = x.data();
  mn::rows(context, "", s, f);
  const float *means = &y[x.size()];
  for (mn::Index o = 0; o < channels; ++o) {
    const auto risen = [&](mn::Index r) {
      return x[size_t(f.placeOf(o, r))] + 4 * double(r) / size;
    };
    double mean = 0, squares = 0;
    for (mn::Index r = 0; r < size; ++r)
      mean += risen(r) / size;
    for (mn::Index r = 0; r < size; ++r)
      squares += std::pow(risen(r) - mean, 2);
    ASSERT_NEAR(means[o], mean, 1e-5) << "row " << o;
    for (mn::Index r = 0; r < size; ++r)
      ASSERT_NEAR(y[size_t(f.placeOf(o, r))],
                  (risen(r) - mean) / std::sqrt(squares / size + 1), 1e-5)
          << "element " << r << " of row " << o;
  }
}

template <mn::Index channels, mn::Index size> void expectColumns() {
  expectNormalized<NormalizeColumns<channels, size>, channels, size>(
      columns<channels, size>);
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
  Numbers y(x.size() + channels);
  Double<channels, size> f;
  f.y = y.data(), f.a = x.data();
  mn::rows(context, "", columns<channels, size>, f);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], 2 * x[i]) << "element " << i;
  double mean = 0;
  for (mn::Index r = 0; r < size; ++r)
    mean += (x[size_t(r * channels + 3)] + 4 * double(r) / size) / size;
  EXPECT_NEAR(y[x.size() + 3], mean, 1e-5);
}

TEST(RowSteps, SameBitsOnAnyNumberOfThreads) {
  constexpr mn::Index channels = 24, size = 20000;
  const Numbers x = reference::random(channels * size, 5);
  std::vector<Numbers> found;
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 3, 7}) {
    omp_set_num_threads(count);
    Numbers y(x.size() + channels);
    NormalizeColumns<channels, size> f;
    f.y = y.data(), f.a = x.data();
    mn::rows(context, "", columns<channels, size>, f);
    found.push_back(y);
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(found, std::vector<Numbers>(4, found[0]));
}

} // namespace
