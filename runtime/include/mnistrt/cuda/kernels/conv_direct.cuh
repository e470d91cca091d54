//===- conv_direct.cuh - convolutions of few channels a group ---*- C++ -*-===//
//
// Depthwise convolutions, and others with few results a group: a tile of a
// matrix product would stay mostly empty. A thread adds up one result, of
// several images, whose windows and weights have the same places.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_DIRECT_CUH
#define MNISTRT_CUDA_KERNELS_CONV_DIRECT_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"

namespace mn {

namespace shape {

struct Direct {
  /// The products of a result, which a thread goes through without a loop.
  static constexpr int mostProducts = 128;
  static constexpr int mostImages = 4;
  int images = 1;        ///< of a thread
  int64_t perImage = 1;  ///< results
  int64_t threads = 256; ///< in total
};

MN_SHAPE_FN Direct directOf(const Conv &s, int64_t perImage) {
  const int images = s.schedule.images;
  return {images, perImage, s.batch / images * perImage};
}

MN_SHAPE_FN LaunchShape launchOf(const Direct &d) {
  constexpr int block = 256;
  return {static_cast<unsigned>(ceilDiv<int64_t>(d.threads, block)), block};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// `images` results of a thread: number `i` of an image's C channels of P
/// pixels, in memory's order. sum(image, channel, pixel) gives all of them.
template <typename T, Conv S, shape::Direct d, int C, int P> struct DirectSums {
  static constexpr int images = d.images;
  static constexpr int apart = S.batch / images; ///< of a thread's images
  using Values = T[images];

  template <typename Sum, typename Results>
  static MN_DEVICE void run(const Sum &sum, const Results &results) {
    gridDependencySync();
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= d.threads)
      return;
    const int image = int(i / d.perImage), place = int(i % d.perImage);
    constexpr bool nchw = S.layout == Layout::nchw;
    const int channel = nchw ? place / P : place % C;
    const int pixel = nchw ? place % P : place / C;
    Values v;
#pragma unroll
    for (int n = 0; n < images; ++n)
      v[n] = T(0);
    sum(v, image, channel, pixel);
    storeEach<images>(
        results.f, 0, 1, images, [](int) { return true; },
        [&](int n) { return results.place(image + n * apart, channel, pixel); },
        [&](int n, bool) { return v[n]; });
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_DIRECT_CUH
