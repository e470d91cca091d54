//===- product.cuh - the tiled product under all contractions ---*- C++ -*-===//
//
// Result (b, m, n) is the sum over k of a(b, m, k) b(b, n, k): matrix products,
// and convolutions and their gradients as implicit matrix products; what an
// operand is, its owner says. n is the direction in which results are adjacent.
//
// A block makes a tile, in a loop over k on the FMA units or the tensor cores;
// there groups of warps may have a slice of k each. Of few rows its threads
// share the sums. Few tiles with long sums are shared by several blocks
// (tile_parts.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_CUH

#include "mnistrt/cuda/kernels/product_dots.cuh"
#include "mnistrt/cuda/kernels/product_ffma.cuh"
#include "mnistrt/cuda/kernels/product_mma.cuh"
#include "mnistrt/cuda/kernels/tile_parts.cuh"

namespace mn {

namespace shape {
/// Multiply-adds from which on blocks are spread: with less to do they begin
/// sooner wherever there is room.
inline constexpr int64_t spreadWork = 1 << 23;

MN_SHAPE_FN LaunchShape product(const Product &p) {
  const Tiles t = tilesOf(p);
  return {static_cast<unsigned>(t.count * t.splits),
          static_cast<unsigned>(t.allThreads()),
          clusterOfParts(t.splits),
          sharedBytes(t),
          !t.dots,
          t.mma != Mma::ffma && p.batches * p.m * p.n * p.k >= spreadWork};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t>
struct ProductLoop {
  using Type = FfmaLoop<T, P, aAlongK, bAlongK, t>;
};
template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t>
  requires(t.dots)
struct ProductLoop<T, P, aAlongK, bAlongK, t> {
  using Type = DotsLoop<T, P, aAlongK, bAlongK, t>;
};
template <shape::Product P, bool aAlongK, bool bAlongK, shape::Tiles t>
  requires(t.mma != Mma::ffma)
struct ProductLoop<float, P, aAlongK, bAlongK, t> {
  using Type = MmaLoop<P, aAlongK, bAlongK, t>;
};

/// Operand: see product_operand.cuh. `alongK`: its neighbours in memory are
/// neighbours in k, else in row. Of `adjacent` columns from a multiple of that
/// on results are next to each other in memory, and all there or none.
template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          int adjacent = 1, shape::Tiles t = shape::tilesOf(P)>
struct ProductKernel {
  static_assert(P.schedule.tile[0] != 0 || t.dots,
                "a product without a schedule");
  using Loop = typename ProductLoop<T, P, aAlongK, bAlongK, t>::Type;
  static constexpr int threads = t.allThreads(), stride = Loop::stride;
  static constexpr int height = t.height(), width = t.width();
  static constexpr int m = int(P.m), n = int(P.n);
  using Share =
      TileShare<height * width, threads, t.splits,
                hasClusters && (Loop::inShared ||
                                height * stride * int(sizeof(T)) <= (40 << 10)),
                width % adjacent == 0 ? adjacent : 1>;
  static constexpr int cluster = Share::cluster;
  static constexpr int64_t count = P.batches * P.m * P.n;
  using Parts = typename Share::template Parts<T, count, t.count>;

  union Memory {
    typename Loop::Operands operands;
    T part[cluster != 1 || Loop::inShared ? height * stride : 1];
  };
  /// What FMA units read is declared, too, of which a kernel may have 48 kB.
  static constexpr bool sends =
      Share::template sends<T> &&
      (t.mma != Mma::ffma ||
       sizeof(Memory) + sizeof(typename Share::Sent) <= (44 << 10));

  /// Of the slices, one after the other.
  static MN_DEVICE Memory *sharedMemory() {
    if constexpr (t.mma != Mma::ffma) {
      static_assert(t.slices * sizeof(Memory) <= shape::sharedBytes(t));
      return reinterpret_cast<Memory *>(dynamicShared);
    } else {
      __shared__ __align__(16) Memory memory;
      return &memory;
    }
  }

  /// `results`: see results.cuh.
  template <typename A, typename B, typename Results>
  static MN_DEVICE void run(const A &a, const B &b, const Results &results,
                            Parts &parts) {
    if constexpr (sends)
      Share::beginToSend(int(blockIdx.x % t.splits));
    using F = typename Results::Functor;
    constexpr bool early = t.dots && LoadsEarly<F>;
    if constexpr (!early)
      gridDependencySyncOf<F>();
    Memory *memory = sharedMemory();
    const int split = int(blockIdx.x % t.splits);
    const int64_t tile = blockIdx.x / t.splits;
    const int m0 = int(tile % t.alongM) * height;
    const int n0 = int(tile / t.alongM % t.alongN) * width;
    const int batch = int(tile / (t.alongM * t.alongN));
    int slice = 0;
    if constexpr (t.slices != 1)
      slice = Loop::slice();
    constexpr int share = int(shape::sliceOfK(P, t));
    const int kBegin = (split * t.slices + slice) * share;
    const int kLast = kBegin + share < P.k ? kBegin + share : int(P.k);
    const int kEnd = kLast < kBegin ? kBegin : kLast;

    Loop loop;
    if constexpr (t.dots)
      loop.loadB(b, batch, n0, kBegin, kEnd);
    if constexpr (early)
      gridDependencySyncOf<F>();
    loop.run(a, b, batch, m0, n0, kBegin, kEnd, memory[slice].operands,
             memory[slice].part, [] { afterLastLoads<F>(); });

    if constexpr (t.splits == 1 && !Loop::inShared)
      loop.store(results, batch, m0, n0, m, n);
    else
      joinParts(loop, memory->part, {batch, m0, n0}, tile, split, parts,
                results);
  }

private:
  struct Corner {
    int batch, m0, n0;
  };

  /// Stores a tile, or adds up the parts of the blocks that share it.
  template <typename Results>
  static MN_DEVICE void joinParts(Loop &loop, T *mine, Corner at, int64_t tile,
                                  int split, Parts &parts,
                                  const Results &results) {
    // Without signs a division by a power of two is a shift.
    const auto rowOf = [&](unsigned e) { return at.m0 + int(e / width); };
    const auto columnOf = [&](unsigned e) { return at.n0 + int(e % width); };
    const auto isInTile = [&](int e) {
      return rowOf(e) < m && columnOf(e) < n;
    };
    const auto has = [&](int e) {
      return isInTile(e) && results.has(at.batch, rowOf(e), columnOf(e));
    };
    const auto place = [&](int e) {
      return results.place(at.batch, rowOf(e), columnOf(e));
    };
    const auto inPart = [](unsigned e) {
      return int(e / width * stride + e % width);
    };
    constexpr int apart = int(sizeof(Memory) / sizeof(T));
    if constexpr (cluster != 1 || t.splits == 1) {
      if constexpr (!Loop::inShared)
        loop.visit([&](int e, T v) { mine[inPart(e)] = v; });
      if constexpr (sends) {
        if constexpr (!Loop::inShared)
          __syncthreads();
        Share::template storeSent<t.slices, apart>(results.f, mine, split,
                                                   inPart, has, place);
      } else {
        Share::template storeCluster<t.slices, apart>(results.f, mine, split,
                                                      inPart, has, place);
      }
    } else {
      const auto part = [&](int which, int e) -> T & {
        return parts.part[which * count +
                          (int64_t(at.batch) * m + at.m0 + e / width) * n +
                          at.n0 + e % width];
      };
      if constexpr (Loop::inShared)
        Share::eachOfTile(isInTile, [&](int e) {
          part(split, e) = sumsOfSlices<t.slices, apart>(mine + inPart(e)).v[0];
        });
      else
        loop.visit([&](int e, T v) {
          if (isInTile(e))
            part(split, e) = v;
        });
      if constexpr (!Share::later)
        Share::template storeAsLast<T>(results.f, &parts.ticket[tile], part,
                                       has, place);
    }
  }

public:
  /// What the other kernel does, if there are many parts.
  template <typename Results>
  static MN_DEVICE void addParts(const Results &results, const Parts &parts) {
    if constexpr (Share::later)
      storeAllParts<T, count, t.splits>(
          results.f, parts.part,
          [&](int64_t e) {
            return results.has(batchOf(e), rowOf(e), columnOf(e));
          },
          [&](int64_t e) {
            return results.place(batchOf(e), rowOf(e), columnOf(e));
          });
  }

private:
  static MN_DEVICE int batchOf(int64_t e) { return int(e / (P.m * P.n)); }
  static MN_DEVICE int rowOf(int64_t e) { return int(e / P.n % P.m); }
  static MN_DEVICE int columnOf(int64_t e) { return int(e % P.n); }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_CUH
