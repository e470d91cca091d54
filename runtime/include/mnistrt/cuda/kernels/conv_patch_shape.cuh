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
struct Patch {
  static constexpr int warpgroups = 2;
  static constexpr int windows = 64 * warpgroups;
  static constexpr int threads = 128 * warpgroups;
  static constexpr int widest = 128, side = 8;
  int width = 16;
  int split = 1;
  bool squares = false;
  int step = windows; ///< windows whose results a block stores; of no squares
  int64_t tiles = 1;  ///< along windows
  int64_t across = 1; ///< along channels of results

  /// Blocks of a group and a phase of the results.
  MN_SHAPE_FN int64_t blocks() const { return tiles * across * split; }
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
MN_SHAPE_FN int squarePixels(const Windows &w) {
  return squareRow(w) * (Patch::side + (w.kernel[0] - 1) * w.dilations[0]);
}
/// The pixels of a block's windows.
MN_SHAPE_FN int patchPixels(const Windows &w, const Patch &t) {
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

/// Turns whose pixels and filters a block has at once; also on GPUs without
/// clusters, where one block has all turns.
MN_SHAPE_FN int stagesOf(const Windows &w) { return min(2, turnsOf(w)); }
/// Of these, or of the results; and what is inside.
MN_SHAPE_FN unsigned sharedBytes(const Windows &w, const Patch &t) {
  const int words = patchLoads(w, t) * t.threads + filterWords(w, t);
  return static_cast<unsigned>(
      max(stagesOf(w) * words * 16, t.width * (t.windows + 4) * 4) +
      4 * t.threads);
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
  return t.width / (movesSums(w, turnsOf(w, t)) ? 1 : 2) +
         8 * patchLoads(w, t) + 54;
}

/// Whether a multiprocessor has shared memory and registers for a block.
MN_SHAPE_FN bool hasRoom(const Windows &w, const Patch &t) {
  return sharedBytes(w, t) <= smallestShared && patchRegisters(w, t) <= 240;
}

/// As mmaCycles(), of patches and the kernel that packs their filters: fitted
/// to 108 times of 21 convolutions and gradients in tf32x3 on one H100, less
/// 1.5 us of two empty kernels. It errs there by 9 % (the root of the mean
/// square), at most by 37 %.
MN_SHAPE_FN int64_t patchCycles(const Windows &w, const Patch &t) {
  const int products = w.taps() * (w.mma == Mma::tf32x3 ? 3 : 1);
  const int loads = patchLoads(w, t) * chunkOf(w.mma);
  const double copies = double(filterWords(w, t)) / t.threads;
  const double issue =
      (100 + 0.7 * loads + 24.4 * w.taps() + 35.3 * copies) * t.warpgroups;
  const double tensor = products * t.width * 0.56 * t.warpgroups;
  const int64_t resident =
      max<int64_t>(1, min<int64_t>(65536 / (patchRegisters(w, t) * t.threads),
                                   (227 << 10) / (sharedBytes(w, t) + 1024)));
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

MN_SHAPE_FN Patch counted(Patch t, const Windows &w) {
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
