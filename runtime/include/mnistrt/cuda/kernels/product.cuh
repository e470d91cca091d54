//===- product.cuh - the tiled product under all contractions ---*- C++ -*-===//
//
// store(b, m, n, sum over k of a(b, m, k) b(b, n, k)): matrix products, and
// convolutions and their gradients as implicit matrix products; what an operand
// is, its owner says. n is the direction in which results are adjacent.
//
// A block makes a tile; the lanes of a warp are along n, each with `columns`
// results 32 apart in each of `rows` rows: its loads of a are broadcasts, those
// of b without bank conflicts, and stores are coalesced. Few tiles with long
// sums are shared by several blocks (common.cuh); those of a cluster each make
// a share of the tile from all their parts.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_CUH

#include "mnistrt/cuda/kernels/common.cuh"

namespace mn {

namespace shape {

/// The sizes of a product: `batches` of m x n results, each a sum of k.
struct Product {
  int64_t batches = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
};

struct Tiles {
  int rows = 8;    ///< of a thread
  int columns = 4; ///< of a thread
  int warps = 8;   ///< of a block, one above the other
  int depth = 16;  ///< of k at a time
  int splits = 1;  ///< blocks that share a tile
  int64_t alongM = 1;
  int64_t alongN = 1;
  int64_t count = 1;

  MN_SHAPE_FN int height() const { return rows * warps; }
  MN_SHAPE_FN int width() const { return 32 * columns; }
  MN_SHAPE_FN int threads() const { return 32 * warps; }
};

MN_SHAPE_FN Tiles tiles(const Product &p, int rows, int columns, int warps) {
  Tiles t;
  t.rows = rows;
  t.columns = columns;
  t.warps = warps;
  t.depth = int(max<int64_t>(1, min<int64_t>(p.k, 16)));
  t.alongM = ceilDiv<int64_t>(p.m, t.height());
  t.alongN = ceilDiv<int64_t>(p.n, t.width());
  t.count = t.alongM * t.alongN * p.batches;
  return t;
}

/// About how many clock cycles a product takes with tiles `t` on a large GPU,
/// beyond what any takes: in each turn loads arrive and a multiprocessor issues
/// what its blocks have to do; then the parts of sums are put together.
MN_SHAPE_FN int64_t cycles(const Product &p, const Tiles &t) {
  const int64_t loads =
      ceilDiv((t.height() + t.width()) * t.depth, t.threads());
  const int64_t products = int64_t(t.depth) * t.rows * t.columns;
  const int64_t shared = int64_t(t.depth) * (ceilDiv(t.rows, 4) + t.columns);
  const int64_t instructions = 12 * loads + products + shared;
  const int64_t turns = ceilDiv<int64_t>(p.k, int64_t(t.splits) * t.depth);
  const int64_t blocks = ceilDiv<int64_t>(t.count * t.splits, referenceSms);
  const int64_t registers = t.rows * t.columns + loads + 48;
  const int64_t resident =
      max<int64_t>(1, min<int64_t>(16, 65536 / (registers * t.threads())));
  // A single warp issues every other cycle at best.
  const int64_t issue =
      max(blocks * t.warps * max(instructions, 4 * shared) * 3 / 8,
          2 * instructions);
  // While one block waits, another multiplies.
  const int64_t latency = ceilDiv(blocks, resident) * (blocks > 1 ? 500 : 700);
  // Blocks of a cluster read each other's parts at about 32 bytes a cycle; else
  // one block reads all of a tile.
  const int64_t results = int64_t(t.height()) * t.width();
  int64_t together = 0;
  if (t.splits > largestCluster)
    together = 3000 + t.splits * results / 16;
  else if (t.splits > 1)
    together = 900 + results / 8;
  return turns * (latency + issue) + together;
}

/// The tiles that take the fewest cycles.
MN_SHAPE_FN Tiles tiles(const Product &p) {
  constexpr int sizes[][3] = {{8, 4, 8}, {8, 4, 4}, {8, 4, 2}, {8, 2, 8},
                              {8, 2, 4}, {8, 2, 2}, {4, 2, 8}, {4, 1, 8},
                              {8, 1, 4}, {8, 1, 2}, {4, 4, 2}, {4, 2, 4},
                              {4, 1, 4}, {4, 1, 2}, {2, 4, 2}, {2, 1, 2},
                              {1, 4, 1}, {1, 2, 1}, {1, 1, 1}};
  Tiles best = tiles(p, 1, 1, 1);
  int64_t fewest = cycles(p, best);
  for (const auto &size : sizes)
    for (int splits = 1; splits <= 256;
         splits += splits < largestCluster ? 1 : splits) {
      Tiles t = tiles(p, size[0], size[1], size[2]);
      t.splits = splits;
      // Parts of 32 at least, and no more blocks than run at once.
      if (splits > 1 &&
          (p.k < 32 * int64_t(splits) || t.count * splits > 4 * referenceSms))
        break;
      const int64_t needed = cycles(p, t);
      if (needed < fewest) {
        fewest = needed;
        best = t;
      }
    }
  return best;
}

MN_SHAPE_FN LaunchShape product(const Product &p) {
  const Tiles t = tiles(p);
  return {static_cast<unsigned>(t.count * t.splits),
          static_cast<unsigned>(t.threads()), clusterOf(t.splits)};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// Operand: `T operator()(int batch, int row, int k) const`. `alongK`: its
/// neighbours in memory are neighbours in k, else in row.
template <typename T, shape::Product P, bool aAlongK, bool bAlongK,
          shape::Tiles t = shape::tiles(P)>
struct ProductKernel {
  static constexpr int rows = t.rows, columns = t.columns, depth = t.depth;
  static constexpr int threads = t.threads();
  static constexpr int height = t.height(), width = t.width();
  static constexpr int aEach = (height * depth + threads - 1) / threads;
  static constexpr int bEach = (width * depth + threads - 1) / threads;
  static constexpr int m = int(P.m), n = int(P.n);
  static constexpr bool byCluster = hasClusters && t.splits > 1 &&
                                    t.splits <=
                                        shape::largestCluster &&height *width *
                                            sizeof(T) <=
                                        40 << 10;
  static constexpr bool byTicket = t.splits > 1 && !byCluster;
  using Parts =
      Scratch<T, byTicket ? (long long)(t.splits *P.batches *P.m *P.n) : 1,
              byTicket ? int(t.count) : 1>;

  /// Rows start on 16 bytes, and one row's end is not the next one's bank.
  struct Operands {
    T a[depth][height + (height % 4 ? 1 : 4)];
    T b[depth][width + 1];
  };
  union Memory {
    Operands operands;
    T part[byCluster ? height * width : 1];
  };

  /// Which element of `size` rows and `depth` of k a thread brings, its `j`th:
  /// neighbours along k come in runs of 16, so that all of a thread's are at
  /// constant distances.
  template <int size, bool alongK> struct TileElement {
    static constexpr int run = depth % 16 == 0 ? 16 : depth;
    int row, k;
    bool inTile;
    MN_DEVICE explicit TileElement(int j) {
      const int e = int(threadIdx.x) + j * threads;
      row = alongK ? e / run % size : e % size;
      k = alongK ? e / (run * size) * run + e % run : e / size;
      inTile = size * depth % threads == 0 || e < size * depth;
    }
  };

  /// What is outside the operand is 0.
  template <int size, int extent>
  static MN_DEVICE bool isInside(int row, int k, int kEnd) {
    constexpr bool rowFits = extent % size == 0;
    constexpr bool kFits = P.k % (t.splits * depth) == 0;
    return (rowFits || row < extent) && (kFits || k < kEnd);
  }

  /// Loads without branches and without a look at what comes, so that many are
  /// on their way at once: for what is outside, something inside.
  template <int size, int extent, bool alongK, int each, typename Load>
  static MN_DEVICE void loadGlobal(T (&to)[each], const Load &load, int batch,
                                   int first, int k0, int kEnd) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const TileElement<size, alongK> at(j);
      const int row = first + at.row, k = k0 + at.k;
      const bool inside = at.inTile && isInside<size, extent>(row, k, kEnd);
      to[j] = load(batch, inside ? row : first, inside ? k : k0);
    }
  }

  template <int size, int extent, bool alongK, int each, int stride>
  static MN_DEVICE void storeShared(T (&to)[depth][stride],
                                    const T (&from)[each], int first, int k0,
                                    int kEnd) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const TileElement<size, alongK> at(j);
      if (at.inTile)
        to[at.k][at.row] =
            isInside<size, extent>(first + at.row, k0 + at.k, kEnd) ? from[j]
                                                                    : T(0);
    }
  }

  template <int aStride, int bStride>
  static MN_DEVICE void multiply(T (&sum)[rows][columns],
                                 const T (&aTile)[depth][aStride],
                                 const T (&bTile)[depth][bStride]) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      T x[rows], y[columns];
#pragma unroll
      for (int i = 0; i < rows; ++i)
        x[i] = aTile[k][warp * rows + i];
#pragma unroll
      for (int j = 0; j < columns; ++j)
        y[j] = bTile[k][lane + 32 * j];
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j)
          sum[i][j] += x[i] * y[j];
    }
  }

  /// visit(row, column, result) for the results of this thread.
  template <typename Visit>
  static MN_DEVICE void visit(T (&sum)[rows][columns], int m0, int n0, int mEnd,
                              int nEnd, const Visit &visitor) {
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j) {
        const int row = m0 + int(threadIdx.x) / 32 * rows + i;
        const int column = n0 + int(threadIdx.x) % 32 + 32 * j;
        if (row < mEnd && column < nEnd)
          visitor(row, column, sum[i][j]);
      }
  }

  template <typename A, typename B, typename Store>
  static MN_DEVICE void run(const A &a, const B &b, const Store &store,
                            Parts &parts) {
    gridDependencySync();
    __shared__ __align__(16) Memory memory;
    auto &aTile = memory.operands.a;
    auto &bTile = memory.operands.b;
    const int split = int(blockIdx.x % t.splits);
    const int64_t tile = blockIdx.x / t.splits;
    const int m0 = int(tile % t.alongM) * height;
    const int n0 = int(tile / t.alongM % t.alongN) * width;
    const int batch = int(tile / (t.alongM * t.alongN));
    constexpr int share =
        int((P.k + int64_t(t.splits) * depth - 1) / (t.splits * depth)) * depth;
    const int kBegin = split * share;
    const int kLast = kBegin + share < P.k ? kBegin + share : int(P.k);
    const int kEnd = kLast < kBegin ? kBegin : kLast;

    T sum[rows][columns];
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int j = 0; j < columns; ++j)
        sum[i][j] = T(0);

    // The next tiles are on their way while these are multiplied; the last turn
    // only multiplies.
    T aNext[aEach], bNext[bEach];
    for (int k0 = kBegin; k0 < kEnd + depth; k0 += depth) {
      if (k0 < kEnd) {
        loadGlobal<height, m, aAlongK>(aNext, a, batch, m0, k0, kEnd);
        loadGlobal<width, n, bAlongK>(bNext, b, batch, n0, k0, kEnd);
      }
      if (k0 > kBegin)
        multiply(sum, aTile, bTile);
      __syncthreads();
      storeShared<height, m, aAlongK>(aTile, aNext, m0, k0, kEnd);
      storeShared<width, n, bAlongK>(bTile, bNext, n0, k0, kEnd);
      __syncthreads();
    }

    if constexpr (byCluster) {
      visit(sum, 0, 0, height, width, [&](int row, int column, T v) {
        memory.part[row * width + column] = v;
      });
      clusterSync();
      constexpr int each = (height * width + t.splits - 1) / t.splits;
#pragma unroll
      for (int i = 0; i < (each + threads - 1) / threads; ++i) {
        const int e = split * each + i * threads + int(threadIdx.x);
        const int row = m0 + e / width, column = n0 + e % width;
        if (i * threads + int(threadIdx.x) >= each || e >= height * width ||
            row >= m || column >= n)
          continue;
        T v = T(0);
#pragma unroll
        for (int which = 0; which < t.splits; ++which)
          v += inBlock(memory.part, which)[e];
        store(batch, row, column, v);
      }
      clusterSync();
      return;
    }
    if constexpr (byTicket) {
      const auto part = [&](int which, int row, int column) -> T & {
        return parts.part[((which * P.batches + batch) * m + row) * n + column];
      };
      visit(sum, m0, n0, m, n,
            [&](int row, int column, T v) { part(split, row, column) = v; });
      if (!lastToArrive(&parts.ticket[tile], t.splits))
        return;
      visit(sum, m0, n0, m, n, [&](int row, int column, T &v) {
        v = T(0);
        for (int which = 0; which < t.splits; ++which)
          v += part(which, row, column);
      });
    }
    visit(sum, m0, n0, m, n,
          [&](int row, int column, T v) { store(batch, row, column, v); });
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_CUH
