//===- conv_patch_pixels.cuh - what patches load of images ------*- C++ -*-===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_PIXELS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_PIXELS_CUH

#include "mnistrt/cuda/kernels/conv_padded.cuh"
#include "mnistrt/cuda/kernels/mma.cuh"
#include "mnistrt/cuda/kernels/product_tiles.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What a thread loads of pixels: the same ones in each turn. What is outside
/// of an image becomes 0 when it is stored. If registers said what that is,
/// ptxas would ask them, and wait for what was loaded, before anything is
/// multiplied. Some `Tile::threads` load Tile::pixels of them: a tile has
/// pixel(p) for each, a thread has the number Tile::thread().
template <shape::Windows W, typename Tile>
struct PatchPixels : PaddedImages<W> {
  using Images = PaddedImages<W>;
  static constexpr Mma mma = W.mma;
  static constexpr int chunk = shape::chunkOf(mma), depth = 2 * chunk;
  static constexpr int threads = Tile::threads, pixels = Tile::pixels;
  static constexpr int loads = shape::ceilDiv(2 * pixels, threads);
  static_assert(loads <= 32, "a bit for each says whether it is inside");

  /// Rounded, but for tf32x3.
  static MN_DEVICE uint4 wordsOf(const float (&v)[chunk]) {
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if constexpr (mma == Mma::bf16)
        word[i] = toBf16(v[2 * i], v[2 * i + 1]);
      else if constexpr (mma == Mma::tf32)
        word[i] = toTf32(v[i]);
      else
        word[i] = __float_as_uint(v[i]);
    return {word[0], word[1], word[2], word[3]};
  }

  /// What a thread has loaded of a turn.
  struct Held {
    float of[loads][chunk];
  };
  /// Where each is in memory; of one outside of its image, where the first
  /// image begins. If turns are whole, of the load's first channel in turn 0,
  /// else of channel 0.
  Index pixel[loads];
  /// Every turn has all its channels, and no load a part of a folded pixel.
  static constexpr bool isWhole =
      W.channels % depth == 0 && chunk % W.foldCount() == 0;

  static MN_DEVICE int number(int j) { return Tile::thread() + j * threads; }
  static MN_DEVICE bool isMine(int j) {
    return (j + 1) * threads <= 2 * pixels || number(j) < 2 * pixels;
  }
  template <typename Op>
  MN_DEVICE void begin(const Op &op, const Tile &tile, unsigned &inside) {
    unsigned bits = 0;
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      const auto p = tile.pixel(number(j) % pixels);
      Place at;
      const bool isInside = isMine(j) && Images::isInImage(op.pads(), p, at);
      const Index first = isInside ? op.pixelAt(p.image, at) : Index(0);
      pixel[j] =
          computedHere(isWhole ? op.channelAt(first, channelOf(j, 0)) : first);
      bits |= unsigned(isInside) << j;
    }
    inside = bits;
  }
  /// The first one of a load. Pixels of the last loads may be those of no
  /// operand: they have the first channels.
  static MN_DEVICE int channelOf(int j, int turn) {
    return turn * depth + (isMine(j) ? number(j) / pixels : 0) * chunk;
  }
  static MN_DEVICE bool isChannel(int channel) {
    return W.channels % depth == 0 || channel < W.channels;
  }
  template <typename Op>
  MN_DEVICE void load(const Op &op, int turn, Held &held) const {
#pragma unroll
    for (int j = 0; j < loads; ++j)
#pragma unroll
      for (int i = 0; i < chunk; ++i) {
        const int channel = (isWhole ? turn * depth : channelOf(j, turn)) + i;
        const bool has = isWhole || isChannel(channel);
        held.of[j][i] = op.loadPixel(pixel[j], has ? channel : 0);
      }
  }
  /// Calls put(number, words). Without branches: where products are
  /// under way, a compiler may copy their sums before these are there.
  template <typename Put>
  static MN_DEVICE void store(const Held &held, int turn,
                              const volatile unsigned &bits, const Put &put) {
    const unsigned inside = bits;
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      float v[chunk];
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        v[i] = (inside >> j & 1) != 0 && isChannel(channelOf(j, turn) + i)
                   ? held.of[j][i]
                   : 0.0f;
      put(number(j), wordsOf(v));
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_PIXELS_CUH
