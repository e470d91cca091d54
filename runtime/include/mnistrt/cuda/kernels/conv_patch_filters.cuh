//===- conv_patch_filters.cuh - filters, packed for patches -----*- C++ -*-===//
//
// Every block of conv_patch.cuh needs all filters of its results. So another
// kernel lays them out first, once, rounded or split as the tensor cores read
// them: for each phase, for `width` results, for the channels of each turn, the
// parts of a number; then halves of these channels, taps, results, and 16 bytes
// of channels.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_FILTERS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_FILTERS_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/conv_patch_shape.cuh"
#include "mnistrt/cuda/kernels/mma.cuh"

namespace mn {

namespace shape {
inline constexpr int packThreads = 256;

/// A thread packs 16 bytes, and where numbers are split also the other part.
MN_SHAPE_FN LaunchShape packFilters(const Windows &w, const Patch &t) {
  return {static_cast<unsigned>(ceilDiv<int64_t>(
              packedWords(w, t) / partsOf(w.mma), packThreads)),
          packThreads};
}
} // namespace shape

/// What kernels of patches are called with.
template <typename F> struct WithFilters {
  F functor;
  void *filters; ///< memory for them, packed
  /// Whether they were packed before the kernel before this one began.
  bool isPacked;
};

#ifdef __CUDACC__

namespace device {

/// What a functor says whose filter no step of the plan has made: it may be
/// read while the kernel before still runs.
template <typename F>
concept KeepsFilter = requires { requires F::keepsFilter; };

/// What a kernel has whose filters are not packed.
struct NoPackedFilters {
  static constexpr bool packs = false;
  template <typename F> static MN_DEVICE void packFilters(const F &) {}
};

/// What a kernel with a functor is called with.
template <typename Kernel, typename F> struct WindowArgument {
  using Type = F;
};
template <typename Kernel, typename F>
  requires Kernel::packs
struct WindowArgument<Kernel, F> {
  using Type = WithFilters<F>;
};
template <typename F> MN_DEVICE const F &functorOf(const F &f) { return f; }
template <typename F> MN_DEVICE const F &functorOf(const WithFilters<F> &f) {
  return f.functor;
}
template <typename F> MN_DEVICE bool isPacked(const F &) { return false; }
template <typename F> MN_DEVICE bool isPacked(const WithFilters<F> &f) {
  return f.isPacked;
}
template <typename F> MN_DEVICE uint4 *filtersOf(const F &) { return nullptr; }
template <typename F> MN_DEVICE uint4 *filtersOf(const WithFilters<F> &f) {
  return static_cast<uint4 *>(f.filters);
}

template <shape::Windows W, shape::Patch t> struct PackedFilters {
  static constexpr Mma mma = W.mma;
  static constexpr int taps = W.taps(), width = t.width;
  static constexpr int chunk = shape::chunkOf(mma), parts = shape::partsOf(mma);
  static constexpr int turns = shape::turnsOf(W);
  static constexpr int all = shape::filterWords(W, t), part = all / parts;
  static constexpr int phase = int(t.across) * turns * all; ///< words of one
  static constexpr int phases = W.phaseCount();

  uint4 *word; ///< packedWords() of them

  /// Where a thread's 16 bytes are from.
  struct Spot {
    int which; ///< group and phase
    int across, turn, half, tap, result;
  };
  /// Neighbours load what is next in memory after each tap: channels, or
  /// results.
  template <bool resultsAdjacent> static MN_DEVICE Spot spotOf(int number) {
    const int tile = number / part, inside = number % part;
    const int after = inside / taps;
    return {tile / turns / int(t.across),
            tile / turns % int(t.across),
            tile % turns,
            resultsAdjacent ? after / width : after % 2,
            inside % taps,
            resultsAdjacent ? after % width : after / 2};
  }

  template <typename Op>
  static MN_DEVICE void load(const Op &op, const Spot &s, float (&v)[chunk]) {
    const int result = s.across * width + s.result;
    const int first = (2 * s.turn + s.half) * chunk;
#pragma unroll
    for (int i = 0; i < chunk; ++i) {
      const bool inside =
          (W.results % width == 0 || result < W.results) &&
          (W.channels % (2 * chunk) == 0 || first + i < W.channels);
      const float filter =
          op.loadFilter(inside ? result : 0, inside ? first + i : 0, s.tap);
      v[i] = inside ? filter : 0.0f;
    }
  }

  MN_DEVICE void store(const Spot &s, const float (&v)[chunk]) const {
    uint4 *to = &word[s.which * phase + (s.across * turns + s.turn) * all +
                      (s.half * taps + s.tap) * width + s.result];
    if constexpr (mma == Mma::bf16) {
      *to = {toBf16(v[0], v[1]), toBf16(v[2], v[3]), toBf16(v[4], v[5]),
             toBf16(v[6], v[7])};
    } else if constexpr (mma == Mma::tf32) {
      *to = {toTf32(v[0]), toTf32(v[1]), toTf32(v[2]), toTf32(v[3])};
    } else {
      const uint4 big = {exactBigOf(v[0]), exactBigOf(v[1]), exactBigOf(v[2]),
                         exactBigOf(v[3])};
      *to = big;
      to[part] = {smallOf(v[0], big.x), smallOf(v[1], big.y),
                  smallOf(v[2], big.z), smallOf(v[3], big.w)};
    }
  }

  /// The filter's number, from what is packed for `width` results.
  static MN_DEVICE float at(const uint4 *packed, int result, int channel,
                            int tap) {
    const int turn = channel / (2 * chunk), half = channel / chunk % 2;
    const uint4 *from =
        packed + turn * all + (half * taps + tap) * width + result;
    const auto word = [&](int which, int number) {
      return reinterpret_cast<const uint32_t *>(from + which * part)[number];
    };
    if constexpr (mma == Mma::bf16) {
      const uint32_t two = word(0, channel % chunk / 2);
      return __uint_as_float(channel % 2 == 0 ? two << 16 : two & 0xffff0000);
    }
    const float big = __uint_as_float(word(0, channel % chunk));
    if constexpr (parts == 1)
      return big;
    const float v = big + __uint_as_float(word(parts - 1, channel % chunk));
    return v == v ? v : big;
  }

  /// operation(group, phase) has loadFilter(result, channel, tap). `early`:
  /// before the kernel before this one has ended.
  template <bool resultsAdjacent, bool early, typename Operation>
  MN_DEVICE void pack(const Operation &operation) const {
    if constexpr (!early)
      gridDependencySync();
    packMine<resultsAdjacent>(operation);
    // Who waits for this kernel waits for the one before it, too; itself it was
    // ready from the start.
    if constexpr (early) {
      waitForEarlierKernel();
      startNextKernel();
    }
  }
  template <bool resultsAdjacent, typename Operation>
  MN_DEVICE void packMine(const Operation &operation) const {
    const int number = int(blockIdx.x) * shape::packThreads + int(threadIdx.x);
    if (number >= shape::packedWords(W, t) / parts)
      return;
    const Spot s = spotOf<resultsAdjacent>(number);
    float v[chunk];
    load(operation(s.which / phases,
                   placeOf<W.phases[1], W.phases[2]>(s.which % phases)),
         s, v);
    store(s, v);
  }
};

} // namespace device

/// As MN_PARTS_KERNELS, with the kernel that packs filters before.
#define MN_WINDOW_KERNELS(NAME, F, SHAPE, ...)                                 \
  using NAME##_argument = mn::device::WindowArgument<__VA_ARGS__, F>::Type;    \
  MN_PARTS_KERNELS(NAME, NAME##_argument, SHAPE, __VA_ARGS__)                  \
  MN_GLOBAL(mn::shape::packThreads)                                            \
  NAME##_filters(                                                              \
      const __grid_constant__ NAME##_argument f MN_TIMES_ARGUMENT) {           \
    MN_RECORD_TIMES                                                            \
    __VA_ARGS__::packFilters(f);                                               \
  }

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_FILTERS_CUH
