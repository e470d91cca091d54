//===- product.cuh - the tiled product under all contractions ---*- C++ -*-===//
//
// store(b, m, n, sum over k of a(b, m, k) b(b, n, k)): matrix products, and
// convolutions and their gradients as implicit matrix products; what an operand
// is, its owner says. n is the direction in which results are adjacent.
//
// A block makes a tile, in a loop over k on the FMA units or the tensor cores.
// Few tiles with long sums are shared by several blocks: those of a cluster
// each make a share of the tile from all their parts, and clusters leave their
// parts in memory for the last of them (common.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_CUH

#include "mnistrt/cuda/kernels/product_ffma.cuh"
#include "mnistrt/cuda/kernels/product_mma.cuh"

namespace mn {

namespace shape {
MN_SHAPE_FN LaunchShape product(const Product &p) {
  const Tiles t = tilesOf(p);
  return {static_cast<unsigned>(t.count * t.splits),
          static_cast<unsigned>(t.threads()),
          static_cast<unsigned>(clusterOf(t.splits)), sharedBytes(t)};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t>
struct ProductLoop {
  using Type = FfmaLoop<T, P, aAlongK, bAlongK, t>;
};
template <shape::Product P, bool aAlongK, bool bAlongK, shape::Tiles t>
  requires(t.mma != Mma::ffma)
struct ProductLoop<float, P, aAlongK, bAlongK, t> {
  using Type = MmaLoop<P, aAlongK, bAlongK, t>;
};

/// Operand: see product_operand.cuh. `alongK`: its neighbours in memory are
/// neighbours in k, else in row.
template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t = shape::tilesOf(P)>
struct ProductKernel {
  static_assert(P.schedule.tile[0] != 0, "a product without a schedule");
  using Loop = typename ProductLoop<T, P, aAlongK, bAlongK, t>::Type;
  static constexpr int threads = t.threads(), stride = Loop::stride;
  static constexpr int height = t.height(), width = t.width();
  static constexpr int m = int(P.m), n = int(P.n);
  static constexpr int cluster =
      hasClusters &&
              (Loop::inShared || height * stride * int(sizeof(T)) <= (40 << 10))
          ? shape::clusterOf(t.splits)
          : 1;
  /// Parts of a result once the blocks of a cluster have added up theirs.
  static constexpr int groups = t.splits / cluster;
  using Parts =
      Scratch<T, groups != 1 ? (long long)(groups *P.batches *P.m *P.n) : 1,
              groups != 1 ? int(t.count *cluster) : 1>;

  union Memory {
    typename Loop::Operands operands;
    T part[cluster != 1 || Loop::inShared ? height * stride : 1];
  };

  static MN_DEVICE Memory *sharedMemory() {
    if constexpr (Loop::inShared) {
      static_assert(sizeof(Memory) <= shape::sharedBytes(t));
      return reinterpret_cast<Memory *>(dynamicShared);
    } else {
      __shared__ __align__(16) Memory memory;
      return &memory;
    }
  }

  template <typename A, typename B, typename Store>
  static MN_DEVICE void run(const A &a, const B &b, const Store &store,
                            Parts &parts) {
    gridDependencySync();
    Memory &memory = *sharedMemory();
    const int split = int(blockIdx.x % t.splits);
    const int64_t tile = blockIdx.x / t.splits;
    const int m0 = int(tile % t.alongM) * height;
    const int n0 = int(tile / t.alongM % t.alongN) * width;
    const int batch = int(tile / (t.alongM * t.alongN));
    constexpr int share =
        int((P.k + int64_t(t.splits) * t.depth - 1) / (t.splits * t.depth)) *
        t.depth;
    const int kBegin = split * share;
    const int kLast = kBegin + share < P.k ? kBegin + share : int(P.k);
    const int kEnd = kLast < kBegin ? kBegin : kLast;

    Loop loop;
    loop.run(a, b, batch, m0, n0, kBegin, kEnd, memory.operands, memory.part);

    if constexpr (t.splits == 1)
      loop.visit(memory.part, m0, n0, m, n, [&](int row, int column, T v) {
        store(batch, row, column, v);
      });
    else
      joinParts(loop, memory.part, {batch, m0, n0}, tile, split, parts,
                [&](int row, int column, T v) {
                  store(batch, m0 + row, n0 + column, v);
                });
  }

private:
  struct Corner {
    int batch, m0, n0;
  };

  /// use(row, column) for this block's share of a tile's results, of which each
  /// block of a cluster has one.
  template <typename Use>
  static MN_DEVICE void eachOfShare(Corner at, int rank, const Use &use) {
    constexpr int each = (height * width + cluster - 1) / cluster;
    constexpr int turns = (each + threads - 1) / threads;
#pragma unroll(cluster == 1 ? 4 : turns)
    for (int i = 0; i < turns; ++i) {
      const int inShare = i * threads + int(threadIdx.x);
      const int e = rank * each + inShare;
      const int row = e / width, column = e % width;
      if (inShare < each && e < height * width && at.m0 + row < m &&
          at.n0 + column < n)
        use(row, column);
    }
  }

  /// Adds up the parts of the blocks of a cluster, then those of the clusters,
  /// each in its order; the last cluster to arrive stores.
  template <typename Store>
  static MN_DEVICE void joinParts(Loop &loop, T *mine, Corner at, int64_t tile,
                                  int split, Parts &parts, const Store &store) {
    const int rank = split % cluster, group = split / cluster;
    const auto part = [&](int which, int row, int column) -> T & {
      return parts.part[((which * P.batches + at.batch) * m + at.m0 + row) * n +
                        at.n0 + column];
    };
    if constexpr (cluster != 1) {
      if constexpr (!Loop::inShared)
        loop.visit(mine, 0, 0, height, width, [&](int row, int column, T v) {
          mine[row * stride + column] = v;
        });
      clusterSync();
      eachOfShare(at, rank, [&](int row, int column) {
        T v = T(0);
#pragma unroll
        for (int which = 0; which < cluster; ++which)
          v += inBlock(mine, which)[row * stride + column];
        if constexpr (groups == 1)
          store(row, column, v);
        else
          part(group, row, column) = v;
      });
      clusterSync();
    } else {
      loop.visit(
          mine, 0, 0, m - at.m0, n - at.n0,
          [&](int row, int column, T v) { part(group, row, column) = v; });
    }
    if constexpr (groups != 1) {
      if (!lastToArrive(&parts.ticket[tile * cluster + rank], groups))
        return;
      eachOfShare(at, rank, [&](int row, int column) {
        T v = T(0);
#pragma unroll 8
        for (int which = 0; which < groups; ++which)
          v += part(which, row, column);
        store(row, column, v);
      });
    }
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_CUH
