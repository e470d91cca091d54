//===- conv_patch.cuh - convolutions of patches on tensor cores -*- C++ -*-===//
//
// Convolutions with steps of 1, and gradients of their inputs. The windows of
// all padded images are one row of pixels, row after row and image after image:
// 64 neighbouring windows, shifted by a tap's offset, are the operand that the
// tap's filters multiply. So a block loads its pixels once for all taps; sums
// of windows that begin in a padding or reach over an edge are not stored.
//
// In shared memory 16 bytes are channels of one pixel, or of one filter and
// tap, for some channels at a time: while the tensor cores multiply these, the
// next ones arrive. For the arithmetic, see product_mma.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/conv_patch_shape.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Indices: image(n, channel, place), filter(result, channel, tap) and
/// result(n, channel, place), what they are in being up to the owner, as is
/// `Load` and `Store`. `resultsAdjacent`: a filter's neighbours in memory,
/// after its taps, are results, else channels.
template <shape::Windows W, shape::Patch t, bool resultsAdjacent>
struct PatchKernel {
  static constexpr Mma mma = W.mma;
  static constexpr int taps = W.taps(), threads = t.threads();
  static constexpr int windows = t.windows(), width = t.width;
  static constexpr int chunk = shape::chunkOf(mma), parts = shape::partsOf(mma);
  static constexpr int each = mma == Mma::bf16 ? 2 : 1; ///< terms in a word
  static constexpr int depth = 2 * chunk;               ///< channels of a turn
  static constexpr int turns = (W.channels + depth - 1) / depth;
  static constexpr int pixels = shape::patchPixels(W, t);
  static constexpr int pixelLoads = shape::patchLoads(W, t);
  static constexpr int filterLoads = shape::filterLoads(W, t);
  static constexpr int wide = width / 8;
  static constexpr int stride = windows + 4; ///< of a channel's results
  /// Taps after which sums are added to others.
  static constexpr int most = shape::max(1, shape::keptTerms(mma) / depth + 1);
  static constexpr int groups = (taps + most - 1) / most;
  static constexpr int kept = (taps + groups - 1) / groups;
  static constexpr bool moves = turns * groups > 1;

  /// Channels of the pixels and of each tap's filters.
  struct Stage {
    uint4 pixel[parts][2][pixels];
    uint4 filter[parts][2][taps][width + 1];
  };
  union Memory {
    Stage stage[2];
    float part[width * stride];
  };
  static_assert(sizeof(Memory) <= shape::sharedBytes(W, t));

  /// A pixel or window among those of all padded images.
  struct Padded {
    int image;
    Place at;
  };
  static MN_DEVICE Padded paddedOf(int number) {
    constexpr int all = W.pixels(), d1 = W.covered(1), d2 = W.covered(2);
    return {number / all, placeOf<d1, d2>(number % all)};
  }
  static MN_DEVICE bool isInImage(const Padded &p, Place &at) {
    at = {p.at.x0 - W.pads[0], p.at.x1 - W.pads[1], p.at.x2 - W.pads[2]};
    return p.image < W.batch && unsigned(at.x0) < unsigned(W.in[0]) &&
           unsigned(at.x1) < unsigned(W.in[1]) &&
           unsigned(at.x2) < unsigned(W.in[2]);
  }
  static MN_DEVICE bool isWindow(const Padded &p) {
    return p.image < W.batch && p.at.x0 < W.out[0] && p.at.x1 < W.out[1] &&
           p.at.x2 < W.out[2];
  }
  static MN_DEVICE Place tapPlace(int tap) {
    return placeOf<W.kernel[1], W.kernel[2]>(tap);
  }

  static MN_DEVICE void store(uint4 &to, uint4 *small,
                              const float (&v)[chunk]) {
    uint32_t word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if constexpr (mma == Mma::bf16)
        word[i] = toBf16(v[2 * i], v[2 * i + 1]);
      else if constexpr (mma == Mma::tf32)
        word[i] = toTf32(v[i]);
      else
        word[i] = bigOf(v[i]);
    to = uint4{word[0], word[1], word[2], word[3]};
    if constexpr (parts == 2) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        word[i] = smallOf(v[i], word[i]);
      *small = uint4{word[0], word[1], word[2], word[3]};
    }
  }

  /// What a thread loads of pixels: the same ones in each turn.
  struct Pixels {
    Padded place[pixelLoads];
    float held[pixelLoads][chunk];

    static MN_DEVICE int number(int j) {
      return int(threadIdx.x) + j * threads;
    }
    static MN_DEVICE bool isMine(int j) {
      return (j + 1) * threads <= 2 * pixels || number(j) < 2 * pixels;
    }
    MN_DEVICE void begin(int first) {
#pragma unroll
      for (int j = 0; j < pixelLoads; ++j) {
        place[j] = paddedOf(first + number(j) % pixels);
        Place at;
        const bool inside = isMine(j) && isInImage(place[j], at);
        place[j] = {inside ? place[j].image : -1, at};
      }
    }
    template <typename Op> MN_DEVICE void load(const Op &op, int turn) {
#pragma unroll
      for (int j = 0; j < pixelLoads; ++j) {
        const int channel = turn * depth + number(j) / pixels * chunk;
        const Padded &p = place[j];
#pragma unroll
        for (int i = 0; i < chunk; ++i) {
          const bool inside = p.image >= 0 && (W.channels % depth == 0 ||
                                               channel + i < W.channels);
          const float v =
              op.loadPixel(inside ? p.image : 0, inside ? channel + i : 0,
                           inside ? p.at : Place{0, 0, 0});
          held[j][i] = inside ? v : 0.0f;
        }
      }
    }
    MN_DEVICE void store(Stage &stage) {
#pragma unroll
      for (int j = 0; j < pixelLoads; ++j)
        if (isMine(j)) {
          const int at = number(j) % pixels, c = number(j) / pixels;
          PatchKernel::store(stage.pixel[0][c][at],
                             &stage.pixel[parts - 1][c][at], held[j]);
        }
    }
  };

  /// What a thread loads of filters.
  struct Filters {
    float held[filterLoads][chunk];

    struct Spot {
      int result, c, tap;
    };
    static MN_DEVICE Spot spot(int j) {
      const int number = int(threadIdx.x) + j * threads;
      const int other = number / taps;
      return resultsAdjacent ? Spot{other % width, other / width, number % taps}
                             : Spot{other / 2, other % 2, number % taps};
    }
    static MN_DEVICE bool isMine(int j) {
      constexpr int all = 2 * width * taps;
      return (j + 1) * threads <= all || int(threadIdx.x) + j * threads < all;
    }
    template <typename Op>
    MN_DEVICE void load(const Op &op, int first, int turn) {
#pragma unroll
      for (int j = 0; j < filterLoads; ++j) {
        const Spot s = spot(j);
        const int channel = turn * depth + s.c * chunk;
#pragma unroll
        for (int i = 0; i < chunk; ++i) {
          const bool inside =
              isMine(j) &&
              (W.results % width == 0 || first + s.result < W.results) &&
              (W.channels % depth == 0 || channel + i < W.channels);
          const float v =
              op.loadFilter(inside ? first + s.result : 0,
                            inside ? channel + i : 0, inside ? s.tap : 0);
          held[j][i] = inside ? v : 0.0f;
        }
      }
    }
    MN_DEVICE void store(Stage &stage) {
#pragma unroll
      for (int j = 0; j < filterLoads; ++j)
        if (isMine(j)) {
          const Spot s = spot(j);
          PatchKernel::store(stage.filter[0][s.c][s.tap][s.result],
                             &stage.filter[parts - 1][s.c][s.tap][s.result],
                             held[j]);
        }
    }
  };

  float sum[wide][4];

  template <typename Visit> MN_DEVICE void eachSum(const Visit &visit) {
#pragma unroll
    for (int j = 0; j < wide; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        visit(j, e);
  }

  static MN_SHAPE_FN int offsetOf(int tap) {
    return W.offset(tap / (W.kernel[1] * W.kernel[2]),
                    tap / W.kernel[2] % W.kernel[1], tap % W.kernel[2]);
  }

  /// Begins the products of some taps, the first of which forget what was.
  MN_DEVICE void start(const Stage &stage, int group) {
    if constexpr (hasWgmma)
      startWgmma(stage, group);
    else
      multiply(stage, group);
  }

  MN_DEVICE void startWgmma(const Stage &stage, int group) {
    auto &d = reinterpret_cast<float(&)[width / 2]>(sum);
    const int first = int(threadIdx.x) / 128 * 64;
    beginWgmma();
#pragma unroll
    for (int tap = 0; tap < taps; ++tap) {
      if (tap / kept != group)
        continue;
      const auto multiply = [&](int part, int other, bool adds) {
        const uint64_t x =
            wgmmaOperand(&stage.pixel[part][0][first + offsetOf(tap)],
                         pixels * sizeof(uint4));
        const uint64_t y = wgmmaOperand(&stage.filter[other][0][tap][0],
                                        taps * (width + 1) * sizeof(uint4));
        if constexpr (mma == Mma::bf16)
          wgmmaBf16(d, x, y, adds);
        else
          wgmmaTf32(d, x, y, adds);
      };
      // The small products first.
      if constexpr (parts == 2) {
        multiply(1, 0, tap % kept != 0);
        multiply(0, 1, true);
      }
      multiply(0, 0, parts == 2 || tap % kept != 0);
    }
    commitWgmma();
  }

  MN_DEVICE void multiply(const Stage &stage, int group) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int window = warp * 16 + lane % 16;
    const int result = lane / 16 * 8 + lane % 8;
    eachSum([&](int j, int e) { sum[j][e] = 0; });
#pragma unroll
    for (int tap = 0; tap < taps; ++tap) {
      if (tap / kept != group)
        continue;
      uint32_t a[parts][4];
#pragma unroll
      for (int part = 0; part < parts; ++part)
        loadMatrices(a[part],
                     &stage.pixel[part][lane / 16][window + offsetOf(tap)]);
#pragma unroll
      for (int j = 0; j < wide; j += 2) {
        uint32_t b[parts][4];
#pragma unroll
        for (int part = 0; part < parts; ++part)
          loadMatrices(b[part],
                       &stage.filter[part][lane / 8 % 2][tap][result + 8 * j]);
        if constexpr (parts == 2) {
          multiplyAdd(j, a[1], b[0]);
          multiplyAdd(j, a[0], b[1]);
        }
        multiplyAdd(j, a[0], b[0]);
      }
    }
  }
  MN_DEVICE void multiplyAdd(int j, const uint32_t (&a)[4],
                             const uint32_t (&b)[4]) {
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const uint32_t half[2] = {b[2 * which], b[2 * which + 1]};
      if constexpr (mma == Mma::bf16)
        mmaBf16(sum[j + which], a, half);
      else
        mmaTf32(sum[j + which], a, half);
    }
  }

  /// Adds up all channels and taps.
  template <typename Op>
  MN_DEVICE void addUp(const Op &op, Memory &memory, int firstWindow,
                       int firstResult) {
    Pixels pixel;
    Filters filter;
    float moved[moves ? wide : 1][4];
    eachSum([&](int j, int e) { moved[moves ? j : 0][e] = 0; });
    pixel.begin(firstWindow);
    // The last turn only multiplies.
#pragma unroll 1
    for (int turn = 0; turn <= turns; ++turn) {
      if (turn < turns) {
        pixel.load(op, turn);
        filter.load(op, firstResult, turn);
      }
#pragma unroll
      for (int group = 0; group < groups; ++group) {
        if (turn > 0)
          start(memory.stage[(turn - 1) % 2], group);
        if (turn < turns && group == 0) {
          pixel.store(memory.stage[turn % 2]);
          filter.store(memory.stage[turn % 2]);
        }
        if constexpr (hasWgmma) {
          fenceForWgmma();
          waitForWgmma();
        }
        if constexpr (moves)
          if (turn > 0)
            eachSum([&](int j, int e) { moved[j][e] += sum[j][e]; });
      }
      __syncthreads();
    }
    if constexpr (moves)
      eachSum([&](int j, int e) { sum[j][e] = moved[j][e]; });
  }

  /// As in product_mma.cuh: what is no number is made again.
  template <typename Op>
  static MN_DEVICE float exactSum(const Op &op, const Padded &window,
                                  int result) {
    float v = 0;
#pragma unroll 1
    for (int channel = 0; channel < W.channels; ++channel)
#pragma unroll 1
      for (int tap = 0; tap < taps; ++tap) {
        const Place p = tapPlace(tap);
        Place at;
        const bool inside = isInImage({window.image,
                                       {window.at.x0 + p.x0 * W.dilations[0],
                                        window.at.x1 + p.x1 * W.dilations[1],
                                        window.at.x2 + p.x2 * W.dilations[2]}},
                                      at);
        const float x = inside ? op.loadPixel(window.image, channel, at) : 0.0f;
        v += x * op.loadFilter(result, channel, tap);
      }
    return v;
  }

  /// The block's results are in shared memory; true: some are no numbers.
  MN_DEVICE bool toShared(float *part) {
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    bool isNan = false;
    eachSum([&](int j, int e) {
      const int window = warp * 16 + lane / 4 + e / 2 * 8;
      part[(j * 8 + lane % 4 * 2 + e % 2) * stride + window] = sum[j][e];
      isNan |= sum[j][e] != sum[j][e];
    });
    if constexpr (mma == Mma::tf32x3)
      return __syncthreads_or(isNan);
    __syncthreads();
    return false;
  }

  template <typename Op> static MN_DEVICE void run(const Op &op) {
    gridDependencySync();
    Memory &memory = *reinterpret_cast<Memory *>(dynamicShared);
    const int firstWindow = int(blockIdx.x / t.across) * windows;
    const int firstResult = int(blockIdx.x % t.across) * width;
    PatchKernel kernel;
    kernel.addUp(op, memory, firstWindow, firstResult);
    const bool repeats = kernel.toShared(memory.part);
    const auto store = [&](const Padded &window, int i, int result) {
      if (!isWindow(window) || firstResult + result >= W.results)
        return;
      float v = memory.part[result * stride + i];
      if (mma == Mma::tf32x3 && repeats && v != v)
        v = exactSum(op, window, firstResult + result);
      op.store(window.image, firstResult + result, window.at, v);
    };
    if constexpr (Op::nchw) {
      // A thread has one window, and every second result.
      const int i = int(threadIdx.x) % windows;
      const Padded window = paddedOf(firstWindow + i);
#pragma unroll 4
      for (int r = int(threadIdx.x) / windows; r < width; r += 2)
        store(window, i, r);
    } else {
#pragma unroll 2
      for (int e = int(threadIdx.x); e < windows * width; e += threads)
        store(paddedOf(firstWindow + e / width), e / width, e % width);
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_CUH
