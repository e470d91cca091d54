//===- conv_patch_pixels.cuh - what patches load of images ------*- C++ -*-===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_PIXELS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_PIXELS_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/conv_patch_shape.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What a thread loads of pixels: the same ones in each turn. What is outside
/// of an image becomes 0 when it is stored. If registers said what that is,
/// ptxas would ask them, and wait for what was loaded, before anything is
/// multiplied.
template <shape::Windows W, shape::Patch t> struct PatchPixels {
  static constexpr Mma mma = W.mma;
  static constexpr int chunk = shape::chunkOf(mma), depth = 2 * chunk;
  static constexpr int threads = t.threads;
  static constexpr int pixels = shape::patchPixels(W, t);
  static constexpr int loads = shape::patchLoads(W, t);

  /// A pixel or window among those of all padded images.
  struct Padded {
    int image;
    Place at;
  };
  static MN_DEVICE Padded paddedOf(int number) {
    constexpr int all = W.pixels(), d1 = W.covered(1), d2 = W.covered(2);
    return {number / all, placeOf<d1, d2>(number % all)};
  }
  static MN_DEVICE bool isInImage(const Place &pads, const Padded &p,
                                  Place &at) {
    at = {p.at.x0 - pads.x0, p.at.x1 - pads.x1, p.at.x2 - pads.x2};
    return p.image < W.batch && unsigned(at.x0) < unsigned(W.in[0]) &&
           unsigned(at.x1) < unsigned(W.in[1]) &&
           unsigned(at.x2) < unsigned(W.in[2]);
  }
  static MN_DEVICE bool isWindow(const Padded &p) {
    return p.image < W.batch && p.at.x0 < W.out[0] && p.at.x1 < W.out[1] &&
           p.at.x2 < W.out[2];
  }
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

  Index pixel[loads]; ///< 0: or outside of an image
  float held[loads][chunk];

  static MN_DEVICE int number(int j) { return int(threadIdx.x) + j * threads; }
  static MN_DEVICE bool isMine(int j) {
    return (j + 1) * threads <= 2 * pixels || number(j) < 2 * pixels;
  }
  template <typename Op>
  MN_DEVICE void begin(const Op &op, int first, unsigned &inside) {
    unsigned bits = 0;
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      const Padded p = paddedOf(first + number(j) % pixels);
      Place at;
      const bool isInside = isMine(j) && isInImage(op.pads(), p, at);
      pixel[j] = isInside ? op.pixelAt(p.image, at) : Index(0);
      bits |= unsigned(isInside) << j;
    }
    inside = bits;
  }
  static MN_DEVICE int channelOf(int j, int turn) {
    return turn * depth + number(j) / pixels * chunk;
  }
  static MN_DEVICE bool isChannel(int channel) {
    return W.channels % depth == 0 || channel < W.channels;
  }
  template <typename Op> MN_DEVICE void load(const Op &op, int turn) {
#pragma unroll
    for (int j = 0; j < loads; ++j)
#pragma unroll
      for (int i = 0; i < chunk; ++i) {
        const int channel = channelOf(j, turn) + i;
        // Pixels of the last loads may be those of no operand.
        const bool has = isMine(j) && isChannel(channel);
        held[j][i] = op.loadPixel(pixel[j], has ? channel : 0);
      }
  }
  /// Without branches: where products are under way, a compiler may copy
  /// their sums before these are there.
  MN_DEVICE void store(uint4 (&stage)[loads * threads], int turn,
                       const volatile unsigned &bits) {
    const unsigned inside = bits;
#pragma unroll
    for (int j = 0; j < loads; ++j) {
      float v[chunk];
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        v[i] = (inside >> j & 1) != 0 && isChannel(channelOf(j, turn) + i)
                   ? held[j][i]
                   : 0.0f;
      stage[number(j)] = wordsOf(v);
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_PIXELS_CUH
