//===- conv_padded.cuh - padded images and their windows --------*- C++ -*-===//
//
// Padded images are one sequence of pixels, row after row and image after
// image. A window has the number of its first pixel.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PADDED_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PADDED_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/conv_windows.cuh"
#include "mnistrt/cuda/kernels/pooled.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// For operations, see conv_patch.cuh.
template <shape::Windows W> struct PaddedImages {
  static constexpr int taps = W.taps();

  /// A pixel or window.
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

  /// As in product_mma.cuh: what is no number is made again. Neither may taps
  /// that a phase or a folded window has not got make infinities to such.
  static constexpr bool repeatsNans = W.mma == Mma::tf32x3 || !W.hasAllTaps();
  template <typename Op, typename FilterAt>
  static MN_DEVICE float exactSum(const Op &op, const Padded &window,
                                  const FilterAt &filterAt, int firstChannel,
                                  int lastChannel) {
    const Place pads = op.pads();
    float v = 0;
#pragma unroll 1
    for (int channel = firstChannel; channel < lastChannel; ++channel)
#pragma unroll 1
      for (int tap = 0; tap < taps; ++tap) {
        const Place p = placeOf<W.kernel[1], W.kernel[2]>(tap);
        if (!op.hasTap(channel, p))
          continue;
        Place at;
        const bool inside = isInImage(pads,
                                      {window.image,
                                       {window.at.x0 + p.x0 * W.dilations[0],
                                        window.at.x1 + p.x1 * W.dilations[1],
                                        window.at.x2 + p.x2 * W.dilations[2]}},
                                      at);
        const float x = inside ? op.value(window.image, channel, at) : 0.0f;
        v += x * filterAt(channel, tap);
      }
    return v;
  }

  using Pool = Pooled<float, W.pool.mean>;

  /// A window of the pool, of a result, which begins at a window that there is.
  /// sumOf(y, x): at one of its windows, y below and x to the right.
  template <typename Op, typename SumOf>
  static MN_DEVICE Pool poolOf(const Op &op, const Padded &first, int result,
                               const SumOf &sumOf) {
    constexpr int high = W.pool.kernel[0], across = W.pool.kernel[1];
    constexpr bool whole = W.out[0] % high == 0 && W.out[1] % across == 0;
    Pool pool;
#pragma unroll
    for (int k = 0; k < high * across; ++k) {
      const int y = k / across, x = k % across;
      const Padded window = {first.image,
                             {first.at.x0 + y, first.at.x1 + x, 0}};
      if (whole || isWindow(window))
        pool.seeNext(op.tile(window.image, result, window.at, sumOf(y, x)), k);
    }
    return pool;
  }
  template <typename Op>
  static MN_DEVICE void storePool(const Op &op, const Padded &first, int result,
                                  const Pool &pool) {
    op.storePool(
        first.image, result,
        {first.at.x0 / W.pool.kernel[0], first.at.x1 / W.pool.kernel[1], 0},
        pool);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PADDED_CUH
