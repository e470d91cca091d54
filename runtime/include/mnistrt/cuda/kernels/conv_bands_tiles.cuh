//===- conv_bands_tiles.cuh - tiles of gradients of filters -----*- C++ -*-===//
//
// What both kernels of bands (conv_bands.cuh) do: where tiles, bands and
// windows are, and how blocks put their sums together.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_TILES_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_TILES_CUH

#include "mnistrt/cuda/kernels/conv_bands_shape.cuh"
#include "mnistrt/cuda/kernels/conv_output_grad.cuh"
#include "mnistrt/cuda/kernels/mma.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S> struct BandTiles {
  using G = ConvGeometry<S>;
  using Grad = OutputGrad<float, S>;
  static constexpr shape::Bands t = shape::bandsOf(S);
  static constexpr Mma mma = S.schedule.mma;
  static constexpr int height = t.height, width = t.width, taps = t.taps;
  static constexpr int threads = t.threads();
  static constexpr int each = shape::termsOfWord(mma);
  static constexpr int pixels = t.pixels();
  static constexpr int across = t.across(S); ///< pixels of a row of the input
  static constexpr int rows = t.inputRows(S);
  static constexpr int inputPitch = t.inputPitch(S);
  static constexpr int results = height * width * taps;
  /// Those of an output channel, and where they are in shared memory.
  static constexpr int ofOutput = width * taps, sumsPitch = t.sumsPitch();
  static constexpr int sums = height * sumsPitch;
  static MN_DEVICE int inSums(int e) {
    return e / ofOutput * sumsPitch + e % ofOutput;
  }
  using Share = TileShare<results, threads, t.splits, hasClusters>;
  using Parts = typename Share::template Parts<float, t.results(), t.count>;

  /// The tile of a block.
  struct Corner {
    int group, o, c, tap;
  };
  static MN_DEVICE Corner cornerOf(int tile) {
    const int a = tile % int(t.alongO), b = tile / int(t.alongO);
    const int d = b / int(t.alongC);
    return {d / t.tapGroups, a * height, b % int(t.alongC) * width,
            d % t.tapGroups * taps};
  }

  /// The first image, row and column of windows of a band. Those below each
  /// other follow each other.
  struct Band {
    int image, row, column;
  };
  static MN_DEVICE Band bandAt(int number) {
    constexpr int ofImage = t.bandsOfImage(S), down = t.bandsDown(S);
    const int inside = number % ofImage;
    return {number / ofImage * t.images, inside % down * t.rows,
            inside / down * t.columns};
  }

  /// A window of a band.
  struct Window {
    int image;
    Place at;
  };
  static MN_DEVICE Window windowOf(int pixel) {
    constexpr int row = t.rowPixels(), ofImage = t.rows * row;
    return {pixel / ofImage, {pixel % ofImage / row, pixel % row, 0}};
  }
  /// False: beyond the images, or another band's, or what fills up a row.
  static MN_DEVICE bool isWindow(const Band &band, const Window &w) {
    return band.image + w.image < S.batch && band.row + w.at.x0 < S.out[0] &&
           band.column + w.at.x1 < S.out[1];
  }
  static MN_DEVICE Place placeIn(const Band &band, const Window &w) {
    return {band.row + w.at.x0, band.column + w.at.x1, 0};
  }

  static MN_DEVICE bool isInput(const Corner &corner, int channel) {
    return G::inChannels % width == 0 || corner.c + channel < G::inChannels;
  }
  static MN_DEVICE bool isOutput(const Corner &corner, int channel) {
    return G::outChannels % height == 0 || corner.o + channel < G::outChannels;
  }

  /// Words of a fragment; for tf32x3 both parts.
  template <int words> struct Fragment {
    uint32_t big[words], small[words];
    /// `v`: the terms of word after word.
    MN_DEVICE void set(const float (&v)[words * each]) {
#pragma unroll
      for (int i = 0; i < words; ++i)
        if constexpr (mma == Mma::bf16)
          big[i] = toBf16(v[2 * i], v[2 * i + 1]);
        else if constexpr (mma == Mma::tf32)
          big[i] = toTf32(v[i]);
        else
          small[i] = smallOf(v[i], big[i] = bigOf(v[i]));
    }
  };
  struct Result {
    int o, c, tap;
  };
  static MN_DEVICE Result resultOf(const Corner &corner, int e) {
    return {corner.o + e / (width * taps), corner.c + e / taps % width,
            corner.tap + e % taps};
  }
  static MN_DEVICE bool isResult(const Result &r) {
    return r.o < G::outChannels && r.c < G::inChannels && r.tap < G::taps;
  }

  /// What is no number is made again: where infinities or numbers near the end
  /// of f32's range met, and where padding met them.
  template <typename F>
  static MN_DEVICE float exactSum(const F &f, const Corner &corner,
                                  const Result &r, int firstBand,
                                  int lastBand) {
    float v = 0;
    const Place tap = G::tapPlace(r.tap);
#pragma unroll 1
    for (int b = firstBand; b < lastBand; ++b)
#pragma unroll 1
      for (int pixel = 0; pixel < pixels; ++pixel) {
        const Band band = bandAt(b);
        const Window w = windowOf(pixel);
        Place in;
        if (!isWindow(band, w) || !G::reads(placeIn(band, w), tap, in))
          continue;
        const int n = band.image + w.image;
        v += Grad::value(f, n, corner.group * G::outChannels + r.o,
                         placeIn(band, w)) *
             f.loadInput(G::input(n, corner.group * G::inChannels + r.c, in));
      }
    return v;
  }

  /// Makes again what is no number of a block's sums.
  template <typename F>
  static MN_DEVICE void repair(const F &f, float *part, bool isNan,
                               const Corner &corner, int firstBand,
                               int lastBand) {
    if (!__syncthreads_or(isNan))
      return;
#pragma unroll 1
    for (int e = int(threadIdx.x); e < results; e += threads) {
      const Result r = resultOf(corner, e);
      float &v = part[inSums(e)];
      if (v != v && isResult(r))
        v = exactSum(f, corner, r, firstBand, lastBand);
    }
    __syncthreads();
  }

  /// Leaves a block's sums for who adds up all parts, and with them what is no
  /// result, which nobody reads.
  static MN_DEVICE void leave(const float *sums, float *to) {
    static_assert(ofOutput % 4 == 0);
#pragma unroll 4
    for (int e = 4 * int(threadIdx.x); e < results; e += 4 * threads)
      *reinterpret_cast<float4 *>(to + e) =
          *reinterpret_cast<const float4 *>(sums + inSums(e));
  }

  /// Stores a block's sums, or leaves them.
  template <typename F>
  static MN_DEVICE void finish(const F &f, const float *sums, Parts &parts,
                               const Corner &corner) {
    const int split = int(blockIdx.x % t.splits);
    const int tile = int(blockIdx.x / t.splits);
    const auto has = [&](int e) { return isResult(resultOf(corner, e)); };
    const auto place = [&](int e) {
      return placeOf(corner, resultOf(corner, e));
    };
    const auto part = [&](int which, int e) -> float & {
      return parts.part[which * t.results() + int64_t(tile) * results + e];
    };
    if constexpr (Share::cluster != 1 || t.splits == 1) {
      const auto at = [](int e) { return inSums(e); };
      Share::storeCluster(f, sums, split, at, has, place);
    } else {
      leave(sums, &part(split, 0));
      if constexpr (!Share::later)
        Share::template storeAsLast<float>(f, &parts.ticket[tile], part, has,
                                           place);
    }
  }

  /// The bands of a block.
  struct Range {
    int first, last;
  };
  static MN_DEVICE Range bandsOfBlock() {
    constexpr int mine = t.bandsEach(S), bands = t.bands(S);
    const int first = shape::min(int(blockIdx.x % t.splits) * mine, bands);
    return {first, shape::min(first + mine, bands)};
  }

  static MN_DEVICE Index placeOf(const Corner &corner, const Result &r) {
    const Index filter = Index(corner.group * G::outChannels + r.o);
    return (filter * G::inChannels + r.c) * G::taps + r.tap;
  }

  template <typename F>
  static MN_DEVICE void addParts(const F &f, const Parts &parts) {
    const auto cornerOfSum = [](int64_t i) {
      return cornerOf(int(i / results));
    };
    const auto resultOfSum = [&](int64_t i) {
      return resultOf(cornerOfSum(i), int(i % results));
    };
    if constexpr (Share::later)
      storeAllParts<float, t.results(), t.splits>(
          f, parts.part, [&](int64_t i) { return isResult(resultOfSum(i)); },
          [&](int64_t i) { return placeOf(cornerOfSum(i), resultOfSum(i)); });
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_TILES_CUH
