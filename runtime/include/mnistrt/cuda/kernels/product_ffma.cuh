//===- product_ffma.cuh - a product on the FMA units ------------*- C++ -*-===//
//
// The lanes of a warp are along n, each with `columns` results 32 apart in each
// of `rows` rows: its loads of a are broadcasts, those of b without bank
// conflicts, and stores are coalesced. Any type of numbers.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_FFMA_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_FFMA_CUH

#include "mnistrt/cuda/kernels/product_operand.cuh"
#include "mnistrt/cuda/kernels/product_tiles.cuh"
#include "mnistrt/cuda/kernels/results.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// The sums of one tile, in registers.
template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t>
struct FfmaLoop {
  static constexpr int rows = t.rows, columns = t.columns, depth = t.depth;
  static constexpr int threads = t.threads();
  static constexpr int height = t.height(), width = t.width();
  static constexpr int aEach = (height * depth + threads - 1) / threads;
  static constexpr int bEach = (width * depth + threads - 1) / threads;
  static constexpr int m = int(P.m), n = int(P.n);
  static constexpr bool inShared = false; ///< where the sums are
  static constexpr int stride = width;    ///< of a tile in shared memory

  /// Rows start on 16 bytes, and one row's end is not the next one's bank.
  struct Operands {
    T a[depth][height + (height % 4 ? 1 : 4)];
    T b[depth][width + 1];
  };
  /// Which element of `size` rows and `depth` of k a thread brings, its `j`th:
  /// neighbours along k come in runs of 16, so that all of a thread's are at
  /// constant distances.
  template <int size, bool alongK> struct TileElement {
    static constexpr int run = depth % 16 == 0 ? 16 : depth;
    int row, k;
    bool inTile;
    MN_DEVICE explicit TileElement(int j) {
      const int e = int(threadIdx.x) + j * threads;
      row = alongK ? e / run % size : e % size;
      k = alongK ? e / (run * size) * run + e % run : e / size;
      inTile = size * depth % threads == 0 || e < size * depth;
    }
  };

  /// What is outside the operand is 0.
  template <int size, int extent>
  static MN_DEVICE bool isInside(int row, int k, int kEnd) {
    constexpr bool rowFits = extent % size == 0;
    constexpr bool kFits = P.k % (t.splits * depth) == 0;
    return (rowFits || row < extent) && (kFits || k < kEnd);
  }

  /// Loads without branches and without a look at what comes, so that many are
  /// on their way at once: for what is outside, something inside.
  template <int size, int extent, bool alongK, int each, typename Load>
  static MN_DEVICE void loadGlobal(T (&to)[each], const Load &load, int batch,
                                   int first, int k0, int kEnd) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const TileElement<size, alongK> at(j);
      const int row = first + at.row, k = k0 + at.k;
      const bool inside = at.inTile && isInside<size, extent>(row, k, kEnd);
      to[j] = load(batch, inside ? row : first, inside ? k : k0);
    }
  }

  template <int size, int extent, bool alongK, int each, int stride>
  static MN_DEVICE void storeShared(T (&to)[depth][stride],
                                    const T (&from)[each], int first, int k0,
                                    int kEnd) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const TileElement<size, alongK> at(j);
      if (at.inTile)
        to[at.k][at.row] =
            isInside<size, extent>(first + at.row, k0 + at.k, kEnd) ? from[j]
                                                                    : T(0);
    }
  }

  T sum[rows][columns];

  MN_DEVICE void multiply(const Operands &tiles) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      T x[rows], y[columns];
#pragma unroll
      for (int i = 0; i < rows; ++i)
        x[i] = tiles.a[k][warp * rows + i];
#pragma unroll
      for (int j = 0; j < columns; ++j)
        y[j] = tiles.b[k][lane + 32 * j];
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j)
          sum[i][j] += x[i] * y[j];
    }
  }

  static MN_DEVICE int rowOf(int i) { return int(threadIdx.x) / 32 * rows + i; }
  static MN_DEVICE int columnOf(int j) {
    return int(threadIdx.x) % 32 + 32 * j;
  }

  /// visit(number in the tile, sum) for the sums of this thread.
  template <typename Visit> MN_DEVICE void visit(const Visit &visitor) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        visitor(rowOf(i) * width + columnOf(j), sum[i][j]);
  }

  /// Stores the results of this thread.
  template <typename Results>
  MN_DEVICE void store(const Results &results, int batch, int m0, int n0, int m,
                       int n) {
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      storeEach<columns>(
          results.f, 0, 1, columns,
          [&](int j) {
            return m0 + rowOf(i) < m && n0 + columnOf(j) < n &&
                   results.has(batch, m0 + rowOf(i), n0 + columnOf(j));
          },
          [&](int j) {
            return results.place(batch, m0 + rowOf(i), n0 + columnOf(j));
          },
          [&](int j, bool) { return sum[i][j]; });
    }
  }

  /// Adds up from kBegin to kEnd; loaded() as in product_mma.cuh.
  template <typename A, typename B, typename Loaded>
  MN_DEVICE void run(const A &a, const B &b, int batch, int m0, int n0,
                     int kBegin, int kEnd, Operands &tiles, T *,
                     const Loaded &loaded) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        sum[i][j] = T(0);

    // The next tiles are on their way while these are multiplied; the last turn
    // only multiplies.
    T aNext[aEach], bNext[bEach];
    for (int k0 = kBegin; k0 < kEnd + depth; k0 += depth) {
      if (k0 < kEnd) {
        loadGlobal<height, m, aAlongK>(aNext, a, batch, m0, k0, kEnd);
        loadGlobal<width, n, bAlongK>(bNext, b, batch, n0, k0, kEnd);
      }
      if (k0 + depth >= kEnd)
        loaded();
      if (k0 > kBegin)
        multiply(tiles);
      __syncthreads();
      storeShared<height, m, aAlongK>(tiles.a, aNext, m0, k0, kEnd);
      storeShared<width, n, bAlongK>(tiles.b, bNext, n0, k0, kEnd);
      __syncthreads();
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_PRODUCT_FFMA_CUH
