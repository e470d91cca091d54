//===- conv_patch_shape.cuh - convolutions cut into patches -----*- C++ -*-===//
//
// Sizes of conv_patch.cuh's blocks, and how long they take.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_SHAPE_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_SHAPE_CUH

#include "mnistrt/cuda/kernels/conv_windows.cuh"
#include "mnistrt/cuda/kernels/product_tiles.cuh"

namespace mn {

namespace shape {

/// A block has two warpgroups, each for 64 windows, and `width` channels of
/// their results, of which it sums some turns of channels: `split` blocks, a
/// cluster, share them. Windows follow each other in all padded images, or are
/// squares of 8 x 8, whichever takes fewer blocks.
///
/// Or, with a height, it has a warpgroup for each 64 channels of results, and
/// strips of 8 x height windows (conv_strip.cuh): one, or all that are side by
/// side in an image.
struct Patch {
  static constexpr int warpgroups = 2;
  static constexpr int windows = 64 * warpgroups;
  static constexpr int widest = 128, side = 8, highest = 32;
  int width = 16;
  int split = 1;
  int height = 1;
  int threads = 128 * warpgroups;
  bool squares = false;
  int strips = 1;
  int rows =
      0; ///< of a product's columns: of strips, with what is between them
  int step = windows; ///< windows whose results a block stores; of no squares
  int64_t tiles = 1;  ///< along windows
  int64_t across = 1; ///< along channels of results

  /// Blocks of a group and a phase of the results.
  MN_SHAPE_FN int64_t blocks() const { return tiles * across * split; }
  MN_SHAPE_FN bool isStrip() const { return height != 1; }
};

/// Of all groups and phases.
MN_SHAPE_FN int64_t allBlocks(const Windows &w, const Patch &t) {
  return t.blocks() * w.phaseCount() * w.groups;
}

/// 16 bytes of channels, of which a turn has two.
MN_SHAPE_FN int chunkOf(Mma mma) { return mma == Mma::bf16 ? 8 : 4; }

/// Pixels of a row of a square, and of all of it, with what its windows reach.
MN_SHAPE_FN int squareRow(const Windows &w) {
  return Patch::side + (w.kernel[1] - 1) * w.dilations[1];
}
MN_SHAPE_FN int stripPixels(const Windows &w, int height) {
  return squareRow(w) * (height + (w.kernel[0] - 1) * w.dilations[0]);
}
MN_SHAPE_FN int squarePixels(const Windows &w) {
  return stripPixels(w, Patch::side);
}
/// The pixels of a block's windows.
MN_SHAPE_FN int patchPixels(const Windows &w, const Patch &t) {
  if (t.isStrip())
    return stripPixels(w, t.rows);
  return t.squares ? t.warpgroups * squarePixels(w) : t.windows + w.halo();
}
/// 16 bytes of filters, of the taps and channels of a block's turn; and of all.
MN_SHAPE_FN int filterWords(const Windows &w, const Patch &t) {
  return partsOf(w.mma) * 2 * w.taps() * t.width;
}
MN_SHAPE_FN int turnsOf(const Windows &w) {
  return ceilDiv(w.channels, 2 * chunkOf(w.mma));
}
/// Of a block, at most.
MN_SHAPE_FN int turnsOf(const Windows &w, const Patch &t) {
  return ceilDiv(turnsOf(w), t.split);
}
MN_SHAPE_FN int64_t packedWords(const Windows &w, const Patch &t) {
  return int64_t(w.groups) * w.phaseCount() * t.across * turnsOf(w) *
         filterWords(w, t);
}

/// Chunks that a thread loads in a turn.
MN_SHAPE_FN int patchLoads(const Windows &w, const Patch &t) {
  return ceilDiv(2 * patchPixels(w, t), t.threads);
}

/// Pools of several strips side by side: of a row, and of a channel with what
/// keeps eight channels in different banks. They meet in shared memory.
MN_SHAPE_FN int poolsAcross(const Patch &t) { return t.strips * t.side / 2; }
MN_SHAPE_FN int poolPitch(const Windows &w, const Patch &t) {
  return ceilDiv(t.height / w.pool.kernel[0] * poolsAcross(t), 8) * 8 + 4;
}
MN_SHAPE_FN int poolBytes(const Windows &w, const Patch &t) {
  return w.isPooled() && t.strips > 1 ? t.width * poolPitch(w, t) * 8 : 0;
}

/// Turns whose pixels and filters a block has at once; also on GPUs without
/// clusters, where one block has all turns.
MN_SHAPE_FN int stagesOf(const Windows &w) { return min(2, turnsOf(w)); }
/// Whether patches can read the windows of a pool (conv_patch_given.cuh);
/// `height`: of a schedule.
MN_SHAPE_FN bool patchesReadPool(const PoolWindows &p, int height) {
  return height <= 1 && p.kernel[2] == 1 && p.out[2] == 1 && p.kernel[1] <= 8;
}
/// 16 bytes of a turn's pixels, after which there is a place for what threads
/// store that have none.
MN_SHAPE_FN int pixelWords(const Windows &w, const Patch &t) {
  const int words = patchLoads(w, t) * t.threads;
  return w.readsPool() ? max(words, 2 * patchPixels(w, t) + 1) : words;
}
/// Of these, or of the results; what is inside, and two barriers.
MN_SHAPE_FN unsigned sharedBytes(const Windows &w, const Patch &t) {
  const int words = pixelWords(w, t) + filterWords(w, t);
  const int results =
      t.isStrip() ? poolBytes(w, t) : t.width * (t.windows + 4) * 4;
  return static_cast<unsigned>(max(stagesOf(w) * words * 16, results) +
                               4 * t.threads + 16);
}

/// Groups of taps, after each of which sums may be added to others, none of
/// many terms: with 49 taps in one, 256 channels take 406 us instead of 385.
/// And whether they are, in so many turns: where sums have more terms than are
/// kept.
MN_SHAPE_FN int groupsOfTaps(const Windows &w) {
  const int terms = min(256, keptTerms(w.mma));
  const int most = max(1, terms / (2 * chunkOf(w.mma)) + 1);
  return ceilDiv(w.taps(), most);
}
MN_SHAPE_FN bool movesSums(const Windows &w, int turns) {
  return turns * groupsOfTaps(w) > 1 &&
         turns * 2 * chunkOf(w.mma) * w.taps() > keptTerms(w.mma);
}

/// Of a thread, about; of others than tf32x3, which splits numbers, some 40
/// less. With those left out, seven convolutions in tf32 took 3 % longer, and a
/// residual network 1 % less.
MN_SHAPE_FN int patchRegisters(const Windows &w, const Patch &t) {
  const int sums = t.isStrip()                   ? 4 * t.rows
                   : movesSums(w, turnsOf(w, t)) ? t.width
                                                 : t.width / 2;
  return sums + 8 * patchLoads(w, t) + 54;
}

/// Whether a multiprocessor has shared memory and registers for a block.
MN_SHAPE_FN bool hasRoom(const Windows &w, const Patch &t) {
  return sharedBytes(w, t) <= smallestShared && patchRegisters(w, t) <= 240;
}

/// Blocks that a multiprocessor has at once.
MN_SHAPE_FN int64_t residentBlocks(const Windows &w, const Patch &t) {
  return max<int64_t>(1,
                      min<int64_t>(65536 / (patchRegisters(w, t) * t.threads),
                                   (227 << 10) / (sharedBytes(w, t) + 1024)));
}

/// Whether threads load the pixels of all turns at once, in `more` registers:
/// where these suffice, and a multiprocessor has so few blocks that none
/// multiplies while others wait for memory.
MN_SHAPE_FN bool loadsAllTurns(const Windows &w, const Patch &t, int more) {
  const int registers = patchRegisters(w, t) + more;
  const int64_t blocks = ceilDiv<int64_t>(allBlocks(w, t), referenceSms);
  return turnsOf(w, t) > 2 && blocks <= 2 && registers <= 200 &&
         blocks * registers * t.threads <= 65536;
}

/// As patchCycles(), which it is compared with: fitted to 98 times of 14
/// convolutions in tf32 and bf16 on one H200, by what patches took of the same.
/// It errs by 7 % (the root of the mean square).
MN_SHAPE_FN int64_t stripCycles(const Windows &w, const Patch &t) {
  const double groups = t.threads / 128, sums = 4.0 * t.rows * groups;
  const double turn = 1.2 * w.taps() * sums + 13.8 * w.taps() * groups +
                      0.32 * patchPixels(w, t) + filterWords(w, t) / 31.0;
  // Of a pool whose rows are in several blocks few bytes are stored at once, of
  // indices four.
  const double result = !w.isPooled()    ? 20.1
                        : t.strips > 1   ? 7.7
                        : w.pool.indices ? 36
                                         : 14.6;
  const int64_t blocks = ceilDiv<int64_t>(allBlocks(w, t), referenceSms);
  const double turns = turnsOf(w, t);
  const double work = double(blocks) * (turns * turn + result * sums);
  const double latency =
      double(ceilDiv(blocks, residentBlocks(w, t))) * (306 + 1797 * turns);
  return int64_t(3272 + max(work, latency) + 0.19 * min(work, latency));
}

/// As mmaCycles(), of patches and the kernel that packs their filters: fitted
/// to 108 times of 21 convolutions and gradients in tf32x3 on one H100, less
/// 1.5 us of two empty kernels. It errs there by 9 % (the root of the mean
/// square), at most by 37 %.
MN_SHAPE_FN int64_t patchCycles(const Windows &w, const Patch &t) {
  if (t.isStrip())
    return stripCycles(w, t);
  const int products = w.taps() * (w.mma == Mma::tf32x3 ? 3 : 1);
  const int loads = patchLoads(w, t) * chunkOf(w.mma);
  const double copies = double(filterWords(w, t)) / t.threads;
  const double issue =
      (100 + 0.7 * loads + 24.4 * w.taps() + 35.3 * copies) * t.warpgroups;
  const double tensor = products * t.width * 0.56 * t.warpgroups;
  const int64_t resident = residentBlocks(w, t);
  const int64_t blocks =
      ceilDiv<int64_t>(allBlocks(w, t), clustersAtOnce(t.split) * t.split);
  const auto turn = [&](double together) {
    return max(1290.0, together * max(issue, tensor)) +
           0.49 * together * min(issue, tensor);
  };
  double all = double(blocks / resident) * turn(double(resident));
  if (blocks % resident != 0)
    all += turn(double(blocks % resident));
  // The first pixels have to arrive, and the results to leave.
  all *= double(turnsOf(w, t)) + 0.2;
  const int share = t.split == 1 ? 0 : 500 + 44 * t.width;
  constexpr int pack = 5400;
  return pack + share + int64_t(all);
}

/// Of a pool whole rows of windows; 0 where a block has not so many.
MN_SHAPE_FN int patchStep(const Windows &w) {
  if (!w.isPooled())
    return Patch::windows;
  const int rows = w.pool.kernel[0] * w.covered(1);
  return Patch::windows / rows * rows;
}

/// Whether squares have whole windows of a pool.
MN_SHAPE_FN bool hasSquares(const Windows &w) {
  return w.spatial == 2 &&
         (!w.isPooled() || (Patch::side % w.pool.kernel[0] == 0 &&
                            Patch::side % w.pool.kernel[1] == 0));
}
/// Squares of an image along a dimension.
MN_SHAPE_FN int squaresAlong(const Windows &w, int d) {
  return ceilDiv(w.extent(d), Patch::side);
}

/// Whether blocks have strips of whole images only; otherwise they go on in the
/// next one, over the rows between them.
MN_SHAPE_FN bool hasWholeStrips(const Windows &w, int height) {
  return w.extent(0) % height == 0;
}
/// Whether there are strips: where products and no more sums are all there is
/// to do, and a thread has whole windows of a pool.
MN_SHAPE_FN bool hasStrips(const Windows &w) {
  return w.spatial == 2 && (w.mma == Mma::tf32 || w.mma == Mma::bf16) &&
         w.hasAllTaps() && !movesSums(w, turnsOf(w)) &&
         (!w.isPooled() || w.pool.kernel[1] == 2);
}
MN_SHAPE_FN bool isStripHeight(const Windows &w, int height) {
  return height >= 4 && height <= Patch::highest && height % 2 == 0 &&
         (!w.isPooled() || height % w.pool.kernel[0] == 0);
}

/// Rows of pixels from a row of a strip to that of the next one, below it in
/// shared memory.
MN_SHAPE_FN int stripsApart(const Windows &w, int height) {
  return height + (w.kernel[0] - 1) * w.dilations[0];
}
/// With so many strips; what a product's columns are is a multiple of 16.
MN_SHAPE_FN int stripRows(const Windows &w, int height, int strips) {
  return ceilDiv((strips - 1) * stripsApart(w, height) + height, 2) * 2;
}
/// Whether a block can have all strips side by side. Its results are whole rows
/// of an image then.
MN_SHAPE_FN bool joinsStrips(const Windows &w, int height) {
  const int strips = squaresAlong(w, 1);
  return strips > 1 && hasWholeStrips(w, height) &&
         stripRows(w, height, strips) <= Patch::highest &&
         (!w.isPooled() || stripsApart(w, height) % w.pool.kernel[0] == 0);
}

MN_SHAPE_FN Patch countedStrip(Patch t, const Windows &w) {
  const int strips = squaresAlong(w, 1);
  t.strips = joinsStrips(w, t.height) ? strips : 1;
  t.rows = stripRows(w, t.height, t.strips);
  t.threads = 2 * t.width;
  const int64_t all = int64_t(w.batch) * (strips / t.strips);
  t.tiles = hasWholeStrips(w, t.height)
                ? all * (w.extent(0) / t.height)
                : ceilDiv<int64_t>(all * w.covered(0), t.height);
  t.across = ceilDiv(w.results, t.width);
  return t;
}

MN_SHAPE_FN Patch counted(Patch t, const Windows &w) {
  if (t.isStrip())
    return countedStrip(t, w);
  t.step = patchStep(w);
  t.tiles = ceilDiv<int64_t>(int64_t(w.batch) * w.pixels(), max(t.step, 1));
  const int64_t squares =
      int64_t(w.batch) * squaresAlong(w, 0) * squaresAlong(w, 1);
  const auto inSquares = ceilDiv<int64_t>(squares, t.warpgroups);
  Patch other = t;
  other.squares = true;
  t.squares = hasSquares(w) &&
              (t.step == 0 ||
               (inSquares < t.tiles && (hasRoom(w, other) || !hasRoom(w, t))));
  if (t.squares)
    t.tiles = inSquares;
  t.across = ceilDiv(w.results, t.width);
  return t;
}

MN_SHAPE_FN bool hasPatches(const Conv &s, const Windows &w) {
  // Windows are numbered by an int.
  const int64_t last = int64_t(w.batch) * w.pixels() + w.halo();
  return s.schedule.mma != Mma::ffma && w.strides[0] == 1 &&
         w.strides[1] == 1 && w.strides[2] == 1 &&
         (!w.isPooled() || hasSquares(w) ||
          (w.spatial == 2 && patchStep(w) != 0)) &&
         last < (int64_t(1) << 31) - Patch::windows;
}

/// Whether every block has turns of its own.
MN_SHAPE_FN bool hasTurns(const Windows &w, const Patch &t) {
  return (t.split - 1) * turnsOf(w, t) < turnsOf(w);
}

/// More blocks than run at once share no sums.
MN_SHAPE_FN bool isUseful(const Windows &w, const Patch &t) {
  return hasRoom(w, t) &&
         (t.split == 1 ||
          (hasTurns(w, t) && allBlocks(w, t) <= 2 * referenceSms));
}

/// Whether a multiprocessor has so many of a product's columns that strips
/// tell: with fewer, steps of 64 images took as long as with patches, or
/// longer.
MN_SHAPE_FN bool hasManyStrips(const Windows &w, const Patch &t) {
  return allBlocks(w, t) * t.rows >= 48 * referenceSms;
}

template <typename Use>
MN_SHAPE_FN void eachStrip(const Windows &w, Use &&use) {
  for (int width = 64; width <= Patch::widest; width += 64) {
    // Others would multiply too much of nothing.
    if (4 * w.results < 3 * width * ceilDiv(w.results, width))
      continue;
    for (int height = 4; height <= Patch::highest; height += 2) {
      const bool fits = height % 8 == 0 || hasWholeStrips(w, height);
      if (!fits || !isStripHeight(w, height))
        continue;
      if (const Patch t = counted(Patch{width, 1, height}, w);
          hasRoom(w, t) && hasManyStrips(w, t))
        use(t);
    }
  }
}

/// use(patch) for all that there may be.
template <typename Use>
MN_SHAPE_FN void eachPatch(const Conv &s, const Windows &w, Use &&use) {
  if (!hasPatches(s, w))
    return;
  for (int width = 16; width <= Patch::widest; width += 16) {
    const int across = ceilDiv(w.results, width);
    // As many blocks may be narrower.
    if (width > 16 && ceilDiv(w.results, width - 16) == across)
      continue;
    for (int split = 1; split <= largestCluster; split *= 2)
      if (const Patch t = counted(Patch{width, split}, w); isUseful(w, t))
        use(t);
  }
  // Those of other layouts were not measured; rows that begin within 32 bytes
  // of others take longer to store than patches.
  if (hasStrips(w) && s.layout == Layout::nchw &&
      (w.isPooled() || w.out[1] % 8 == 0))
    eachStrip(w, use);
}

MN_SHAPE_FN LaunchShape launchOf(const Windows &w, const Patch &t) {
  return {static_cast<unsigned>(allBlocks(w, t)),
          static_cast<unsigned>(t.threads),
          static_cast<unsigned>(t.split),
          sharedBytes(w, t),
          true,
          true};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_SHAPE_CUH
