//===- conv_filter_grad_few.cuh - gradients of few weights ------*- C++ -*-===//
//
// The gradient of a filter with few weights an output channel, as the first
// one of a network has: a tile of a matrix product would stay mostly empty.
// A thread has short columns of the output's gradient, with neighbours beside
// it, loads the pixels that their windows cover once, and keeps the sums of all
// weights of some output channels. These are added over lanes, warps, then
// blocks, in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH
#define MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH

#include "mnistrt/cuda/kernels/conv_columns.cuh"

namespace mn {

namespace shape {

/// `splits` blocks share the pixels of `channels` output channels of a group.
struct FewWeights {
  int weights = 1;  ///< of an output channel
  int channels = 1; ///< output channels of a thread
  int along = 1;    ///< so many of these in a group
  int splits = 1;
  int64_t tiles = 1;
  Columns columns = {}; ///< of pixels, that a thread has one by one

  static constexpr int threads = 256;
  static constexpr int mostWeights = 64;
  static constexpr int registers = 72; ///< of a thread, for sums
};

/// Weights of an output channel.
MN_SHAPE_FN int64_t weightsOf(const Conv &s) {
  return int64_t(s.inChannels / s.groups) * taps(s);
}

/// What a thread has of images at a time. In one dimension neighbours are
/// along it, and nothing is below.
MN_SHAPE_FN Windows windowsOfFew(const Conv &s) {
  Windows w = windowsOf(s);
  if (w.spatial > 1)
    return w;
  w.spatial = 2;
  const auto swap = [](int(&sizes)[3]) {
    const int first = sizes[0];
    sizes[0] = sizes[1], sizes[1] = first;
  };
  swap(w.in), swap(w.out), swap(w.kernel), swap(w.pads);
  swap(w.strides), swap(w.dilations);
  return w;
}
/// As many windows as leave few of a column's empty.
MN_SHAPE_FN int heightOfFew(const Windows &w) {
  const int out = w.out[columnAlong(w)];
  int best = 1;
  for (int height = 2; height <= 4; ++height)
    if (ceilDiv(out, height) * height * 8 <= out * 9)
      best = height;
  return best;
}

/// What a schedule says.
MN_SHAPE_FN FewWeights fewWeights(const Conv &s) {
  FewWeights few = {int(weightsOf(s)), s.schedule.channels};
  few.along = ceilDiv(s.outChannels / s.groups, few.channels);
  few.splits = s.schedule.split;
  few.tiles = int64_t(s.groups) * few.along;
  const Windows w = windowsOfFew(s);
  few.columns = counted(Columns{heightOfFew(w)}, w);
  return few;
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

template <typename T, Conv S> struct FewWeightsKernel {
  using G = ConvGeometry<S>;
  static constexpr shape::FewWeights t = shape::fewWeights(S);
  static constexpr int weights = t.weights, channels = t.channels;
  static constexpr int count = channels * weights;
  static constexpr int warps = t.threads / 32;
  static constexpr int teams = t.threads / count;
  using Parts = Scratch<T, t.splits == 1 ? 1 : t.tiles * t.splits * count,
                        t.splits == 1 ? 1 : int(t.tiles)>;

  static constexpr shape::Windows W = shape::windowsOfFew(S);
  using Column = ColumnKernel<T, W, t.columns>;

  /// In one dimension rows and columns are exchanged.
  static MN_DEVICE Place turned(Place at) {
    return S.spatial == 1 ? Place{at.x1, at.x0, 0} : at;
  }
  template <typename F> struct Pixels {
    const F &f;
    int group;
    static MN_DEVICE Place pads() { return {W.pads[0], W.pads[1], W.pads[2]}; }
    MN_DEVICE Index pixelAt(int image, Place at) const {
      return G::input(image, group * G::inChannels, turned(at));
    }
    MN_DEVICE T loadPixel(Index pixel, int channel) const {
      return f.loadInput(pixel + G::input(0, channel, Place{0, 0, 0}));
    }
  };

  /// Adds the products of one column.
  template <typename F>
  static MN_DEVICE void addColumn(const F &f, T (&sum)[count], int group,
                                  int channel, int number) {
    constexpr int height = Column::height, y = Column::y;
    const auto column = Column::columnOf(number);
    T grad[channels][height];
#pragma unroll
    for (int j = 0; j < channels; ++j) {
      const int c = shape::min(channel + j, G::outChannels - 1);
      const Index first = G::output(column.image, group * G::outChannels + c,
                                    turned(column.at));
#pragma unroll
      for (int i = 0; i < height; ++i) {
        const bool inside = W.out[y] % height == 0 ||
                            Column::along(column.at, y) + i < W.out[y];
        const Place apart = turned(Column::below(Place{0, 0, 0}, i));
        grad[j][i] =
            inside ? T(f.loadOutputGrad(first + G::output(0, 0, apart))) : T(0);
      }
    }
    const Pixels<F> pixels = {f, group};
    const typename Column::Reach reach(pixels, column);
#pragma unroll
    for (int c = 0; c < G::inChannels; ++c)
#pragma unroll
      for (int before = 0; before < Column::outside; ++before)
#pragma unroll
        for (int across = 0; across < Column::across; ++across) {
          T pixel[Column::pixels];
#pragma unroll
          for (int i = 0; i < Column::pixels; ++i)
            pixel[i] = reach.load(pixels, c, before, across, i);
#pragma unroll
          for (int row = 0; row < Column::rows; ++row)
#pragma unroll
            for (int j = 0; j < channels; ++j)
#pragma unroll
              for (int i = 0; i < height; ++i)
                sum[j * weights + c * G::taps +
                    Column::tapNumber(before, row, across)] +=
                    grad[j][i] * pixel[i * W.strides[y] + row * W.dilations[y]];
        }
  }

  /// The block's sums, in its first `count` threads.
  static MN_DEVICE T sumBlock(T (&sum)[count]) {
    __shared__ T ofWarps[warps][count];
    int first = 0, have = count;
    sumOverLanes<16>(sum, first, have);
#pragma unroll
    for (int i = 0; i < (count + 31) / 32; ++i)
      if (i < have)
        ofWarps[threadIdx.x / 32][first + i] = sum[i];
    __syncthreads();
    T v = T(0);
    if (threadIdx.x < count)
#pragma unroll
      for (int warp = 0; warp < warps; ++warp)
        v += ofWarps[warp][threadIdx.x];
    return v;
  }

  /// The sums of all blocks of a tile, likewise.
  static MN_DEVICE T sumParts(const T *part) {
    __shared__ T ofTeams[teams][count];
    const int team = int(threadIdx.x) / count, i = int(threadIdx.x) % count;
    T v = T(0);
    if (team < teams) {
#pragma unroll 8
      for (int split = team; split < t.splits; split += teams)
        v += part[split * count + i];
      ofTeams[team][i] = v;
    }
    __syncthreads();
    v = T(0);
    if (team == 0)
#pragma unroll
      for (int other = 0; other < teams; ++other)
        v += ofTeams[other][i];
    return v;
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    gridDependencySync();
    const int split = int(blockIdx.x % t.splits);
    const int tile = int(blockIdx.x / t.splits);
    const int group = tile / t.along, channel = tile % t.along * channels;
    constexpr int columns = int(t.columns.columns);
    T sum[count];
#pragma unroll
    for (int i = 0; i < count; ++i)
      sum[i] = T(0);
#pragma unroll 1
    for (int column = split * t.threads + int(threadIdx.x); column < columns;
         column += t.splits * t.threads)
      addColumn(f, sum, group, channel, column);

    T v = sumBlock(sum);
    if constexpr (t.splits > 1) {
      T *part = parts.part + int64_t(tile) * t.splits * count;
      if (threadIdx.x < count)
        part[split * count + int(threadIdx.x)] = v;
      if (!lastToArrive(&parts.ticket[tile], t.splits))
        return;
      v = sumParts(part);
    }
    const int c = channel + int(threadIdx.x) / weights;
    if (threadIdx.x < count && c < G::outChannels)
      storeResult(f,
                  Index(group * G::outChannels + c) * weights +
                      int(threadIdx.x) % weights,
                  v);
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH
