//===- conv_strip.cuh - convolutions of strips on tensor cores --*- C++ -*-===//
//
// As conv_patch.cuh, with the operands' places exchanged: results are rows of
// products, 64 for each warpgroup, and windows their columns. Both operands are
// in shared memory, which the tensor cores read less of the more columns there
// are: of 64 rows and 64 columns all that it gives, of 64 and 256 five eighths.
// And a thread has results that are neighbours in an image, or in a pool, and
// stores them from its registers.
//
// The windows are strips of eight columns of an image, as many rows of these as
// a block has. With its pixels a strip is a narrow image of its own, in which a
// tap is as far from each window. A block may have all strips side by side, one
// below the other in shared memory; between them are windows of nobody.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_STRIP_CUH
#define MNISTRT_CUDA_KERNELS_CONV_STRIP_CUH

#include "mnistrt/cuda/kernels/conv_patch_turns.cuh"
#include "mnistrt/cuda/kernels/results.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Where the windows of a block are. Of single strips all rows are one
/// sequence: of an image those of its first strip, then of the next one.
template <shape::Windows W, shape::Patch t> struct StripTile {
  using Images = PaddedImages<W>;
  using Padded = typename Images::Padded;
  static constexpr int threads = t.threads, side = t.side;
  static constexpr int pixels = shape::patchPixels(W, t);
  static constexpr int row = shape::squareRow(W); ///< pixels of one

  int image;    ///< of joined strips
  int firstRow; ///< in the image, or else in the sequence

  static MN_DEVICE StripTile ofBlock(int number) {
    if constexpr (!shape::hasWholeStrips(W, t.height))
      return {0, number * t.height};
    constexpr int each = shape::max(1, W.extent(0) / t.height);
    const int which = number / each, row = number % each * t.height;
    return {which, t.strips > 1 ? row : which * W.covered(0) + row};
  }
  static MN_DEVICE int thread() { return int(threadIdx.x); }

  static constexpr int apart = shape::stripsApart(W, t.height);
  /// Whether a row is one of windows.
  static MN_DEVICE bool isMine(int down) {
    return t.strips > 1 ? down % apart < t.height : down < t.height;
  }

  MN_DEVICE Padded window(int down, int right) const {
    if constexpr (t.strips > 1)
      return {image, {firstRow + down % apart, down / apart * side + right, 0}};
    constexpr int rows = W.covered(0), strips = shape::squaresAlong(W, 1);
    const int number = firstRow + down, strip = number / rows;
    return {strip / strips, {number % rows, strip % strips * side + right, 0}};
  }
  MN_DEVICE Padded pixel(int p) const { return window(p / row, p % row); }

  /// How far from a window's pixel that of a tap is.
  static MN_SHAPE_FN int offsetOf(int tap) {
    const int t0 = tap / W.kernel[1], t1 = tap % W.kernel[1];
    return t0 * W.dilations[0] * row + t1 * W.dilations[1];
  }
};

/// For operations, see conv_patch.cuh.
template <shape::Windows W, shape::Patch t, bool nchw> struct StripKernel {
  using Tile = StripTile<W, t>;
  using Turns = PatchTurns<W, t, Tile>;
  using Stage = typename Turns::Stage;
  using Images = PaddedImages<W>;
  using Padded = typename Images::Padded;
  static constexpr Mma mma = W.mma;
  static constexpr int taps = W.taps(), width = t.width;
  static constexpr int rows = t.rows, pixels = Tile::pixels;
  static_assert(!Images::repeatsNans && !Turns::moves && Turns::split == 1);

  using Pool = typename Images::Pool;
  /// Whether pools go through shared memory.
  static constexpr bool joins = W.isPooled() && t.strips > 1;
  static constexpr int pitch = joins ? shape::poolPitch(W, t) : 1;

  struct Memory {
    union {
      Stage stage[Turns::stages];
      Pool pool[joins ? width : 1][pitch];
    };
    unsigned inside[t.threads]; ///< a bit for each pixel that a thread loads
    typename Turns::Arrivals arrivals;
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(W, t));

  /// Of results lane / 4 and, from the third number on, eight more; at windows
  /// lane % 4 * 2 of a row and the next one.
  float sum[rows][4];

  static MN_DEVICE int warpgroup() {
    // The same in all lanes, and the compiler should know it.
    return __shfl_sync(0xffffffff, int(threadIdx.x) / 128, 0);
  }
  /// The first of a warp's 16 results among those of the block.
  static MN_DEVICE int firstOfWarp() { return int(threadIdx.x) / 32 * 16; }

  /// Addresses in an operand count 16 bytes.
  MN_DEVICE void startWgmma(const Stage &stage, int group) {
    const uint64_t filters =
        wgmmaOperand(&stage.filter[0][0][0][warpgroup() * 64],
                     taps * width * int(sizeof(uint4)));
    const uint64_t windows =
        wgmmaOperand(&stage.pixel[0], pixels * int(sizeof(uint4)),
                     Tile::row * int(sizeof(uint4)));
    auto &d = reinterpret_cast<float(&)[rows * 4]>(sum);
    beginWgmma();
#pragma unroll
    for (int i = 0; i < Turns::kept; ++i)
      if (const int tap = group * Turns::kept + i; tap < taps) {
        const uint64_t a = filters + tap * width;
        const uint64_t b = windows + Tile::offsetOf(tap);
        const bool add = Turns::goesOn || i != 0;
        if constexpr (mma == Mma::bf16)
          wgmmaBf16(d, a, b, add);
        else
          wgmmaTf32(d, a, b, add);
      }
    commitWgmma();
  }

  MN_DEVICE void multiply(const Stage &stage, int group) {
    const int lane = int(threadIdx.x) % 32;
    if constexpr (!Turns::goesOn)
      clear();
#pragma unroll 1
    for (int i = 0; i < Turns::kept; ++i) {
      const int tap = group * Turns::kept + i;
      if (tap >= taps)
        continue;
      uint32_t a[4];
      loadMatrices(a,
                   &stage.filter[0][lane / 16][tap][firstOfWarp() + lane % 16]);
      const uint4 *windows =
          &stage.pixel[lane / 8 % 2 * pixels + lane / 16 * Tile::row +
                       lane % 8 + Tile::offsetOf(tap)];
#pragma unroll
      for (int j = 0; j < rows; j += 2) {
        uint32_t b[4];
        loadMatrices(b, windows + j * Tile::row);
        multiplyAdd<mma>(sum[j], a, b, 0);
        multiplyAdd<mma>(sum[j + 1], a, b, 1);
      }
    }
  }
  MN_DEVICE void clear() {
#pragma unroll
    for (int j = 0; j < rows; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sum[j][e] = 0;
  }

  /// Whether a thread's two windows of a row are there both, or neither, and
  /// their results neighbours, the first one at an even place.
  static constexpr bool inPairs = nchw && W.out[1] % 2 == 0;
  template <typename Op>
  MN_DEVICE void storeWindows(const Op &op, const Tile &tile,
                              int firstResult) const {
    constexpr int n = togetherOf(rows, 4);
    const int column = int(threadIdx.x) % 4 * 2;
    const auto f = inPairs ? withAlignedTensors(op.f) : op.f;
#pragma unroll
    for (int j = 0; j < rows; j += n) {
      typename Op::ResultIndex place[4 * n];
      float v[4 * n];
#pragma unroll
      for (int e = 0; e < 4 * n; ++e) {
        const int result = firstResult + e / 2 % 2 * 8;
        const Padded window = tile.window(j + e / 4, column + e % 2);
        const bool has = Tile::isMine(j + e / 4) && Images::isWindow(window) &&
                         op.has(window.at) && result < W.results;
        v[e] = sum[j + e / 4][e % 4];
        if (!inPairs || e % 2 == 0)
          place[e] = placeIf(has, op.place(window.image, result, window.at));
        else
          place[e] = place[e - 1];
      }
      storeResults<inPairs ? 2 : 1>(f, place, v);
    }
  }

  /// A window of the pool, of a result: the first of its windows.
  struct PoolSpot {
    Padded first;
    int result;
    bool isThere;
  };
  static constexpr int high = W.pool.kernel[0], poolRows = rows / high;
  /// Of two results, row by row.
  MN_DEVICE PoolSpot spotOf(const Tile &tile, int firstResult, int e) const {
    const int row = e / 2 * high;
    PoolSpot spot = {tile.window(row, int(threadIdx.x) % 4 * 2),
                     firstResult + e % 2 * 8, false};
    spot.isThere = Tile::isMine(row) && Images::isWindow(spot.first) &&
                   spot.result < W.results;
    return spot;
  }
  template <typename Op>
  MN_DEVICE Pool poolAt(const Op &op, const PoolSpot &spot, int e) const {
    return Images::poolOf(op, spot.first, spot.result, [&](int y, int x) {
      return sum[e / 2 * high + y][e % 2 * 2 + x];
    });
  }

  /// Some are computed before the first is stored where all are there, so that
  /// what they load is loaded together. put(spot, e, pool) stores.
  template <typename Op, typename Put>
  MN_DEVICE void eachPool(const Op &op, const Tile &tile, int firstResult,
                          const Put &put) const {
    constexpr int n = togetherOf(2 * poolRows, 8);
#pragma unroll
    for (int begin = 0; begin < 2 * poolRows; begin += n) {
      PoolSpot spot[n];
      Pool pool[n];
      bool areThere = true;
#pragma unroll
      for (int e = 0; e < n; ++e) {
        spot[e] = spotOf(tile, firstResult, begin + e);
        areThere &= spot[e].isThere;
      }
      if (areThere)
#pragma unroll
        for (int e = 0; e < n; ++e)
          pool[e] = poolAt(op, spot[e], begin + e);
#pragma unroll
      for (int e = 0; e < n; ++e)
        if (spot[e].isThere) {
          if (!areThere)
            pool[e] = poolAt(op, spot[e], begin + e);
          put(spot[e], begin + e, pool[e]);
        }
    }
  }
  template <typename Op>
  MN_DEVICE void storePools(const Op &op, const Tile &tile,
                            int firstResult) const {
    eachPool(op, tile, firstResult,
             [&](const PoolSpot &spot, int, const Pool &pool) {
               Images::storePool(op, spot.first, spot.result, pool);
             });
  }

  /// Rows of pools are neighbours in memory, and those of eight columns would
  /// be 16 bytes and 4 indices.
  template <typename Op>
  MN_DEVICE void storeJoined(const Op &op, const Tile &tile, int firstOfBlock,
                             int mine, Memory &memory) const {
    constexpr int across = shape::poolsAcross(t), each = W.poolTiles(1);
    constexpr int perStrip = Tile::apart / high;
    // Others may still multiply.
    __syncthreads();
    eachPool(op, tile, firstOfBlock + mine,
             [&](const PoolSpot &spot, int e, const Pool &pool) {
               const int row = e / 2, strip = row / perStrip;
               memory.pool[mine + e % 2 * 8][row % perStrip * across +
                                             strip * t.side / 2 +
                                             int(threadIdx.x) % 4] = pool;
             });
    __syncthreads();
    constexpr int pools = t.height / high * each;
    for (int e = int(threadIdx.x); e < pools * width; e += t.threads) {
      const int channel = nchw ? e / pools : e % width;
      const int number = nchw ? e % pools : e / width;
      const int y = number / each, x = number % each;
      const Padded first = {tile.image, {tile.firstRow + y * high, x * 2, 0}};
      if (Images::isWindow(first) && firstOfBlock + channel < W.results)
        Images::storePool(op, first, firstOfBlock + channel,
                          memory.pool[channel][y * across + x]);
    }
  }

  /// `number`: of the block among those of its phase, whose filters are packed:
  /// before the kernel before this one, or by it.
  template <typename Op>
  static MN_DEVICE void run(const Op &op, const uint4 *filters, bool isPacked,
                            int number) {
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const Tile tile = Tile::ofBlock(number / int(t.across));
    const int across = number % int(t.across);
    const uint4 *packed =
        filters + across * Turns::allTurns * Turns::filterWords;
    Turns turns;
    StripKernel kernel;
    turns.begin(op, packed, memory, tile, 0, isPacked);
    kernel.clear();
    turns.each(
        op, packed, memory, 0,
        [&](const Stage &stage, int group) {
          if constexpr (hasWgmma)
            kernel.startWgmma(stage, group);
          else
            kernel.multiply(stage, group);
        },
        [] {});
    const int mine = firstOfWarp() + int(threadIdx.x) % 32 / 4;
    if constexpr (joins)
      kernel.storeJoined(op, tile, across * width, mine, memory);
    else if constexpr (W.isPooled())
      kernel.storePools(op, tile, across * width + mine);
    else
      kernel.storeWindows(op, tile, across * width + mine);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_STRIP_CUH
