//===- conv_bands.cuh - gradients of filters from bands of rows -*- C++ -*-===//
//
// dw(o, c, tap) = sum over n, p of dy(n, o, p) input(n, c, window p at tap) on
// tensor cores: rows are output channels, columns input channels, and terms
// are pixels. A block loads some rows of images, a band, once for all taps: a
// tap is an offset in shared memory. A lane has four windows next to each
// other, whose elements at the taps of a row are mostly the same: it loads and
// splits each once, and terms of an operation are in the order that this makes.
// Then blocks put their sums together, in a fixed order (tile_parts.cuh). Each
// warp multiplies for itself, or warpgroups together (conv_bands_groups.cuh).
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
  using Base::across, Base::each, Base::height, Base::mma, Base::pixels,
      Base::results, Base::rows, Base::t, Base::taps, Base::threads,
      Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Parts;
  template <int words> using Fragment = typename Base::template Fragment<words>;
  static constexpr int warps = t.warps;
  static constexpr int alongO = height / 16, alongC = width / 8;
  static constexpr int teams = t.teams(); ///< along pixels
  static constexpr int pitch = t.gradPitch(), inputPitch = Base::inputPitch;
  static constexpr int quad = t.quad, steps = t.steps();
  /// Whether a warp has more terms than the tensor cores should add up alone.
  static constexpr bool moves = t.bandsEach(S) * ((steps + teams - 1) / teams) *
                                    t.ofStep >
                                shape::keptTerms(mma);

  struct Operands {
    alignas(16) float grad[height][pitch];
    alignas(16) float input[width][inputPitch];
  };
  union Memory {
    Operands operands;
    float part[teams][Base::sums];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

  template <typename F>
  static MN_DEVICE void load(const F &f, const Band &band, const Corner &corner,
                             Operands &to) {
    using Grads = BandRows<height, Loads::gradElements, Loads::gradWide>;
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

  float sum[taps][4];

  template <typename Visit> static MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int tap = 0; tap < taps; ++tap)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        visit(tap, e);
  }

  /// Operations that multiply a lane's quads, with some terms each.
  static constexpr int halves = quad / (2 * each);
  /// Those of word after word of a half's operand: of `rows` rows, term after
  /// term of these.
  template <int rows, typename At>
  static MN_DEVICE Fragment<2 * rows> fragmentOf(int half, const At &at) {
    float v[2 * rows * each];
#pragma unroll
    for (int i = 0; i < 2 * rows * each; ++i)
      v[i] =
          at(i / each % rows, (half * 2 + i / each / rows) * each + i % each);
    Fragment<2 * rows> fragment;
    fragment.set(v);
    return fragment;
  }

  /// Taps of a row, and rows of these.
  static constexpr int tapsOfRow = shape::min(taps, S.kernel[1]);
  static constexpr int tapRows = t.tapRows(S);
  /// Elements from a quad's first one at the first tap on, of which some may
  /// be read by none.
  static constexpr int reached =
      (quad - 1) * S.strides[1] + (tapsOfRow - 1) * S.dilations[1] + 1;
  static MN_SHAPE_FN bool isRead(int element) {
    for (int i = 0; i < quad; ++i)
      for (int tap = 0; tap < tapsOfRow; ++tap)
        if (i * S.strides[1] + tap * S.dilations[1] == element)
          return true;
    return false;
  }
  /// How far the first is behind 16 bytes that begin together; those of parts
  /// of a row may be anywhere.
  static constexpr bool isAligned = tapsOfRow == S.kernel[1];
  static constexpr int behind = (t.left(S) - S.pads[1]) % quad;

  /// Loads elements in shared memory from `first` on, 16 bytes at once where
  /// most of these are read.
  static MN_DEVICE void loadRow(const float *first, float (&v)[reached]) {
#pragma unroll
    for (int begin = -behind; begin < reached; begin += quad) {
      int used = 0;
#pragma unroll
      for (int j = begin; j < begin + quad; ++j)
        used += j >= 0 && j < reached && isRead(j);
      float four[quad];
      if (isAligned && used > 2)
        *reinterpret_cast<float4 *>(four) =
            *reinterpret_cast<const float4 *>(first + begin);
#pragma unroll
      for (int j = begin; j < begin + quad; ++j)
        if (j >= 0 && j < reached && isRead(j))
          v[j] = isAligned && used > 2 ? four[j - begin] : first[j];
    }
  }

  /// Rows of taps that are multiplied at once: all where a multiprocessor has
  /// one block, few warps that could go on while a product waits.
  static constexpr int rowsAtOnce =
      t.count * t.splits <= shape::referenceSms ? tapRows : 1;
  /// All taps before the next product of a sum, which waits for the one before;
  /// the small ones first. Sums that move do so after each step, which takes
  /// fewer registers than others beside them.
  MN_DEVICE void multiplyRows(const Fragment<4> (&a)[halves], int firstRow,
                              const float (&v)[rowsAtOnce][reached]) {
    constexpr int some = rowsAtOnce * tapsOfRow;
    Fragment<2> b[some][halves];
#pragma unroll
    for (int i = 0; i < some; ++i)
#pragma unroll
      for (int half = 0; half < halves; ++half)
        b[i][half] = fragmentOf<1>(half, [&](int, int window) {
          return v[i / tapsOfRow]
                  [window * S.strides[1] + i % tapsOfRow * S.dilations[1]];
        });
    float fresh[some][4] = {};
    const int first = firstRow * tapsOfRow;
#pragma unroll
    for (int pass = mma == Mma::tf32x3 ? 0 : 2; pass < 3; ++pass)
#pragma unroll
      for (int half = 0; half < halves; ++half)
#pragma unroll
        for (int i = 0; i < some; ++i)
          multiplyAdd<mma>(moves ? fresh[i] : sum[first + i],
                           pass == 0 ? a[half].small : a[half].big,
                           pass == 1 ? b[i][half].small : b[i][half].big);
    if constexpr (moves)
#pragma unroll
      for (int i = 0; i < some; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sum[first + i][e] += fresh[i][e];
  }

  /// Where the quad of a band's windows from `pixel` on has its first element
  /// at the first tap of a row of the filter.
  static MN_DEVICE int inputAt(int pixel) {
    const auto w = Base::windowOf(shape::min(pixel, pixels - quad));
    return w.image * rows * across + w.at.x0 * S.strides[0] * across +
           w.at.x1 * S.strides[1] + t.left(S) - S.pads[1];
  }

  /// A lane has the same windows of both operands.
  MN_DEVICE void multiply(const Operands &from, int firstTap) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int row = warp % alongO * 16 + lane / 4;
    const int column = warp / alongO % alongC * 8 + lane / 4;
    const int team = warp / (alongO * alongC);
    const int right = isAligned ? 0 : firstTap % S.kernel[1] * S.dilations[1];
#pragma unroll 1
    for (int step = team; step < steps; step += teams) {
      const int pixel = step * t.ofStep + lane % 4 * quad;
      float grad[2][quad];
#pragma unroll
      for (int i = 0; i < 2; ++i)
        *reinterpret_cast<float4 *>(grad[i]) =
            *reinterpret_cast<const float4 *>(&from.grad[row + 8 * i][pixel]);
      Fragment<4> a[halves];
#pragma unroll
      for (int half = 0; half < halves; ++half)
        a[half] = fragmentOf<2>(
            half, [&](int which, int window) { return grad[which][window]; });
      const float *first = &from.input[column][inputAt(pixel) + right];
#pragma unroll
      for (int i = 0; i < tapRows; i += rowsAtOnce) {
        float v[rowsAtOnce][reached];
#pragma unroll
        for (int j = 0; j < rowsAtOnce; ++j)
          loadRow(first + (i + j) * S.dilations[0] * across, v[j]);
        multiplyRows(a, i, v);
      }
    }
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
          sum[tap][e];
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
    gridDependencySyncOf<F>();
    const Corner corner = Base::cornerOf(int(blockIdx.x / t.splits));
    const auto bands = Base::bandsOfBlock();

    BandsKernel kernel;
    eachSum([&](int tap, int e) { kernel.sum[tap][e] = 0; });
#pragma unroll 1
    for (int band = bands.first; band < bands.last; ++band) {
      load(f, Base::bandAt(band), corner, memory.operands);
      if (band + 1 == bands.last)
        afterLastLoads<F>();
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
