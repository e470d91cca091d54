//===- conv_filter_grad.cuh - the gradient of a conv's filter ---*- C++ -*-===//
//
// dw(o, c, tap) = sum over n, p of dy(n, o, p) input(n, c, p * stride - pad +
// tap * dilation). Few results with very long sums: blocks share a tile, in a
// fixed order (product.cuh). Filters of few weights have a separate kernel, and
// so have bands of rows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_CUH
#define MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_CUH

#include "mnistrt/cuda/kernels/conv_bands.cuh"
#include "mnistrt/cuda/kernels/conv_filter_grad_few.cuh"
#include "mnistrt/cuda/launches.h"

namespace mn {

namespace shape {
MN_SHAPE_FN Product filterGradOf(const Conv &s) {
  return {s.groups, s.outChannels / s.groups,
          int64_t(s.inChannels / s.groups) * taps(s),
          int64_t(s.batch) * pixelsOut(s), s.schedule};
}

/// The sums that blocks may have parts of: of bands those of whole tiles.
MN_SHAPE_FN int64_t resultsOf(const Conv &s) {
  if (s.schedule.way == Way::bands)
    return bandsOf(s).results();
  const Product p = filterGradOf(s);
  return p.batches * p.m * p.n;
}

MN_SHAPE_FN LaunchShape filterGrad(const Conv &s, int elementBytes = 4) {
  if (s.schedule.way == Way::bands)
    return launchOf(s, bandsOf(s));
  if (s.schedule.way != Way::weights)
    return product(filterGradOf(s));
  const FewWeights few = fewWeights(s);
  return {static_cast<unsigned>(few.tiles * few.splits),
          static_cast<unsigned>(few.threads),
          1,
          0,
          false,
          false,
          elementBytes > 4 ? 0u : few.resident};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {
template <typename T, Conv S, Way way = S.schedule.way>
struct ConvFilterGradKernel {
  using G = ConvGeometry<S>;
  static constexpr shape::Product sizes = shape::filterGradOf(S);
  static constexpr bool windowAlongK = G::nchw || G::inChannels < 4;
  static constexpr int adjacent = adjacentOf<T>(sizes.n); ///< weights
  using Product = ProductKernel<T, sizes, G::nchw, windowAlongK, adjacent>;
  using Parts = typename Product::Parts;

  template <typename F> static MN_DEVICE auto resultsOf(const F &f) {
    return resultsAt(f, [](int group, int o, int column) {
      return Index(group * G::outChannels + o) * int(sizes.n) + column;
    });
  }
  template <typename F>
  static MN_DEVICE void addParts(const F &f, const Parts &parts) {
    Product::addParts(resultsOf(f), parts);
  }
  /// Of images whose pixels are terms of the sums.
  static constexpr OperandFacts pixelFacts = {
      .cheapRows = true, .together = G::nchw ? togetherIn(G::pixelsOut) : 1};

  template <typename F> static MN_DEVICE auto windowOf(const F &f) {
    if constexpr (G::isPointwise())
      return operandOf<pixelFacts>(
          [](int group, int channel) {
            return G::input(0, group * G::inChannels + channel, Place{0, 0, 0});
          },
          [](int pixel) {
            return G::input(pixel / G::pixelsIn, 0,
                            G::inPlace(pixel % G::pixelsIn));
          },
          [&f](Index channel, Index pixel) -> decltype(auto) {
            return f.loadInput(channel + pixel);
          });
    else
      return operandOf<false>(
          [](int group, int column) {
            auto k = G::inWindow(column);
            k.element += G::input(0, group * G::inChannels, Place{0, 0, 0});
            return k;
          },
          [](int pixel) { return G::windowAt(0, pixel); },
          [&f](const typename G::Spot &k, const typename G::Spot &window) {
            return G::template ofWindow<T>(
                window, k, [&](Index i) { return f.loadInput(i); });
          });
  }
  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    const auto grad = operandOf<pixelFacts>(
        [](int group, int o) {
          return G::output(0, group * G::outChannels + o, Place{0, 0, 0});
        },
        [](int pixel) {
          return G::output(pixel / G::pixelsOut, 0,
                           G::outPlace(pixel % G::pixelsOut));
        },
        [&](Index o, Index pixel) -> decltype(auto) {
          return f.loadOutputGrad(o + pixel);
        });
    Product::run(grad, windowOf(f), resultsOf(f), parts);
  }
};
template <typename T, Conv S>
struct ConvFilterGradKernel<T, S, Way::weights> : FewWeightsKernel<T, S>,
                                                  NoLaterSums {};
template <Conv S>
struct ConvFilterGradKernel<float, S, Way::bands> : BandsKernel<S> {};
} // namespace device

#define MN_CONV_FILTER_GRAD_KERNEL(NAME, T, F, ...)                            \
  MN_PARTS_KERNELS(NAME, F, mn::shape::filterGrad(__VA_ARGS__, sizeof(T)),     \
                   mn::device::ConvFilterGradKernel<T, __VA_ARGS__>)

#else

#define MN_CONV_FILTER_GRAD_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void convFilterGrad(Context &ctx, const char *kernel, const Conv &s,
                    const F &functor) {
  launch(ctx, kernel, convFilterGradLaunches(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_CUH
