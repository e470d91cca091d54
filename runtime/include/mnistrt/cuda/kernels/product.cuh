//===- product.cuh - the tiled product under all contractions ---*- C++ -*-===//
//
// store(b, m, n, sum over k of a(b, m, k) b(b, n, k)): matrix products, and
// convolutions and their gradients as implicit matrix products; what an operand
// is, its owner says. n is the direction in which results are adjacent.
//
// A block makes a tile, in a loop over k on the FMA units or the tensor cores.
// Few tiles with long sums are shared by several blocks (common.cuh); those of
// a cluster each make a share of the tile from all their parts.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_CUH

#include "mnistrt/cuda/kernels/product_ffma.cuh"
#include "mnistrt/cuda/kernels/product_mma.cuh"

namespace mn {

namespace shape {
MN_SHAPE_FN LaunchShape product(const Product &p) {
  const Tiles t = tiles(p);
  return {static_cast<unsigned>(t.count * t.splits),
          static_cast<unsigned>(t.threads()), clusterOf(t.splits),
          sharedBytes(t)};
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
          shape::Tiles t = shape::tiles(P)>
struct ProductKernel {
  using Loop = typename ProductLoop<T, P, aAlongK, bAlongK, t>::Type;
  static constexpr int threads = t.threads(), stride = Loop::stride;
  static constexpr int height = t.height(), width = t.width();
  static constexpr int m = int(P.m), n = int(P.n);
  static constexpr bool byCluster =
      hasClusters && t.splits > 1 && t.splits <= shape::largestCluster &&
      (Loop::inShared || height * stride * int(sizeof(T)) <= (40 << 10));
  static constexpr bool byTicket = t.splits > 1 && !byCluster;
  using Parts =
      Scratch<T, byTicket ? (long long)(t.splits *P.batches *P.m *P.n) : 1,
              byTicket ? int(t.count) : 1>;

  union Memory {
    typename Loop::Operands operands;
    T part[byCluster || Loop::inShared ? height * stride : 1];
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

    if constexpr (byCluster) {
      if constexpr (!Loop::inShared)
        loop.visit(memory.part, 0, 0, height, width,
                   [&](int row, int column, T v) {
                     memory.part[row * stride + column] = v;
                   });
      clusterSync();
      constexpr int each = (height * width + t.splits - 1) / t.splits;
#pragma unroll
      for (int i = 0; i < (each + threads - 1) / threads; ++i) {
        const int e = split * each + i * threads + int(threadIdx.x);
        const int row = e / width, column = e % width;
        if (i * threads + int(threadIdx.x) >= each || e >= height * width ||
            m0 + row >= m || n0 + column >= n)
          continue;
        T v = T(0);
#pragma unroll
        for (int which = 0; which < t.splits; ++which)
          v += inBlock(memory.part, which)[row * stride + column];
        store(batch, m0 + row, n0 + column, v);
      }
      clusterSync();
      return;
    }
    if constexpr (byTicket) {
      const auto part = [&](int which, int row, int column) -> T & {
        return parts.part[((which * P.batches + batch) * m + row) * n + column];
      };
      loop.visit(memory.part, m0, n0, m, n, [&](int row, int column, T v) {
        part(split, row, column) = v;
      });
      if (!lastToArrive(&parts.ticket[tile], t.splits))
        return;
      loop.visit(memory.part, m0, n0, m, n, [](int, int, T &v) { v = T(0); });
      // All of a thread's results of one part at a time: their loads are
      // independent, and the code is short.
#pragma unroll 1
      for (int which = 0; which < t.splits; ++which)
        loop.visit(memory.part, m0, n0, m, n, [&](int row, int column, T &v) {
          v += part(which, row, column);
        });
    }
    loop.visit(memory.part, m0, n0, m, n,
               [&](int row, int column, T v) { store(batch, row, column, v); });
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_CUH
