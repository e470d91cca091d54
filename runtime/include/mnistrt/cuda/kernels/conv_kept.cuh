//===- conv_kept.cuh - pooled convolutions of few channels ------*- C++ -*-===//
//
// The first convolution of a network reads few channels and makes many. A
// thread loads the pixels that a window of the pool covers into registers once,
// and goes through the channels of the result: their filters come from shared
// memory, four elements at once for all threads, and no other thread has a part
// of the pool.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_KEPT_CUH
#define MNISTRT_CUDA_KERNELS_CONV_KEPT_CUH

#include "mnistrt/cuda/kernels/conv_columns.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// An operation is as in conv_columns.cuh.
template <typename T, shape::Windows W, shape::Columns t> struct KeptKernel {
  static constexpr int threads = t.threads;
  static constexpr int height = t.height, breadth = t.breadth;
  static constexpr int tall = shape::columnPixels(W, t);
  static constexpr int wide = shape::acrossPixels(W, breadth);
  static constexpr int taps = W.taps(), elements = W.channels * taps;
  static constexpr int row = shape::filterRow(W);

  struct Filters {
    alignas(16) T of[t.width][row];
  };

  /// The first result of a thread's pool.
  struct Spot {
    int image;
    Place at;
  };
  static MN_DEVICE Spot spotOf(int number) {
    constexpr int acrossImage = W.extent(1) / breadth;
    constexpr int downImage = (W.extent(0) + height - 1) / height;
    const int rest = number / acrossImage;
    return {rest / downImage,
            {rest % downImage * height, number % acrossImage * breadth, 0}};
  }
  T pixel[W.channels][tall][wide];

  template <typename Op> MN_DEVICE void load(const Op &op, const Spot &spot) {
    const Place pads = op.pads();
    const Place first = {spot.at.x0 * W.strides[0] - pads.x0,
                         spot.at.x1 * W.strides[1] - pads.x1, 0};
    const Index begin = op.pixelAt(spot.image, first);
#pragma unroll
    for (int c = 0; c < W.channels; ++c)
#pragma unroll
      for (int i = 0; i < tall; ++i)
#pragma unroll
        for (int j = 0; j < wide; ++j) {
          const bool inside = unsigned(first.x0 + i) < unsigned(W.in[0]) &&
                              unsigned(first.x1 + j) < unsigned(W.in[1]);
          const Index offset =
              op.pixelAt(0, Place{i, j, 0}) - op.pixelAt(0, Place{0, 0, 0});
          pixel[c][i][j] = inside ? op.loadPixel(begin + offset, c) : T(0);
        }
  }

  template <typename Op>
  static MN_DEVICE void stage(const Op &op, Filters &filters, int first) {
    for (int e = int(threadIdx.x); e < t.width * row; e += threads) {
      const int k = e % row, r = e / row;
      const bool inside =
          k < elements && (W.results % t.width == 0 || first + r < W.results);
      const T v = op.loadFilter(inside ? first + r : 0, inside ? k / taps : 0,
                                inside ? k % taps : 0);
      filters.of[r][k] = inside ? v : T(0);
    }
  }

  /// The sum of one window.
  MN_DEVICE T sumOf(const T (&weight)[row], int i, int j) const {
    T sum = T(0);
#pragma unroll
    for (int k = 0; k < elements; ++k) {
      const int tap = k % taps;
      const int down = tap / W.kernel[1], right = tap % W.kernel[1];
      sum += pixel[k / taps][i * W.strides[0] + down * W.dilations[0]]
                  [j * W.strides[1] + right * W.dilations[1]] *
             weight[k];
    }
    return sum;
  }

  /// The pool of one channel of the result.
  template <typename Op>
  MN_DEVICE void poolChannel(const Op &op, const Spot &spot, int result,
                             const T (&filter)[row]) const {
    T weight[row];
#pragma unroll
    for (int k = 0; k < row; ++k)
      weight[k] = filter[k];
    Pooled<T, W.pool.mean> pooled = {};
#pragma unroll
    for (int i = 0; i < height; ++i)
#pragma unroll
      for (int j = 0; j < breadth; ++j) {
        const Place at = {spot.at.x0 + i, spot.at.x1 + j, 0};
        const bool isResult = (W.out[0] % height == 0 || at.x0 < W.out[0]) &&
                              (W.out[1] % breadth == 0 || at.x1 < W.out[1]);
        if (isResult)
          pooled.seeNext(op.tile(spot.image, result, at, sumOf(weight, i, j)),
                         i * breadth + j);
      }
    op.storePool(spot.image, result,
                 Place{spot.at.x0 / height, spot.at.x1 / breadth, 0}, pooled);
  }

  /// `number`: of the block among those of its group.
  template <typename Op> static MN_DEVICE void run(const Op &op, int number) {
    gridDependencySync();
    __shared__ Filters filters;
    const int firstResult = number % int(t.across) * t.width;
    const int place = number / int(t.across) * threads + int(threadIdx.x);
    const bool isMine = place < int(t.columns);
    const Spot spot = spotOf(isMine ? place : 0);
    KeptKernel kernel;
    kernel.load(op, spot);
    stage(op, filters, firstResult);
    __syncthreads();
    if (!isMine)
      return;
#pragma unroll 2
    for (int r = 0; r < t.width; ++r)
      if (W.results % t.width == 0 || firstResult + r < W.results)
        kernel.poolChannel(op, spot, firstResult + r, filters.of[r]);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_KEPT_CUH
