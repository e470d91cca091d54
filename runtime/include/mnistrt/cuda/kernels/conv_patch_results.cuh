//===- conv_patch_results.cuh - results of patches are stored ---*- C++ -*-===//
//
// From sums in shared memory: of channels first a thread has windows next to
// each other, two where they are so in every row; of a pool its windows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_RESULTS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_RESULTS_CUH

#include "mnistrt/cuda/kernels/conv_patch_tile.cuh"
#include "mnistrt/cuda/kernels/conv_patch_turns.cuh"
#include "mnistrt/cuda/kernels/results.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// For operations, see conv_patch.cuh. sumOf(window, result) gives a sum of the
/// block.
template <shape::Windows W, shape::Patch t, bool nchw> struct PatchResults {
  static constexpr int threads = t.threads, windows = t.windows;
  static constexpr int split = splitOf(t);
  using Tile = PatchTile<W, t>;
  using Images = typename Tile::Images;
  using Padded = typename Images::Padded;

  /// Of the channels of results that blocks share each stores so many.
  static constexpr int share = t.width / split;
  static constexpr int each = shape::ceilDiv(windows * share, threads);

  template <typename Op, typename SumOf>
  static MN_DEVICE typename Images::Pool
  poolAt(const Op &op, const Padded &first, int window, int firstResult,
         int result, const SumOf &sumOf) {
    return Images::poolOf(op, first, firstResult + result, [&](int y, int x) {
      return sumOf(window + y * Tile::rowApart + x, result);
    });
  }

  /// Of channels first a thread has one window of the pool, of some results:
  /// it computes several before it stores the first of these, so that what they
  /// load is loaded together.
  template <typename Op, typename SumOf>
  static MN_DEVICE void storePoolsOfChannels(const Op &op, const Tile &tile,
                                             int firstResult,
                                             const SumOf &sumOf) {
    constexpr int lanes = shape::powerFrom(Tile::pools);
    constexpr int step = threads / lanes, turns = shape::ceilDiv(share, step);
    constexpr int n = togetherOf(turns, 4);
    constexpr bool allThere = share % step == 0 && W.results % t.width == 0;
    const int pool = int(threadIdx.x) % lanes, window = Tile::windowOf(pool);
    const Padded first = tile.window(window);
    if (pool >= Tile::pools || !Images::isWindow(first))
      return;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn += n) {
      const auto resultOf = [&](int j) {
        return int(threadIdx.x) / lanes + (turn + j) * step;
      };
      const auto isThere = [&](int result) {
        return allThere || (result < share && firstResult + result < W.results);
      };
      typename Images::Pool pools[n];
#pragma unroll
      for (int j = 0; j < n; ++j)
        if (const int result = resultOf(j); isThere(result))
          pools[j] = poolAt(op, first, window, firstResult, result, sumOf);
#pragma unroll
      for (int j = 0; j < n; ++j)
        if (const int result = resultOf(j); isThere(result))
          Images::storePool(op, first, firstResult + result, pools[j]);
    }
  }

  /// Of channels last neighbours have the same window of neighbouring results.
  template <typename Op, typename SumOf>
  static MN_DEVICE void storePools(const Op &op, const Tile &tile,
                                   int firstResult, const SumOf &sumOf) {
#pragma unroll 1
    for (int e = int(threadIdx.x); e < Tile::pools * share; e += threads) {
      const int window = Tile::windowOf(e / share), result = e % share;
      const Padded first = tile.window(window);
      if (Images::isWindow(first) && firstResult + result < W.results)
        Images::storePool(
            op, first, firstResult + result,
            poolAt(op, first, window, firstResult, result, sumOf));
    }
  }

  /// Whether windows number 2 n and 2 n + 1 of a block are neighbours of one
  /// row of results, or neither is there: a thread stores both at once.
  static constexpr bool inPairs = nchw && !W.isPooled() && W.spatial == 2 &&
                                  W.phaseCount() == 1 && W.out[1] % 2 == 0 &&
                                  (t.squares || W.covered(1) % 2 == 0);
  template <typename Op, typename SumOf>
  static MN_DEVICE void storePairs(const Op &op, const Tile &tile,
                                   int firstResult, const SumOf &sumOf) {
    constexpr int pairs = windows / 2, step = threads / pairs;
    constexpr int turns = shape::ceilDiv(share, step), n = togetherOf(turns, 8);
    const int i = int(threadIdx.x) % pairs * 2;
    const Padded window = tile.window(i);
    if (!Images::isWindow(window))
      return;
    const auto f = withAlignedTensors(op.f);
#pragma unroll 1
    for (int turn = 0; turn < turns; turn += n) {
      typename Op::ResultIndex place[2 * n];
      float sum[2 * n];
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const int r = int(threadIdx.x) / pairs + (turn + j) * step;
        const bool isThere = r < share && firstResult + r < W.results;
        const int result = share % step == 0 ? r : shape::min(r, share - 1);
        const auto first = op.place(
            window.image, firstResult + (isThere ? result : 0), window.at);
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          place[2 * j + k] = placeIf(isThere, first.ofPair(k));
          sum[2 * j + k] = sumOf(i + k, result);
        }
      }
      storeResults<2>(f, place, sum);
    }
  }

  template <typename Op, typename SumOf>
  static MN_DEVICE void store(const Op &op, const Tile &tile, int firstResult,
                              const SumOf &sumOf) {
    const auto has = [&](const Padded &window, int result) {
      return Images::isWindow(window) && op.has(window.at) &&
             firstResult + result < W.results;
    };
    const auto place = [&](const Padded &window, int result) {
      return op.place(window.image, firstResult + result, window.at);
    };
    if constexpr (W.isPooled() && nchw) {
      storePoolsOfChannels(op, tile, firstResult, sumOf);
    } else if constexpr (W.isPooled()) {
      storePools(op, tile, firstResult, sumOf);
    } else if constexpr (inPairs) {
      storePairs(op, tile, firstResult, sumOf);
    } else if constexpr (nchw) {
      // A thread has one window, and every second result.
      const int i = int(threadIdx.x) % windows;
      const Padded window = tile.window(i);
      storeEach<each, split != 1>(
          op.f, int(threadIdx.x) / windows, 2, share,
          [&](int r) { return has(window, r); },
          [&](int r) { return place(window, r); },
          [&](int r, bool) {
            return sumOf(i, share % 2 == 0 ? r : r % share);
          });
    } else {
      const auto windowOf = [](int e) { return e / share % windows; };
      const auto paddedOf = [&](int e) { return tile.window(windowOf(e)); };
      storeEach<each, split != 1>(
          op.f, int(threadIdx.x), threads, windows * share,
          [&](int e) { return has(paddedOf(e), e % share); },
          [&](int e) { return place(paddedOf(e), e % share); },
          [&](int e, bool) { return sumOf(windowOf(e), e % share); });
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_RESULTS_CUH
