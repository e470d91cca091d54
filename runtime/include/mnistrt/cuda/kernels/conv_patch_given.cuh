//===- conv_patch_given.cuh - what a pool gives to patches ------*- C++ -*-===//
//
// Patches of a gradient that a pool gives to one element of each window
// (conv_output_grad.cuh): a thread loads a window's value and index once for
// all pixels of a row of the window.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_GIVEN_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_GIVEN_CUH

#include "mnistrt/cuda/kernels/conv_output_grad.cuh"
#include "mnistrt/cuda/kernels/conv_patch_pixels.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// See PatchPixels. What is in no window stays what it was: 0.
template <shape::Windows W, typename Tile> struct PatchGiven : PaddedImages<W> {
  using Images = PaddedImages<W>;
  using Plain = PatchPixels<W, Tile>;
  static constexpr Mma mma = W.mma;
  static constexpr int chunk = Plain::chunk, depth = Plain::depth;
  static constexpr int threads = Tile::threads, pixels = Tile::pixels;
  static constexpr int tall = Tile::tall, wide = Tile::wide;
  static constexpr int rows = Tile::givenRows;
  static constexpr int loads = shape::ceilDiv(2 * rows, threads);
  static constexpr int nowhere = 2 * pixels; ///< a place in shared memory

  struct Held {
    LoadedWindow of[loads][chunk];
  };
  /// Of a row of a window: where the window is in memory (as PatchPixels has a
  /// pixel), where its first pixel is in shared memory, that one's number in
  /// the window, and a bit for each pixel that the tile has.
  struct Row {
    Index window;
    int pixel, number;
    unsigned there;
  };
  Row row[loads];

  static MN_DEVICE int number(int j) { return Tile::thread() + j * threads; }

  /// `unknown` becomes 0, but the compiler does not know it; see store().
  template <typename Op>
  MN_DEVICE void begin(const Op &op, const Tile &tile, unsigned &unknown) {
    unknown = 0;
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      const auto given = tile.given(op.pads(), number(j) % rows);
      Row &r = row[j];
      r.there = 0;
#pragma unroll
      for (int k = 0; k < wide; ++k)
        r.there |= unsigned(number(j) < 2 * rows && Tile::has(given, k)) << k;
      r.pixel = given.pixel + number(j) / rows * pixels;
      r.number = given.at.x0 % tall * wide;
      const Index first =
          r.there != 0 ? op.windowAt(given.image, given.at) : Index(0);
      r.window = computedHere(
          Plain::isWhole ? op.channelOfWindow(first, channelOf(j, 0)) : first);
    }
  }
  static MN_DEVICE int channelOf(int j, int turn) {
    const int half = number(j) < 2 * rows ? number(j) / rows : 0;
    return turn * depth + half * chunk;
  }
  template <typename Op>
  MN_DEVICE void load(const Op &op, int turn, Held &held) const {
#pragma unroll
    for (int j = 0; j < loads; ++j)
#pragma unroll
      for (int i = 0; i < chunk; ++i) {
        const int channel =
            (Plain::isWhole ? turn * depth : channelOf(j, turn)) + i;
        const bool has = Plain::isWhole || Plain::isChannel(channel);
        held.of[j][i] = op.loadWindow(row[j].window, has ? channel : 0);
      }
  }
  /// Without branches, as in PatchPixels. If registers said which pixel has the
  /// value, ptxas would ask them before anything is multiplied.
  template <typename Put>
  MN_DEVICE void store(const Held &held, int turn,
                       const volatile unsigned &unknown, const Put &put) const {
    const int zero = int(unknown);
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      float v[chunk];
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        v[i] = Plain::isChannel(channelOf(j, turn) + i) ? held.of[j][i].value
                                                        : 0.0f;
      const int first = row[j].number + zero;
#pragma unroll
      for (int k = 0; k < wide; ++k)
        put((row[j].there >> k & 1) != 0 ? row[j].pixel + k : nowhere,
            chosen(held.of[j], v, first + k));
    }
  }
  /// Of the values those whose index is `number`, the others as 0: as words,
  /// which are rounded once.
  static MN_DEVICE uint4 chosen(const LoadedWindow (&loaded)[chunk],
                                const float (&v)[chunk], int number) {
    if constexpr (mma == Mma::bf16) {
      float some[chunk];
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        some[i] = loaded[i].index == number ? v[i] : 0.0f;
      return Plain::wordsOf(some);
    } else {
      const uint4 words = Plain::wordsOf(v);
      return {loaded[0].index == number ? words.x : 0,
              loaded[1].index == number ? words.y : 0,
              loaded[2].index == number ? words.z : 0,
              loaded[3].index == number ? words.w : 0};
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_GIVEN_CUH
