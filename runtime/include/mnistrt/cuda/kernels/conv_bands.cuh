//===- conv_bands.cuh - gradients of filters from bands of rows -*- C++ -*-===//
//
// dw(o, c, tap) = sum over n, p of dy(n, o, p) input(n, c, window p at tap) on
// tensor cores: rows are output channels, columns input channels, and terms
// are pixels. A block loads some rows of images, a band, once for all taps: a
// tap is an offset in shared memory. Then blocks put their sums together, in a
// fixed order (tile_parts.cuh). Each warp multiplies for itself, or warpgroups
// together (conv_bands_groups.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_CUH

#include "mnistrt/cuda/kernels/conv_bands_groups.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S, int warpgroups = S.schedule.warpgroups>
struct BandsKernel : BandGroups<S> {};

template <Conv S> struct BandsKernel<S, 0> : BandTiles<S> {
  using Base = BandTiles<S>;
  using G = typename Base::G;
  using Base::each, Base::height, Base::inputs, Base::mma, Base::pixels,
      Base::results, Base::steps, Base::t, Base::taps, Base::terms,
      Base::threads, Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Parts,
      typename Base::Window;
  template <int words> using Fragment = typename Base::template Fragment<words>;
  static constexpr int warps = t.warps;
  static constexpr int alongO = height / 16, alongC = width / 8;
  static constexpr int teams = warps / (alongO * alongC); ///< along pixels
  static constexpr int pitch = t.gradPitch(S), inputPitch = Base::inputPitch;
  static constexpr int kept = shape::keptTerms(mma) / terms; ///< steps
  static constexpr bool moves =
      t.bandsEach(S) * ((steps + teams - 1) / teams) > kept;

  struct Operands {
    float grad[height][pitch];
    float input[width][inputPitch];
  };
  union Memory {
    Operands operands;
    float part[teams][results];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

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
          const Window w = Base::windowOf(pixel);
          const bool inside = pixel < pixels && Base::isWindow(band, w);
          const Place at = inside ? Base::placeIn(band, w) : Place{0, 0, 0};
          const int n = inside ? band.image + w.image : 0;
#pragma unroll
          for (int i = 0; i < height / 8; ++i) {
            const int o = first + 8 * i;
            const bool has = inside && Base::isOutput(corner, o);
            const float x = Base::Grad::value(
                f, n, corner.group * G::outChannels + (has ? corner.o + o : 0),
                at);
            v[i] = has ? x : 0.0f;
          }
        });
    fill<width, inputs>(
        to.input[0], inputPitch,
        [&](int pixel, int first, float(&v)[width / 8]) {
          typename Base::Spot spot;
          spot.find(pixel);
          const bool inside = Base::loadInputs(f, band, corner, spot, first, v);
#pragma unroll
          for (int i = 0; i < width / 8; ++i)
            if (!inside || !Base::isInput(corner, first + 8 * i))
              v[i] = 0.0f;
        });
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
          multiplyAdd<mma>(sum[first + j], pass == 0 ? a.small : a.big,
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
      offset[tap] = Base::offsetOf(
          t.tapGroups == 1 ? tap : shape::min(firstTap + tap, G::taps - 1));
    int since = 0;
#pragma unroll 1
    for (int step = team; step < steps; step += teams) {
      int at[2 * each];
      float v[4 * each];
#pragma unroll
      for (int i = 0; i < 2 * each; ++i) {
        const int pixel = step * terms + i * 4 + lane % 4;
        at[i] = Base::inputAt(pixel);
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
    Base::repair(f, memory.part[0], isNan, corner, firstBand, lastBand);
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    gridDependencySync();
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const Corner corner = Base::cornerOf(int(blockIdx.x / t.splits));
    const auto bands = Base::bandsOfBlock();

    BandsKernel kernel;
    eachSum([&](int tap, int e) {
      kernel.sum[tap][e] = 0;
      kernel.moved[moves ? tap : 0][e] = 0;
    });
#pragma unroll 1
    for (int band = bands.first; band < bands.last; ++band) {
      load(f, Base::bandAt(band), corner, memory.operands);
      __syncthreads();
      kernel.multiply(memory.operands, corner.tap);
      __syncthreads();
    }
    kernel.toShared(f, memory, corner, bands.first, bands.last);
    Base::finish(f, memory.part[0], parts, corner);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_CUH
