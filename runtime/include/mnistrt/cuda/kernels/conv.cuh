//===- conv.cuh - convolutions ----------------------------------*- C++ -*-===//
//
// out(n, o, p) = sum over c, tap of input(n, c, p * stride - pad + tap *
// dilation) filter(o, c, tap), 1 to 3 dimensions, both layouts, groups: a
// product (product.cuh) of the filter with windows that are gathered as they
// are loaded.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_CUH
#define MNISTRT_CUDA_KERNELS_CONV_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"

namespace mn {

namespace shape {
MN_SHAPE_FN Product productOf(const Conv &s) {
  return imageProduct(s.layout, s.groups, s.outChannels / s.groups,
                      int64_t(s.batch) * pixelsOut(s),
                      int64_t(s.inChannels / s.groups) * taps(s));
}
} // namespace shape

#ifdef __CUDACC__

namespace device {
template <typename T, Conv S> struct ConvKernel {
  using G = ConvGeometry<S>;
  static constexpr shape::Product sizes = shape::productOf(S);
  static constexpr bool windowAlongK = !G::nchw && G::inChannels >= 4;
  using Product =
      ProductKernel<T, sizes, G::nchw || windowAlongK, G::nchw ? false : true>;

  template <typename F>
  static MN_DEVICE void run(const F &f, typename Product::Parts &parts) {
    const auto filter = [&](int group, int o, int k) {
      return f.loadFilter(Index(group * G::outChannels + o) * int(sizes.k) + k);
    };
    const auto window = [&](int group, int pixel, int k) {
      const int c = G::template channelOf<G::inChannels>(k);
      const Place tap = G::tapPlace(G::template tapOf<G::inChannels>(k));
      Place in;
      const bool inside = G::reads(G::outPlace(pixel % G::pixelsOut), tap, in);
      const T v = f.loadInput(
          inside ? G::input(pixel / G::pixelsOut, group * G::inChannels + c, in)
                 : Index(0));
      return inside ? v : T(0);
    };
    const auto store = [&](int group, int o, int pixel, T v) {
      f.store(G::output(pixel / G::pixelsOut, group * G::outChannels + o,
                        G::outPlace(pixel % G::pixelsOut)),
              v);
    };
    if constexpr (G::nchw)
      Product::run(filter, window, store, parts);
    else
      Product::run(
          window, filter,
          [&](int group, int pixel, int o, T v) { store(group, o, pixel, v); },
          parts);
  }
};
} // namespace device

#define MN_CONV_KERNEL(NAME, T, F, ...)                                        \
  __device__ mn::device::ConvKernel<T, __VA_ARGS__>::Product::Parts            \
      NAME##_parts;                                                            \
  MN_GLOBAL_CLUSTERS(mn::shape::product(mn::shape::productOf(__VA_ARGS__)))    \
  NAME(const __grid_constant__ F f) {                                          \
    mn::device::ConvKernel<T, __VA_ARGS__>::run(f, NAME##_parts);              \
  }

#else

#define MN_CONV_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void conv(Context &ctx, const char *kernel, const Conv &s, const F &functor) {
  launch(ctx, kernel, shape::product(shape::productOf(s)), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_CUH
