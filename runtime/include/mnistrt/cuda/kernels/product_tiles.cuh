//===- product_tiles.cuh - how a product is cut into tiles ------*- C++ -*-===//
//
// Sizes, the tiles of blocks, and how many blocks share the sums of one, as the
// plan says.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_TILES_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_TILES_CUH

#include "mnistrt/cuda/launch.h"

namespace mn {

namespace shape {

/// The sizes of a product: `batches` of m x n results, each a sum of k.
struct Product {
  int64_t batches = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  ProductSchedule schedule = {};
};

struct Tiles {
  Mma mma = Mma::ffma;
  int rows = 8;    ///< of a thread, on tensor cores of a warp
  int columns = 4; ///< likewise
  int warps = 8;   ///< of a block, one above the other
  int across = 1;  ///< so many next to each other
  int depth = 16;  ///< of k at a time
  int splits = 1;  ///< blocks that share a tile
  /// Groups of so many warps in a block, each of which sums a slice of k.
  int slices = 1;
  /// All threads of a block have parts of the sums of its rows and columns.
  bool dots = false;
  int64_t alongM = 1;
  int64_t alongN = 1;
  int64_t count = 1;

  MN_SHAPE_FN int height() const { return dots ? rows : rows * warps; }
  MN_SHAPE_FN int width() const {
    return (dots ? 1 : mma == Mma::ffma ? 32 : across) * columns;
  }
  /// Of a slice, and of a block.
  MN_SHAPE_FN int threads() const { return 32 * warps * across; }
  MN_SHAPE_FN int allThreads() const { return slices * threads(); }
};

MN_SHAPE_FN Tiles counted(Tiles t, const Product &p) {
  t.alongM = ceilDiv<int64_t>(p.m, t.height());
  t.alongN = ceilDiv<int64_t>(p.n, t.width());
  t.count = t.alongM * t.alongN * p.batches;
  return t;
}

MN_SHAPE_FN Tiles dotsTiles(const Product &p, int columns, int warps) {
  Tiles t;
  t.rows = int(p.m);
  t.columns = columns;
  t.warps = warps;
  t.depth = 4; // vectors stay whole
  t.dots = true;
  return counted(t, p);
}

/// Of a tile: each waits at a barrier of its own, of which a block has 16.
inline constexpr int mostSlices = 8;

/// What a schedule says.
MN_SHAPE_FN Tiles tilesOf(const Product &p) {
  const ProductSchedule &s = p.schedule;
  Tiles t;
  if (s.way == Way::dots) {
    t = dotsTiles(p, s.width, s.warps[0]);
    t.splits = s.split;
    return t;
  }
  t.mma = s.mma;
  t.warps = s.warps[0];
  t.across = s.warps[1];
  t.rows = s.tile[0] / t.warps;
  t.columns = s.tile[1] / (s.mma == Mma::ffma ? 32 : t.across);
  t.depth = s.tile[2];
  t.splits = s.split;
  t.slices = s.slices;
  return counted(t, p);
}

/// Terms of each of the blocks that share a tile, and of each of their slices;
/// the last ones may have fewer.
MN_SHAPE_FN int64_t sliceOfK(const Product &p, const Tiles &t) {
  return ceilDiv<int64_t>(p.k, int64_t(t.splits) * t.slices * t.depth) *
         t.depth;
}
MN_SHAPE_FN int64_t shareOfK(const Product &p, const Tiles &t) {
  return t.slices * sliceOfK(p, t);
}

/// Tiles of which warps have 16 rows each, or 16 columns: a warpgroup's wgmma
/// multiplies them on a GPU that has it, mma.sync elsewhere.
MN_SHAPE_FN bool isWgmmaSize(int n) {
  return n == 16 || n == 32 || n == 64 || n == 128;
}
MN_SHAPE_FN bool hasWgmmaRows(const Tiles &t) {
  return t.mma != Mma::ffma && t.rows == 16 && t.warps % 4 == 0 &&
         t.across == 1 && isWgmmaSize(t.columns);
}
MN_SHAPE_FN bool hasWgmmaColumns(const Tiles &t) {
  return t.mma != Mma::ffma && t.columns == 16 && t.across % 4 == 0 &&
         t.warps == 1 && isWgmmaSize(t.rows);
}
MN_SHAPE_FN bool isForWgmma(const Tiles &t) {
  return hasWgmmaRows(t) || hasWgmmaColumns(t);
}

/// Parts that a number is split into in shared memory.
MN_SHAPE_FN int halves(const Tiles &t) {
  return t.mma == Mma::tf32x3 && isForWgmma(t) ? 2 : 1;
}

/// Where wgmma reads bf16 in lines along rows: so many lines of 16 bytes follow
/// each other, one for each place along k and one that nobody reads.
MN_SHAPE_FN int lineLength(const Tiles &t) { return t.depth + 1; }

/// Words of 16 bytes of one operand, in either order.
MN_SHAPE_FN int wordsOf(const Tiles &t, int size) {
  const int chunks = t.depth / (t.mma == Mma::bf16 ? 8 : 4);
  const int words = halves(t) * chunks * (size + 1);
  return t.mma == Mma::bf16 && isForWgmma(t)
             ? max(words, size / 8 * lineLength(t))
             : words;
}

/// Bytes of shared memory of a tile on tensor cores: of each slice two copies
/// of the operands, later the results.
MN_SHAPE_FN unsigned sharedBytes(const Tiles &t) {
  if (t.mma == Mma::ffma)
    return 0;
  const int words = wordsOf(t, t.height()) + wordsOf(t, t.width());
  const int operands = 2 * words * 16;
  const int results = t.height() * (t.width() + 8) * 4;
  return static_cast<unsigned>(t.slices * max(operands, results));
}

/// Numbers that tensor cores read of one.
MN_SHAPE_FN int partsOf(Mma mma) { return mma == Mma::tf32x3 ? 2 : 1; }

/// Terms after which tensor cores' sums are added to others: they are cut off,
/// by about as much as the sum has terms. What tf32x3 leaves is under 1e-6; of
/// others about 3e-5, where rounding an operand is up to 5e-4.
MN_SHAPE_FN int keptTerms(Mma mma) { return mma == Mma::tf32x3 ? 64 : 4096; }

/// Turns whose operands are on their way while another is multiplied: two where
/// there are many, or a thread has few registers then, and a multiprocessor has
/// registers for as many blocks as with one.
MN_SHAPE_FN int turnsAhead(const Product &p, const Tiles &t, bool moves) {
  const int loads = (t.height() + t.width()) * t.depth / t.threads();
  const int sums = t.height() * t.width() / t.threads() * (moves ? 2 : 1);
  const int64_t turns = sliceOfK(p, t) / t.depth;
  const int64_t blocks = ceilDiv<int64_t>(t.count * t.splits, referenceSms);
  const auto resident = [&](int ahead) {
    return min<int64_t>(blocks,
                        65536 / ((sums + ahead * loads + 32) * t.allThreads()));
  };
  const bool pays = turns >= 8 || (turns >= 2 && sums + 2 * loads <= 64);
  return pays && resident(2) >= resident(1) ? 2 : 1;
}

/// What a block may have on any GPU with tensor cores that know tf32, less what
/// kernels declare.
inline constexpr unsigned smallestShared = 97 << 10;

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_TILES_CUH
