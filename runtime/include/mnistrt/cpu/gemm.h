//===- gemm.h - the loop nest of all contractions on the CPU ----*- C++ -*-===//
//
// out[b](i, j) = sum over k of a[b](i, k) b[b](k, j), for operands that are
// anything that can return a block: a matrix, a filter, an image seen
// through windows. Tile by tile, packed, in SIMD registers. What a step falls
// back to where no library is taken.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_GEMM_H
#define MNISTRT_CPU_GEMM_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/simd.h"

namespace mn::detail {

/// The sizes of tiles: a packed block of `a`, one of `b` and the results fit in
/// the second-level cache, and on a thread's stack.
constexpr int gemmRows = 64, gemmColumns = 64, gemmDepth = 128;

/// c (4 x 2 vectors) += a (4 x depth) b (depth x 2 vectors), all packed.
template <typename T>
inline void gemmKernel(const T *a, const T *b, int depth, T *c) {
  using Vector = typename Simd<T>::Vector;
  constexpr int lanes = Simd<T>::lanes;
  Vector sums[4][2] = {};
  for (int k = 0; k < depth; ++k) {
    const Vector b0 = *reinterpret_cast<const Vector *>(b + k * gemmColumns);
    const Vector b1 =
        *reinterpret_cast<const Vector *>(b + k * gemmColumns + lanes);
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row) {
      const T factor = a[row * gemmDepth + k];
      sums[row][0] += factor * b0;
      sums[row][1] += factor * b1;
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row) {
    auto *to = reinterpret_cast<Vector *>(c + row * gemmColumns);
    to[0] += sums[row][0];
    to[1] += sums[row][1];
  }
}

/// One tile of results. `a.pack(batch, i, rows, k, depth, to)` writes rows of
/// gemmDepth, `b.pack(batch, k, depth, j, columns, to)` rows of gemmColumns.
template <typename T, typename Index, typename A, typename B, typename Store>
void gemmTile(Index batch, Index i, int rows, Index j, int columns, Index k,
              const A &a, const B &b, const Store &store) {
  constexpr int width = 2 * Simd<T>::lanes;
  alignas(64) T packedA[gemmRows * gemmDepth];
  alignas(64) T packedB[gemmDepth * gemmColumns];
  alignas(64) T results[gemmRows * gemmColumns] = {};
  const int wholeRows = (rows + 3) / 4 * 4;
  const int wholeColumns = (columns + width - 1) / width * width;

  for (Index begin = 0; begin < k; begin += gemmDepth) {
    const int depth =
        k - begin < gemmDepth ? static_cast<int>(k - begin) : gemmDepth;
    a.pack(batch, i, rows, begin, depth, packedA);
    for (int row = rows; row < wholeRows; ++row)
      for (int kk = 0; kk < depth; ++kk)
        packedA[row * gemmDepth + kk] = 0;
    b.pack(batch, begin, depth, j, columns, packedB);
    for (int kk = 0; kk < depth && columns < wholeColumns; ++kk)
      for (int column = columns; column < wholeColumns; ++column)
        packedB[kk * gemmColumns + column] = 0;
    for (int column = 0; column < wholeColumns; column += width)
      for (int row = 0; row < wholeRows; row += 4)
        gemmKernel<T>(packedA + row * gemmDepth, packedB + column, depth,
                      results + row * gemmColumns + column);
  }
  for (int row = 0; row < rows; ++row)
    store(batch, i + row, j, columns, results + row * gemmColumns);
}

/// The whole product. `store(batch, i, j, count, values)` takes `count` results
/// of row i.
template <typename T, typename Index, typename A, typename B, typename Store>
void gemm(Index batch, Index m, Index n, Index k, const A &a, const B &b,
          const Store &store) {
  // Smaller tiles where there would be few: they are cut by the shape only.
  Index tileRows = gemmRows, tileColumns = gemmColumns;
  const auto tiles = [&] {
    return int64_t(batch) * ((m + tileRows - 1) / tileRows) *
           ((n + tileColumns - 1) / tileColumns);
  };
  while (tiles() < 16 && int64_t(k) * tileRows * tileColumns > parallelGrain &&
         tileRows > 16)
    tileRows /= 2;
  const Index down = (m + tileRows - 1) / tileRows;
  const Index across = (n + tileColumns - 1) / tileColumns;
  parallelFor(
      tiles(), int64_t(tileRows) * tileColumns * k / 8, [&](int64_t task) {
        const Index j = static_cast<Index>(task % across) * tileColumns;
        const Index i = static_cast<Index>(task / across % down) * tileRows;
        const Index rows = m - i < tileRows ? m - i : tileRows;
        const Index columns = n - j < tileColumns ? n - j : tileColumns;
        gemmTile<T, Index>(static_cast<Index>(task / across / down), i,
                           static_cast<int>(rows), j, static_cast<int>(columns),
                           k, a, b, store);
      });
}

} // namespace mn::detail

#endif // MNISTRT_CPU_GEMM_H
