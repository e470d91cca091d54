//===- conv_patch_turns.cuh - channels of patches, by turns -----*- C++ -*-===//
//
// In shared memory 16 bytes are channels of one pixel, or of one filter and
// tap, for some channels at a time, a turn: while the tensor cores multiply
// these, the next ones arrive. Eight neighbouring pixels are eight rows of an
// operand, and a tap's operand is as far away as its pixels. Filters are only
// copied (conv_patch_filters.cuh), by one thread where the GPU can do so.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_TURNS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_TURNS_CUH

#include "mnistrt/cuda/kernels/conv_patch_filters.cuh"
#include "mnistrt/cuda/kernels/conv_patch_given.cuh"
#include "mnistrt/cuda/kernels/conv_patch_pixels.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Blocks that share sums; without clusters one of them makes them alone.
MN_SHAPE_FN int splitOf(const shape::Patch &t) {
  return hasClusters ? t.split : 1;
}

/// For operations, see conv_patch.cuh; for tiles, conv_patch_pixels.cuh.
template <shape::Windows W, shape::Patch t, typename Tile> struct PatchTurns {
  static constexpr Mma mma = W.mma;
  static constexpr int taps = W.taps(), threads = Tile::threads;
  static constexpr int width = t.width;
  static constexpr int chunk = shape::chunkOf(mma), parts = shape::partsOf(mma);
  static constexpr int depth = 2 * chunk; ///< channels of a turn
  static constexpr int split = splitOf(t);
  static constexpr int allTurns = shape::turnsOf(W);
  static constexpr int turns = shape::ceilDiv(allTurns, split);
  using Pixels = typename Choice<W.readsPool(), PatchGiven<W, Tile>,
                                 PatchPixels<W, Tile>>::Type;
  using Held = typename Pixels::Held;
  static constexpr int filterWords = shape::filterWords(W, t); ///< of a turn
  static constexpr int groups = shape::groupsOfTaps(W);
  static constexpr int kept = (taps + groups - 1) / groups; ///< taps of a group
  /// Whether sums are added to others after each group, or go on.
  static constexpr bool moves = shape::movesSums(W, turns),
                        goesOn = !moves && turns * groups > 1;

  /// Channels of the pixels and of each tap's filters.
  struct Stage {
    uint4 filter[parts][2][taps][width];
    /// Of both halves of the channels; after them what threads store that have
    /// none.
    uint4 pixel[shape::pixelWords(W, t)];
  };
  static constexpr int stages = shape::stagesOf(W);
  /// One thread copies filters where the GPU copies what is large at once.
  static constexpr bool inBulk = hasClusters;
  /// What is beside the stages.
  struct Arrivals {
    uint64_t barrier[stages];
  };
  /// Turns whose pixels are on their way at once, beside those that are
  /// multiplied and those that are stored: all, if a thread can have them.
  static constexpr int ahead =
      shape::loadsAllTurns(W, t, (turns - 2) * int(sizeof(Held) / 4))
          ? turns - 1
          : 1;

  /// Begins to copy a turn's filters to stage number `to`.
  template <typename Memory>
  static MN_DEVICE void copyFilters(Memory &memory, int to, const uint4 *packed,
                                    int turn) {
    Stage &stage = memory.stage[to];
    const uint4 *from = packed + turn * filterWords;
    if constexpr (!inBulk)
      copyRest(sharedAddress(&stage.filter) +
                   threadIdx.x * unsigned(sizeof(uint4)),
               from + int(threadIdx.x));
    else if (threadIdx.x == 0)
      copyBulk(&stage.filter[0][0][0][0], from, sizeof(stage.filter),
               &memory.arrivals.barrier[to]);
  }
  /// Until those of the block's turn number `turn` are there.
  template <typename Memory>
  static MN_DEVICE void waitForFilters(Memory &memory, int turn) {
    if constexpr (inBulk)
      waitForArrivals(&memory.arrivals.barrier[turn % stages],
                      turn / stages % 2 == 0);
    else if (turn == 0)
      waitForCopyGroups<(turns > 1)>();
    else
      waitForCopies();
  }
  /// Of `end` turns, which may be none or fewer; until what was copied for the
  /// first two is there also where these are not.
  template <typename Memory>
  static MN_DEVICE void waitForRest(Memory &memory, int end) {
    if constexpr (!inBulk)
      waitForCopies();
    else
      for (int turn = shape::max(end, 0); turn < shape::min(turns, 2); ++turn)
        waitForFilters(memory, turn);
  }
  /// Of a block that has no turn it is zero or less.
  static MN_DEVICE int endOf(int first) {
    return allTurns % split == 0 ? turns : shape::min(turns, allTurns - first);
  }
  /// Of a turn, or of the last one where that is beyond it.
  static MN_DEVICE int numberOf(int turn) {
    return shape::min(turn, allTurns - 1);
  }
  /// A thread's 16 bytes number `j` and after. Offsets that the compiler knows
  /// take no registers.
  template <int j = 0>
  static MN_DEVICE void copyRest(unsigned to, const uint4 *from) {
    constexpr int first = j * threads;
    if (first + threads <= filterWords ||
        int(threadIdx.x) < filterWords - first)
      copyAsync<first *int(sizeof(uint4))>(to, from);
    if constexpr (first + threads < filterWords)
      copyRest<j + 1>(to, from);
  }

  Pixels pixel;

  MN_DEVICE void storePixels(const Held &held, const unsigned &inside,
                             Stage &stage, int turn) const {
    pixel.store(held, turn, inside, [&](int number, const uint4 &words) {
      stage.pixel[number] = words;
    });
  }

  /// Pixels of no window stay 0.
  template <typename Memory> static MN_DEVICE void clearPixels(Memory &memory) {
#pragma unroll
    for (int stage = 0; stage < stages; ++stage)
      for (int i = int(threadIdx.x); i < shape::pixelWords(W, t); i += threads)
        memory.stage[stage].pixel[i] = {0, 0, 0, 0};
    __syncthreads();
  }

  /// What needs nothing of other kernels but filters, if those are packed.
  /// Memory has `stage`, and in `inside` a bit for each pixel that a thread
  /// loads.
  template <typename Op, typename Memory>
  MN_DEVICE void begin(const Op &op, const uint4 *packed, Memory &memory,
                       const Tile &tile, int first, bool isPacked) {
    if constexpr (W.readsPool())
      clearPixels(memory);
    if constexpr (inBulk)
      if (threadIdx.x == 0)
        for (int stage = 0; stage < stages; ++stage)
          makeArrivals(&memory.arrivals.barrier[stage]);
    if (isPacked)
      copyFilters(memory, 0, packed, numberOf(first));
    pixel.begin(op, tile, memory.inside[threadIdx.x]);
    if constexpr (inBulk)
      __syncthreads();
    gridDependencySyncOf<typename Op::Functor>();
    if (!isPacked)
      copyFilters(memory, 0, packed, numberOf(first));
    if constexpr (!inBulk)
      commitCopies();
  }

  /// For all taps, and the channels of turns from `first` on: start(stage,
  /// group of taps) begins products, finish() follows when they are made. While
  /// a turn is multiplied, the pixels of the next one are stored, and those of
  /// the one after that, or of all, are on their way.
  template <typename Op, typename Memory, typename Start, typename Finish>
  MN_DEVICE void each(const Op &op, const uint4 *packed, Memory &memory,
                      int first, const Start &start, const Finish &finish) {
    const unsigned &inside = memory.inside[threadIdx.x];
    const int end = opaque(endOf(first));
    const auto later = [&](int turn) { return numberOf(first + turn); };
    Held next[ahead];
    {
      Held held;
      pixel.load(op, later(0), held);
      if constexpr (turns > 1) {
#pragma unroll
        for (int turn = 0; turn < ahead; ++turn)
          pixel.load(op, later(turn + 1), next[turn]);
        copyFilters(memory, 1, packed, later(1));
        if constexpr (!inBulk)
          commitCopies();
      }
      storePixels(held, inside, memory.stage[0], later(0));
    }
    if (end < 2)
      afterLastLoads<typename Op::Functor>();
#pragma unroll 1
    for (int turn = 0; turn < end; ++turn) {
      if (turn + 2 == end)
        afterLastLoads<typename Op::Functor>();
      waitForFilters(memory, turn);
      if constexpr (hasWgmma)
        fenceForWgmma();
      __syncthreads();
      if (turn != 0 && turn + 1 < end)
        copyFilters(memory, (turn + 1) % stages, packed, first + turn + 1);
#pragma unroll
      for (int group = 0; group < groups; ++group) {
        start(memory.stage[turn % stages], group);
        // After the last turn the same once more.
        if (group == 0 && turns > 1) {
          storePixels(next[0], inside, memory.stage[(turn + 1) % stages],
                      later(turn + 1));
#pragma unroll
          for (int i = 1; i < ahead; ++i)
            next[i - 1] = next[i];
          if constexpr (turns > 2 && ahead == 1)
            pixel.load(op, later(turn + 2), next[0]);
        }
        if constexpr (hasWgmma)
          waitForWgmma();
        finish();
      }
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_TURNS_CUH
