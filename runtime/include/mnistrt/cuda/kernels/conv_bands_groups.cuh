//===- conv_bands_groups.cuh - bands that warpgroups multiply ---*- C++ -*-===//
//
// As conv_bands.cuh says, but of a few images at once, whose pixels at one
// place are 16 bytes of shared memory: so the tensor cores read both operands
// there, at any tap. Rows are input channels at taps, columns output channels,
// and terms are images, at a window and at the next one. A band is a row of
// windows, or a part of it. Of the input's rows only those are loaded that the
// band above does not read: while a band is multiplied, the next one is stored,
// and the one after it is on its way.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH

#include "mnistrt/cuda/kernels/conv_bands_loads.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S> struct BandGroups : BandTiles<S> {
  using Base = BandTiles<S>;
  using Loads = BandLoads<S>;
  using Base::across, Base::height, Base::mma, Base::results, Base::t,
      Base::taps, Base::threads, Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Parts;
  using Operands = typename Loads::Operands;
  static constexpr int parts = Loads::parts, wide = height / 8;
  static constexpr int inputs = Loads::inputs, pitch = Loads::pitch;
  static constexpr int tapsOfRun = t.tapsOfRun(S), ofRun = t.unitsOfRun(S);
  static constexpr int units = t.units(S), rounds = t.rounds(S);
  static constexpr bool isLong = t.bandsEach(S) > 1, moves = t.moves(S);

  union Memory {
    Operands operands;
    float part[results];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

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

  /// Begins the products of a band. `add`: to what there is.
  MN_DEVICE void start(const Operands &from, const Band &band, int which,
                       bool add) {
    if constexpr (hasWgmma)
      startWgmma(from, band, which, add);
    else
      multiply(from, band, which, add);
  }

  MN_DEVICE void startWgmma(const Operands &from, const Band &band, int which,
                            bool add) {
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
        multiplyWgmma(r,
                      input[r] + 2 * pair * S.strides[1] * width +
                          (uint64_t(apart(pair)) << 16),
                      grads + 2 * pair * pitch, add || pair != 0);
    commitWgmma();
  }
  MN_DEVICE void multiplyWgmma(int round, uint64_t input, uint64_t grads,
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
          Base::multiplyAdd(sum[round][j + half], a[partOfA], columns);
        };
        if constexpr (parts == 2) {
          add(parts - 1, 0);
          add(0, parts - 1);
        }
        add(0, 0);
      }
    }
  }

  /// Windows of a pair that are none's.
  static MN_DEVICE void clearGrads(Operands &to) {
    if constexpr (t.columns % 2 != 0)
      for (int i = int(threadIdx.x); i < 2 * pitch; i += threads)
        to.grad[i / pitch][t.columns][i % pitch] = {0, 0, 0, 0};
  }

  typename Loads::Spots spots;
  Band band;        ///< that is multiplied
  int number, last; ///< of it, and of the one after the last
  int which;        ///< its place in shared memory

  MN_DEVICE Band below(int rows) const {
    return {band.image, band.row + rows, band.column};
  }
  /// Whether the block has that one, too, after this one.
  MN_DEVICE bool isMine(const Band &other) const {
    return other.row < t.bandsDown(S) && number + other.row - band.row < last;
  }

  /// Begins with a band that has nothing of the one above it.
  template <typename F>
  MN_DEVICE void enter(const F &f, const Corner &corner, Operands &memory,
                       Loads &next) {
    band = Base::bandAt(number);
    Loads::fill(f, corner, spots, band, which, memory);
    if constexpr (isLong)
      memory.inside[which][threadIdx.x] =
          next.load(f, corner, spots, below(1), isMine(below(1)));
  }

  /// Multiplies a band. `next` is on its way; the one after it is loaded.
  template <typename F>
  MN_DEVICE void addBand(const F &f, const Corner &corner, Operands &memory,
                         Loads &next, Loads &afterNext, bool isFirst) {
    if constexpr (hasWgmma)
      fenceForWgmma();
    __syncthreads();
    if constexpr (isLong)
      memory.inside[1 - which][threadIdx.x] =
          afterNext.load(f, corner, spots, below(2), isMine(below(2)));
    start(memory, band, which, !moves && !isFirst);
    if constexpr (isLong)
      next.store(
          spots, below(1), 1 - which,
          const_cast<volatile unsigned &>(memory.inside[which][threadIdx.x]),
          memory);
    if constexpr (hasWgmma)
      waitForWgmma();
    if constexpr (moves)
      eachSum([&](int r, int j, int e) { moved[r][j][e] += sum[r][j][e]; });
    which = 1 - which;
    ++number;
    band = below(1);
    if (isLong && number < last && band.row == t.bandsDown(S)) {
      __syncthreads();
      enter(f, corner, memory, afterNext);
    }
  }

  /// Adds up some bands.
  template <typename F>
  MN_DEVICE void addUp(const F &f, const Corner &corner, int first, int end,
                       Operands &memory) {
    eachSum([&](int r, int j, int e) {
      (moves ? moved[moves ? r : 0] : sum[r])[j][e] = 0;
    });
    if (first == end)
      return;
    clearGrads(memory);
    spots.find(corner);
    number = first;
    last = end;
    which = 0;
    Loads loads[2];
    enter(f, corner, memory, loads[0]);
#pragma unroll 1
    while (number < last) {
      addBand(f, corner, memory, loads[0], loads[1], number == first);
      if (isLong && number < last)
        addBand(f, corner, memory, loads[1], loads[0], false);
    }
  }

  /// The block's sums, in shared memory.
  template <typename F>
  MN_DEVICE void toShared(const F &f, float *part, const Corner &corner,
                          int firstBand, int lastBand) {
    const int warp = int(threadIdx.x) / 32 % 4, lane = int(threadIdx.x) % 32;
    bool isNan = false;
    // The sums take the place of the bands.
    __syncthreads();
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
          part[(o * width + row % width) * taps + unit.tap + row / width] = v;
          isNan |= v != v;
        }
    }
    Base::repair(f, part, isNan, corner, firstBand, lastBand);
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    gridDependencySync();
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const Corner corner = Base::cornerOf(int(blockIdx.x / t.splits));
    const auto bands = Base::bandsOfBlock();
    BandGroups kernel;
    kernel.addUp(f, corner, bands.first, bands.last, memory.operands);
    kernel.toShared(f, memory.part, corner, bands.first, bands.last);
    Base::finish(f, memory.part, parts, corner);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH
