//===- product_choice.cuh - which tiles a product should have ---*- C++ -*-===//
//
// Those that take the fewest cycles by a model of a large GPU. For the
// compiler, which writes them into the plan; kernels obey.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_CHOICE_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_CHOICE_CUH

#include "mnistrt/cuda/kernels/product_tiles.cuh"
#include "mnistrt/cuda/kernels/tile_parts.cuh"

namespace mn {

namespace shape {

/// Whether so many blocks may share a tile: parts of 32 at least, and no more
/// blocks than run at once.
MN_SHAPE_FN bool maySplit(const Product &p, const Tiles &t, int splits) {
  const int64_t parts = int64_t(splits) * t.slices;
  return parts == 1 ||
         (p.k >= 32 * parts && t.count * parts <= 4 * referenceSms);
}

MN_SHAPE_FN Tiles ffmaTiles(const Product &p, int rows, int columns,
                            int warps) {
  Tiles t;
  t.rows = rows;
  t.columns = columns;
  t.warps = warps;
  t.depth = int(max<int64_t>(1, min<int64_t>(p.k, 16)));
  return counted(t, p);
}

/// About how many clock cycles a product takes with tiles `t` on a large GPU,
/// beyond what any takes: in each turn loads arrive and a multiprocessor issues
/// what its blocks have to do; then the parts of sums are put together. What
/// clusters cost is by 96 times of 16 products on one H100, where what it
/// chooses takes 1.06 times as long as the best in the mean and at most 1.45
/// times.
MN_SHAPE_FN int64_t ffmaCycles(const Product &p, const Tiles &t) {
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
  // Blocks of a cluster start together, wait for each other, and read each
  // other's parts at about 32 bytes a cycle.
  const int64_t results = int64_t(t.height()) * t.width();
  const int64_t together = clusterOfParts(t.splits) > 1
                               ? 2300 + results / 8
                               : laterCycles(t.splits, p.batches * p.m * p.n);
  return turns * (latency + issue) + together;
}

/// Tiles for the tensor cores; `depth` is of tf32, and half of what bf16 has.
MN_SHAPE_FN Tiles mmaTiles(const Product &p, int height, int width, int depth,
                           int warps, int across) {
  const int step = p.schedule.mma == Mma::bf16 ? 16 : 8;
  depth *= step / 8;
  while (depth > step && depth / 2 >= p.k)
    depth /= 2;
  return tilesOf({p.batches,
                  p.m,
                  p.n,
                  p.k,
                  {p.schedule.mma, {height, width, depth}, {warps, across}}});
}

/// As ffmaCycles(), of tiles on tensor cores: fitted to 614 times of 59
/// products (of 49 sizes) on one H100, less 2700 cycles that any took. Of what
/// was timed of a product it chooses what takes 1.07 times as long as the best
/// in the mean and at most 1.37 times; with two thirds of the sizes fitted and
/// the others judged 1.07 and 1.38 times. It errs by 17 % (the root of the mean
/// square); all with parts that another kernel adds up counted as less than
/// laterCycles() does now. How operands lie in memory, and how many blocks
/// registers leave room for, made no choice better. A slice counts as a block
/// that is on the same multiprocessor.
MN_SHAPE_FN int64_t mmaCycles(const Product &p, const Tiles &t) {
  const bool wgmma = isForWgmma(t), x3 = t.mma == Mma::tf32x3;
  const double threads = t.threads(), warps = threads / 128; // of a scheduler
  const double results = t.height() * t.width() / threads;
  const int step = t.mma == Mma::bf16 ? 16 : 8, products = x3 ? 3 : 1;
  const int loads = ceilDiv((t.height() + t.width()) * t.depth, t.threads());
  // Of one warp in a turn: what it issues, most of it to bring elements to
  // shared memory, once or in two parts; and what the tensor cores multiply,
  // for all warps where these are warpgroups.
  const double slots = 200 + (x3 && wgmma ? 18.7 : 9.4) * loads;
  const double multiply = wgmma ? double(t.height()) * t.width() * t.depth /
                                      step / 128 * products * 1.46
                                : double(t.rows / 16) * (t.columns / 8) *
                                      (t.depth / step) * products * 7.6;
  const double issue = slots * warps, tensor = multiply * (wgmma ? 1 : warps);
  // A warp waits for its loads, brings and multiplies in turn. Warps of all
  // slices and blocks meet in the schedulers and on the tensor cores.
  const unsigned cluster = clusterOfParts(t.splits);
  const double blocks = double(ceilDiv<int64_t>(
      t.count * t.splits, int64_t(clustersAtOnce(int(cluster))) * cluster));
  const double turn =
      max(125 + slots + multiply,
          t.slices * blocks * (max(issue, tensor) + 0.73 * min(issue, tensor)));
  double all = turn * double(sliceOfK(p, t) / t.depth);
  // The results leave.
  all += results * (47 + 19 * blocks);
  // Large blocks of which some multiprocessors have none: in a step of Keras's
  // CNN in tf32, of 37 us, 86 of them took 3 us longer than 338 small ones.
  const double idle = double(referenceSms) / double(t.count) - 1;
  if (t.splits == 1 && t.threads() > 128)
    all *= 1 + max(0.0, min(0.3, 0.5 * idle));
  if (cluster > 1)
    all += 2690 + 21 * results;
  return int64_t(all) + laterCycles(t.splits, p.batches * p.m * p.n);
}

/// use(splits) for numbers of blocks that may share a tile: those of a cluster,
/// and so many that there are up to three blocks a multiprocessor; false ends.
template <typename Use>
MN_SHAPE_FN void eachSplit(const Tiles &t, const Use &use) {
  int splits = 1;
  for (; splits <= largestCluster; ++splits)
    if (!use(splits))
      return;
  for (int halves = 1; halves <= 8; ++halves)
    if (const int more =
            int(min<int64_t>(256, halves * (referenceSms / 2) / t.count));
        more >= splits) {
      splits = more + 1;
      if (!use(more))
        return;
    }
}

/// use(tiles) with one slice and more, as many as a block has room for.
template <typename Use> MN_SHAPE_FN void eachSlices(Tiles t, const Use &use) {
  constexpr int mostThreads = 512;
  for (t.slices = 1; t.slices <= mostSlices; t.slices *= 2)
    if (t.slices == 1 ||
        (t.allThreads() <= mostThreads && sharedBytes(t) <= smallestShared))
      use(t);
}

/// use(tiles, cycles) for all that are worth a thought.
template <typename Use>
MN_SHAPE_FN void eachFfmaTiles(const Product &p, const Use &use) {
  constexpr int sizes[][3] = {{8, 4, 8}, {8, 4, 4}, {8, 4, 2}, {8, 2, 8},
                              {8, 2, 4}, {8, 2, 2}, {4, 2, 8}, {4, 1, 8},
                              {8, 1, 4}, {8, 1, 2}, {4, 4, 2}, {4, 2, 4},
                              {4, 1, 4}, {4, 1, 2}, {2, 4, 2}, {2, 1, 2},
                              {1, 4, 1}, {1, 2, 1}, {1, 1, 1}};
  const Tiles smallest = ffmaTiles(p, 1, 1, 1);
  use(smallest, ffmaCycles(p, smallest));
  for (const auto &size : sizes) {
    Tiles t = ffmaTiles(p, size[0], size[1], size[2]);
    eachSplit(t, [&](int splits) {
      if (!maySplit(p, t, splits))
        return false;
      t.splits = splits;
      use(t, ffmaCycles(p, t));
      return true;
    });
  }
}

template <typename Use>
MN_SHAPE_FN void eachMmaTiles(const Product &p, const Use &use) {
  // Height, width, depth, warps, and so many next to each other. Not 32 x 64
  // of four warps: the best of one product, it takes about 9 % longer than
  // mmaCycles() says.
  constexpr int sizes[][5] = {
      {64, 32, 32, 4, 1},  {64, 64, 32, 4, 1},   {64, 128, 32, 4, 1},
      {128, 64, 16, 8, 1}, {128, 128, 16, 8, 1}, {128, 128, 32, 8, 1},
      {16, 64, 32, 1, 4},  {64, 64, 32, 1, 4},   {32, 128, 16, 1, 8},
      {32, 128, 32, 1, 8}, {64, 128, 16, 1, 8},  {128, 128, 16, 1, 8},
      {64, 64, 32, 2, 2},  {128, 128, 16, 2, 4}, {32, 32, 32, 2, 2},
      {64, 16, 32, 4, 1},  {16, 16, 16, 1, 1}};
  const Tiles smallest = mmaTiles(p, 16, 16, 16, 1, 1);
  use(smallest, mmaCycles(p, smallest));
  for (const auto &size : sizes) {
    Tiles t = mmaTiles(p, size[0], size[1], size[2], size[3], size[4]);
    if (sharedBytes(t) > smallestShared)
      continue;
    eachSlices(t, [&](const Tiles &sliced) {
      Tiles s = sliced;
      eachSplit(s, [&](int splits) {
        if (!maySplit(p, s, splits))
          return false;
        s.splits = splits;
        use(s, mmaCycles(p, s));
        return true;
      });
    });
  }
}

template <typename Use>
MN_SHAPE_FN void eachTiles(const Product &p, const Use &use) {
  if (p.schedule.mma == Mma::ffma)
    eachFfmaTiles(p, use);
  else
    eachMmaTiles(p, use);
}

MN_SHAPE_FN ProductSchedule scheduleOf(const Tiles &t) {
  if (t.dots)
    return {.warps = {t.warps, 1},
            .split = t.splits,
            .way = Way::dots,
            .width = t.columns};
  return {.mma = t.mma,
          .tile = {t.height(), t.width(), t.depth},
          .warps = {t.warps, t.across},
          .split = t.splits,
          .slices = t.slices};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_CHOICE_CUH
