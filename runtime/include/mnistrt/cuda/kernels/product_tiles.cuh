//===- product_tiles.cuh - how a product is cut into tiles ------*- C++ -*-===//
//
// Sizes, the tiles of blocks, and how many blocks share the sums of one: the
// choice that takes the fewest cycles by a model of a large GPU.
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
  int64_t alongM = 1;
  int64_t alongN = 1;
  int64_t count = 1;

  MN_SHAPE_FN int height() const { return rows * warps; }
  MN_SHAPE_FN int width() const {
    return (mma == Mma::ffma ? 32 : across) * columns;
  }
  MN_SHAPE_FN int threads() const { return 32 * warps * across; }
};

MN_SHAPE_FN Tiles counted(Tiles t, const Product &p) {
  t.alongM = ceilDiv<int64_t>(p.m, t.height());
  t.alongN = ceilDiv<int64_t>(p.n, t.width());
  t.count = t.alongM * t.alongN * p.batches;
  return t;
}

/// What a schedule says.
MN_SHAPE_FN Tiles tilesOf(const Product &p, const ProductSchedule &s) {
  Tiles t;
  t.mma = s.mma;
  t.warps = s.warps[0];
  t.across = s.warps[1];
  t.rows = s.tile[0] / t.warps;
  t.columns = s.tile[1] / (s.mma == Mma::ffma ? 32 : t.across);
  t.depth = s.tile[2];
  t.splits = s.split;
  return counted(t, p);
}

MN_SHAPE_FN Tiles tiles(const Product &p, int rows, int columns, int warps) {
  Tiles t;
  t.rows = rows;
  t.columns = columns;
  t.warps = warps;
  t.depth = int(max<int64_t>(1, min<int64_t>(p.k, 16)));
  return counted(t, p);
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
  // Blocks of a cluster read each other's parts at about 32 bytes a cycle, and
  // those of the last cluster what the others left in memory.
  const int64_t results = int64_t(t.height()) * t.width();
  const int cluster = clusterOf(t.splits), groups = t.splits / cluster;
  int64_t together = cluster > 1 ? 900 + results / 8 : 0;
  if (groups > 1)
    together += 3000 + groups * results / cluster / 16;
  return turns * (latency + issue) + together;
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

/// Bytes of shared memory of a tile on tensor cores: two copies of the
/// operands, later the results.
MN_SHAPE_FN unsigned sharedBytes(const Tiles &t) {
  if (t.mma == Mma::ffma)
    return 0;
  const int chunks = t.depth / (t.mma == Mma::bf16 ? 8 : 4);
  const int operands =
      2 * halves(t) * chunks * (t.height() + 1 + t.width() + 1) * 16;
  const int results = t.height() * (t.width() + 8) * 4;
  return static_cast<unsigned>(max(operands, results));
}

/// Terms after which tensor cores' sums are added to others: they are cut off,
/// by about as much as the sum has terms. What tf32x3 leaves is under 1e-6.
MN_SHAPE_FN int keptTerms(Mma mma) { return mma == Mma::tf32x3 ? 64 : 256; }

/// Tiles for the tensor cores; `depth` is of tf32, and half of what bf16 has.
MN_SHAPE_FN Tiles mmaTiles(const Product &p, int height, int width, int depth,
                           int warps, int across) {
  const int step = p.schedule.mma == Mma::bf16 ? 16 : 8;
  depth *= step / 8;
  while (depth > step && depth / 2 >= p.k)
    depth /= 2;
  return tilesOf(p, {p.schedule.mma, {height, width, depth}, {warps, across}});
}

/// As cycles(), of tiles on tensor cores: fitted to 874 times of 27 products on
/// one H100, where what it chose took 1.05 times as long as the best. What
/// clusters and spilled registers cost was then changed, by 112 times of three
/// gradients of filters.
MN_SHAPE_FN int64_t mmaCycles(const Product &p, const Tiles &t) {
  const bool wgmma = isForWgmma(t), x3 = t.mma == Mma::tf32x3;
  const double threads = t.threads(), warps = threads / 128; // of a scheduler
  const double results = t.height() * t.width() / threads;
  const int step = t.mma == Mma::bf16 ? 16 : 8;
  const int loads = ceilDiv((t.height() + t.width()) * t.depth, t.threads());
  // In a turn a scheduler issues for all its warps, the tensor cores multiply,
  // and the next tiles arrive.
  const double products =
      double(t.rows / 16) * (t.columns / 8) * (t.depth / step) * (x3 ? 3 : 1);
  double issue = 75 + 19 * loads, tensor = products * 5.5 * warps;
  if (wgmma) {
    issue += x3 ? 11 * loads : 0;
    tensor = double(t.height()) * t.width() * t.depth / step / 128 *
             (x3 ? 3 : 1) * 1.45;
  } else {
    issue += products +
             (t.rows + t.columns) / 16 * (t.depth / step) * (x3 ? 14.4 : 2.0);
  }
  issue *= warps;
  const double registers = min(255.0, 2 * results + 0.27 * loads + 60);
  const int64_t resident =
      max<int64_t>(1, min<int64_t>(16, int64_t(65536 / threads / registers)));
  // Clusters do not fill a GPU, large ones even less with one block an SM.
  const int cluster = clusterOf(t.splits), groups = t.splits / cluster;
  const int sms = cluster <= 2                    ? referenceSms
                  : cluster <= 4 || resident >= 2 ? 120
                                                  : 108;
  const int64_t blocks = ceilDiv<int64_t>(t.count * t.splits, sms);
  // What does not fit into registers is in memory.
  if (2 * results + loads + 60 > 230)
    issue *= 2;
  const auto turn = [&](double together) {
    return max(1100.0, together * max(issue, tensor)) +
           0.73 * together * min(issue, tensor);
  };
  double all = double(blocks / resident) * turn(double(resident));
  if (blocks % resident != 0)
    all += turn(double(blocks % resident));
  all *= double(ceilDiv<int64_t>(p.k, int64_t(t.splits) * t.depth));
  all += 83 * results * double(blocks);
  if (cluster > 1)
    all += 150 + 53 * results;
  if (groups > 1)
    all += 5000 + 20 * results * groups / cluster;
  return int64_t(all);
}

/// Whether so many blocks may share a tile: parts of 32 at least, and no more
/// blocks than run at once.
MN_SHAPE_FN bool maySplit(const Product &p, const Tiles &t, int splits) {
  return splits == 1 ||
         (p.k >= 32 * int64_t(splits) && t.count * splits <= 4 * referenceSms);
}

/// What a block may have on any GPU with tensor cores that know tf32, less what
/// kernels declare.
inline constexpr unsigned smallestShared = 97 << 10;

MN_SHAPE_FN Tiles mmaTiles(const Product &p) {
  // Height, width, depth, warps, and so many next to each other.
  constexpr int sizes[][5] = {
      {64, 32, 32, 4, 1},   {64, 64, 32, 4, 1},   {64, 128, 16, 4, 1},
      {64, 128, 32, 4, 1},  {128, 64, 16, 8, 1},  {128, 128, 16, 8, 1},
      {128, 128, 32, 8, 1}, {16, 64, 32, 1, 4},   {32, 64, 32, 1, 4},
      {64, 64, 32, 1, 4},   {32, 128, 16, 1, 8},  {32, 128, 32, 1, 8},
      {64, 128, 16, 1, 8},  {128, 64, 16, 1, 4},  {128, 128, 16, 1, 8},
      {64, 64, 32, 2, 2},   {128, 128, 16, 2, 4}, {32, 64, 32, 2, 2},
      {32, 32, 32, 2, 2},   {64, 16, 32, 4, 1},   {16, 16, 16, 1, 1}};
  Tiles best = mmaTiles(p, 16, 16, 16, 1, 1);
  int64_t fewest = mmaCycles(p, best);
  for (const auto &size : sizes)
    for (int splits = 1; splits <= 256;
         splits = splits < largestCluster    ? splits + 1
                  : splits == largestCluster ? 2 * splits
                  : splits % 3 == 0          ? splits / 3 * 4
                                             : splits / 2 * 3) {
      Tiles t = mmaTiles(p, size[0], size[1], size[2], size[3], size[4]);
      if (sharedBytes(t) > smallestShared || !maySplit(p, t, splits))
        break;
      t.splits = splits;
      const int64_t needed = mmaCycles(p, t);
      if (needed < fewest) {
        fewest = needed;
        best = t;
      }
    }
  return best;
}

/// The tiles that take the fewest cycles.
MN_SHAPE_FN Tiles tiles(const Product &p) {
  if (p.schedule.tile[0] != 0)
    return tilesOf(p, p.schedule);
  if (p.schedule.mma != Mma::ffma)
    return mmaTiles(p);
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
      if (!maySplit(p, t, splits))
        break;
      t.splits = splits;
      const int64_t needed = cycles(p, t);
      if (needed < fewest) {
        fewest = needed;
        best = t;
      }
    }
  return best;
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_TILES_CUH
