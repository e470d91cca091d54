//===- conv_bands_inputs.cuh - inputs by gradients of bands -----*- C++ -*-===//
//
// For conv_bands_groups.cuh: rows are input channels at taps, columns output
// channels, and the tensor cores read both in shared memory. Each warpgroup has
// some units of 64 rows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_INPUTS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_INPUTS_CUH

#include "mnistrt/cuda/kernels/conv_bands_loads.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S> struct BandInputs : BandTiles<S> {
  using Base = BandTiles<S>;
  using Loads = BandLoads<S>;
  using Base::across, Base::height, Base::mma, Base::t, Base::taps, Base::width;
  using typename Base::Band;
  using Operands = typename Loads::Operands;
  static constexpr int parts = Loads::parts, wide = height / 8;
  static constexpr int inputs = Loads::inputs, pitch = Loads::pitch;
  static constexpr int tapsOfRun = t.tapsOfRun(S), ofRun = t.unitsOfRun(S);
  static constexpr int units = t.units(S), rounds = t.rounds(S);
  static constexpr bool moves = t.moves(S);

  float sum[rounds][wide][4], moved[moves ? rounds : 1][wide][4];

  template <typename Visit> static MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int r = 0; r < rounds; ++r)
#pragma unroll
      for (int j = 0; j < wide; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          visit(r, j, e);
  }

  /// 64 rows of a run of taps next to each other: the first of these, which of
  /// the run's rows, and where these begin in a row of the input. The last unit
  /// again where there are no more.
  struct Unit {
    int tap, first;
    bool isBeyond; ///< there are no more
    MN_DEVICE int inputRow() const {
      return tap / S.kernel[1] * S.dilations[0];
    }
    MN_DEVICE int offset() const {
      return tap % S.kernel[1] * S.dilations[1] * width + first;
    }
  };
  static MN_DEVICE int warpgroup() {
    // The same in all lanes, and the compiler should know it.
    return __shfl_sync(0xffffffff, int(threadIdx.x) / 128, 0);
  }
  static MN_DEVICE Unit unitOf(int round) {
    const int number = round * t.warpgroups + warpgroup();
    const int unit = shape::min(number, units - 1);
    return {unit / ofRun * tapsOfRun, unit % ofRun * 64, number >= units};
  }
  /// Of a unit the first 16 bytes of the first window of a band.
  static MN_DEVICE int inputAt(const Band &band, const Unit &unit) {
    return Loads::placeOfRow(band, unit.inputRow()) * across * width +
           unit.offset();
  }
  /// Between the windows of a pair: the last one may have no other, and is
  /// multiplied by 0 then.
  static MN_SHAPE_FN int apart(int pair) {
    return 2 * pair + 1 < t.columns ? S.strides[1] * width : 0;
  }

  MN_DEVICE void begin() {
    eachSum([&](int r, int j, int e) {
      (moves ? moved[moves ? r : 0] : sum[r])[j][e] = 0;
    });
  }

  /// Multiplies a band; store() brings the next one to shared memory, load()
  /// begins to load the one after it. `isFirst`: no other was multiplied
  /// before. A warp that has begun some products can begin no more, and do
  /// nothing else, before most of these are made. So some warpgroups begin with
  /// them, others end with them, and one of three has them in between.
  template <typename Store, typename Load>
  MN_DEVICE void multiplyBand(const Operands &from, const Band &band, int which,
                              bool isFirst, const Store &store,
                              const Load &load) {
    const bool add = !moves && !isFirst;
    if constexpr (!hasWgmma) {
      store();
      load();
      multiply(from, band, which, add);
    } else {
      const int turn = 2 * warpgroup() - (t.warpgroups - 1);
      if (turn < 0)
        multiplyWgmma(from, band, which, add);
      store();
      if (turn == 0)
        multiplyWgmma(from, band, which, add);
      load();
      if (turn > 0)
        multiplyWgmma(from, band, which, add);
    }
    if constexpr (moves)
      eachSum([&](int r, int j, int e) { moved[r][j][e] += sum[r][j][e]; });
  }

  MN_DEVICE void multiplyWgmma(const Operands &from, const Band &band,
                               int which, bool add) {
    const uint64_t grads =
        wgmmaOperand(&from.grad[which][0][0], pitch * sizeof(uint4));
    uint64_t input[rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r)
      input[r] = wgmmaOperand(&from.input[0][inputAt(band, unitOf(r))], 0);
    beginWgmma();
#pragma unroll
    for (int pair = 0; pair < t.pairs(); ++pair)
#pragma unroll
      for (int r = 0; r < rounds; ++r)
        // Addresses in an operand count 16 bytes.
        startWgmma(r,
                   input[r] + 2 * pair * S.strides[1] * width +
                       (uint64_t(apart(pair)) << 16),
                   grads + 2 * pair * pitch, add || pair != 0);
    commitWgmma();
    waitForWgmma();
  }
  MN_DEVICE void startWgmma(int round, uint64_t input, uint64_t grads,
                            bool add) {
    auto &d = reinterpret_cast<float(&)[height / 2]>(sum[round]);
    const auto multiply = [&](int partOfInput, int partOfGrad, bool adds) {
      const uint64_t a = input + partOfInput * inputs;
      const uint64_t b = grads + partOfGrad * height;
      if constexpr (mma == Mma::bf16)
        wgmmaBf16(d, a, b, adds);
      else
        wgmmaTf32(d, a, b, adds);
    };
    // The small products first.
    if constexpr (parts == 2) {
      multiply(1, 0, add);
      multiply(0, 1, true);
    }
    multiply(0, 0, parts == 2 || add);
  }

  MN_DEVICE void multiply(const Operands &from, const Band &band, int which,
                          bool add) {
    if (!add)
      eachSum([&](int r, int j, int e) { sum[r][j][e] = 0; });
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int at = inputAt(band, unitOf(r));
#pragma unroll 1
      for (int pair = 0; pair < t.pairs(); ++pair)
        multiplyPair(from, r, at + 2 * pair * S.strides[1] * width, which,
                     pair);
    }
  }
  MN_DEVICE void multiplyPair(const Operands &from, int round, int at,
                              int which, int pair) {
    const int warp = int(threadIdx.x) / 32 % 4, lane = int(threadIdx.x) % 32;
    uint32_t a[parts][4];
#pragma unroll
    for (int part = 0; part < parts; ++part)
      loadMatrices(a[part], &from.input[part][at + warp * 16 + lane % 16 +
                                              lane / 16 * apart(pair)]);
    const int column = lane / 16 * 8 + lane % 8;
#pragma unroll
    for (int j = 0; j < wide; j += 2) {
      uint32_t b[parts][4];
#pragma unroll
      for (int part = 0; part < parts; ++part)
        loadMatrices(b[part], &from.grad[which][2 * pair + lane / 8 % 2]
                                        [part * height + column + 8 * j]);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto add = [&](int partOfA, int partOfB) {
          const uint32_t columns[2] = {b[partOfB][2 * half],
                                       b[partOfB][2 * half + 1]};
          multiplyAdd<mma>(sum[round][j + half], a[partOfA], columns);
        };
        if constexpr (parts == 2) {
          add(parts - 1, 0);
          add(0, parts - 1);
        }
        add(0, 0);
      }
    }
  }

  /// To the block's sums, in shared memory. Whether one is no number.
  MN_DEVICE bool store(float *part) const {
    const int warp = int(threadIdx.x) / 32 % 4, lane = int(threadIdx.x) % 32;
    bool isNan = false;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const Unit unit = unitOf(r);
#pragma unroll
      for (int j = 0; j < wide; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = unit.first + warp * 16 + lane / 4 + e / 2 * 8;
          const int o = 8 * j + lane % 4 * 2 + e % 2;
          if (unit.isBeyond || row >= tapsOfRun * width)
            continue;
          const float v = moves ? moved[moves ? r : 0][j][e] : sum[r][j][e];
          part[o * Base::sumsPitch + row % width * taps + unit.tap +
               row / width] = v;
          isNan |= v != v;
        }
    }
    return isNan;
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_INPUTS_CUH
