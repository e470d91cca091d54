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

  /// A window of the pool, of a result.
  struct PoolSpot {
    int window, result; ///< the first window of the block, and a result of its
    Padded first;
    bool isThere;
  };
  /// Of channels first a thread has the same window of each result, and finds
  /// where it is once.
  static constexpr int lanes = shape::powerFrom(Tile::pools);
  static constexpr int spots = nchw ? lanes * share : Tile::pools * share;
  /// Then a window that is there has all results of the thread, where these are
  /// equally many for all.
  static constexpr bool hasAllResults =
      nchw && share % (threads / lanes) == 0 && W.results % t.width == 0;
  static MN_DEVICE PoolSpot poolSpot(const Tile &tile, int firstResult,
                                     int turn) {
    const int e = int(threadIdx.x) + turn * threads;
    const int pool = nchw ? int(threadIdx.x) % lanes : e / share;
    PoolSpot spot;
    spot.window = Tile::windowOf(pool);
    spot.result =
        nchw ? int(threadIdx.x) / lanes + turn * (threads / lanes) : e % share;
    spot.first = tile.window(spot.window);
    spot.isThere = pool < Tile::pools && Images::isWindow(spot.first) &&
                   (hasAllResults || (spot.result < share &&
                                      firstResult + spot.result < W.results));
    return spot;
  }
  template <typename Op, typename SumOf>
  static MN_DEVICE typename Images::Pool
  poolAt(const Op &op, const PoolSpot &spot, int firstResult,
         const SumOf &sumOf) {
    return Images::poolOf(
        op, spot.first, firstResult + spot.result, [&](int y, int x) {
          return sumOf(spot.window + y * Tile::rowApart + x, spot.result);
        });
  }
  /// A thread has several of them: where all are there, it computes all before
  /// it stores the first, so that what they load is loaded together.
  template <typename Op, typename SumOf>
  static MN_DEVICE void storePools(const Op &op, const Tile &tile,
                                   int firstResult, const SumOf &sumOf) {
    constexpr int each = shape::ceilDiv(spots, threads),
                  n = togetherOf(each, 4);
    if (hasAllResults && !poolSpot(tile, firstResult, 0).isThere)
      return;
#pragma unroll 1
    for (int turn = 0; turn < each; turn += n) {
      PoolSpot spot[n];
      bool allThere = true;
#pragma unroll
      for (int j = 0; j < n; ++j) {
        spot[j] = poolSpot(tile, firstResult, turn + j);
        allThere &= spot[j].isThere;
      }
      if (allThere) {
        typename Images::Pool pool[n];
#pragma unroll
        for (int j = 0; j < n; ++j)
          pool[j] = poolAt(op, spot[j], firstResult, sumOf);
#pragma unroll
        for (int j = 0; j < n; ++j)
          Images::storePool(op, spot[j].first, firstResult + spot[j].result,
                            pool[j]);
        continue;
      }
#pragma unroll 1
      for (int j = 0; j < n; ++j) {
        const PoolSpot one = poolSpot(tile, firstResult, turn + j);
        if (one.isThere)
          Images::storePool(op, one.first, firstResult + one.result,
                            poolAt(op, one, firstResult, sumOf));
      }
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
          place[2 * j + k] = placeIf(isThere, neighbourOf<2>(first, k));
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
    if constexpr (W.isPooled()) {
      storePools(op, tile, firstResult, sumOf);
    } else if constexpr (inPairs) {
      storePairs(op, tile, firstResult, sumOf);
    } else if constexpr (nchw) {
      // A thread has one window, and every second result.
      const int i = int(threadIdx.x) % windows;
      const Padded window = tile.window(i);
      storeEach<each>(
          op.f, int(threadIdx.x) / windows, 2, share,
          [&](int r) { return has(window, r); },
          [&](int r) { return place(window, r); },
          [&](int r, bool) {
            return sumOf(i, share % 2 == 0 ? r : r % share);
          });
    } else {
      const auto windowOf = [](int e) { return e / share % windows; };
      const auto paddedOf = [&](int e) { return tile.window(windowOf(e)); };
      storeEach<each>(
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
