//===- conv_output_grad.cuh - what gradients of convs read ------*- C++ -*-===//
//
// An element of the gradient of a convolution's output is in memory, or, where
// a pool follows, what the pool gives it: its window's value, if the window's
// index is the element's number in the window, else 0. Then a functor has that
// value as loadOutputGrad(window) and loadIndex(window), and nothing stores the
// gradient of each element.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_OUTPUT_GRAD_CUH
#define MNISTRT_CUDA_KERNELS_CONV_OUTPUT_GRAD_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What is loaded of an element: that is enough to know its value later.
struct LoadedWindow {
  float value;
  int index; ///< of the maximum, in the window
};

template <typename T, Conv S> struct OutputGrad {
  using G = ConvGeometry<S>;
  static constexpr PoolWindows p = S.pool;
  static constexpr bool isPooled = p.out[0] != 0;
  static constexpr int inWindow = p.kernel[0] * p.kernel[1] * p.kernel[2];
  using Loaded = typename Choice<isPooled, LoadedWindow, T>::Type;

  /// Where it is in memory: an element, or its window.
  static MN_DEVICE Index at(int image, int channel, Place x) {
    if constexpr (isPooled)
      return imageIndex<S.layout, S.outChannels, p.out[0], p.out[1], p.out[2]>(
          image, channel,
          {x.x0 / p.kernel[0], x.x1 / p.kernel[1], x.x2 / p.kernel[2]});
    else
      return G::output(image, channel, x);
  }
  static MN_DEVICE int numberInWindow(Place x) {
    return (x.x0 % p.kernel[0] * p.kernel[1] + x.x1 % p.kernel[1]) *
               p.kernel[2] +
           x.x2 % p.kernel[2];
  }
  /// Whether an element of the output is in a window; others are 0.
  static MN_DEVICE bool isInWindow(Place x) {
    return !isPooled ||
           (isInside<0>(x.x0) && isInside<1>(x.x1) && isInside<2>(x.x2));
  }
  template <int d> static MN_DEVICE bool isInside(int x) {
    constexpr int covered = p.out[d] * p.kernel[d];
    return covered >= S.out[d] || x < covered;
  }

  template <typename F> static MN_DEVICE Loaded load(const F &f, Index at) {
    if constexpr (isPooled)
      return {f.loadOutputGrad(at), int(f.loadIndex(at))};
    else
      return f.loadOutputGrad(at);
  }
  /// The value of an element, from its number in its window.
  static MN_DEVICE T valueOf(const Loaded &loaded, int number) {
    if constexpr (isPooled)
      return loaded.index == number ? loaded.value : T(0);
    else
      return loaded;
  }
  template <typename F>
  static MN_DEVICE T value(const F &f, int image, int channel, Place x) {
    const bool isThere = isInWindow(x);
    const Loaded loaded = load(f, isThere ? at(image, channel, x) : Index(0));
    return isThere ? valueOf(loaded, numberInWindow(x)) : T(0);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_OUTPUT_GRAD_CUH
