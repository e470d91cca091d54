//===- conv_patch.cuh - convolutions of patches on tensor cores -*- C++ -*-===//
//
// Convolutions, of folded images where they have strides, and gradients of
// inputs (conv_windows.cuh).
// The windows at 64 neighbours of padded images (conv_padded.cuh) have their
// element `tap` at 64 neighbours, too: these pixels are the operand that the
// tap's filters multiply. So a block loads its pixels once for all taps.
// Windows that reach over an edge are computed as well, but not stored.
//
// Numbers of tf32x3 are split in registers, on their way from shared memory to
// the tensor cores: to split them in shared memory was measured to be slower.
// For the arithmetic, see product_mma.cuh; for what is in shared memory when,
// conv_patch_turns.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_CUH

#include "mnistrt/cuda/kernels/conv_patch_results.cuh"
#include "mnistrt/cuda/kernels/conv_patch_turns.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// An operation has pixelAt(image, place), loadPixel(of that, channel) and
/// value(image, channel, place), or where a pool gives what is read windowAt()
/// and loadWindow(); loadFilter(result, channel, tap); a functor f, has(window)
/// and place(image, result, window) of results.cuh, or where these are pooled
/// tile(image, result, window, sum), of which a pool's windows consist, and
/// storePool(image, result, place, pooled); pads() before its windows and
/// hasTap(channel, tap): any other is no tap of this phase, or of a folded
/// window, and 0.
template <shape::Windows W, shape::Patch t, bool nchw> struct PatchKernel {
  static constexpr Mma mma = W.mma;
  static constexpr int taps = W.taps(), threads = t.threads;
  static constexpr int windows = t.windows, width = t.width;
  static constexpr int chunk = shape::chunkOf(mma), parts = shape::partsOf(mma);
  using Tile = PatchTile<W, t>;
  using Turns = PatchTurns<W, t, Tile>;
  using Stage = typename Turns::Stage;
  using Pixels = typename Turns::Pixels;
  using Padded = typename Pixels::Padded;
  using Results = PatchResults<W, t, nchw>;
  static constexpr int depth = Turns::depth, split = Turns::split;
  static constexpr int allTurns = Turns::allTurns, turns = Turns::turns;
  static constexpr int filterWords = Turns::filterWords, kept = Turns::kept;
  static constexpr bool moves = Turns::moves, goesOn = Turns::goesOn;
  static constexpr bool repeatsNans = Pixels::repeatsNans;
  static constexpr int pixels = Pixels::pixels;
  static constexpr int wide = width / 8;
  static constexpr int stride = windows + 4; ///< of a channel's results

  struct Memory {
    union {
      Stage stage[Turns::stages];
      float part[width * stride];
    };
    unsigned inside[threads]; ///< a bit for each pixel that a thread loads
    typename Turns::Arrivals arrivals;
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(W, t));

  Turns channels;
  float sum[wide][4];

  template <typename Visit> MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int j = 0; j < wide; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        visit(j, e);
  }

  /// A warp's windows at a tap.
  using Fragment = LoadedFragment<mma>;
  static MN_DEVICE const uint4 *windowsAt(const Stage &stage, int tap) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int pixel = Tile::pixelOf(warp * 16 + lane % 16);
    return &stage.pixel[lane / 16 * pixels + pixel + Tile::offsetOf(tap)];
  }

  /// Begins the products of some taps, the first of which forget what was,
  /// unless sums go on.
  MN_DEVICE void start(const Stage &stage, int group) {
    if constexpr (hasWgmma)
      startWgmma(stage, group);
    else
      multiply(stage, group);
  }

  MN_DEVICE void startWgmma(const Stage &stage, int group) {
    const uint64_t filters =
        wgmmaOperand(&stage.filter[0][0][0][0], taps * width * sizeof(uint4));
    if constexpr (parts == 2)
      startFromRegisters(stage, filters, group);
    else
      startFromShared(stage, filters, group);
  }
  /// While a tap is multiplied, the fragment of the next is loaded.
  MN_DEVICE void startFromRegisters(const Stage &stage, uint64_t filters,
                                    int group) {
    Fragment a[2];
#pragma unroll
    for (int i = 0; i < kept; ++i) {
      Fragment &fragment = a[i % 2];
      if (i >= 2)
        waitForWgmma<1>();
      const int tap = group * kept + i;
      if (tap < taps)
        fragment.load(windowsAt(stage, tap));
      beginWgmma();
      if (tap < taps)
        multiplySplit(fragment, filters + tap * width, goesOn || i != 0);
      commitWgmma();
    }
  }
  /// Addresses in an operand count 16 bytes.
  MN_DEVICE void startFromShared(const Stage &stage, uint64_t filters,
                                 int group) {
    // The same in all lanes, and the compiler should know it.
    const int warpgroup = __shfl_sync(0xffffffff, int(threadIdx.x) / 128, 0);
    const uint64_t windows =
        wgmmaOperand(&stage.pixel[Tile::pixelOf(warpgroup * 64)],
                     pixels * sizeof(uint4), Tile::eightsApart * sizeof(uint4));
    auto &d = reinterpret_cast<float(&)[width / 2]>(sum);
    beginWgmma();
#pragma unroll
    for (int i = 0; i < kept; ++i)
      if (const int tap = group * kept + i; tap < taps) {
        const uint64_t at = windows + Tile::offsetOf(tap);
        if constexpr (mma == Mma::bf16)
          wgmmaBf16(d, at, filters + tap * width, goesOn || i != 0);
        else
          wgmmaTf32(d, at, filters + tap * width, goesOn || i != 0);
      }
    commitWgmma();
  }
  /// The small products first. `filters`: of the tap.
  MN_DEVICE void multiplySplit(const Fragment &a, uint64_t filters, bool add) {
    auto &d = reinterpret_cast<float(&)[width / 2]>(sum);
    wgmmaTf32(d, a.small, filters, add);
    wgmmaTf32(d, a.big, filters + 2 * taps * width, true);
    wgmmaTf32(d, a.big, filters, true);
  }

  MN_DEVICE void multiply(const Stage &stage, int group) {
    const int lane = int(threadIdx.x) % 32;
    const int result = lane / 16 * 8 + lane % 8;
    if constexpr (!goesOn)
      eachSum([&](int j, int e) { sum[j][e] = 0; });
#pragma unroll
    for (int tap = 0; tap < taps; ++tap) {
      if (tap / kept != group)
        continue;
      Fragment a;
      a.load(windowsAt(stage, tap));
#pragma unroll
      for (int j = 0; j < wide; j += 2) {
        uint32_t b[parts][4];
#pragma unroll
        for (int part = 0; part < parts; ++part)
          loadMatrices(b[part],
                       &stage.filter[part][lane / 8 % 2][tap][result + 8 * j]);
        const auto add = [&](const uint32_t(&x)[4], const uint32_t(&y)[4]) {
          multiplyAdd<mma>(sum[j], x, y, 0);
          multiplyAdd<mma>(sum[j + 1], x, y, 1);
        };
        if constexpr (parts == 2) {
          add(a.small, b[0]);
          add(a.big, b[parts - 1]);
        }
        add(a.big, b[0]);
      }
    }
  }

  /// Adds up all taps, and the channels of turns from `first` on.
  template <typename Op>
  MN_DEVICE void addUp(const Op &op, const uint4 *packed, Memory &memory,
                       int first) {
    float moved[moves ? wide : 1][4];
    eachSum(
        [&](int j, int e) { (moves ? moved[moves ? j : 0] : sum[j])[e] = 0; });
    channels.each(
        op, packed, memory, first,
        [&](const Stage &stage, int group) { start(stage, group); },
        [&] {
          if constexpr (moves)
            eachSum([&](int j, int e) { moved[j][e] += sum[j][e]; });
        });
    // The results take the place of pixels and filters, also of those of a turn
    // that the last of the blocks may not have.
    if constexpr (allTurns % split != 0)
      Turns::waitForRest(memory, Turns::endOf(first));
    __syncthreads();
    if constexpr (moves)
      eachSum([&](int j, int e) { sum[j][e] = moved[j][e]; });
  }

  /// The block's sums are in shared memory, of turns from `first` on.
  template <typename Op>
  MN_DEVICE void toShared(const Op &op, const uint4 *packed, float *part,
                          const Tile &tile, int firstResult, int first) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    bool isNan = false;
    eachSum([&](int j, int e) {
      const int window = warp * 16 + lane / 4 + e / 2 * 8;
      part[(j * 8 + lane % 4 * 2 + e % 2) * stride + window] = sum[j][e];
      isNan |= sum[j][e] != sum[j][e];
    });
    if constexpr (!repeatsNans)
      __syncthreads();
    else if (__syncthreads_or(isNan))
      repair(op, packed, part, tile, firstResult, first);
    if constexpr (split > 1)
      clusterSync();
  }
  /// Makes again what is no number, of what there is.
  template <typename Op>
  static MN_DEVICE void repair(const Op &op, const uint4 *packed, float *part,
                               const Tile &tile, int firstResult, int first) {
    const int begin = first * depth;
    const int end = shape::min(begin + turns * depth, W.channels);
#pragma unroll 1
    for (int e = int(threadIdx.x); e < width * windows; e += threads) {
      const int result = e / windows;
      float &v = part[result * stride + e % windows];
      if (v == v || firstResult + result >= W.results)
        continue;
      if (const Padded window = tile.window(e % windows);
          Pixels::isWindow(window) && op.has(window.at))
        v = Pixels::exactSum(
            op, window,
            [&](int channel, int tap) {
              return PackedFilters<W, t>::at(packed, result, channel, tap);
            },
            begin, end);
    }
    __syncthreads();
  }

  /// A result's sum at a window, of all blocks that share it.
  static MN_DEVICE float sumAt(const Memory &memory, int result, int window) {
    const float *mine = &memory.part[result * stride + window];
    float v = split == 1 ? *mine : *inBlock(mine, 0);
#pragma unroll
    for (int block = 1; block < split; ++block)
      v += *inBlock(mine, block);
    return v;
  }

  /// `number`: of the block among those of its phase, whose filters are packed:
  /// before the kernel before this one, or by it.
  template <typename Op>
  static MN_DEVICE void run(const Op &op, const uint4 *filters, bool isPacked,
                            int number) {
    const int rank = number % t.split, block = number / t.split;
    if (rank >= split)
      return gridDependencySync();
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const Tile tile{block / int(t.across)};
    const int across = block % int(t.across);
    constexpr int share = Results::share;
    const int firstResult = across * width + rank * share;
    const uint4 *packed = filters + across * allTurns * filterWords;
    PatchKernel kernel;
    kernel.channels.begin(op, packed, memory, tile, rank * turns, isPacked);
    kernel.addUp(op, packed, memory, rank * turns);
    kernel.toShared(op, packed, memory.part, tile, across * width,
                    rank * turns);
    const auto sumOf = [&](int i, int result) {
      return sumAt(memory, rank * share + result, i);
    };
    Results::store(op, tile, firstResult, sumOf);
    // Others may still read this block's sums.
    if constexpr (split > 1)
      clusterSync();
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_CUH
