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
#include "mnistrt/cuda/kernels/conv_bands_rows.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S, int warpgroups = S.schedule.warpgroups>
struct BandsKernel : BandGroups<S> {};

template <Conv S> struct BandsKernel<S, 0> : BandTiles<S> {
  using Base = BandTiles<S>;
  using G = typename Base::G;
  using Loads = BandRowLoads<S>;
  using Base::each, Base::height, Base::mma, Base::pixels, Base::results,
      Base::steps, Base::t, Base::taps, Base::terms, Base::threads, Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Parts;
  template <int words> using Fragment = typename Base::template Fragment<words>;
  static constexpr int warps = t.warps;
  static constexpr int alongO = height / 16, alongC = width / 8;
  static constexpr int teams = t.teams(); ///< along pixels
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
    float part[teams][Base::sums];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

  template <typename F>
  static MN_DEVICE void load(const F &f, const Band &band, const Corner &corner,
                             Operands &to) {
    using Grads = BandRows<height, steps * terms, Loads::gradWide>;
    using Inputs = BandRows<width, Loads::inputElements, Loads::inputWide>;
    const auto loadGrad = [&](int e, int first,
                              float(&v)[height / 8][Loads::gradWide]) {
      Loads::loadGrads(f, band, corner, e, first, v);
    };
    const auto loadInput = [&](int e, int first,
                               float(&v)[width / 8][Loads::inputWide]) {
      Loads::loadInputs(f, band, corner, e, first, v);
    };
    const auto inGrads = [](int e) { return e; };
    const auto inInputs = [](int e) { return Loads::inInputs(e); };
    if constexpr (Grads::all + Inputs::all <= Grads::most) {
      // Everything is on its way before the first number is waited for.
      typename Grads::All grads;
      typename Inputs::All inputs;
      grads.load(0, loadGrad);
      inputs.load(0, loadInput);
      grads.store(0, to.grad[0], pitch, inGrads);
      inputs.store(0, to.input[0], inputPitch, inInputs);
    } else {
      Grads::fill(to.grad[0], pitch, loadGrad, inGrads);
      Inputs::fill(to.input[0], inputPitch, loadInput, inInputs);
    }
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
      memory
          .part[warp / (alongO * alongC)][(row + e / 2 * 8) * Base::sumsPitch +
                                          (column + e % 2) * taps + tap] =
          moves ? moved[moves ? tap : 0][e] : sum[tap][e];
    });
    __syncthreads();
    bool isNan = false;
    for (int e = int(threadIdx.x); e < results; e += threads) {
      const int at = Base::inSums(e);
      float v = memory.part[0][at];
#pragma unroll
      for (int team = 1; team < teams; ++team)
        v += memory.part[team][at];
      if constexpr (teams > 1)
        memory.part[0][at] = v;
      isNan |= v != v;
    }
    Base::repair(f, memory.part[0], isNan, corner, firstBand, lastBand);
  }

  /// What is beside the images' rows.
  static MN_DEVICE void clearSides(Operands &to) {
    float4 *all = reinterpret_cast<float4 *>(to.input);
    if constexpr (Base::across != S.in[1])
      for (int i = int(threadIdx.x); i < width * inputPitch / 4; i += threads)
        all[i] = {0, 0, 0, 0};
    __syncthreads();
  }

  template <typename F>
  static MN_DEVICE void run(const F &functor, Parts &parts) {
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    clearSides(memory.operands);
    const F f = withAlignedTensors(functor);
    gridDependencySync();
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
