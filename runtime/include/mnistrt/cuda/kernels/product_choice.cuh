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
  return splits == 1 ||
         (p.k >= 32 * int64_t(splits) && t.count * splits <= 4 * referenceSms);
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
/// what its blocks have to do; then the parts of sums are put together.
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
  // Blocks of a cluster read each other's parts at about 32 bytes a cycle.
  const int64_t results = int64_t(t.height()) * t.width();
  const int64_t together = clusterOfParts(t.splits) > 1
                               ? 900 + results / 8
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

/// Issue slots of a thread for an element that it brings from memory to shared
/// memory, once or in two parts: fitted before 16 bytes came at a time
/// (product_loader.cuh), which takes less.
MN_SHAPE_FN int loadSlots(const Tiles &t) {
  return t.mma == Mma::tf32x3 && isForWgmma(t) ? 30 : 19;
}

/// As ffmaCycles(), of tiles on tensor cores: fitted to 874 times of 27
/// products on one H100, where what it chose took 1.05 times as long as the
/// best. What clusters and spilled registers cost was then changed, by 112
/// times of three gradients of filters, and once more, with parts that another
/// kernel adds up, by 221 times of nine.
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
  double issue = 75 + loadSlots(t) * loads, tensor = products * 5.5 * warps;
  if (wgmma) {
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
  const unsigned cluster = clusterOfParts(t.splits);
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
  // Height, width, depth, warps, and so many next to each other.
  constexpr int sizes[][5] = {
      {64, 32, 32, 4, 1},   {64, 64, 32, 4, 1},   {64, 128, 16, 4, 1},
      {64, 128, 32, 4, 1},  {128, 64, 16, 8, 1},  {128, 128, 16, 8, 1},
      {128, 128, 32, 8, 1}, {16, 64, 32, 1, 4},   {32, 64, 32, 1, 4},
      {64, 64, 32, 1, 4},   {32, 128, 16, 1, 8},  {32, 128, 32, 1, 8},
      {64, 128, 16, 1, 8},  {128, 64, 16, 1, 4},  {128, 128, 16, 1, 8},
      {64, 64, 32, 2, 2},   {128, 128, 16, 2, 4}, {32, 64, 32, 2, 2},
      {32, 32, 32, 2, 2},   {64, 16, 32, 4, 1},   {16, 16, 16, 1, 1}};
  const Tiles smallest = mmaTiles(p, 16, 16, 16, 1, 1);
  use(smallest, mmaCycles(p, smallest));
  for (const auto &size : sizes) {
    Tiles t = mmaTiles(p, size[0], size[1], size[2], size[3], size[4]);
    if (sharedBytes(t) > smallestShared)
      continue;
    eachSplit(t, [&](int splits) {
      if (!maySplit(p, t, splits))
        return false;
      t.splits = splits;
      use(t, mmaCycles(p, t));
      return true;
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
  return {
      t.mma, {t.height(), t.width(), t.depth}, {t.warps, t.across}, t.splits};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_PRODUCT_CHOICE_CUH
