//===- conv_input_grad.cuh - the gradient of a conv's input -----*- C++ -*-===//
//
// dx(n, c, i) = sum over o, tap of dy(n, o, p) filter(o, c, tap), where p is
// the window that has its element `tap` at i: a gather, so that no two threads
// write one element. With strides most (i, tap) have no such window. Groups of
// few input channels are computed directly, and on tensor cores strides of 1 by
// patches.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_INPUT_GRAD_CUH
#define MNISTRT_CUDA_KERNELS_CONV_INPUT_GRAD_CUH

#include "mnistrt/cuda/kernels/conv_direct.cuh"
#include "mnistrt/cuda/kernels/conv_patch.cuh"

namespace mn {

namespace shape {
MN_SHAPE_FN Product inputGradOf(const Conv &s) {
  return imageProduct(s, s.inChannels / s.groups,
                      int64_t(s.batch) * pixelsIn(s),
                      int64_t(s.outChannels / s.groups) * taps(s));
}

MN_SHAPE_FN Direct directInputGrad(const Conv &s) {
  return direct(s, s.inChannels / s.groups,
                int64_t(s.outChannels / s.groups) * taps(s),
                int64_t(s.inChannels) * pixelsIn(s));
}

MN_SHAPE_FN Patch patchInputGrad(const Conv &s) {
  return patchOf(s, readersOf(s), inputGradOf(s));
}

MN_SHAPE_FN LaunchShape inputGrad(const Conv &s) {
  if (const Direct d = directInputGrad(s); d.applies)
    return launchOf(d);
  const Patch t = patchInputGrad(s);
  return t.applies ? launchOf(readersOf(s), t) : product(inputGradOf(s));
}
} // namespace shape

#ifdef __CUDACC__

namespace device {
template <typename T, Conv S, bool direct = shape::directInputGrad(S).applies,
          bool byPatches = shape::patchInputGrad(S).applies>
struct ConvInputGradKernel {
  using G = ConvGeometry<S>;
  static constexpr shape::Product sizes = shape::inputGradOf(S);
  static constexpr bool gradAlongK = !G::nchw && G::outChannels >= 4;
  // With one tap neighbours of a filter are input channels.
  static constexpr bool filterAlongK = G::taps != 1;
  using Product =
      ProductKernel<T, sizes, G::nchw ? filterAlongK : gradAlongK, false>;
  using Parts = typename Product::Parts;

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    const auto filter = operandOf<true>(
        [](int group, int c) {
          return G::filter(group * G::outChannels, c, Place{0, 0, 0});
        },
        [](int k) {
          return G::filter(G::template channelOf<G::outChannels>(k), 0,
                           G::tapPlace(G::template tapOf<G::outChannels>(k)));
        },
        [&](Index c, Index k) { return f.loadFilter(c + k); });
    const auto grad = operandOf<false>(
        [](int group, int pixel) { return G::readersOf(group, pixel); },
        [](int k) { return G::byElement(k); },
        [&](const typename G::Spot &in, const typename G::Spot &k) {
          return G::template ofReader<T>(
              in, k, [&](Index i) { return f.loadOutputGrad(i); });
        });
    const auto store = [&](int group, int c, int pixel, T v) {
      f.store(G::input(pixel / G::pixelsIn, group * G::inChannels + c,
                       G::inPlace(pixel % G::pixelsIn)),
              v);
    };
    if constexpr (G::nchw)
      Product::run(filter, grad, store, parts);
    else
      Product::run(
          grad, filter,
          [&](int group, int pixel, int c, T v) { store(group, c, pixel, v); },
          parts);
  }
};

template <Conv S> struct ConvInputGradKernel<float, S, false, true> {
  using Parts = NoScratch;

  template <typename F> struct Operation {
    using G = ConvGeometry<S>;
    const F &f;
    MN_DEVICE float loadPixel(int image, int channel, Place at) const {
      return f.loadOutputGrad(G::output(image, channel, at));
    }
    /// The filter turned around.
    MN_DEVICE float loadFilter(int result, int channel, int tap) const {
      return f.loadFilter(
          G::filter(channel, result, G::tapPlace(G::taps - 1 - tap)));
    }
    MN_DEVICE void store(int image, int result, Place at, float v) const {
      f.store(G::input(image, result, at), v);
    }
  };
  template <typename F> static MN_DEVICE void run(const F &f, Parts &) {
    PatchKernel<shape::readersOf(S), shape::patchInputGrad(S),
                S.layout == Layout::nchw, true>::run(Operation<F>{f});
  }
};

template <typename T, Conv S> struct ConvInputGradKernel<T, S, true, false> {
  using G = ConvGeometry<S>;
  using Sums =
      DirectSums<T, S, shape::directInputGrad(S), S.inChannels, G::pixelsIn>;
  using Parts = NoScratch;

  template <typename F> static MN_DEVICE void run(const F &f, Parts &) {
    Sums::run(
        [&](typename Sums::Results &sum, int image, int c, int pixel) {
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
        [&](int image, int c, int pixel, T v) {
          f.store(G::input(image, c, G::inPlace(pixel)), v);
        });
  }
};
} // namespace device

#define MN_CONV_INPUT_GRAD_KERNEL(NAME, T, F, ...)                             \
  __device__ mn::device::ConvInputGradKernel<T, __VA_ARGS__>::Parts            \
      NAME##_parts;                                                            \
  MN_GLOBAL_CLUSTERS(mn::shape::inputGrad(__VA_ARGS__))                        \
  NAME(const __grid_constant__ F f) {                                          \
    mn::device::ConvInputGradKernel<T, __VA_ARGS__>::run(f, NAME##_parts);     \
  }

#else

#define MN_CONV_INPUT_GRAD_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void convInputGrad(Context &ctx, const char *kernel, const Conv &s,
                   const F &functor) {
  launch(ctx, kernel, shape::inputGrad(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_INPUT_GRAD_CUH
