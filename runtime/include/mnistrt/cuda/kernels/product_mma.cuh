//===- product_mma.cuh - a product on the tensor cores ----------*- C++ -*-===//
//
// f32 in memory and f32 sums; what is multiplied is rounded to tf32 or bf16, or
// split into two tf32 numbers, whose three larger products keep f32's accuracy
// (tf32x3). Tensor cores cut sums off instead of rounding them, so that after
// some terms they are added to others in registers and begin anew.
//
// A fragment is read without bank conflicts by ldmatrix, and by wgmma as it is
// in shared memory. The latter multiplies where there is a warpgroup for every
// 64 rows, while the next tile is stored.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_MMA_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_MMA_CUH

#include "mnistrt/cuda/kernels/product_loader.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// The sums of one tile, in shared memory in the end.
template <shape::Product P, bool aAlongK, bool bAlongK, shape::Tiles t>
struct MmaLoop {
  using Tiles = MmaTiles<P, t>;
  template <int size> using Tile = typename Tiles::template Tile<size>;
  static constexpr Mma mma = t.mma;
  static constexpr int depth = t.depth, threads = t.threads();
  static constexpr int height = t.height(), width = t.width();
  static constexpr int m = int(P.m), n = int(P.n);
  static constexpr int chunks = Tiles::chunks, halves = Tiles::halves;
  static constexpr int tall = t.rows / 16, wide = t.columns / 8; ///< of a warp
  static constexpr bool wgmma = Tiles::wgmma;
  /// Columns are its 64 rows, rows its columns.
  static constexpr bool turned = wgmma && !shape::hasWgmmaRows(t);
  static constexpr bool inShared = true;
  static MN_DEVICE int slice() { return Tiles::slice(); }
  static MN_DEVICE int thread() { return Tiles::thread(); }
  static constexpr int stride = width + 8; ///< of a tile in shared memory
  static_assert(t.rows % 16 == 0 && t.columns % 16 == 0);

  /// Turns after which sums are moved, and whether they are at all.
  static constexpr int turns = int(shape::sliceOfK(P, t) / depth);
  static constexpr int kept = shape::max(1, shape::keptTerms(mma) / depth);
  static constexpr bool moves = turns > kept;

  using Moved = float[moves ? tall : 1][moves ? wide : 1][4];

  struct Operands {
    Tile<height> a;
    Tile<width> b;
  };

  /// What brings the tiles of both operands.
  template <typename A, typename B> struct BroughtTiles {
    using ALoader =
        typename Tiles::template LoaderOf<A, height, aAlongK, m>::Type;
    using BLoader =
        typename Tiles::template LoaderOf<B, width, bAlongK, n>::Type;
    static constexpr bool aLines = Tiles::template isInLines<A, aAlongK>;
    static constexpr bool bLines = Tiles::template isInLines<B, bAlongK>;
    /// Tables would have to be ahead, too: a gradient of a filter took 18.0 us
    /// instead of 16.3.
    static constexpr int ahead = ALoader::changes || BLoader::changes
                                     ? 1
                                     : shape::turnsAhead(P, t, moves);
    struct Tables {
      typename ALoader::Table a;
      typename BLoader::Table b;
    };
    /// Of a turn, in registers.
    struct Held {
      ALoader a;
      BLoader b;
    };

    const A &a;
    const B &b;
    Tables &tables;
    int batch, m0, n0, kEnd;

    /// Tables of the first turns.
    MN_DEVICE void begin(int kBegin) const {
      ALoader::begin(a, tables.a, batch, m0, kBegin, kEnd);
      BLoader::begin(b, tables.b, batch, n0, kBegin, kEnd);
      prepare(1, kBegin + depth);
    }
    MN_DEVICE void prepare(int which, int k0) const {
      ALoader::prepare(a, tables.a, which, k0, kEnd);
      BLoader::prepare(b, tables.b, which, k0, kEnd);
    }
    MN_DEVICE void load(Held &held, int which, int k0) const {
      held.a.load(a, tables.a, batch, m0, which, k0, kEnd);
      held.b.load(b, tables.b, batch, n0, which, k0, kEnd);
    }
    MN_DEVICE void store(Held &held, Operands &tiles, int which, int k0) const {
      held.a.store(tiles.a, which, k0, kEnd);
      held.b.store(tiles.b, which, k0, kEnd);
    }
  };

  float sum[tall][wide][4];

  using Fragment = LoadedFragment<mma>;

  MN_DEVICE void multiply(const Operands &tiles, int which) {
    const int warp = thread() / 32, lane = thread() % 32;
    const int row = warp % t.warps * t.rows + lane % 16;
    const int column = warp / t.warps * t.columns + lane / 16 * 8 + lane % 8;
#pragma unroll
    for (int c = 0; c < chunks; c += 2) {
      Fragment a[tall], b[wide / 2];
#pragma unroll
      for (int i = 0; i < tall; ++i)
        a[i].load(&tiles.a.word[which][0][c + lane / 16][row + 16 * i]);
#pragma unroll
      for (int j = 0; j < wide / 2; ++j)
        b[j].load(&tiles.b.word[which][0][c + lane / 8 % 2][column + 16 * j]);
      // The small products first.
      if constexpr (mma == Mma::tf32x3) {
#pragma unroll
        for (int i = 0; i < tall; ++i)
#pragma unroll
          for (int j = 0; j < wide; ++j)
            multiplyAdd<mma>(sum[i][j], a[i].small, b[j / 2].big, j % 2);
#pragma unroll
        for (int i = 0; i < tall; ++i)
#pragma unroll
          for (int j = 0; j < wide; ++j)
            multiplyAdd<mma>(sum[i][j], a[i].big, b[j / 2].small, j % 2);
      }
#pragma unroll
      for (int i = 0; i < tall; ++i)
#pragma unroll
        for (int j = 0; j < wide; ++j)
          multiplyAdd<mma>(sum[i][j], a[i].big, b[j / 2].big, j % 2);
    }
  }

  /// Begins the products of a warpgroup. `add`: to what there is.
  template <bool aLines, bool bLines>
  MN_DEVICE void startWgmma(const Operands &tiles, int which, bool add) {
    if constexpr (turned)
      startWgmma<bLines, aLines>(tiles.b, tiles.a, which, add);
    else if constexpr (wgmma)
      startWgmma<aLines, bLines>(tiles.a, tiles.b, which, add);
  }
  /// Rows from number `row` on, a multiple of 8.
  template <bool inLines, int size>
  static MN_DEVICE uint64_t operandOf(const Tile<size> &tile, int which,
                                      int row) {
    if constexpr (inLines)
      return wgmmaOperand(&tile.line[which][row / 8][0], 8 * sizeof(uint4),
                          Tiles::lineLength * sizeof(uint4));
    else
      return wgmmaOperand(&tile.word[which][0][0][row],
                          sizeof(uint4) * (size + 1));
  }
  /// From chunk to chunk of an operand; addresses in it count 16 bytes.
  template <bool inLines> static MN_DEVICE constexpr int stepOf(int size) {
    return inLines ? 8 : size + 1;
  }
  template <bool tallLines, bool wideLines, int tallSize, int wideSize>
  MN_DEVICE void startWgmma(const Tile<tallSize> &tallTile,
                            const Tile<wideSize> &wideTile, int which,
                            bool add) {
    auto &d = reinterpret_cast<float(&)[t.rows * t.columns / 32]>(sum);
    // The same for all lanes, and the compiler should know it.
    const int row = __shfl_sync(0xffffffff, thread() / 128 * 64, 0);
    const uint64_t tallOperand = operandOf<tallLines>(tallTile, which, row);
    const uint64_t wideOperand = operandOf<wideLines>(wideTile, which, 0);
    const auto start = [&](int half, int otherHalf, int c, bool adds) {
      const uint64_t x =
          tallOperand + (half * chunks + c) * stepOf<tallLines>(tallSize);
      const uint64_t y =
          wideOperand + (otherHalf * chunks + c) * stepOf<wideLines>(wideSize);
      if constexpr (mma == Mma::bf16)
        wgmmaBf16<tallLines, wideLines>(d, x, y, adds);
      else
        wgmmaTf32(d, x, y, adds);
    };
    beginWgmma();
#pragma unroll
    for (int c = 0; c < chunks; c += 2) {
      // The small products first.
      if constexpr (halves == 2) {
        start(1, 0, c, add || c != 0);
        start(0, 1, c, true);
      }
      start(0, 0, c, halves == 2 || add || c != 0);
    }
    commitWgmma();
  }

  template <typename Visit> MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int i = 0; i < tall; ++i)
#pragma unroll
      for (int j = 0; j < wide; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          visit(i, j, e);
  }

  /// Multiplies turn number `turn`, and meanwhile stores the next one's tiles.
  /// Nothing branches while a warpgroup multiplies: after the last turn
  /// something is stored that nobody reads.
  template <typename Brought>
  MN_DEVICE void multiplyTurn(const Brought &bring, Operands &tiles,
                              Moved &moved, typename Brought::Held &next,
                              int turn, int k0, int kEnd) {
    const int which = turn % 2;
    if constexpr (wgmma) {
      startWgmma<Brought::aLines, Brought::bLines>(tiles, which,
                                                   turn % kept != 0);
      if constexpr (turns > 1)
        bring.store(next, tiles, 1 - which, k0 + depth);
      waitForWgmma();
    } else {
      multiply(tiles, which);
      if (k0 + depth < kEnd)
        bring.store(next, tiles, 1 - which, k0 + depth);
    }
    if constexpr (moves)
      if (turn % kept == kept - 1)
        eachSum([&](int i, int j, int e) {
          moved[i][j][e] += sum[i][j][e];
          if constexpr (!wgmma)
            sum[i][j][e] = 0;
        });
  }
  static MN_DEVICE void arriveTiles() {
    if constexpr (wgmma)
      fenceForWgmma();
    Tiles::sync();
  }

  /// The next tiles are on their way while these are multiplied. How many turns
  /// there were.
  template <typename Brought, typename Loaded>
  MN_DEVICE int addOneAhead(const Brought &bring, Operands &tiles, Moved &moved,
                            int kBegin, int kEnd, const Loaded &loaded) {
    typename Brought::Held held;
    if (kBegin < kEnd) {
      bring.load(held, 0, kBegin);
      bring.store(held, tiles, 0, kBegin);
    }
    int turn = 0;
    for (int k0 = kBegin; k0 < kEnd; k0 += depth, ++turn) {
      const int which = turn % 2;
      arriveTiles();
      if (k0 + depth < kEnd)
        bring.load(held, 1 - which, k0 + depth);
      if (k0 + 2 * depth >= kEnd)
        loaded();
      bring.prepare(which, k0 + 2 * depth);
      multiplyTurn(bring, tiles, moved, held, turn, k0, kEnd);
    }
    return turn;
  }

  /// And those after them, too.
  template <typename Brought, typename Loaded>
  MN_DEVICE int addTwoAhead(const Brought &bring, Operands &tiles, Moved &moved,
                            int kBegin, int kEnd, const Loaded &loaded) {
    using Held = typename Brought::Held;
    constexpr bool goesOn = turns > 2; ///< after the two that are loaded first
    Held held, next;
    if (kBegin < kEnd) {
      bring.load(held, 0, kBegin);
      if (kBegin + depth < kEnd)
        bring.load(next, 1, kBegin + depth);
      bring.store(held, tiles, 0, kBegin);
    }
    int turn = 0;
    const auto add = [&](Held &later, Held &stored, int k0) {
      arriveTiles();
      if (goesOn && k0 + 2 * depth < kEnd)
        bring.load(later, turn % 2, k0 + 2 * depth);
      if (k0 + 3 * depth >= kEnd)
        loaded();
      multiplyTurn(bring, tiles, moved, stored, turn++, k0, kEnd);
    };
#pragma unroll 1
    for (int k0 = kBegin; k0 < kEnd && (goesOn || turn == 0); k0 += 2 * depth) {
      add(held, next, k0);
      if (k0 + depth < kEnd)
        add(next, held, k0 + depth);
    }
    return turn;
  }

  template <typename Brought, typename Loaded>
  MN_DEVICE int addTurns(const Brought &bring, Operands &tiles, Moved &moved,
                         int kBegin, int kEnd, const Loaded &loaded) {
    if constexpr (Brought::ahead == 2)
      return addTwoAhead(bring, tiles, moved, kBegin, kEnd, loaded);
    else
      return addOneAhead(bring, tiles, moved, kBegin, kEnd, loaded);
  }

  /// Adds up a slice of k from kBegin to kEnd, into its `part`, which may share
  /// its memory with `tiles`. In the end the parts of all slices are there.
  /// Calls loaded() when the last loads are on their way, or a bit later.
  template <typename A, typename B, typename Loaded>
  MN_DEVICE void run(const A &a, const B &b, int batch, int m0, int n0,
                     int kBegin, int kEnd, Operands &tiles, float *part,
                     const Loaded &loaded) {
    using Brought = BroughtTiles<A, B>;
    __shared__ __align__(16) typename Brought::Tables tables[t.slices];
    Moved moved;
    eachSum([&](int i, int j, int e) {
      sum[i][j][e] = 0;
      if constexpr (moves)
        moved[i][j][e] = 0;
    });
    const Brought bring = {
        a, b, tables[t.slices == 1 ? 0 : slice()], batch, m0, n0, kEnd};
    bring.begin(kBegin);
    Tiles::sync();
    // Of few turns nearly all is loaded at the beginning.
    constexpr bool isShort = turns <= 2;
    const int turn = addTurns(bring, tiles, moved, kBegin, kEnd, [&] {
      if constexpr (!isShort)
        loaded();
    });
    if constexpr (isShort)
      loaded();
    Tiles::sync();
    if constexpr (wgmma && moves)
      if (turn % kept == 0)
        eachSum([&](int i, int j, int e) { sum[i][j][e] = 0; });
    if constexpr (moves)
      eachSum([&](int i, int j, int e) { sum[i][j][e] += moved[i][j][e]; });
    toShared(a, b, batch, m0, n0, kBegin, kEnd, part);
  }

  /// Where infinities or numbers near the end of f32's range met, the parts of
  /// tf32x3 are no numbers: such sums are made again, as the FMA units do.
  template <typename A, typename B>
  MN_DEVICE void toShared(const A &a, const B &b, int batch, int m0, int n0,
                          int kBegin, int kEnd, float *part) {
    const int warp = thread() / 32, lane = thread() % 32;
    const int tallAt =
        turned ? warp * 16 + lane / 4 : warp % t.warps * t.rows + lane / 4;
    const int wideAt = (turned ? 0 : warp / t.warps * t.columns) + lane % 4 * 2;
    const auto &d =
        reinterpret_cast<const float(&)[t.rows * t.columns / 32]>(sum);
    constexpr int across = turned ? t.rows / 8 : wide;
    bool isNan = false;
#pragma unroll
    for (int q = 0; q < t.rows * t.columns / 32; q += 2) {
      const int x = tallAt + q / 2 % 2 * 8 + q / 4 / across * 16;
      const int y = wideAt + q / 4 % across * 8;
      isNan |= d[q] != d[q] || d[q + 1] != d[q + 1];
      if constexpr (turned) {
        part[y * stride + x] = d[q];
        part[(y + 1) * stride + x] = d[q + 1];
      } else {
        *reinterpret_cast<float2 *>(part + x * stride + y) =
            float2{d[q], d[q + 1]};
      }
    }
    if constexpr (mma != Mma::tf32x3) {
      __syncthreads();
    } else if (__syncthreads_or(isNan)) {
#pragma unroll 1
      for (int e = thread(); e < height * width; e += threads) {
        float &v = part[e / width * stride + e % width];
        const int r = m0 + e / width, c = n0 + e % width;
        if (v == v || r >= m || c >= n)
          continue;
        v = 0;
#pragma unroll 1
        for (int k = kBegin; k < kEnd; ++k)
          v += a(batch, r, k) * b(batch, c, k);
      }
      __syncthreads();
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_PRODUCT_MMA_CUH
