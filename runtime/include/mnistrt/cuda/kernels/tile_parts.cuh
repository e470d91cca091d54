//===- tile_parts.cuh - sums that several blocks have parts of --*- C++ -*-===//
//
// Blocks that share a tile of sums put it together from all their parts: a few
// form a cluster, where each makes a share of the tile, which the others send
// it their parts of, or it reads them; or, on a GPU without clusters, they
// leave their parts in memory for the last of them. Many leave them
// for another kernel, whose blocks are spread over the whole GPU. All add up in
// one order.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_TILE_PARTS_CUH
#define MNISTRT_CUDA_KERNELS_TILE_PARTS_CUH

#include "mnistrt/cuda/kernels/results.cuh"

namespace mn {

namespace shape {

/// Whether another kernel adds up the parts of `splits` blocks.
MN_SHAPE_FN bool addsLater(int splits) { return splits > largestCluster; }
MN_SHAPE_FN unsigned clusterOfParts(int splits) {
  return addsLater(splits) ? 1 : unsigned(splits);
}

/// What it takes, with loads and stores of parts, in clock cycles: near the
/// 196 times of one H100, and more where parts are few, since others wait.
MN_SHAPE_FN int64_t laterCycles(int splits, int64_t results) {
  return addsLater(splits) ? 3000 + results * splits / referenceSms * 7 / 20
                           : 0;
}

/// The kernel that adds up parts of `results` sums.
inline constexpr int warpsOfSums = 8;
MN_SHAPE_FN LaunchShape partSums(int64_t results) {
  return {static_cast<unsigned>(ceilDiv<int64_t>(results, 32)),
          32 * warpsOfSums};
}

} // namespace shape

#ifdef __CUDACC__

#define MN_PARTS_KERNELS(NAME, F, SHAPE, ...)                                  \
  __device__ __VA_ARGS__::Parts NAME##_parts;                                  \
  MN_GLOBAL_CLUSTERS(SHAPE)                                                    \
  NAME(const __grid_constant__ F f MN_TIMES_ARGUMENT) {                        \
    MN_RECORD_TIMES                                                            \
    __VA_ARGS__::run(f, NAME##_parts);                                         \
  }                                                                            \
  MN_GLOBAL(32 * mn::shape::warpsOfSums)                                       \
  NAME##_sums(const __grid_constant__ F f MN_TIMES_ARGUMENT) {                 \
    MN_RECORD_TIMES                                                            \
    __VA_ARGS__::addParts(f, NAME##_parts);                                    \
  }

namespace device {

/// What kernels have whose blocks share no sums, or which add them up alone.
struct NoLaterSums {
  template <typename F, typename Parts>
  static MN_DEVICE void addParts(const F &, const Parts &) {}
};

/// The sums of what slices of k have, so many numbers apart, of neighbours.
template <int slices, int apart, int m = 1, typename T>
MN_DEVICE Sums<T, m> sumsOfSlices(const T *first) {
  const auto at = [&](int slice) {
    return *reinterpret_cast<const Sums<T, m> *>(first + slice * apart);
  };
  Sums<T, m> all = at(0);
#pragma unroll
  for (int slice = 1; slice < slices; ++slice)
    all += at(slice);
  return all;
}

/// A tile of `results` that `splits` blocks of so many threads share.
/// `clustered`: they are a cluster, if they are few. Of `adjacent` results from
/// a multiple of that on all are there or none is (results.cuh).
template <int results, int threads, int splits, bool clustered,
          int adjacent = 1>
struct TileShare {
  static constexpr bool later = shape::addsLater(splits);
  static constexpr int cluster = clustered && !later ? splits : 1;
  static constexpr int each = (results + cluster - 1) / cluster;
  /// What a thread stores at a time.
  static constexpr int together =
      each % (adjacent * threads) == 0 ? adjacent : 1;
  static constexpr int atOnce = together * threads; ///< of a block
  static constexpr int turns = (each + atOnce - 1) / atOnce;

  /// Scratch memory where `all` results of `tiles` tiles have parts.
  template <typename T, int64_t all, int64_t tiles>
  using Parts = Scratch<T, cluster == splits ? 1 : all * splits,
                        cluster == splits || later ? 1 : int(tiles)>;

  /// use(e) for the results of a tile that there are.
  template <typename Has, typename Use>
  static MN_DEVICE void eachOfTile(const Has &has, const Use &use) {
#pragma unroll 4
    for (int e = int(threadIdx.x); e < results; e += threads)
      if (has(e))
        use(e);
  }

  /// A number of the tile, which a thread's last ones may not be.
  static MN_DEVICE int inTile(int e) {
    return each % threads == 0 ? e : shape::min(e, results - 1);
  }

  /// Stores a share of the results: has(e), place(e) and sums(e, has).
  template <typename F, typename Has, typename Place, typename SumsOf>
  static MN_DEVICE void storeShare(const F &f, int rank, const Has &has,
                                   const Place &place, const SumsOf &sums) {
    const int begin = rank * each;
    storeGroups<turns, together>(together == 1 ? f : withAlignedTensors(f),
                                 begin + together * int(threadIdx.x), atOnce,
                                 shape::min(begin + each, results), has, place,
                                 sums);
  }

  /// Whether blocks send their parts of sums to the one that adds them up, into
  /// memory that it has for them: one way, where to read them takes a barrier
  /// before it and one after it.
  template <typename T>
  static constexpr bool sends =
      cluster != 1 && sizeof(T) == 4 && results * int(sizeof(T)) <= (16 << 10);
  struct Sent {
    alignas(16) uint32_t word[cluster][each];
    uint64_t barrier;
  };
  static MN_DEVICE Sent &sent() {
    __shared__ Sent sent;
    return sent;
  }
  /// Before storeSent(), and before other kernels have ended.
  static MN_DEVICE void beginToSend(int rank) {
    if (threadIdx.x == 0) {
      const int share = shape::min(each, results - rank * each);
      expectWords(&sent().barrier,
                  unsigned((cluster - 1) * shape::max(share, 0)));
    }
    clusterStart();
  }
  /// As storeCluster(); what is at `mine` the block's threads have waited for.
  template <int slices, int apart, typename F, typename T, typename At,
            typename Has, typename Place>
  static MN_DEVICE void storeSent(const F &f, const T *mine, int rank,
                                  const At &at, const Has &has,
                                  const Place &place) {
    Sent &all = sent();
    const auto own = [&](int e) {
      return sumsOfSlices<slices, apart>(mine + at(e)).v[0];
    };
    clusterWait(); // until the others run
#pragma unroll 4
    for (int e = int(threadIdx.x); e < results; e += threads)
      if (const int to = e / each; to != rank)
        sendWord(&all.word[rank][e % each], &all.barrier, to,
                 __float_as_uint(own(e)));
    waitForWords(&all.barrier);
    storeShare(f, rank, has, place, [&](int e, bool) {
      const int number = shape::max(0, shape::min(e - rank * each, each - 1));
      Sums<T, together> v = {};
#pragma unroll
      for (int which = 0; which < cluster; ++which)
        v += which == rank
                 ? sumsOfSlices<slices, apart, together>(mine + at(inTile(e)))
                 : sumsOfSlices<1, 0, together>(
                       reinterpret_cast<const T *>(&all.word[which][number]));
      return v;
    });
  }

  /// Stores results from the sums of a tile, which blocks of a cluster have
  /// parts of, and these slices: the first at mine[at(e)].
  template <int slices = 1, int apart = 0, typename F, typename T, typename At,
            typename Has, typename Place>
  static MN_DEVICE void storeCluster(const F &f, const T *mine, int rank,
                                     const At &at, const Has &has,
                                     const Place &place) {
    if constexpr (cluster != 1)
      clusterSync();
    storeShare(f, rank, has, place, [&](int e, bool) {
      Sums<T, together> v = {};
#pragma unroll
      for (int which = 0; which < cluster; ++which)
        v += sumsOfSlices<slices, apart, together>(
            (cluster != 1 ? inBlock(mine, which) : mine) + at(inTile(e)));
      return v;
    });
    if constexpr (cluster != 1)
      clusterSync();
  }

  /// The last block adds up what each left in part(which, e).
  template <typename T, typename F, typename Part, typename Has, typename Place>
  static MN_DEVICE void storeAsLast(const F &f, unsigned *ticket,
                                    const Part &part, const Has &has,
                                    const Place &place) {
    if (!lastToArrive(ticket, splits))
      return;
    storeShare(f, 0, has, place, [&](int e, bool is) {
      Sums<T, together> v = {};
#pragma unroll
      for (int which = 0; which < splits; ++which)
        v += sumsOfSlices<1, 0, together>(&part(which, is ? e : 0));
      return v;
    });
  }
};

/// Stores at place(e), if has(e), from the sum of part[which * results + e]: a
/// warp adds up some of the parts of 32 neighbours, then their sums are added.
template <typename T, int64_t results, int splits, typename F, typename Has,
          typename Place>
MN_DEVICE void storeAllParts(const F &f, const T *part, const Has &has,
                             const Place &place) {
  constexpr int warps = shape::warpsOfSums;
  constexpr int each = (splits + warps - 1) / warps;
  __shared__ T sums[warps][32];
  gridDependencySync();
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int64_t e = int64_t(blockIdx.x) * 32 + lane;
  T v = T(0);
  if (e < results)
#pragma unroll 16
    for (int i = 0; i < each; ++i)
      if (const int which = warp * each + i; which < splits)
        v += part[which * results + e];
  sums[warp][lane] = v;
  __syncthreads();
  if (warp != 0 || e >= results)
    return;
#pragma unroll
  for (int other = 1; other < warps; ++other)
    v += sums[other][lane];
  if (has(e))
    storeResult(f, place(e), v);
}

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_TILE_PARTS_CUH
