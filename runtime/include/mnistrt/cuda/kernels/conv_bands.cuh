//===- conv_bands.cuh - gradients of filters from bands of rows -*- C++ -*-===//
//
// dw(o, c, tap) = sum over n, p of dy(n, o, p) input(n, c, window p at tap) on
// tensor cores: rows are output channels, columns input channels, and terms
// are pixels. A block loads some rows of images, a band, once for all taps: a
// tap is an offset in shared memory. Then blocks put their sums together, in a
// fixed order (tile_parts.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_CUH

#include "mnistrt/cuda/kernels/conv_bands_shape.cuh"
#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/mma.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S> struct BandsKernel {
  using G = ConvGeometry<S>;
  static constexpr shape::Bands t = shape::bandsOf(S);
  static constexpr Mma mma = S.schedule.mma;
  static constexpr int height = t.height, width = t.width, taps = t.taps;
  static constexpr int threads = t.threads, warps = t.warps;
  static constexpr int alongO = height / 16, alongC = width / 8;
  static constexpr int teams = warps / (alongO * alongC); ///< along pixels
  static constexpr int each = mma == Mma::bf16 ? 2 : 1;   ///< terms of a word
  static constexpr int terms = 8 * each; ///< of one instruction
  static constexpr int pixels = t.pixels(S), steps = t.steps(S);
  static constexpr int across = t.across(S); ///< pixels of a row of the input
  static constexpr int rows = t.inputRows(S), inputs = t.inputPixels(S);
  static constexpr int pitch = t.gradPitch(S), inputPitch = t.inputPitch(S);
  static constexpr int results = height * width * taps;
  static constexpr int kept = shape::keptTerms(mma) / terms; ///< steps
  static constexpr bool moves =
      t.bandsEach(S) * ((steps + teams - 1) / teams) > kept;
  using Share = TileShare<results, threads, t.splits, hasClusters>;
  using Parts = typename Share::template Parts<float, t.results(), t.count>;

  struct Operands {
    float grad[height][pitch];
    float input[width][inputPitch];
  };
  union Memory {
    Operands operands;
    float part[teams][results];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

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

  /// The first image and row of windows of a band.
  struct Band {
    int image, row;
  };
  static MN_DEVICE Band bandAt(int number) {
    return {number / t.bandsOfImage(S) * t.images,
            number % t.bandsOfImage(S) * t.rows};
  }

  /// A window of a band.
  struct Window {
    int image;
    Place at;
  };
  static MN_DEVICE Window windowOf(int pixel) {
    constexpr int ofImage = t.rows * S.out[1];
    return {pixel / ofImage, {pixel % ofImage / S.out[1], pixel % S.out[1], 0}};
  }
  /// False: beyond the images, or another band's.
  static MN_DEVICE bool isWindow(const Band &band, const Window &w) {
    return band.image + w.image < S.batch && band.row + w.at.x0 < S.out[0];
  }
  static MN_DEVICE Place placeIn(const Band &band, const Window &w) {
    return {band.row + w.at.x0, w.at.x1, 0};
  }

  /// Lanes are along pixels, and a warp has every eighth channel.
  template <int channels, int count, typename Load>
  static MN_DEVICE void fill(float *to, int toPitch, const Load &load) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    constexpr int turns = (count + 31) / 32, mine = channels / 8;
#pragma unroll(mine >= 8 ? 2 : 16 / mine)
    for (int turn = 0; turn < turns; ++turn) {
      const int pixel = turn * 32 + lane;
      float v[mine];
      load(pixel, warp, v);
      if (count % 32 == 0 || pixel < count)
#pragma unroll
        for (int i = 0; i < mine; ++i)
          to[(warp + 8 * i) * toPitch + pixel] = v[i];
    }
  }

  /// What is outside is 0, also beyond the band's last window.
  template <typename F>
  static MN_DEVICE void load(const F &f, const Band &band, const Corner &corner,
                             Operands &to) {
    fill<height, steps * terms>(
        to.grad[0], pitch, [&](int pixel, int first, float(&v)[height / 8]) {
          const Window w = windowOf(pixel);
          const bool inside = pixel < pixels && isWindow(band, w);
          const Place at = inside ? placeIn(band, w) : Place{0, 0, 0};
          const int n = inside ? band.image + w.image : 0;
#pragma unroll
          for (int i = 0; i < height / 8; ++i) {
            const int o = corner.o + first + 8 * i;
            const bool has =
                inside && (G::outChannels % height == 0 || o < G::outChannels);
            const float x = f.loadOutputGrad(G::output(
                n, corner.group * G::outChannels + (has ? o : 0), at));
            v[i] = has ? x : 0.0f;
          }
        });
    fill<width, inputs>(
        to.input[0], inputPitch,
        [&](int pixel, int first, float(&v)[width / 8]) {
          constexpr int ofImage = rows * across;
          const int image = band.image + pixel / ofImage;
          const int y = pixel % ofImage / across, x = pixel % across;
          const Place at = {band.row * S.strides[0] - S.pads[0] + y,
                            x - S.pads[1], 0};
          const bool inside = image < S.batch && pixel < inputs &&
                              unsigned(at.x0) < unsigned(S.in[0]) &&
                              unsigned(at.x1) < unsigned(S.in[1]);
#pragma unroll
          for (int i = 0; i < width / 8; ++i) {
            const int c = corner.c + first + 8 * i;
            const bool has =
                inside && (G::inChannels % width == 0 || c < G::inChannels);
            const float value = f.loadInput(G::input(
                has ? image : 0, corner.group * G::inChannels + (has ? c : 0),
                has ? at : Place{0, 0, 0}));
            v[i] = has ? value : 0.0f;
          }
        });
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
  static MN_DEVICE void multiplyAdd(float (&d)[4], const uint32_t (&a)[4],
                                    const uint32_t (&b)[2]) {
    if constexpr (mma == Mma::bf16)
      mmaBf16(d, a, b);
    else
      mmaTf32(d, a, b);
  }

  /// Where the window at a pixel of the band has its first element.
  static MN_DEVICE int inputAt(int pixel) {
    const Window w = windowOf(shape::min(pixel, pixels - 1));
    return w.image * rows * across + w.at.x0 * S.strides[0] * across +
           w.at.x1 * S.strides[1];
  }
  static MN_SHAPE_FN int offsetOf(int tap) {
    return tap / S.kernel[1] * S.dilations[0] * across +
           tap % S.kernel[1] * S.dilations[1];
  }

  float sum[taps][4], moved[moves ? taps : 1][4];

  template <typename Visit> static MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int tap = 0; tap < taps; ++tap)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        visit(tap, e);
  }

  /// Some taps at once, for a sum's products wait for each other; the small
  /// ones first.
  static constexpr int atOnce = 3;
  template <typename Input>
  MN_DEVICE void multiplyTaps(const Fragment<4> &a, int first,
                              const Input &input) {
    Fragment<2> b[atOnce];
#pragma unroll
    for (int j = 0; j < atOnce; ++j) {
      float v[2 * each];
#pragma unroll
      for (int i = 0; i < 2 * each; ++i)
        v[i] = first + j < taps ? input(i, first + j) : 0.0f;
      b[j].set(v);
    }
#pragma unroll
    for (int pass = mma == Mma::tf32x3 ? 0 : 2; pass < 3; ++pass)
#pragma unroll
      for (int j = 0; j < atOnce; ++j)
        if (first + j < taps)
          multiplyAdd(sum[first + j], pass == 0 ? a.small : a.big,
                      pass == 1 ? b[j].small : b[j].big);
  }

  /// A lane has the same pixels of both operands.
  MN_DEVICE void multiply(const Operands &from, int firstTap) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int row = warp % alongO * 16 + lane / 4;
    const int column = warp / alongO % alongC * 8 + lane / 4;
    const int team = warp / (alongO * alongC);
    int offset[taps];
#pragma unroll
    for (int tap = 0; tap < taps; ++tap)
      offset[tap] = offsetOf(
          t.tapGroups == 1 ? tap : shape::min(firstTap + tap, G::taps - 1));
    int since = 0;
#pragma unroll 1
    for (int step = team; step < steps; step += teams) {
      int at[2 * each];
      float v[4 * each];
#pragma unroll
      for (int i = 0; i < 2 * each; ++i) {
        const int pixel = step * terms + i * 4 + lane % 4;
        at[i] = inputAt(pixel);
        // Words: both rows of the first terms, then of the others.
        const int word = i / each * 2, term = i % each;
        v[word * each + term] = from.grad[row][pixel];
        v[(word + 1) * each + term] = from.grad[row + 8][pixel];
      }
      Fragment<4> a;
      a.set(v);
#pragma unroll
      for (int first = 0; first < taps; first += atOnce)
        multiplyTaps(a, first, [&](int i, int tap) {
          return from.input[column][at[i] + offset[tap]];
        });
      if constexpr (moves)
        if (++since == kept) {
          since = 0;
          move();
        }
    }
    if constexpr (moves)
      move();
  }
  MN_DEVICE void move() {
    eachSum([&](int tap, int e) {
      moved[tap][e] += sum[tap][e];
      sum[tap][e] = 0;
    });
  }

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
        v += f.loadOutputGrad(G::output(n, corner.group * G::outChannels + r.o,
                                        placeIn(band, w))) *
             f.loadInput(G::input(n, corner.group * G::inChannels + r.c, in));
      }
    return v;
  }

  /// The block's sums, in shared memory.
  template <typename F>
  MN_DEVICE void toShared(const F &f, Memory &memory, const Corner &corner,
                          int firstBand, int lastBand) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int row = warp % alongO * 16 + lane / 4;
    const int column = warp / alongO % alongC * 8 + lane % 4 * 2;
    eachSum([&](int tap, int e) {
      memory.part[warp / (alongO * alongC)]
                 [((row + e / 2 * 8) * width + column + e % 2) * taps + tap] =
          moves ? moved[moves ? tap : 0][e] : sum[tap][e];
    });
    __syncthreads();
    bool isNan = false;
    for (int e = int(threadIdx.x); e < results; e += threads) {
      float v = memory.part[0][e];
#pragma unroll
      for (int team = 1; team < teams; ++team)
        v += memory.part[team][e];
      if constexpr (teams > 1)
        memory.part[0][e] = v;
      isNan |= v != v;
    }
    if (!__syncthreads_or(isNan))
      return;
#pragma unroll 1
    for (int e = int(threadIdx.x); e < results; e += threads) {
      const Result r = resultOf(corner, e);
      float &v = memory.part[0][e];
      if (v != v && isResult(r))
        v = exactSum(f, corner, r, firstBand, lastBand);
    }
    __syncthreads();
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    gridDependencySync();
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const int split = int(blockIdx.x % t.splits);
    const int tile = int(blockIdx.x / t.splits);
    const Corner corner = cornerOf(tile);
    constexpr int share = t.bandsEach(S), bands = t.bands(S);
    const int first = shape::min(split * share, bands);
    const int last = shape::min(first + share, bands);

    BandsKernel kernel;
    eachSum([&](int tap, int e) {
      kernel.sum[tap][e] = 0;
      kernel.moved[moves ? tap : 0][e] = 0;
    });
#pragma unroll 1
    for (int band = first; band < last; ++band) {
      load(f, bandAt(band), corner, memory.operands);
      __syncthreads();
      kernel.multiply(memory.operands, corner.tap);
      __syncthreads();
    }
    kernel.toShared(f, memory, corner, first, last);

    const auto has = [&](int e) { return isResult(resultOf(corner, e)); };
    const auto use = [&](int e, float v) { store(f, corner, e, v); };
    const auto part = [&](int which, int e) -> float & {
      return parts.part[which * t.results() + int64_t(tile) * results + e];
    };
    if constexpr (Share::cluster != 1 || t.splits == 1) {
      const auto place = [](int e) { return e; };
      Share::addCluster(memory.part[0], split, place, has, use);
    } else {
      Share::eachOfShare(0, has,
                         [&](int e) { part(split, e) = memory.part[0][e]; });
      if constexpr (!Share::later)
        Share::template addAsLast<float>(&parts.ticket[tile], part, has, use);
    }
  }

  template <typename F>
  static MN_DEVICE void store(const F &f, const Corner &corner, int e,
                              float v) {
    const Result r = resultOf(corner, e);
    f.store((Index(corner.group * G::outChannels + r.o) * G::inChannels + r.c) *
                    G::taps +
                r.tap,
            v);
  }

  template <typename F>
  static MN_DEVICE void addParts(const F &f, const Parts &parts) {
    if constexpr (Share::later)
      addAllParts<float, t.results(), t.splits>(
          parts.part, [&](int64_t i, float v) {
            const Corner corner = cornerOf(int(i / results));
            const int e = int(i % results);
            if (isResult(resultOf(corner, e)))
              store(f, corner, e, v);
          });
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_CUH
