//===- conv_geometry.cuh - where a convolution's elements are ---*- C++ -*-===//
//
// Indices of input, filter and output in both layouts, and the places that a
// linear number stands for. All sizes are constants, so that divisions become
// multiplications and unused dimensions vanish.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_GEOMETRY_CUH
#define MNISTRT_CUDA_KERNELS_CONV_GEOMETRY_CUH

#include "mnistrt/cuda/kernels/product.cuh"

namespace mn {

namespace shape {
template <typename S> MN_SHAPE_FN int pixelsIn(const S &s) {
  return s.in[0] * s.in[1] * s.in[2];
}
template <typename S> MN_SHAPE_FN int pixelsOut(const S &s) {
  return s.out[0] * s.out[1] * s.out[2];
}
template <typename S> MN_SHAPE_FN int taps(const S &s) {
  return s.kernel[0] * s.kernel[1] * s.kernel[2];
}
/// Results are adjacent along pixels (nchw) or along channels (nhwc).
MN_SHAPE_FN Product imageProduct(const Conv &s, int64_t channels,
                                 int64_t pixels, int64_t k) {
  return s.layout == Layout::nchw
             ? Product{s.groups, channels, pixels, k, s.schedule}
             : Product{s.groups, pixels, channels, k, s.schedule};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

/// A place along up to three dimensions.
struct Place {
  int x0, x1, x2;
  MN_DEVICE bool operator==(const Place &other) const {
    return x0 == other.x0 && x1 == other.x1 && x2 == other.x2;
  }
};

/// A window, or an element of all windows: the elements of a tensor where these
/// begin, which add up; and what says whether they meet inside of the tensor.
/// With few taps the bits of those that do and the tap's own bit; else places.
template <bool fewTaps> struct Spot {
  Index element;
  unsigned taps;
};
template <> struct alignas(4 * sizeof(Index)) Spot<false> {
  Index element;
  Place at;
};

template <int D1, int D2> MN_DEVICE Place placeOf(int i) {
  return {i / (D1 * D2), i / D2 % D1, i % D2};
}

/// An element of an image of `C` channels and extents D0 x D1 x D2.
template <Layout layout, int C, int D0, int D1, int D2>
MN_DEVICE Index imageIndex(int n, int c, Place p) {
  if constexpr (layout == Layout::nchw)
    return (((Index(n) * C + c) * D0 + p.x0) * D1 + p.x1) * D2 + p.x2;
  else
    return (((Index(n) * D0 + p.x0) * D1 + p.x1) * D2 + p.x2) * C + c;
}

template <Conv S> struct ConvGeometry {
  static constexpr bool nchw = S.layout == Layout::nchw;
  static constexpr int inChannels = S.inChannels / S.groups;
  static constexpr int outChannels = S.outChannels / S.groups;
  static constexpr int pixelsIn = shape::pixelsIn(S);
  static constexpr int pixelsOut = shape::pixelsOut(S);
  static constexpr int taps = shape::taps(S);

  static MN_DEVICE Index input(int n, int c, Place p) {
    return imageIndex<S.layout, S.inChannels, S.in[0], S.in[1], S.in[2]>(n, c,
                                                                         p);
  }
  static MN_DEVICE Index output(int n, int o, Place p) {
    return imageIndex<S.layout, S.outChannels, S.out[0], S.out[1], S.out[2]>(
        n, o, p);
  }
  /// Those with their channels.
  using InputIndex = ChannelIndex<nchw ? pixelsIn : 1, S.inChannels>;
  using OutputIndex = ChannelIndex<nchw ? pixelsOut : 1, S.outChannels>;
  static MN_DEVICE InputIndex inputIndex(int n, int c, Place p) {
    return {input(n, c, p), c};
  }
  static MN_DEVICE OutputIndex outputIndex(int n, int o, Place p) {
    return {output(n, o, p), o};
  }
  static MN_DEVICE Index filter(int o, int c, Place tap) {
    return imageIndex<S.layout, inChannels, S.kernel[0], S.kernel[1],
                      S.kernel[2]>(o, c, tap);
  }
  static MN_DEVICE Place inPlace(int i) { return placeOf<S.in[1], S.in[2]>(i); }
  static MN_DEVICE Place outPlace(int i) {
    return placeOf<S.out[1], S.out[2]>(i);
  }
  static MN_DEVICE Place tapPlace(int i) {
    return placeOf<S.kernel[1], S.kernel[2]>(i);
  }

  /// A number among `channels` x taps, in the order in which a filter has them.
  template <int channels> static MN_DEVICE int channelOf(int k) {
    return nchw ? k / taps : k % channels;
  }
  template <int channels> static MN_DEVICE int tapOf(int k) {
    return nchw ? k % taps : k / channels;
  }

  /// No window reaches into the padding.
  static MN_SHAPE_FN bool insideAlong(int d) {
    return S.pads[d] == 0 &&
           (S.out[d] - 1) * S.strides[d] + (S.kernel[d] - 1) * S.dilations[d] <
               S.in[d];
  }
  static MN_SHAPE_FN bool allInside() {
    return insideAlong(0) && insideAlong(1) && insideAlong(2);
  }

  /// Whether each window is the pixel of the same number: a product of
  /// matrices.
  static MN_SHAPE_FN bool isPointwise() {
    return taps == 1 && allInside() && pixelsIn == pixelsOut;
  }

  /// Where the window at `out` has its element `tap`; false: in the padding.
  static MN_DEVICE bool reads(Place out, Place tap, Place &in) {
    in = {out.x0 * S.strides[0] - S.pads[0] + tap.x0 * S.dilations[0],
          out.x1 * S.strides[1] - S.pads[1] + tap.x1 * S.dilations[1],
          out.x2 * S.strides[2] - S.pads[2] + tap.x2 * S.dilations[2]};
    constexpr bool always = allInside();
    return always || (unsigned(in.x0) < unsigned(S.in[0]) &&
                      unsigned(in.x1) < unsigned(S.in[1]) &&
                      unsigned(in.x2) < unsigned(S.in[2]));
  }

  /// The window whose element `tap` is at `in`; false: there is none.
  static MN_DEVICE bool isReadBy(Place in, Place tap, Place &out) {
    const int x0 = in.x0 + S.pads[0] - tap.x0 * S.dilations[0];
    const int x1 = in.x1 + S.pads[1] - tap.x1 * S.dilations[1];
    const int x2 = in.x2 + S.pads[2] - tap.x2 * S.dilations[2];
    out = {x0 / S.strides[0], x1 / S.strides[1], x2 / S.strides[2]};
    return x0 >= 0 && x1 >= 0 && x2 >= 0 && x0 % S.strides[0] == 0 &&
           x1 % S.strides[1] == 0 && x2 % S.strides[2] == 0 &&
           out.x0 < S.out[0] && out.x1 < S.out[1] && out.x2 < S.out[2];
  }

  /// Bits pay where what is known of a window is kept for many elements.
  static constexpr bool fewTaps = taps <= 32 && S.schedule.mma != Mma::ffma;
  using Spot = device::Spot<fewTaps>;

  /// An element of a tensor as `load` gives it, or 0 outside of it.
  template <typename T, typename Load>
  static MN_DEVICE T ofWindow(const Spot &window, const Spot &k,
                              const Load &load) {
    return reads(window, k) ? load(window.element + k.element) : T(0);
  }
  template <typename T, typename Load>
  static MN_DEVICE T ofReader(const Spot &in, const Spot &k, const Load &load) {
    return isReadBy(in, k) ? load(in.element + k.element) : T(0);
  }

  /// The window of an output pixel, and its element `k`: an input channel and a
  /// tap.
  static MN_DEVICE Spot windowAt(int group, int pixel) {
    const Place out = outPlace(pixel % pixelsOut);
    const Place in = {out.x0 * S.strides[0] - S.pads[0],
                      out.x1 * S.strides[1] - S.pads[1],
                      out.x2 * S.strides[2] - S.pads[2]};
    const Index element = input(pixel / pixelsOut, group * inChannels, in);
    if constexpr (!fewTaps)
      return {element, in};
    else
      return {element, bitsOf(readAlong<0>(in.x0), readAlong<1>(in.x1),
                              readAlong<2>(in.x2))};
  }
  static MN_DEVICE Spot inWindow(int k) {
    const int number = tapOf<inChannels>(k);
    const Place tap = tapPlace(number);
    const Place in = {tap.x0 * S.dilations[0], tap.x1 * S.dilations[1],
                      tap.x2 * S.dilations[2]};
    const Index element = input(0, channelOf<inChannels>(k), in);
    if constexpr (!fewTaps)
      return {element, in};
    else
      return {element, 1u << number};
  }

  /// All windows that read an input pixel, and those of them that do so with
  /// element `k`: an output channel and a tap.
  static MN_DEVICE Spot readersOf(int group, int pixel) {
    const Place in = inPlace(pixel % pixelsIn);
    const Place at = {in.x0 + S.pads[0], in.x1 + S.pads[1], in.x2 + S.pads[2]};
    // Where strides divide, they divide both parts of the place alike.
    const Index element = output(
        pixel / pixelsIn, group * outChannels,
        {at.x0 / S.strides[0], at.x1 / S.strides[1], at.x2 / S.strides[2]});
    if constexpr (!fewTaps)
      return {element, at};
    else
      return {element, bitsOf(readByAlong<0>(at.x0), readByAlong<1>(at.x1),
                              readByAlong<2>(at.x2))};
  }
  static MN_DEVICE Spot byElement(int k) {
    const int number = tapOf<outChannels>(k);
    const Place tap = tapPlace(number);
    const Place at = {tap.x0 * S.dilations[0], tap.x1 * S.dilations[1],
                      tap.x2 * S.dilations[2]};
    const Index element =
        output(0, channelOf<outChannels>(k),
               {-(at.x0 / S.strides[0]), -(at.x1 / S.strides[1]),
                -(at.x2 / S.strides[2])});
    if constexpr (!fewTaps)
      return {element, at};
    else
      return {element, 1u << number};
  }

private:
  /// Whether what is `x` after the beginning of the padding is read.
  template <int d> static MN_DEVICE bool isRead(int x) {
    return x >= 0 && x % S.strides[d] == 0 && x / S.strides[d] < S.out[d];
  }
  template <int d> static MN_DEVICE bool isInside(int x) {
    return insideAlong(d) || unsigned(x) < unsigned(S.in[d]);
  }

  /// The taps along a dimension that meet, as bits.
  template <int d> static MN_DEVICE unsigned readAlong(int first) {
    unsigned bits = 0;
#pragma unroll
    for (int tap = 0; tap < S.kernel[d]; ++tap)
      bits |= unsigned(isInside<d>(first + tap * S.dilations[d])) << tap;
    return bits;
  }
  template <int d> static MN_DEVICE unsigned readByAlong(int at) {
    unsigned bits = 0;
#pragma unroll
    for (int tap = 0; tap < S.kernel[d]; ++tap)
      bits |= unsigned(isRead<d>(at - tap * S.dilations[d])) << tap;
    return bits;
  }
  static MN_DEVICE unsigned bitsOf(unsigned along0, unsigned along1,
                                   unsigned along2) {
    unsigned rows = 0, bits = 0;
#pragma unroll
    for (int tap = 0; tap < S.kernel[1]; ++tap)
      rows |= along1 >> tap & 1 ? along2 << tap * S.kernel[2] : 0u;
#pragma unroll
    for (int tap = 0; tap < S.kernel[0]; ++tap)
      bits |= along0 >> tap & 1 ? rows << tap * S.kernel[1] * S.kernel[2] : 0u;
    return bits;
  }

  static MN_DEVICE bool reads(const Spot &window, const Spot &k) {
    if constexpr (allInside())
      return true;
    else if constexpr (!fewTaps)
      return int(isInside<0>(window.at.x0 + k.at.x0)) &
             int(isInside<1>(window.at.x1 + k.at.x1)) &
             int(isInside<2>(window.at.x2 + k.at.x2));
    else
      return window.taps & k.taps;
  }
  static MN_DEVICE bool isReadBy(const Spot &in, const Spot &k) {
    if constexpr (!fewTaps)
      return isRead<0>(in.at.x0 - k.at.x0) && isRead<1>(in.at.x1 - k.at.x1) &&
             isRead<2>(in.at.x2 - k.at.x2);
    else
      return in.taps & k.taps;
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_GEOMETRY_CUH
