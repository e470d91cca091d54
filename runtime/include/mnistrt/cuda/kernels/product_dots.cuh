//===- product_dots.cuh - a product of few rows -----------------*- C++ -*-===//
//
// All threads of a block have parts of the same sums, of all rows and of a few
// columns. Where b's neighbours are along k, so are threads, and each loads
// four places along k of every column; else a thread loads four columns of a
// place along k. Nothing is read twice by a block but a's rows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_DOTS_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_DOTS_CUH

#include "mnistrt/cuda/kernels/product_operand.cuh"
#include "mnistrt/cuda/kernels/product_tiles.cuh"

namespace mn {

namespace shape {

/// Rows of a product that threads add up together, and warps of a block.
inline constexpr int mostDotsRows = 4, mostDotsWarps = 16;
MN_SHAPE_FN bool mayBeDots(const Matmul &s) {
  return s.schedule.mma == Mma::ffma && s.m <= mostDotsRows;
}

/// Columns of a block, powers of two: a sector of memory at least where these
/// are adjacent.
MN_SHAPE_FN int fewestDotsColumns(const Matmul &s) {
  return s.transposedB ? 1 : 8;
}
MN_SHAPE_FN int mostDotsColumns(const Matmul &s) {
  return s.transposedB ? 4 : 32;
}

/// Loads of a thread before it multiplies what the first of them brings.
inline constexpr int dotsInFlight = 16;

/// How threads share the sums of a block.
struct Dots {
  int columns; ///< of a thread
  int lanes;   ///< next to each other along n
  int places;  ///< along k that a thread loads of each column at once
  MN_SHAPE_FN int along(int threads) const { return threads / lanes * places; }
  /// Of `rows` rows and so many places of a block: how often each of `threads`
  /// loads before it multiplies.
  MN_SHAPE_FN int turns(int rows, int64_t share, int threads) const {
    const int loads = (columns * places + 3) / 4 + rows;
    const int64_t all =
        max<int64_t>(1, ceilDiv<int64_t>(share, along(threads)));
    const int64_t rounds =
        ceilDiv<int64_t>(all, max(1, min(8, dotsInFlight / loads)));
    return int(ceilDiv<int64_t>(all, rounds));
  }
};

/// Of tiles whose columns b has next to each other along k, or not.
MN_SHAPE_FN Dots dotsOf(const Tiles &t, bool bAlongK) {
  return bAlongK ? Dots{t.columns, 1, 4} : Dots{4, t.columns / 4, 1};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// Whether b may be loaded before the kernel before has ended.
template <typename F>
concept LoadsEarly = requires { requires F::loadsEarly; };

/// The sums of one tile, in shared memory in the end.
template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t>
struct DotsLoop {
  static constexpr int rows = t.rows, width = t.width(), warps = t.warps;
  static constexpr int threads = t.threads();
  static constexpr bool inShared = true; ///< where the sums are
  static constexpr int stride = width;   ///< of a tile in shared memory
  static constexpr shape::Dots dots = shape::dotsOf(t, bAlongK);
  static constexpr int columns = dots.columns, places = dots.places;
  static constexpr int lanes = dots.lanes, along = dots.along(threads);
  static constexpr int64_t share = shape::shareOfK(P, t);
  static constexpr int turns = dots.turns(rows, share, threads);
  static constexpr bool kFits =
      share * t.splits == P.k && share % (turns * along) == 0;

  /// Of each warp.
  struct Operands {
    T sum[warps][rows * width];
  };

  T bNext[turns][columns][places];
  T sum[rows][columns];

  /// `count` neighbours of an operand, along k or from row to row; `inMemory`:
  /// there they are neighbours, too.
  template <int count, bool alongK, bool inMemory, typename O>
  static MN_DEVICE void loadRun(const O &operand, int batch, int row, int most,
                                int k, T *to) {
    if constexpr (count == 4 && inMemory && isSame<T, float> && O::fours) {
      const float4 v =
          operand.loadFour(operand.row(batch, row), operand.along(k));
      to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i)
        to[i] = alongK ? operand(batch, row, shape::min(k + i, int(P.k) - 1))
                       : operand(batch, shape::min(row + i, most - 1), k);
    }
  }

  static MN_DEVICE int firstOf(int kBegin) {
    return kBegin + int(threadIdx.x) / lanes * places;
  }

  /// load(turn, place along k) of the turns of a round; beyond the end, of some
  /// other place.
  template <typename Load>
  static MN_DEVICE void eachTurn(int k0, int kEnd, const Load &load) {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int k = k0 + turn * along;
      load(turn, kFits || k < kEnd ? k : k0);
    }
  }

  template <typename B>
  MN_DEVICE void loadRound(const B &b, int batch, int n0, int k0, int kEnd) {
    constexpr int n = int(P.n);
    eachTurn(k0, kEnd, [&](int turn, int k) {
      if constexpr (bAlongK) {
#pragma unroll
        for (int j = 0; j < columns; ++j)
          loadRun<places, true, true>(b, batch, shape::min(n0 + j, n - 1), n, k,
                                      bNext[turn][j]);
      } else {
        const int first = n0 + int(threadIdx.x) % lanes * columns;
        loadRun<columns, false, true>(b, batch, first < n ? first : 0, n, k,
                                      &bNext[turn][0][0]);
      }
    });
  }

  /// With what is loaded of b; what is beyond the end may be anything.
  template <typename A>
  MN_DEVICE void multiply(const A &a, int batch, int k0, int kEnd) {
    T aNext[turns][rows][places];
    eachTurn(k0, kEnd, [&](int turn, int k) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
        loadRun<places, true, aAlongK>(a, batch, i, rows, k, aNext[turn][i]);
    });
#pragma unroll
    for (int turn = 0; turn < turns; ++turn)
#pragma unroll
      for (int p = 0; p < places; ++p)
        if (kFits || k0 + turn * along + p < kEnd)
#pragma unroll
          for (int i = 0; i < rows; ++i)
#pragma unroll
            for (int j = 0; j < columns; ++j)
              sum[i][j] += aNext[turn][i][p] * bNext[turn][j][p];
  }

  /// Adds up what the lanes of a warp have of the same sums; the first of them
  /// keeps it.
  MN_DEVICE void joinLanes(T (&ofWarp)[rows * width]) {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        T v = sum[i][j];
#pragma unroll
        for (int other = 16; other >= lanes; other /= 2)
          v += shuffleXor(v, other);
        if (lane < lanes)
          ofWarp[i * width + lane * columns + j] = v;
      }
  }

  /// The first of b, before run(): a kernel may have it while it waits for a.
  template <typename B>
  MN_DEVICE void loadB(const B &b, int batch, int n0, int kBegin, int kEnd) {
    if (const int k0 = firstOf(kBegin); k0 < kEnd)
      loadRound(b, batch, n0, k0, kEnd);
  }

  /// Adds up from kBegin to kEnd, and leaves the sums at `mine`; loaded() as in
  /// product_mma.cuh.
  template <typename A, typename B, typename Loaded>
  MN_DEVICE void run(const A &a, const B &b, int batch, int, int n0, int kBegin,
                     int kEnd, Operands &parts, T *mine, const Loaded &loaded) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        sum[i][j] = T(0);
    constexpr int round = turns * along;
    for (int k0 = firstOf(kBegin); k0 < kEnd; k0 += round) {
      if (k0 + round >= kEnd)
        loaded();
      multiply(a, batch, k0, kEnd);
      if (share <= round)
        break;
      if (k0 + round < kEnd)
        loadRound(b, batch, n0, k0 + round, kEnd);
    }
    joinLanes(parts.sum[threadIdx.x / 32]);
    __syncthreads();
    joinWarps(parts, mine);
  }

private:
  /// `mine` may be where the parts are.
  static MN_DEVICE void joinWarps(const Operands &parts, T *mine) {
    constexpr int each = (rows * width + threads - 1) / threads;
    T v[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int e = int(threadIdx.x) + i * threads;
      v[i] = T(0);
#pragma unroll
      for (int warp = 0; warp < warps; ++warp)
        if (e < rows * width)
          v[i] += parts.sum[warp][e];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (const int e = int(threadIdx.x) + i * threads; e < rows * width)
        mine[e] = v[i];
    __syncthreads();
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_DOTS_CUH
