//===- pool.cuh - pools and their gradients ---------------------*- C++ -*-===//
//
// One thread a result. Gradients are gathered: an element of the input visits
// the windows that it is in, so that no two threads write one element. Where
// each is in one window at most, a thread does all elements of a window: it
// looks for a maximum once. Neighbours are loaded and stored together. Padding
// and what hangs over it (ceil mode) is never chosen by a maximum; an average
// counts the padding where asked, and never the overhang.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_POOL_CUH
#define MNISTRT_CUDA_KERNELS_POOL_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/pooled.cuh"
#include "mnistrt/reductions.h"

namespace mn {

namespace shape {
MN_SHAPE_FN int64_t poolOutputs(const Pool &s) {
  return int64_t(s.batch) * s.channels * pixelsOut(s);
}
MN_SHAPE_FN int64_t poolInputs(const Pool &s) {
  return int64_t(s.batch) * s.channels * pixelsIn(s);
}

/// Whether windows are adjacent, and small.
MN_SHAPE_FN bool isTiled(const Pool &s) {
  for (int d = 0; d < 3; ++d)
    if (s.kernel[d] != s.strides[d] || s.pads[d] != 0 || s.dilations[d] != 1)
      return false;
  return taps(s) <= 9;
}
/// Windows along dimension `d`, with what begins after the last one.
MN_SHAPE_FN int tilesAlong(const Pool &s, int d) {
  return max(s.out[d], ceilDiv(s.in[d], s.strides[d]));
}
MN_SHAPE_FN int pixelTiles(const Pool &s) {
  return tilesAlong(s, 0) * tilesAlong(s, 1) * tilesAlong(s, 2);
}
MN_SHAPE_FN int64_t poolTiles(const Pool &s) {
  return int64_t(s.batch) * s.channels * pixelTiles(s);
}
/// Whether these windows have all elements, and no others.
MN_SHAPE_FN bool hasWholeTiles(const Pool &s) {
  for (int d = 0; d < 3; ++d)
    if (s.out[d] * s.kernel[d] != s.in[d])
      return false;
  return isTiled(s);
}
MN_SHAPE_FN LaunchShape poolGrad(const Pool &s) {
  return each(isTiled(s) ? poolTiles(s) : poolInputs(s));
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

template <Pool S> struct PoolGeometry {
  static constexpr bool nchw = S.layout == Layout::nchw;
  /// Loops over the elements of a window are unrolled.
  static constexpr bool few = shape::taps(S) <= 9;

  static MN_DEVICE Index input(int n, int c, Place p) {
    return imageIndex<S.layout, S.channels, S.in[0], S.in[1], S.in[2]>(n, c, p);
  }
  static MN_DEVICE Index output(int n, int c, Place p) {
    return imageIndex<S.layout, S.channels, S.out[0], S.out[1], S.out[2]>(n, c,
                                                                          p);
  }

  /// Image, channel and pixel of element `i` of a tensor of `pixels` pixels.
  template <int pixels>
  static MN_DEVICE void split(Index i, int &n, int &c, int &pixel) {
    const Index rest = nchw ? i / pixels : i / S.channels;
    c = int(nchw ? rest % S.channels : i % S.channels);
    pixel = int(nchw ? i % pixels : rest % pixels);
    n = int(nchw ? rest / S.channels : rest / pixels);
  }

  /// visit(place) for each element of the window inside the input, row-major.
  template <typename Visit>
  static MN_DEVICE void window(Place out, const Visit &visit) {
    const int y0 = out.x0 * S.strides[0] - S.pads[0];
    const int y1 = out.x1 * S.strides[1] - S.pads[1];
    const int y2 = out.x2 * S.strides[2] - S.pads[2];
#pragma unroll(few ? S.kernel[0] : 1)
    for (int k0 = 0; k0 < S.kernel[0]; ++k0)
#pragma unroll(few ? S.kernel[1] : 1)
      for (int k1 = 0; k1 < S.kernel[1]; ++k1)
#pragma unroll(few ? S.kernel[2] : 1)
        for (int k2 = 0; k2 < S.kernel[2]; ++k2) {
          const Place p = {y0 + k0 * S.dilations[0], y1 + k1 * S.dilations[1],
                           y2 + k2 * S.dilations[2]};
          if (shape::hasWholeTiles(S) || (unsigned(p.x0) < unsigned(S.in[0]) &&
                                          unsigned(p.x1) < unsigned(S.in[1]) &&
                                          unsigned(p.x2) < unsigned(S.in[2])))
            visit(p);
        }
  }

  /// Of the windows that begin at or before `in`, those that reach it.
  template <int kernel, int stride, int dilation, int pad, int out,
            typename Visit>
  static MN_DEVICE void windowsAlong(int in, const Visit &visit) {
    constexpr int reach = (kernel - 1) * dilation + 1;
    constexpr int candidates = (reach + stride - 1) / stride;
    const int last = (in + pad) / stride;
#pragma unroll(candidates <= 2 ? candidates : 1)
    for (int j = 0; j < candidates; ++j) {
      const int x = last - j;
      const int offset = in + pad - x * stride;
      if (x >= 0 && x < out && offset < reach && offset % dilation == 0)
        visit(x);
    }
  }

  /// visit(place) for each window that `in` is in.
  template <typename Visit>
  static MN_DEVICE void windowsAt(Place in, const Visit &visit) {
    windowsAlong<S.kernel[0], S.strides[0], S.dilations[0], S.pads[0],
                 S.out[0]>(in.x0, [&](int x0) {
      windowsAlong<S.kernel[1], S.strides[1], S.dilations[1], S.pads[1],
                   S.out[1]>(in.x1, [&](int x1) {
        windowsAlong<S.kernel[2], S.strides[2], S.dilations[2], S.pads[2],
                     S.out[2]>(in.x2,
                               [&](int x2) { visit(Place{x0, x1, x2}); });
      });
    });
  }

  template <int kernel, int stride, int dilation, int pad, int after, int in>
  static MN_DEVICE int countedAlong(int out) {
    int count = 0;
#pragma unroll
    for (int k = 0; k < kernel; ++k) {
      const int x = out * stride - pad + k * dilation;
      count += S.countPads ? x < in + after : x >= 0 && x < in;
    }
    return count;
  }

  /// How many elements the average over a window is over.
  static MN_DEVICE int counted(Place o) {
    return countedAlong<S.kernel[0], S.strides[0], S.dilations[0], S.pads[0],
                        S.padsAfter[0], S.in[0]>(o.x0) *
           countedAlong<S.kernel[1], S.strides[1], S.dilations[1], S.pads[1],
                        S.padsAfter[1], S.in[1]>(o.x1) *
           countedAlong<S.kernel[2], S.strides[2], S.dilations[2], S.pads[2],
                        S.padsAfter[2], S.in[2]>(o.x2);
  }

  /// visit(i, n, c, place) for the elements of the output.
  template <typename Visit> static MN_DEVICE void outputs(const Visit &visit) {
    over<shape::pixelsOut(S), S.out[1], S.out[2]>(shape::poolOutputs(S), visit);
  }
  template <typename Visit> static MN_DEVICE void inputs(const Visit &visit) {
    over<shape::pixelsIn(S), S.in[1], S.in[2]>(shape::poolInputs(S), visit);
  }
  /// The same for adjacent windows, and for what follows them.
  template <typename Visit> static MN_DEVICE void tiles(const Visit &visit) {
    over<shape::pixelTiles(S), shape::tilesAlong(S, 1),
         shape::tilesAlong(S, 2)>(shape::poolTiles(S), visit);
  }

private:
  template <int pixels, int D1, int D2, typename Visit>
  static MN_DEVICE void over(int64_t count, const Visit &visit) {
    gridDependencySync();
    const int64_t stride = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
      int n, c, pixel;
      split<pixels>(Index(i), n, c, pixel);
      visit(Index(i), n, c, placeOf<D1, D2>(pixel));
    }
  }
};

/// The first largest element of a window.
template <typename T> struct Best {
  T value = Limits<T>::lowest();
  Place place = {-1, 0, 0};

  MN_DEVICE void see(T v, Place p) {
    if (place.x0 < 0 || ArgMaxFirst::wins(v, value)) {
      value = v;
      place = p;
    }
  }
};

template <typename T, Pool S> struct PoolKernel {
  using G = PoolGeometry<S>;

  /// Stores where the maxima are too, if the functor wants to know.
  template <typename F> static MN_DEVICE void max(const F &f) {
    G::outputs([&](Index i, int n, int c, Place out) {
      if constexpr (StoresIndices<F>) {
        const Best<T> best =
            bestOf(out, [&](Place p) { return T(f.load(G::input(n, c, p))); });
        f.store(i, best.value);
        f.storeIndex(i, indexOf(n, c, out, best.place));
      } else {
        T best = Limits<T>::lowest();
        G::window(out, [&](Place p) {
          best = mn::max(best, f.load(G::input(n, c, p)));
        });
        f.store(i, best);
      }
    });
  }

  template <typename F> static MN_DEVICE void argMax(const F &f) {
    G::outputs([&](Index i, int n, int c, Place out) {
      const Best<T> best =
          bestOf(out, [&](Place p) { return T(f.load(G::input(n, c, p))); });
      f.store(i, indexOf(n, c, out, best.place));
    });
  }

  template <typename Load>
  static MN_DEVICE Best<T> bestOf(Place out, const Load &load) {
    Best<T> best;
    G::window(out, [&](Place p) { best.see(load(p), p); });
    return best;
  }

  /// Of the element at `p`; 0 where the window `out` has none.
  static MN_DEVICE int64_t indexOf(int n, int c, Place out, Place p) {
    if (p.x0 < 0)
      return 0;
    if constexpr (S.inWindow)
      return ((p.x0 - out.x0 * S.kernel[0]) * S.kernel[1] + p.x1 -
              out.x1 * S.kernel[1]) *
                 S.kernel[2] +
             p.x2 - out.x2 * S.kernel[2];
    const int64_t plane = int64_t(n) * S.channels + c;
    const int64_t inside =
        S.columnMajor ? p.x0 + int64_t(S.in[0]) * (p.x1 + S.in[1] * p.x2)
                      : p.x2 + int64_t(S.in[2]) * (p.x1 + S.in[1] * p.x0);
    return plane * shape::pixelsIn(S) + inside;
  }

  template <typename F> static MN_DEVICE void avg(const F &f) {
    G::outputs([&](Index i, int n, int c, Place out) {
      T sum = 0;
      G::window(out, [&](Place p) { sum += f.load(G::input(n, c, p)); });
      f.store(i, sum / T(G::counted(out)));
    });
  }

  template <typename F>
  static MN_DEVICE Best<T> bestInput(const F &f, int n, int c, Place out) {
    return bestOf(out,
                  [&](Place p) { return T(f.loadInput(G::input(n, c, p))); });
  }

  template <typename F> static MN_DEVICE void maxGrad(const F &f) {
    if constexpr (shape::isTiled(S))
      maxGradOfTiles(f);
    else
      G::inputs([&](Index i, int n, int c, Place in) {
        T sum = 0;
        G::windowsAt(in, [&](Place out) {
          if (bestInput(f, n, c, out).place == in)
            sum += f.loadOutputGrad(G::output(n, c, out));
        });
        f.store(i, sum);
      });
  }

  /// Whether there is a window, not what is after the last one.
  static MN_DEVICE bool hasWindow(Place tile) {
    return shape::hasWholeTiles(S) ||
           (tile.x0 < S.out[0] && tile.x1 < S.out[1] && tile.x2 < S.out[2]);
  }

  template <typename F> static MN_DEVICE void maxGradOfTiles(const F &f) {
    G::tiles([&](Index, int n, int c, Place tile) {
      const bool isWindow = hasWindow(tile);
      // On its way before the inputs are compared.
      const T grad =
          isWindow ? T(f.loadOutputGrad(G::output(n, c, tile))) : T(0);
      const Best<T> best = bestInput(f, n, c, tile);
      G::window(tile, [&](Place p) {
        f.store(G::input(n, c, p), p == best.place ? grad : T(0));
      });
    });
  }

  /// A thread has a window, or what is after the last one.
  template <typename F> static MN_DEVICE void unpool(const F &f) {
    G::tiles([&](Index, int n, int c, Place tile) {
      const bool isWindow = hasWindow(tile);
      const Index o = isWindow ? G::output(n, c, tile) : Index(0);
      const T value = f.load(o);
      const int64_t index = f.loadIndex(o);
      G::window(tile, [&](Place p) {
        f.store(G::input(n, c, p),
                isWindow && indexOf(n, c, tile, p) == index ? value : T(0));
      });
    });
  }

  template <typename F> static MN_DEVICE void avgGrad(const F &f) {
    const auto gradOf = [&](int n, int c, Place out) {
      return f.load(G::output(n, c, out)) / T(G::counted(out));
    };
    if constexpr (shape::isTiled(S)) {
      G::tiles([&](Index, int n, int c, Place tile) {
        const T grad = hasWindow(tile) ? gradOf(n, c, tile) : T(0);
        G::window(tile, [&](Place p) { f.store(G::input(n, c, p), grad); });
      });
    } else {
      G::inputs([&](Index i, int n, int c, Place in) {
        T sum = 0;
        G::windowsAt(in, [&](Place out) { sum += gradOf(n, c, out); });
        f.store(i, sum);
      });
    }
  }
};

} // namespace device

#define MN_POOL_KERNEL(NAME, RUN, T, F, ...)                                   \
  MN_GLOBAL(256) NAME(const __grid_constant__ F f MN_TIMES_ARGUMENT) {         \
    MN_RECORD_TIMES                                                            \
    mn::device::PoolKernel<T, __VA_ARGS__>::RUN(                               \
        mn::device::withAlignedTensors(f));                                    \
  }
#define MN_MAX_POOL_KERNEL(NAME, T, F, ...)                                    \
  MN_POOL_KERNEL(NAME, max, T, F, __VA_ARGS__)
#define MN_AVG_POOL_KERNEL(NAME, T, F, ...)                                    \
  MN_POOL_KERNEL(NAME, avg, T, F, __VA_ARGS__)
#define MN_ARG_MAX_POOL_KERNEL(NAME, T, F, ...)                                \
  MN_POOL_KERNEL(NAME, argMax, T, F, __VA_ARGS__)
#define MN_MAX_POOL_GRAD_KERNEL(NAME, T, F, ...)                               \
  MN_POOL_KERNEL(NAME, maxGrad, T, F, __VA_ARGS__)
#define MN_MAX_UNPOOL_KERNEL(NAME, T, F, ...)                                  \
  MN_POOL_KERNEL(NAME, unpool, T, F, __VA_ARGS__)
#define MN_AVG_POOL_GRAD_KERNEL(NAME, T, F, ...)                               \
  MN_POOL_KERNEL(NAME, avgGrad, T, F, __VA_ARGS__)

#else

#define MN_MAX_POOL_KERNEL(NAME, T, F, ...)
#define MN_AVG_POOL_KERNEL(NAME, T, F, ...)
#define MN_ARG_MAX_POOL_KERNEL(NAME, T, F, ...)
#define MN_MAX_POOL_GRAD_KERNEL(NAME, T, F, ...)
#define MN_AVG_POOL_GRAD_KERNEL(NAME, T, F, ...)
#define MN_MAX_UNPOOL_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void maxPool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::each(shape::poolOutputs(s)), f);
}
template <typename T, typename F>
void avgPool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::each(shape::poolOutputs(s)), f);
}
template <typename T, typename F>
void argMaxPool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::each(shape::poolOutputs(s)), f);
}
template <typename T, typename F>
void maxPoolGrad(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::poolGrad(s), f);
}
template <typename T, typename F>
void maxUnpool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::each(shape::poolTiles(s)), f);
}
template <typename T, typename F>
void avgPoolGrad(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::poolGrad(s), f);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_POOL_CUH
