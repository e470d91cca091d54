//===- conv_bands_groups.cuh - bands that warpgroups multiply ---*- C++ -*-===//
//
// As conv_bands.cuh says, with rows and columns the other way around: columns
// are output channels, as the tensor cores read them from shared memory; a warp
// has 16 rows, which are input channels at a tap, in registers, where a tap may
// begin at any pixel. While a band is multiplied, the next one is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_GROUPS_CUH

#include "mnistrt/cuda/kernels/conv_bands_tiles.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <Conv S> struct BandGroups : BandTiles<S> {
  using Base = BandTiles<S>;
  using G = typename Base::G;
  using Base::each, Base::height, Base::inputPitch, Base::inputs, Base::mma,
      Base::pixels, Base::results, Base::steps, Base::t, Base::taps,
      Base::terms, Base::threads, Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Parts;
  using Fragment = typename Base::template Fragment<4>;
  static constexpr int warps = t.warps, units = t.units(), rounds = t.rounds();
  static constexpr int parts = shape::partsOf(mma), wide = height / 8;
  static constexpr int chunk = 4 * each; ///< terms of 16 bytes
  static constexpr int chunks = 2 * steps;
  static constexpr int gradLoads = (height * chunks + threads - 1) / threads;
  static constexpr int inputLoads = (inputs + 31) / 32, channels = width / 8;
  static constexpr bool moves = t.bandsEach(S) > 1;

  /// Of the gradient 16 bytes are neighbours; rows of an operand follow each
  /// other, and after them come 16 bytes that nobody reads.
  struct Stage {
    uint4 grad[parts][chunks][height + 1];
    float input[width][inputPitch];
  };
  /// Which of a thread's loads are of the band. What is outside becomes 0 when
  /// it is stored; if registers said what that is, ptxas would ask them, and
  /// wait for what was loaded, before anything is multiplied.
  struct Inside {
    int grads;       ///< pixels of an output channel
    unsigned inputs; ///< a bit of each
  };
  struct Operands {
    Stage stage[2];
    int spot[steps * terms]; ///< inputAt() of each pixel
    Inside inside[threads];
  };
  union Memory {
    Operands operands;
    float part[results];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(S, t));

  /// Where a thread's loads of the input are.
  struct Spots {
    typename Base::Spot of[inputLoads];
    MN_DEVICE void find() {
#pragma unroll
      for (int j = 0; j < inputLoads; ++j)
        of[j].find(j * 32 + int(threadIdx.x) % 32);
    }
  };

  /// What a thread loads of a band.
  struct Loads {
    float grad[gradLoads][chunk], input[inputLoads][channels];

    static MN_DEVICE int number(int j) {
      return int(threadIdx.x) + j * threads;
    }
    template <typename F>
    MN_DEVICE void load(const F &f, const Band &band, const Corner &corner,
                        const Spots &spots, Inside &inside) {
      const int grads = Base::pixelsOf(band);
      unsigned hasInputs = 0;
#pragma unroll
      for (int j = 0; j < gradLoads; ++j)
        loadGrads(f, band, corner, number(j), grads, grad[j]);
      const int warp = int(threadIdx.x) / 32;
#pragma unroll
      for (int j = 0; j < inputLoads; ++j)
        if (Base::loadInputs(f, band, corner, spots.of[j], warp, input[j]))
          hasInputs |= 1u << j;
      inside = {grads, hasInputs};
    }
    static MN_DEVICE bool isGrad(const Corner &corner, int number, int i,
                                 int grads) {
      return number < height * chunks &&
             Base::isOutput(corner, number / chunks) &&
             number % chunks * chunk + i < grads;
    }
    /// Rows of a band follow each other in memory.
    template <typename F>
    static MN_DEVICE void loadGrads(const F &f, const Band &band,
                                    const Corner &corner, int number, int grads,
                                    float (&v)[chunk]) {
      constexpr int ofImage = t.rows * S.out[1];
      const int o = corner.o + number / chunks;
#pragma unroll
      for (int i = 0; i < chunk; ++i) {
        const int pixel = number % chunks * chunk + i;
        const bool has = isGrad(corner, number, i, grads);
        const Index at =
            G::output(band.image + (has ? pixel / ofImage : 0),
                      corner.group * G::outChannels + (has ? o : 0),
                      Place{band.row, 0, 0});
        v[i] = f.loadOutputGrad(at + (has ? pixel % ofImage : 0));
      }
    }
    MN_DEVICE void store(Stage &stage, const Corner &corner,
                         const volatile Inside &inside) const {
      const int grads = inside.grads;
      const unsigned hasInputs = inside.inputs;
      const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
#pragma unroll
      for (int j = 0; j < gradLoads; ++j) {
        float v[chunk];
#pragma unroll
        for (int i = 0; i < chunk; ++i)
          v[i] = isGrad(corner, number(j), i, grads) ? grad[j][i] : 0.0f;
        if ((j + 1) * threads <= height * chunks || number(j) < height * chunks)
          storeGrad(stage, number(j) % chunks, number(j) / chunks, v);
      }
#pragma unroll
      for (int j = 0; j < inputLoads; ++j)
#pragma unroll
        for (int i = 0; i < channels; ++i) {
          const int pixel = j * 32 + lane, c = warp + 8 * i;
          const bool has = (hasInputs >> j & 1) != 0;
          if (inputs % 32 == 0 || pixel < inputs)
            stage.input[c][pixel] =
                has && Base::isInput(corner, c) ? input[j][i] : 0.0f;
        }
    }
    static MN_DEVICE void storeGrad(Stage &stage, int c, int o,
                                    const float (&v)[chunk]) {
      Fragment words;
      if constexpr (mma == Mma::bf16) {
        // Lanes read pixels that are four apart as neighbours.
        const float mixed[8] = {v[0], v[4], v[1], v[5], v[2], v[6], v[3], v[7]};
        words.set(mixed);
      } else {
        words.set(v);
      }
      stage.grad[0][c][o] = wordsOf(words.big);
      if constexpr (parts == 2)
        stage.grad[1][c][o] = wordsOf(words.small);
    }
    static MN_DEVICE uint4 wordsOf(const uint32_t (&word)[4]) {
      return {word[0], word[1], word[2], word[3]};
    }
  };

  float sum[rounds][wide][4], moved[moves ? rounds : 1][wide][4];
  int row[rounds]; ///< of a lane, where its input channel has its tap

  template <typename Visit> static MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int r = 0; r < rounds; ++r)
#pragma unroll
      for (int j = 0; j < wide; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          visit(r, j, e);
  }

  /// The 16 input channels and the tap of a warp's rows; the last ones again
  /// where there are no more.
  struct Unit {
    int channel, tap;
    bool isBeyond; ///< there are no more
  };
  static MN_DEVICE Unit unitOf(int round) {
    const int number = round * warps + int(threadIdx.x) / 32;
    const int unit = shape::min(number, units - 1);
    return {unit / taps * 16, unit % taps, number >= units};
  }
  MN_DEVICE void findRows(int firstTap) {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const Unit unit = unitOf(r);
      const int tap = t.tapGroups == 1
                          ? unit.tap
                          : shape::min(firstTap + unit.tap, G::taps - 1);
      row[r] = (unit.channel + lane / 4) * inputPitch + Base::offsetOf(tap);
    }
  }

  /// A lane has of two rows the pixels `at`.
  MN_DEVICE Fragment loadRows(const Stage &stage, int round,
                              const int (&at)[2 * each]) const {
    const float *from = &stage.input[0][0] + row[round];
    float v[4 * each];
#pragma unroll
    for (int i = 0; i < 2 * each; ++i) {
      // Words: both rows of the first terms, then of the others.
      const int word = i / each * 2, term = i % each;
      v[word * each + term] = from[at[i]];
      v[(word + 1) * each + term] = from[at[i] + 8 * inputPitch];
    }
    Fragment rows;
    rows.set(v);
    return rows;
  }
  static MN_DEVICE void findPixels(const Operands &from, int step,
                                   int (&at)[2 * each]) {
#pragma unroll
    for (int i = 0; i < 2 * each; ++i)
      at[i] = from.spot[step * terms + i * 4 + int(threadIdx.x) % 4];
  }

  /// Begins the products of a band, which forget what was.
  MN_DEVICE void start(const Operands &from, int which) {
    if constexpr (hasWgmma)
      startWgmma(from, which);
    else
      multiply(from, which);
  }

  /// While rows are multiplied, the next ones are loaded.
  MN_DEVICE void startWgmma(const Operands &from, int which) {
    const Stage &stage = from.stage[which];
    const uint64_t grads =
        wgmmaOperand(&stage.grad[0][0][0], (height + 1) * sizeof(uint4));
    constexpr int atOnce = 3; ///< groups of products under way
    Fragment a[atOnce];
    int next[2 * each];
    findPixels(from, 0, next);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      int at[2 * each];
#pragma unroll
      for (int i = 0; i < 2 * each; ++i)
        at[i] = next[i];
      if (step + 1 < steps)
        findPixels(from, step + 1, next);
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        const int number = step * rounds + r;
        Fragment &mine = a[number % atOnce];
        if (number >= atOnce)
          waitForWgmma<atOnce - 1>();
        mine = loadRows(stage, r, at);
        beginWgmma();
        multiplyWgmma(r, mine, grads, step);
        commitWgmma();
      }
    }
  }
  MN_DEVICE void multiplyWgmma(int round, const Fragment &a, uint64_t grads,
                               int step) {
    auto &d = reinterpret_cast<float(&)[height / 2]>(sum[round]);
    const auto multiply = [&](const uint32_t(&rows)[4], int part, bool adds) {
      // Addresses in an operand count 16 bytes.
      const uint64_t grad = grads + (part * chunks + 2 * step) * (height + 1);
      if constexpr (mma == Mma::bf16)
        wgmmaBf16(d, rows, grad, adds);
      else
        wgmmaTf32(d, rows, grad, adds);
    };
    // The small products first.
    if constexpr (parts == 2) {
      multiply(a.small, 0, step != 0);
      multiply(a.big, 1, true);
    }
    multiply(a.big, 0, parts == 2 || step != 0);
  }

  MN_DEVICE void multiply(const Operands &from, int which) {
    const Stage &stage = from.stage[which];
    eachSum([&](int r, int j, int e) { sum[r][j][e] = 0; });
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      int at[2 * each];
      findPixels(from, step, at);
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        const Fragment a = loadRows(stage, r, at);
#pragma unroll
        for (int j = 0; j < wide; j += 2)
          multiplyAdd(stage, step, r, j, a);
      }
    }
  }
  MN_DEVICE void multiplyAdd(const Stage &stage, int step, int round, int j,
                             const Fragment &a) {
    const int lane = int(threadIdx.x) % 32;
    const int column = lane / 16 * 8 + lane % 8 + 8 * j;
    uint32_t b[parts][4];
#pragma unroll
    for (int part = 0; part < parts; ++part)
      loadMatrices(b[part], &stage.grad[part][2 * step + lane / 8 % 2][column]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto add = [&](const uint32_t(&rows)[4], int part) {
        const uint32_t columns[2] = {b[part][2 * half], b[part][2 * half + 1]};
        Base::multiplyAdd(sum[round][j + half], rows, columns);
      };
      if constexpr (parts == 2) {
        add(a.small, 0);
        add(a.big, 1);
      }
      add(a.big, 0);
    }
  }

  /// Adds up some bands.
  template <typename F>
  MN_DEVICE void addUp(const F &f, const Corner &corner, int first, int last,
                       Operands &memory) {
    findRows(corner.tap);
    for (int i = int(threadIdx.x); i < steps * terms; i += threads)
      memory.spot[i] = Base::inputAt(i);
    eachSum([&](int r, int j, int e) {
      (moves ? moved[moves ? r : 0] : sum[r])[j][e] = 0;
    });
    if (first == last)
      return;
    Spots spots;
    spots.find();
    Loads loads;
    Inside &inside = memory.inside[threadIdx.x];
    loads.load(f, Base::bandAt(first), corner, spots, inside);
    loads.store(memory.stage[0], corner, inside);
#pragma unroll 1
    for (int band = first; band < last; ++band) {
      const int which = (band - first) % 2;
      if constexpr (hasWgmma)
        fenceForWgmma();
      __syncthreads();
      if (band + 1 < last)
        loads.load(f, Base::bandAt(band + 1), corner, spots, inside);
      start(memory, which);
      // After the last band the same once more.
      if constexpr (moves)
        loads.store(memory.stage[1 - which], corner, inside);
      if constexpr (hasWgmma)
        waitForWgmma();
      if constexpr (moves)
        eachSum([&](int r, int j, int e) { moved[r][j][e] += sum[r][j][e]; });
    }
  }

  /// The block's sums, in shared memory.
  template <typename F>
  MN_DEVICE void toShared(const F &f, float *part, const Corner &corner,
                          int firstBand, int lastBand) {
    const int lane = int(threadIdx.x) % 32;
    bool isNan = false;
    // The sums take the place of the bands.
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const Unit unit = unitOf(r);
      if (unit.isBeyond)
        continue;
#pragma unroll
      for (int j = 0; j < wide; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float v = moves ? moved[moves ? r : 0][j][e] : sum[r][j][e];
          const int c = unit.channel + lane / 4 + e / 2 * 8;
          const int o = 8 * j + lane % 4 * 2 + e % 2;
          part[(o * width + c) * taps + unit.tap] = v;
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
