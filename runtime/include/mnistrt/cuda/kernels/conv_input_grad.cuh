//===- conv_input_grad.cuh - the gradient of a conv's input -----*- C++ -*-===//
//
// dx(n, c, i) = sum over o, tap of dy(n, o, p) filter(o, c, tap), where p is
// the window that has its element `tap` at i: a gather, so that no two threads
// write one element. With strides most (i, tap) have no such window, so that
// each phase (conv_windows.cuh) is computed apart, with the taps that it has. A
// product (product.cuh), or else one of the ways in conv_way.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_INPUT_GRAD_CUH
#define MNISTRT_CUDA_KERNELS_CONV_INPUT_GRAD_CUH

#include "mnistrt/cuda/kernels/conv_output_grad.cuh"
#include "mnistrt/cuda/kernels/conv_way.cuh"
#include "mnistrt/cuda/launches.h"

namespace mn {

namespace shape {
/// Whether each phase is a product, whose taps are kept as bits.
MN_SHAPE_FN bool splitsPhases(const Conv &s) {
  return s.schedule.mma != Mma::ffma && hasPhases(s) &&
         readersOf(s).phaseCount() != 1 && readersOf(s).taps() <= 32;
}

MN_SHAPE_FN Product inputGradOf(const Conv &s) {
  const int in = s.inChannels / s.groups, out = s.outChannels / s.groups;
  if (!splitsPhases(s))
    return imageProduct(s, in, int64_t(s.batch) * pixelsIn(s),
                        int64_t(out) * taps(s));
  const Windows w = readersOf(s);
  Product p =
      imageProduct(s, in, int64_t(s.batch) * w.out[0] * w.out[1] * w.out[2],
                   int64_t(out) * w.taps());
  p.batches *= w.phaseCount();
  return p;
}

MN_SHAPE_FN ConvWay inputGradWay(const Conv &s) {
  return wayOf(s, readersOf(s), int64_t(s.inChannels) * pixelsIn(s));
}

MN_SHAPE_FN LaunchShape inputGrad(const Conv &s) {
  return launchOf(inputGradWay(s), readersOf(s), inputGradOf(s));
}
} // namespace shape

#ifdef __CUDACC__

namespace device {
/// Pixels at place `at` modulo the strides, a phase, and what they are read by.
template <Conv S> struct InputPhase {
  using G = ConvGeometry<S>;
  static constexpr shape::Windows W = shape::readersOf(S);
  Place at;

  static MN_DEVICE InputPhase number(int i) {
    return {placeOf<W.phases[1], W.phases[2]>(i)};
  }
  MN_DEVICE Place pads() const {
    return {shape::padOfPhase(S, 0, at.x0), shape::padOfPhase(S, 1, at.x1),
            shape::padOfPhase(S, 2, at.x2)};
  }
  MN_DEVICE Place first() const {
    return {shape::firstTapOfPhase(S, 0, at.x0),
            shape::firstTapOfPhase(S, 1, at.x1),
            shape::firstTapOfPhase(S, 2, at.x2)};
  }
  /// The filter's tap that is number `i` of this phase.
  MN_DEVICE Place tap(Place i) const {
    const Place begin = first();
    return {begin.x0 + i.x0 * S.strides[0], begin.x1 + i.x1 * S.strides[1],
            begin.x2 + i.x2 * S.strides[2]};
  }
  static MN_DEVICE bool isTap(Place tap) {
    return tap.x0 < S.kernel[0] && tap.x1 < S.kernel[1] && tap.x2 < S.kernel[2];
  }
  /// The pixel that is number `i` of this phase.
  MN_DEVICE Place pixel(Place i) const {
    return {at.x0 + i.x0 * S.strides[0], at.x1 + i.x1 * S.strides[1],
            at.x2 + i.x2 * S.strides[2]};
  }
  static MN_DEVICE bool isPixel(Place in) {
    return in.x0 < S.in[0] && in.x1 < S.in[1] && in.x2 < S.in[2];
  }
};

template <typename T, Conv S, Way way = S.schedule.way>
struct ConvInputGradKernel : NoPackedFilters {
  using G = ConvGeometry<S>;
  static constexpr shape::Product sizes = shape::inputGradOf(S);
  static constexpr bool gradAlongK = !G::nchw && G::outChannels >= 4;
  // With one tap neighbours of a filter are input channels.
  static constexpr bool filterAlongK = G::taps != 1;
  /// Pixels of a channel, or channels of a pixel.
  static constexpr int adjacent =
      shape::splitsPhases(S)
          ? 1
          : adjacentOf<T>(G::nchw ? G::pixelsIn : G::inChannels);
  using Product = ProductKernel<T, sizes, G::nchw ? filterAlongK : gradAlongK,
                                false, adjacent>;
  using Parts = typename Product::Parts;

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    if constexpr (shape::splitsPhases(S))
      runPhases(f, parts);
    else
      runWhole(f, parts);
  }
  template <typename F>
  static MN_DEVICE void addParts(const F &f, const Parts &parts) {
    Product::addParts(resultsOf(f), parts);
  }

private:
  /// Rows and columns of results are channels and pixels, or with nhwc pixels
  /// and channels.
  template <typename F> static MN_DEVICE auto resultsOf(const F &f) {
    const auto place = [](int batch, int row, int column) {
      const int c = channelOfResult(row, column);
      const int pixel = pixelOfResult(row, column);
      if constexpr (shape::splitsPhases(S))
        return G::inputIndex(pixel / pixels, batch / phases * G::inChannels + c,
                             placeInPhase(batch, pixel));
      else
        return G::inputIndex(pixel / G::pixelsIn, batch * G::inChannels + c,
                             G::inPlace(pixel % G::pixelsIn));
    };
    return resultsAt(f, place, [](int batch, int row, int column) {
      return !shape::splitsPhases(S) || InputPhase<S>::isPixel(placeInPhase(
                                            batch, pixelOfResult(row, column)));
    });
  }
  static MN_DEVICE int channelOfResult(int row, int column) {
    return G::nchw ? row : column;
  }
  static MN_DEVICE int pixelOfResult(int row, int column) {
    return G::nchw ? column : row;
  }
  static MN_DEVICE Place placeInPhase(int batch, int pixel) {
    return InputPhase<S>::number(batch % phases).pixel(pixelPlace(pixel));
  }

  template <typename F> static MN_DEVICE auto gradOf(const F &f) {
    if constexpr (G::isPointwise()) {
      constexpr OperandFacts facts = {
          .cheapAlong = true,
          .together = togetherIn(G::nchw ? G::pixelsOut : G::outChannels)};
      return operandOf<facts>(
          [](int group, int pixel) {
            return G::output(pixel / G::pixelsOut, group * G::outChannels,
                             G::outPlace(pixel % G::pixelsOut));
          },
          [](int k) { return G::output(0, k, Place{0, 0, 0}); },
          [&f](Index pixel, Index k) -> decltype(auto) {
            return f.loadOutputGrad(pixel + k);
          });
    } else {
      return operandOf<false>(
          [](int group, int pixel) { return G::readersOf(group, pixel); },
          [](int k) { return G::byElement(k); },
          [&f](const typename G::Spot &in, const typename G::Spot &k) {
            return G::template ofReader<T>(
                in, k, [&](Index i) { return f.loadOutputGrad(i); });
          });
    }
  }

  template <typename F>
  static MN_DEVICE void runWhole(const F &f, Parts &parts) {
    constexpr OperandFacts facts = {
        .cheapRows = true,
        .together = filterAlongK ? 1 : togetherIn(G::inChannels)};
    const auto filter = operandOf<facts>(
        [](int group, int c) {
          return G::filter(group * G::outChannels, c, Place{0, 0, 0});
        },
        [](int k) {
          return G::filter(G::template channelOf<G::outChannels>(k), 0,
                           G::tapPlace(G::template tapOf<G::outChannels>(k)));
        },
        [&](Index c, Index k) -> decltype(auto) {
          return f.loadFilter(c + k);
        });
    runProduct(f, filter, gradOf(f), parts);
  }

  using Bits = Spot<true>;
  static constexpr shape::Windows W = shape::readersOf(S);
  static constexpr int phases = W.phaseCount();
  static constexpr int pixels = W.out[0] * W.out[1] * W.out[2];

  static MN_DEVICE int tapOf(int k) {
    return G::nchw ? k % W.taps() : k / G::outChannels;
  }
  static MN_DEVICE int channelOf(int k) {
    return G::nchw ? k / W.taps() : k % G::outChannels;
  }
  static MN_DEVICE Place tapPlace(int tap) {
    return placeOf<W.kernel[1], W.kernel[2]>(tap);
  }
  static MN_DEVICE Place pixelPlace(int pixel) {
    return placeOf<W.out[1], W.out[2]>(pixel % pixels);
  }
  /// Bits of the taps of a phase for which `use` is true.
  template <typename Use>
  static MN_DEVICE unsigned bitsOf(const InputPhase<S> &phase, const Use &use) {
    unsigned bits = 0;
#pragma unroll
    for (int tap = 0; tap < W.taps(); ++tap)
      bits |=
          unsigned(phase.isTap(phase.tap(tapPlace(tap))) && use(tapPlace(tap)))
          << tap;
    return bits;
  }

  /// Batches are groups, and in these phases.
  template <typename F>
  static MN_DEVICE void runPhases(const F &f, Parts &parts) {
    const auto filter = operandOf<false>(
        [](int batch, int c) {
          const auto phase = InputPhase<S>::number(batch % phases);
          return Bits{
              G::filter(batch / phases * G::outChannels, c, phase.first()),
              bitsOf(phase, [](Place) { return true; })};
        },
        [](int k) {
          const Place tap = tapPlace(tapOf(k));
          return Bits{G::filter(channelOf(k), 0,
                                {tap.x0 * S.strides[0], tap.x1 * S.strides[1],
                                 tap.x2 * S.strides[2]}),
                      1u << tapOf(k)};
        },
        [&](const Bits &c, const Bits &k) {
          return c.taps & k.taps ? f.loadFilter(c.element + k.element) : T(0);
        });
    const auto grad = operandOf<false>(
        [](int batch, int pixel) {
          const auto phase = InputPhase<S>::number(batch % phases);
          const Place p = pixelPlace(pixel), pads = phase.pads();
          // The window of tap 0.
          const Place last = {
              p.x0 + (W.kernel[0] - 1) * W.dilations[0] - pads.x0,
              p.x1 + (W.kernel[1] - 1) * W.dilations[1] - pads.x1,
              p.x2 + (W.kernel[2] - 1) * W.dilations[2] - pads.x2};
          return Bits{
              G::output(pixel / pixels, batch / phases * G::outChannels, last),
              bitsOf(phase, [&](Place tap) {
                return isWindow(last.x0 - tap.x0 * W.dilations[0], 0) &&
                       isWindow(last.x1 - tap.x1 * W.dilations[1], 1) &&
                       isWindow(last.x2 - tap.x2 * W.dilations[2], 2);
              })};
        },
        [](int k) {
          const Place tap = tapPlace(tapOf(k));
          return Bits{
              G::output(0, channelOf(k),
                        {-tap.x0 * W.dilations[0], -tap.x1 * W.dilations[1],
                         -tap.x2 * W.dilations[2]}),
              1u << tapOf(k)};
        },
        [&](const Bits &in, const Bits &k) {
          return in.taps & k.taps ? f.loadOutputGrad(in.element + k.element)
                                  : T(0);
        });
    runProduct(f, filter, grad, parts);
  }
  static MN_DEVICE bool isWindow(int x, int d) {
    return unsigned(x) < unsigned(S.out[d]);
  }

  template <typename F, typename Filter, typename Grad>
  static MN_DEVICE void runProduct(const F &f, const Filter &filter,
                                   const Grad &grad, Parts &parts) {
    if constexpr (G::nchw)
      Product::run(filter, grad, resultsOf(f), parts);
    else
      Product::run(grad, filter, resultsOf(f), parts);
  }
};

template <typename T, Conv S, Way way>
  requires(way == Way::columns || way == Way::patches)
struct ConvInputGradKernel<T, S, way> : NoLaterSums {
  static constexpr shape::Windows W = shape::readersOf(S);
  static constexpr bool packs = way == Way::patches;
  using Parts = NoScratch;

  template <typename F> struct Operation {
    using G = ConvGeometry<S>;
    using Functor = F;
    const F &f;
    int group;
    InputPhase<S> phase;

    using Grad = OutputGrad<T, S>;
    using Loaded = typename Grad::Loaded;
    MN_DEVICE Index pixelAt(int image, Place at) const {
      return G::output(image, group * G::outChannels, at);
    }
    MN_DEVICE Index channelAt(Index pixel, int channel) const {
      return pixel + G::output(0, channel, Place{0, 0, 0});
    }
    MN_DEVICE T loadPixel(Index pixel, int channel) const {
      return f.loadOutputGrad(channelAt(pixel, channel));
    }
    MN_DEVICE T value(int image, int channel, Place at) const {
      return Grad::value(f, image, group * G::outChannels + channel, at);
    }
    /// Of the window that an element is in, where a pool gives what is read.
    MN_DEVICE Index windowAt(int image, Place at) const {
      return Grad::at(image, group * G::outChannels, at);
    }
    MN_DEVICE Index channelOfWindow(Index window, int channel) const {
      return window + Grad::at(0, channel, Place{0, 0, 0});
    }
    MN_DEVICE Loaded loadWindow(Index window, int channel) const {
      return Grad::load(f, channelOfWindow(window, channel));
    }
    /// The filter turned around; 0 where the phase has no such tap.
    MN_DEVICE T loadFilter(int result, int channel, int number) const {
      const Place tap =
          phase.tap(placeOf<W.kernel[1], W.kernel[2]>(W.taps() - 1 - number));
      const bool isTap = W.phaseCount() == 1 || phase.isTap(tap);
      const T v = f.loadFilter(G::filter(group * G::outChannels + channel,
                                         result, isTap ? tap : Place{0, 0, 0}));
      return isTap ? v : T(0);
    }
    MN_DEVICE bool has(Place i) const {
      return W.phaseCount() == 1 || phase.isPixel(phase.pixel(i));
    }
    using ResultIndex = typename G::InputIndex;
    MN_DEVICE ResultIndex place(int image, int result, Place i) const {
      return G::inputIndex(image, group * G::inChannels + result,
                           phase.pixel(i));
    }
    MN_DEVICE Place pads() const { return phase.pads(); }
    MN_DEVICE Place firstTap() const {
      const Place begin = phase.first();
      return {missing(0, begin.x0), missing(1, begin.x1), missing(2, begin.x2)};
    }
    MN_DEVICE bool hasTap(int, Place tap) const {
      const Place begin = firstTap();
      return tap.x0 >= begin.x0 && tap.x1 >= begin.x1 && tap.x2 >= begin.x2;
    }
    /// Taps that a phase has less than others along a dimension.
    static MN_DEVICE int missing(int d, int first) {
      return W.kernel[d] -
             (S.kernel[d] - first + S.strides[d] - 1) / S.strides[d];
    }
  };
  template <typename Argument>
  static MN_DEVICE void run(const Argument &a, Parts &) {
    const auto operation = [&](int group, Place phase) {
      return operationOf(functorOf(a), group, phase);
    };
    runWindows<T, W, shape::inputGradWay(S), S.layout>(operation, filtersOf(a),
                                                       isPacked(a));
  }
  template <typename F> static MN_DEVICE void packFilters(const F &) {}
  template <typename F>
  static MN_DEVICE void packFilters(const WithFilters<F> &a) {
    const PackedFilters<W, shape::inputGradWay(S).patch> packed = {
        filtersOf(a)};
    packed.template pack<true, KeepsFilter<F>>([&](int group, Place phase) {
      return operationOf(a.functor, group, phase);
    });
  }
  template <typename F>
  static MN_DEVICE Operation<F> operationOf(const F &f, int group,
                                            Place phase) {
    return {f, group, {phase}};
  }
};

template <typename T, Conv S>
struct ConvInputGradKernel<T, S, Way::direct> : NoLaterSums, NoPackedFilters {
  using G = ConvGeometry<S>;
  using Sums = DirectSums<T, S, shape::inputGradWay(S).direct, S.inChannels,
                          G::pixelsIn>;
  using Parts = NoScratch;

  template <typename F> static MN_DEVICE void run(const F &f, Parts &) {
    Sums::run(
        [&](typename Sums::Values &sum, int image, int c, int pixel) {
          const Place in = G::inPlace(pixel);
          const int first = c / G::inChannels * G::outChannels;
#pragma unroll
          for (int o = 0; o < G::outChannels; ++o)
#pragma unroll
            for (int tap = 0; tap < G::taps; ++tap) {
              Place out;
              const bool inside = G::isReadBy(in, G::tapPlace(tap), out);
              const T w = f.loadFilter(
                  G::filter(first + o, c % G::inChannels, G::tapPlace(tap)));
#pragma unroll
              for (int n = 0; n < Sums::images; ++n) {
                const T v = f.loadOutputGrad(
                    inside ? G::output(image + n * Sums::apart, first + o, out)
                           : Index(0));
                sum[n] += (inside ? v : T(0)) * w;
              }
            }
        },
        resultsAt(f, [](int image, int c, int pixel) {
          return G::inputIndex(image, c, G::inPlace(pixel));
        }));
  }
};
} // namespace device

#define MN_CONV_INPUT_GRAD_KERNEL(NAME, T, F, ...)                             \
  MN_WINDOW_KERNELS(NAME, F, mn::shape::inputGrad(__VA_ARGS__),                \
                    mn::device::ConvInputGradKernel<T, __VA_ARGS__>)

#else

#define MN_CONV_INPUT_GRAD_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void convInputGrad(Context &ctx, const char *kernel, const Conv &s,
                   const F &functor) {
  launch(ctx, kernel, convInputGradLaunches(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_INPUT_GRAD_CUH
