//===- row_moments.cuh - means and squares of differences -------*- C++ -*-===//
//
// Two phases of a row at once, a mean and the squares of differences from it:
// who has a part of a row takes differences from the mean of these elements
// alone, and all squares are of the row's mean in the end, by as much as the
// means differ (Chan, Golub, LeVeque: Algorithms for computing the sample
// variance, 1983). So parts are put together once.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROW_MOMENTS_CUH
#define MNISTRT_CUDA_KERNELS_ROW_MOMENTS_CUH

#include "mnistrt/cuda/kernels/rows_shape.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What a part of a row gives to phase `p`, and if that is a `mean` to the
/// next.
template <typename F, int p, bool mean> struct PartOfRow {
  static constexpr int phases = 1;
  typename F::Phases::template At<p>::State sum;
};

template <typename F, int p> struct PartOfRow<F, p, true> {
  static constexpr int phases = 2;
  using Mean = typename F::Phases::template At<p>;
  using Squares = typename F::Phases::template At<p + 1>;
  static_assert(Mean::count >= Squares::count);
  using Sum = typename Mean::State;
  typename Mean::State sum;
  typename Squares::State squares;

  static MN_DEVICE auto mean(const Sum &s, int i, int64_t count) {
    return s.v[i].value / decltype(s.v[i].value)(count);
  }
  /// Of the phase, if all `size` elements were like these `count`.
  MN_DEVICE auto resultsOf(int64_t count, int64_t size) const {
    Sum all;
#pragma unroll
    for (int i = 0; i < Mean::count; ++i) {
      using T = decltype(all.v[i].value);
      all.v[i].value = mean(sum, i, count > 0 ? count : 1) * T(size);
    }
    return Mean::results(all);
  }
  /// Adds the squares of its `count` elements to those of a row of `size`,
  /// whose sum is `all`.
  MN_DEVICE void addSquares(typename Squares::State &to, int64_t count,
                            const Sum &all, int64_t size) const {
    if (count == 0)
      return;
#pragma unroll
    for (int i = 0; i < Squares::count; ++i) {
      using T = decltype(all.v[i].value);
      const T apart = mean(sum, i, count) - mean(all, i, size);
      to.v[i].value += squares.v[i].value + T(count) * apart * apart;
    }
  }
};

/// What `blocks` of a cluster that share rows send each other: Part<p> of each
/// after phase p.
template <template <int> typename Part, int phases, int blocks, int rows>
struct SentParts {
  template <int p> using After = SentStates<Part<p>, blocks, rows>;
  template <int p> static MN_DEVICE After<p> &after() {
    __shared__ After<p> sent;
    return sent;
  }
  /// By one thread, before clusterStart().
  template <int p = 0> static MN_DEVICE void expect() {
    if constexpr (p < phases) {
      after<p>().expect();
      expect<p + Part<p>::phases>();
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_ROW_MOMENTS_CUH
