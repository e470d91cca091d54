//===- conv_filter_grad_few.cuh - gradients of few weights ------*- C++ -*-===//
//
// The gradient of a filter with few weights an output channel, as the first
// one of a network has: a tile of a matrix product would stay mostly empty.
// Lanes are along pixels; a thread keeps the sums of all weights of some output
// channels. These are added over lanes, warps, then blocks, in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH
#define MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"

namespace mn {

namespace shape {

/// `splits` blocks share the pixels of `channels` output channels of a group.
struct FewWeights {
  int weights = 1;  ///< of an output channel
  int channels = 1; ///< output channels of a thread
  int along = 1;    ///< so many of these in a group
  int splits = 1;
  int64_t tiles = 1;

  static constexpr int threads = 256;
  static constexpr int registers = 64; ///< of a thread, for sums
};

/// Weights of an output channel.
MN_SHAPE_FN int64_t weightsOf(const Conv &s) {
  return int64_t(s.inChannels / s.groups) * taps(s);
}

/// What a schedule says.
MN_SHAPE_FN FewWeights fewWeights(const Conv &s) {
  FewWeights few = {int(weightsOf(s)), s.schedule.channels};
  few.along = ceilDiv(s.outChannels / s.groups, few.channels);
  few.splits = s.schedule.split;
  few.tiles = int64_t(s.groups) * few.along;
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

  /// Adds the products of one pixel.
  template <typename F>
  static MN_DEVICE void addPixel(const F &f, T (&sum)[count], int group,
                                 int channel, int pixel) {
    const int n = pixel / G::pixelsOut;
    const Place out = G::outPlace(pixel % G::pixelsOut);
    T grad[channels];
#pragma unroll
    for (int j = 0; j < channels; ++j) {
      const int c = shape::min(channel + j, G::outChannels - 1);
      grad[j] = f.loadOutputGrad(G::output(n, group * G::outChannels + c, out));
    }
#pragma unroll
    for (int w = 0; w < weights; ++w) {
      Place in;
      const bool inside = G::reads(out, G::tapPlace(w % G::taps), in);
      const T v = f.loadInput(
          inside ? G::input(n, group * G::inChannels + w / G::taps, in)
                 : Index(0));
#pragma unroll
      for (int j = 0; j < channels; ++j)
        sum[j * weights + w] += grad[j] * (inside ? v : T(0));
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
    constexpr int pixels = S.batch * G::pixelsOut;
    T sum[count];
#pragma unroll
    for (int i = 0; i < count; ++i)
      sum[i] = T(0);
#pragma unroll 2
    for (int pixel = split * t.threads + int(threadIdx.x); pixel < pixels;
         pixel += t.splits * t.threads)
      addPixel(f, sum, group, channel, pixel);

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
      f.store(Index(group * G::outChannels + c) * weights +
                  int(threadIdx.x) % weights,
              v);
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH
