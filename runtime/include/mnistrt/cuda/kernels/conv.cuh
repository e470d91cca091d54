//===- conv.cuh - convolutions ----------------------------------*- C++ -*-===//
//
// out(n, o, p) = sum over c, tap of input(n, c, p * stride - pad + tap *
// dilation) filter(o, c, tap), 1 to 3 dimensions, both layouts, groups: a
// product (product.cuh) of the filter with windows that are gathered as they
// are loaded, or else one of the ways in conv_way.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_CUH
#define MNISTRT_CUDA_KERNELS_CONV_CUH

#include "mnistrt/cuda/kernels/conv_way.cuh"
#include "mnistrt/cuda/launches.h"

namespace mn {

namespace shape {
MN_SHAPE_FN Product productOf(const Conv &s) {
  return imageProduct(s, s.outChannels / s.groups,
                      int64_t(s.batch) * pixelsOut(s),
                      int64_t(s.inChannels / s.groups) * taps(s));
}

/// Of the way that the schedule says.
MN_SHAPE_FN Windows windowsOfWay(const Conv &s) {
  return s.schedule.way == Way::patches ? foldedOf(s) : windowsOf(s);
}
MN_SHAPE_FN ConvWay convWay(const Conv &s) {
  return wayOf(s, windowsOfWay(s), int64_t(s.outChannels) * pixelsOut(s));
}

MN_SHAPE_FN LaunchShape conv(const Conv &s) {
  return launchOf(convWay(s), windowsOfWay(s), productOf(s));
}
} // namespace shape

#ifdef __CUDACC__

namespace device {
template <typename T, Conv S, Way way = S.schedule.way>
struct ConvKernel : NoPackedFilters {
  static_assert(S.pool.out[0] == 0, "no pool with a product");
  using G = ConvGeometry<S>;
  static constexpr shape::Product sizes = shape::productOf(S);
  static constexpr bool windowAlongK = !G::nchw && G::inChannels >= 4;
  /// Pixels of a channel, or channels of a pixel.
  static constexpr int adjacent =
      adjacentOf<T>(G::nchw ? G::pixelsOut : G::outChannels);
  using Product = ProductKernel<T, sizes, G::nchw || windowAlongK,
                                G::nchw ? false : true, adjacent>;
  using Parts = typename Product::Parts;

  template <typename F> static MN_DEVICE auto resultsOf(const F &f) {
    return resultsAt(f, [](int group, int row, int column) {
      const int o = G::nchw ? row : column, pixel = G::nchw ? column : row;
      return G::outputIndex(pixel / G::pixelsOut, group * G::outChannels + o,
                            G::outPlace(pixel % G::pixelsOut));
    });
  }
  template <typename F> static MN_DEVICE auto windowOf(const F &f) {
    if constexpr (G::isPointwise()) {
      constexpr OperandFacts facts = {
          .cheapAlong = true,
          .together = togetherIn(G::nchw ? G::pixelsIn : G::inChannels)};
      return operandOf<facts>(
          [](int group, int pixel) {
            return G::input(pixel / G::pixelsIn, group * G::inChannels,
                            G::inPlace(pixel % G::pixelsIn));
          },
          [](int k) { return G::input(0, k, Place{0, 0, 0}); },
          [&f](Index pixel, Index k) -> decltype(auto) {
            return f.loadInput(pixel + k);
          });
    } else {
      return operandOf<false>(
          [](int group, int pixel) { return G::windowAt(group, pixel); },
          [](int k) { return G::inWindow(k); },
          [&f](const typename G::Spot &window, const typename G::Spot &k) {
            return G::template ofWindow<T>(
                window, k, [&](Index i) { return f.loadInput(i); });
          });
    }
  }

  template <typename F>
  static MN_DEVICE void addParts(const F &f, const Parts &parts) {
    Product::addParts(resultsOf(f), parts);
  }
  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    constexpr OperandFacts facts = {
        .cheapRows = true, .cheapAlong = true, .together = togetherIn(sizes.k)};
    const auto filter = operandOf<facts>(
        [](int group, int o) {
          return Index(group * G::outChannels + o) * int(sizes.k);
        },
        [](int k) { return Index(k); },
        [&](Index o, Index k) -> decltype(auto) {
          return f.loadFilter(o + k);
        });
    const auto window = windowOf(f);
    if constexpr (G::nchw)
      Product::run(filter, window, resultsOf(f), parts);
    else
      Product::run(window, filter, resultsOf(f), parts);
  }
};

template <typename T, Conv S, Way way>
  requires(way == Way::columns || way == Way::patches)
struct ConvKernel<T, S, way> : NoLaterSums {
  static constexpr shape::Windows W = shape::windowsOfWay(S);
  static constexpr bool packs = way == Way::patches;
  using Parts = NoScratch;

  template <typename F> struct Operation {
    using G = ConvGeometry<S>;
    using Functor = F;
    const F &f;
    int group;
    MN_DEVICE Index pixelAt(int image, Place at) const {
      return G::input(
          image, group * G::inChannels,
          {at.x0 * W.folds[0], at.x1 * W.folds[1], at.x2 * W.folds[2]});
    }
    MN_DEVICE Index channelAt(Index pixel, int channel) const {
      return pixel + G::input(0, channel / W.foldCount(), inFold(channel));
    }
    MN_DEVICE T loadPixel(Index pixel, int channel) const {
      return f.loadInput(channelAt(pixel, channel));
    }
    MN_DEVICE T value(int image, int channel, Place at) const {
      return loadPixel(pixelAt(image, at), channel);
    }
    MN_DEVICE T loadFilter(int result, int channel, int number) const {
      const Place tap =
          tapOf(channel, placeOf<W.kernel[1], W.kernel[2]>(number));
      const bool isTap = W.hasAllTaps() || isInFilter(tap);
      const T v = f.loadFilter(G::filter(group * G::outChannels + result,
                                         channel / W.foldCount(),
                                         isTap ? tap : Place{0, 0, 0}));
      return isTap ? v : T(0);
    }
    /// Which pixel of a folded one a channel is of.
    static MN_DEVICE Place inFold(int channel) {
      return placeOf<W.folds[1], W.folds[2]>(channel % W.foldCount());
    }
    static MN_DEVICE Place tapOf(int channel, Place folded) {
      const Place in = inFold(channel);
      return {folded.x0 * W.folds[0] + in.x0 - earlier(0),
              folded.x1 * W.folds[1] + in.x1 - earlier(1),
              folded.x2 * W.folds[2] + in.x2 - earlier(2)};
    }
    /// Pixels by which a folded window begins earlier.
    static MN_SHAPE_FN int earlier(int d) {
      return W.pads[d] * W.folds[d] - S.pads[d];
    }
    static MN_DEVICE bool isInFilter(Place tap) {
      return unsigned(tap.x0) < unsigned(S.kernel[0]) &&
             unsigned(tap.x1) < unsigned(S.kernel[1]) &&
             unsigned(tap.x2) < unsigned(S.kernel[2]);
    }
    static MN_DEVICE bool hasTap(int channel, Place folded) {
      return W.hasAllTaps() || isInFilter(tapOf(channel, folded));
    }
    MN_DEVICE bool has(Place) const { return true; }
    using ResultIndex = typename G::OutputIndex;
    MN_DEVICE ResultIndex place(int image, int result, Place at) const {
      return G::outputIndex(image, group * G::outChannels + result, at);
    }
    MN_DEVICE T tile(int image, int result, Place at, T v) const {
      return f.tile(place(image, result, at), v);
    }
    template <typename P>
    MN_DEVICE void storePool(int image, int result, Place at,
                             const P &pooled) const {
      constexpr PoolWindows p = S.pool;
      if (at.x0 >= p.out[0] || at.x1 >= p.out[1])
        return;
      const Index i =
          imageIndex<S.layout, S.outChannels, p.out[0], p.out[1], p.out[2]>(
              image, group * G::outChannels + result, at);
      if constexpr (p.mean) {
        f.store(i, pooled.sum / T(pooled.count));
      } else {
        f.store(i, pooled.value);
        if constexpr (StoresIndices<F>)
          f.storeIndex(i, int64_t(pooled.number));
      }
    }
    static MN_DEVICE Place pads() { return {W.pads[0], W.pads[1], W.pads[2]}; }
    static MN_DEVICE Place firstTap() { return {0, 0, 0}; }
  };
  template <typename Argument>
  static MN_DEVICE void run(const Argument &a, Parts &) {
    const auto operation = [&](int group, Place) {
      return operationOf(functorOf(a), group);
    };
    runWindows<T, W, shape::convWay(S), S.layout>(operation, filtersOf(a),
                                                  isPacked(a));
  }
  template <typename F> static MN_DEVICE void packFilters(const F &) {}
  template <typename F>
  static MN_DEVICE void packFilters(const WithFilters<F> &a) {
    const PackedFilters<W, shape::convWay(S).patch> packed = {filtersOf(a)};
    packed.template pack<false, KeepsFilter<F>>(
        [&](int group, Place) { return operationOf(a.functor, group); });
  }
  template <typename F>
  static MN_DEVICE Operation<F> operationOf(const F &f, int group) {
    return {f, group};
  }
};

template <typename T, Conv S>
struct ConvKernel<T, S, Way::direct> : NoLaterSums, NoPackedFilters {
  using G = ConvGeometry<S>;
  using Sums =
      DirectSums<T, S, shape::convWay(S).direct, S.outChannels, G::pixelsOut>;
  using Parts = NoScratch;

  template <typename F> static MN_DEVICE void run(const F &f, Parts &) {
    Sums::run(
        [&](typename Sums::Values &sum, int image, int o, int pixel) {
          const Place out = G::outPlace(pixel);
          const int first = o / G::outChannels * G::inChannels;
#pragma unroll
          for (int c = 0; c < G::inChannels; ++c)
#pragma unroll
            for (int tap = 0; tap < G::taps; ++tap) {
              const T w = f.loadFilter(G::filter(o, c, G::tapPlace(tap)));
              Place in;
              const bool inside = G::reads(out, G::tapPlace(tap), in);
#pragma unroll
              for (int n = 0; n < Sums::images; ++n) {
                const T v = f.loadInput(
                    inside ? G::input(image + n * Sums::apart, first + c, in)
                           : Index(0));
                sum[n] += (inside ? v : T(0)) * w;
              }
            }
        },
        resultsAt(f, [](int image, int o, int pixel) {
          return G::outputIndex(image, o, G::outPlace(pixel));
        }));
  }
};
} // namespace device

#define MN_CONV_KERNEL(NAME, T, F, ...)                                        \
  MN_WINDOW_KERNELS(NAME, F, mn::shape::conv(__VA_ARGS__),                     \
                    mn::device::ConvKernel<T, __VA_ARGS__>)

#else

#define MN_CONV_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void conv(Context &ctx, const char *kernel, const Conv &s, const F &functor) {
  launch(ctx, kernel, convLaunches(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_CUH
