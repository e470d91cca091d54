//===- pool.cuh - pools and their gradients ---------------------*- C++ -*-===//
//
// One thread a result, or a few lanes, where windows are large and few.
// Gradients are gathered: an element of the input visits the windows that it is
// in, so that no two threads write one element. Where each is in one window at
// most, a thread does all elements of a small window: it looks for a maximum
// once. Where windows overlap, a block does so for whole planes before it
// begins with their elements. Neighbours are loaded and stored together.
// Padding and what hangs over it (ceil mode) is never chosen by a maximum; an
// average counts the padding where asked, and never the overhang.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_POOL_CUH
#define MNISTRT_CUDA_KERNELS_POOL_CUH

#include "mnistrt/cuda/kernels/pool_geometry.cuh"
#include "mnistrt/cuda/kernels/pooled.cuh"
#include "mnistrt/reductions.h"

namespace mn {

#ifdef __CUDACC__

namespace device {

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

  static constexpr int team = shape::poolTeam(S);

  /// A window by the lanes of a team, which all get what it comes to.
  template <bool mean, typename Load>
  static MN_DEVICE Pooled<T, mean> ofTeam(Place out, const Load &load) {
    Pooled<T, mean> all;
#pragma unroll 4
    for (int k = int(threadIdx.x) % team; k < shape::taps(S); k += team)
      if (const Place p = G::at(out, G::tap(k)); G::isInside(p))
        all.see(load(p), k);
#pragma unroll
    for (int lanes = team / 2; lanes > 0; lanes /= 2)
      all.join(lanes);
    return all;
  }

  /// use(i, n, c, place, window) for each window, by the first of its lanes.
  template <bool mean, typename F, typename Use>
  static MN_DEVICE void windowsOfTeams(const F &f, const Use &use) {
    G::template outputsOfTeams<team>(
        [&](Index i, int n, int c, Place out, bool isOne) {
          const Pooled<T, mean> all = ofTeam<mean>(
              out, [&](Place p) { return T(f.load(G::input(n, c, p))); });
          if (isOne && threadIdx.x % team == 0)
            use(i, n, c, out, all);
        });
  }

  static MN_DEVICE int64_t indexOf(int n, int c, Place out,
                                   const Pooled<T, false> &best) {
    return best.number == Pooled<T, false>::none
               ? 0
               : indexOf(n, c, out, G::at(out, G::tap(best.number)));
  }

  /// Stores where the maxima are too, if the functor wants to know.
  template <typename F> static MN_DEVICE void max(const F &f) {
    if constexpr (team > 1)
      windowsOfTeams<false>(
          f, [&](Index i, int n, int c, Place out, const auto &best) {
            f.store(i, best.value);
            if constexpr (StoresIndices<F>)
              f.storeIndex(i, indexOf(n, c, out, best));
          });
    else
      maxByThread(f);
  }

  template <typename F> static MN_DEVICE void maxByThread(const F &f) {
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
    if constexpr (team > 1)
      windowsOfTeams<false>(
          f, [&](Index i, int n, int c, Place out, const auto &best) {
            f.store(i, indexOf(n, c, out, best));
          });
    else
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
    if constexpr (team > 1)
      windowsOfTeams<true>(f,
                           [&](Index i, int, int, Place out, const auto &all) {
                             f.store(i, all.sum / T(G::counted(out)));
                           });
    else
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
    else if constexpr (shape::keepsMaxima(S))
      maxGradOfPlanes(f);
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

  /// Of some planes: first where the maxima of all windows are, then what each
  /// element gets from those that it is in.
  template <typename F> static MN_DEVICE void maxGradOfPlanes(const F &f) {
    constexpr int planes = shape::poolPlanes(S), outs = shape::pixelsOut(S);
    constexpr int ins = shape::pixelsIn(S), all = S.batch * S.channels;
    __shared__ int pixels[planes * outs];
    gridDependencySync();
    const int first = int(blockIdx.x) * planes;
    const int count = shape::min(planes, all - first);
    for (int i = int(threadIdx.x); i < count * outs; i += int(blockDim.x)) {
      const int plane = first + i / outs;
      const Place best = bestInput(f, plane / S.channels, plane % S.channels,
                                   placeOf<S.out[1], S.out[2]>(i % outs))
                             .place;
      pixels[i] =
          best.x0 < 0 ? -1 : (best.x0 * S.in[1] + best.x1) * S.in[2] + best.x2;
    }
    __syncthreads();
    for (int i = int(threadIdx.x); i < count * ins; i += int(blockDim.x)) {
      const int plane = i / ins, pixel = i % ins;
      const Index outputs = Index(first + plane) * outs;
      T sum = 0;
      G::windowsAt(placeOf<S.in[1], S.in[2]>(pixel), [&](Place out) {
        const int o = (out.x0 * S.out[1] + out.x1) * S.out[2] + out.x2;
        if (pixels[plane * outs + o] == pixel)
          sum += f.loadOutputGrad(outputs + o);
      });
      f.store(Index(first) * ins + i, sum);
    }
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

  /// A thread has an element, or of small windows one of these.
  template <typename F> static MN_DEVICE void unpool(const F &f) {
    if constexpr (shape::isSmall(S))
      unpoolTiles(f);
    else
      G::inputs([&](Index i, int n, int c, Place in) {
        const Place out = {in.x0 / S.kernel[0], in.x1 / S.kernel[1],
                           in.x2 / S.kernel[2]};
        const bool isWindow = hasWindow(out);
        const Index o = isWindow ? G::output(n, c, out) : Index(0);
        const T value = f.load(o);
        f.store(i, isWindow && indexOf(n, c, out, in) == f.loadIndex(o) ? value
                                                                        : T(0));
      });
  }

  /// A thread has a window, or what is after the last one.
  template <typename F> static MN_DEVICE void unpoolTiles(const F &f) {
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
  launch(ctx, kernel, shape::poolWindows(s), f);
}
template <typename T, typename F>
void avgPool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::poolWindows(s), f);
}
template <typename T, typename F>
void argMaxPool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::poolWindows(s), f);
}
template <typename T, typename F>
void maxPoolGrad(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::maxPoolGrad(s), f);
}
template <typename T, typename F>
void maxUnpool(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::unpool(s), f);
}
template <typename T, typename F>
void avgPoolGrad(Context &ctx, const char *kernel, const Pool &s, const F &f) {
  launch(ctx, kernel, shape::avgPoolGrad(s), f);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_POOL_CUH
