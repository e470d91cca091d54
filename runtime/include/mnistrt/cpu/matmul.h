//===- matmul.h - matrix products on the CPU --------------------*- C++ -*-===//

#ifndef MNISTRT_CPU_MATMUL_H
#define MNISTRT_CPU_MATMUL_H

#include "mnistrt/cpu/gemm.h"

#define MN_MATMUL_KERNEL(NAME, T, F, ...)

namespace mn {

namespace detail {

/// The left operand, m x k, or k x m where transposed.
template <typename T, typename F> struct LeftMatrix {
  const F &f;
  const Matmul &s;
  void pack(Index batch, Index i, int rows, Index k, int depth, T *to) const {
    const Index base = batch * s.m * s.k;
    if (s.transposedA) {
      for (int kk = 0; kk < depth; ++kk)
        for (int row = 0; row < rows; ++row)
          to[row * gemmDepth + kk] = f.loadA(base + (k + kk) * s.m + i + row);
      return;
    }
    for (int row = 0; row < rows; ++row)
      for (int kk = 0; kk < depth; ++kk)
        to[row * gemmDepth + kk] = f.loadA(base + (i + row) * s.k + k + kk);
  }
};

/// The right operand, k x n, or n x k where transposed.
template <typename T, typename F> struct RightMatrix {
  const F &f;
  const Matmul &s;
  void pack(Index batch, Index k, int depth, Index j, int columns,
            T *to) const {
    const Index base = batch * s.k * s.n;
    if (s.transposedB) {
      for (int column = 0; column < columns; ++column)
        for (int kk = 0; kk < depth; ++kk)
          to[kk * gemmColumns + column] =
              f.loadB(base + (j + column) * s.k + k + kk);
      return;
    }
    for (int kk = 0; kk < depth; ++kk)
      for (int column = 0; column < columns; ++column)
        to[kk * gemmColumns + column] =
            f.loadB(base + (k + kk) * s.n + j + column);
  }
};

/// Some results of one row times a matrix, whose every element is used once:
/// nothing is worth packing.
template <typename T, typename F>
void rowTimesMatrix(const F &f, const Matmul &s, Index row, Index j,
                    int columns) {
  const Index a = row * s.k, b = row / s.m * s.k * s.n;
  constexpr int lanes = 16;
  T results[gemmColumns] = {};
  if (s.transposedB) {
    for (int column = 0; column < columns; ++column) {
      T sums[lanes] = {};
      const Index line = b + (j + column) * s.k;
      Index k = 0;
      for (; k + lanes <= s.k; k += lanes)
        for (int lane = 0; lane < lanes; ++lane)
          sums[lane] += f.loadA(a + k + lane) * f.loadB(line + k + lane);
      for (; k < s.k; ++k)
        sums[0] += f.loadA(a + k) * f.loadB(line + k);
      for (int width = lanes / 2; width; width /= 2)
        for (int lane = 0; lane < width; ++lane)
          sums[lane] += sums[lane + width];
      results[column] = sums[0];
    }
  } else {
    for (Index k = 0; k < s.k; ++k) {
      const T factor = f.loadA(a + k);
      for (int column = 0; column < columns; ++column)
        results[column] += factor * f.loadB(b + k * s.n + j + column);
    }
  }
  for (int column = 0; column < columns; ++column)
    f.store(row * s.n + j + column, results[column]);
}

} // namespace detail

template <typename T, typename F>
MN_INLINED void matmul(Context &, const char *, const Matmul &s,
                       const F &functor) {
  if (s.m < 4 && (s.m == 1 || !s.transposedA)) {
    constexpr int columns = 16;
    const int64_t tiles = (s.n + columns - 1) / columns;
    parallelFor(int64_t(s.batch) * s.m * tiles, columns * int64_t(s.k) / 4,
                [&](int64_t task) {
                  const F f = functor;
                  const Index j = static_cast<Index>(task % tiles) * columns;
                  detail::rowTimesMatrix<T>(
                      f, s, static_cast<Index>(task / tiles), j,
                      s.n - j < columns ? int(s.n - j) : columns);
                });
    return;
  }
  const detail::LeftMatrix<T, F> left{functor, s};
  const detail::RightMatrix<T, F> right{functor, s};
  detail::gemm<T, Index>(
      s.batch, s.m, s.n, s.k, left, right,
      [&](Index batch, Index i, Index j, int count, const T *values) {
        const F f = functor;
        const Index first = (batch * s.m + i) * s.n + j;
        MN_INDEPENDENT
        for (int column = 0; column < count; ++column)
          f.store(first + column, values[column]);
      });
}

} // namespace mn

#endif // MNISTRT_CPU_MATMUL_H
