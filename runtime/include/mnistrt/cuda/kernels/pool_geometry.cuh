//===- pool_geometry.cuh - which windows a pool has, and who --*- C++ -*-===//
//
// The elements of windows, the windows of elements, and which thread has them.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_POOL_GEOMETRY_CUH
#define MNISTRT_CUDA_KERNELS_POOL_GEOMETRY_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"

namespace mn {

namespace shape {
MN_SHAPE_FN int64_t poolOutputs(const Pool &s) {
  return int64_t(s.batch) * s.channels * pixelsOut(s);
}
MN_SHAPE_FN int64_t poolInputs(const Pool &s) {
  return int64_t(s.batch) * s.channels * pixelsIn(s);
}

/// Whether windows have few elements: a thread sees them all.
MN_SHAPE_FN bool isSmall(const Pool &s) { return taps(s) <= 9; }
/// Whether windows are adjacent, and small.
MN_SHAPE_FN bool isTiled(const Pool &s) {
  for (int d = 0; d < 3; ++d)
    if (s.kernel[d] != s.strides[d] || s.pads[d] != 0 || s.dilations[d] != 1)
      return false;
  return isSmall(s);
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

/// Lanes that share a window: of a large one, where there are few of them.
MN_SHAPE_FN int poolTeam(const Pool &s) {
  int team = 1;
  if (s.layout != Layout::nchw || isSmall(s))
    return team;
  while (team < 32 && 4 * team < taps(s) &&
         2 * team * poolOutputs(s) <= int64_t(2048) * referenceSms)
    team *= 2;
  return team;
}
MN_SHAPE_FN LaunchShape poolWindows(const Pool &s) {
  return each(poolTeam(s) * poolOutputs(s));
}
MN_SHAPE_FN LaunchShape unpool(const Pool &s) {
  return each(isSmall(s) ? poolTiles(s) : poolInputs(s));
}
MN_SHAPE_FN LaunchShape avgPoolGrad(const Pool &s) {
  return each(isTiled(s) ? poolTiles(s) : poolInputs(s));
}

/// Planes of an image that a block has where windows overlap, so that each of
/// its threads has a window: it keeps where their maxima are.
MN_SHAPE_FN int poolPlanes(const Pool &s) {
  return ceilDiv(256, max(1, pixelsOut(s)));
}
MN_SHAPE_FN int64_t planeBlocks(const Pool &s) {
  return ceilDiv(int64_t(s.batch) * s.channels, int64_t(poolPlanes(s)));
}
MN_SHAPE_FN bool keepsMaxima(const Pool &s) {
  return s.layout == Layout::nchw && !isTiled(s) &&
         poolPlanes(s) * pixelsOut(s) <= 8192 && planeBlocks(s) >= referenceSms;
}
MN_SHAPE_FN LaunchShape maxPoolGrad(const Pool &s) {
  if (!keepsMaxima(s))
    return avgPoolGrad(s);
  return {unsigned(planeBlocks(s)), 256};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

template <Pool S> struct PoolGeometry {
  static constexpr bool nchw = S.layout == Layout::nchw;
  /// Loops over the elements of a window are unrolled.
  static constexpr bool few = shape::isSmall(S);

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

  /// An element of a window, by its tap; it may be in the padding.
  static MN_DEVICE Place at(Place out, Place tap) {
    return {out.x0 * S.strides[0] - S.pads[0] + tap.x0 * S.dilations[0],
            out.x1 * S.strides[1] - S.pads[1] + tap.x1 * S.dilations[1],
            out.x2 * S.strides[2] - S.pads[2] + tap.x2 * S.dilations[2]};
  }
  static MN_DEVICE bool isInside(Place p) {
    return shape::hasWholeTiles(S) || (unsigned(p.x0) < unsigned(S.in[0]) &&
                                       unsigned(p.x1) < unsigned(S.in[1]) &&
                                       unsigned(p.x2) < unsigned(S.in[2]));
  }
  static MN_DEVICE Place tap(int number) {
    return placeOf<S.kernel[1], S.kernel[2]>(number);
  }

  /// visit(place) for each element of the window inside the input, row-major.
  template <typename Visit>
  static MN_DEVICE void window(Place out, const Visit &visit) {
#pragma unroll(few ? S.kernel[0] : 1)
    for (int k0 = 0; k0 < S.kernel[0]; ++k0)
#pragma unroll(few ? S.kernel[1] : 1)
      for (int k1 = 0; k1 < S.kernel[1]; ++k1)
#pragma unroll(few ? S.kernel[2] : 1)
        for (int k2 = 0; k2 < S.kernel[2]; ++k2) {
          const Place p = at(out, {k0, k1, k2});
          if (isInside(p))
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

  /// visit(i, n, c, place, isOne) for the elements of the output, by teams of
  /// lanes; all lanes of a warp visit one, which the last is none of.
  template <int team, typename Visit>
  static MN_DEVICE void outputsOfTeams(const Visit &visit) {
    gridDependencySync();
    constexpr int64_t count = shape::poolOutputs(S);
    constexpr int64_t warps = (count * team + 31) / 32;
    const int64_t stride = int64_t(gridDim.x) * blockDim.x;
    for (int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
         thread < warps * 32; thread += stride) {
      const int64_t i = shape::min(thread / team, count - 1);
      int n, c, pixel;
      split<shape::pixelsOut(S)>(Index(i), n, c, pixel);
      visit(Index(i), n, c, placeOf<S.out[1], S.out[2]>(pixel),
            thread < count * team);
    }
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

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_POOL_GEOMETRY_CUH
