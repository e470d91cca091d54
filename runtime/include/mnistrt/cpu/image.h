//===- image.h - where the elements of images are ---------------*- C++ -*-===//
//
// Turns the sizes of shapes.h, 1 to 3 dimensions in two layouts, into one form:
// always three dimensions, the last of them the innermost, and strides.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_IMAGE_H
#define MNISTRT_CPU_IMAGE_H

#include "mnistrt/shapes.h"

namespace mn::detail {

/// Distances between neighbours along each dimension of an image or filter.
struct Strides {
  Index batch, channel, at[3];

  Strides(Layout layout, int channels, const int (&size)[3]) {
    const Index unit = layout == Layout::nchw ? 1 : channels;
    at[2] = unit;
    at[1] = at[2] * size[2];
    at[0] = at[1] * size[1];
    channel = layout == Layout::nchw ? at[0] * size[0] : 1;
    batch = Index(channels) * size[0] * size[1] * size[2];
  }
  Index operator()(const int (&p)[3]) const {
    return p[0] * at[0] + p[1] * at[1] + p[2] * at[2];
  }
};

/// Windows over an image: every array has the innermost dimension last.
struct Windows {
  int in[3], kernel[3], out[3], strides[3], pads[3], padsAfter[3], dilations[3];

  template <typename Shape> explicit Windows(const Shape &s) {
    for (int d = 0; d < 3; ++d) {
      const int from = (d + s.spatial) % 3; // the unused ones come first
      in[d] = s.in[from], kernel[d] = s.kernel[from], out[d] = s.out[from];
      strides[d] = s.strides[from], dilations[d] = s.dilations[from];
      pads[d] = s.pads[from], padsAfter[d] = s.padsAfter[from];
    }
  }
  int inSize() const { return in[0] * in[1] * in[2]; }
  int kernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
  int outSize() const { return out[0] * out[1] * out[2]; }

  /// Where window `o` with kernel element `k` looks, along dimension `d`.
  int look(int d, int o, int k) const {
    return o * strides[d] - pads[d] + k * dilations[d];
  }
  /// The windows [begin, end) along `d` whose element `k` is inside the input.
  void windowsInside(int d, int k, int &begin, int &end) const {
    const int offset = look(d, 0, k);
    begin = offset < 0 ? (-offset + strides[d] - 1) / strides[d] : 0;
    end = out[d];
    if (look(d, end - 1, k) >= in[d]) // the usual case needs no division
      end = offset < in[d] ? (in[d] - offset + strides[d] - 1) / strides[d] : 0;
    begin = begin < end ? begin : end;
  }
  /// The kernel elements [begin, end) along `d` of window `o` that are in
  /// [low, high) of the input's coordinates.
  void kernelInside(int d, int o, int low, int high, int &begin,
                    int &end) const {
    const int first = look(d, o, 0), step = dilations[d];
    begin = first < low ? (low - first + step - 1) / step : 0;
    end = kernel[d];
    if (first + (end - 1) * step < high) { // the usual case needs no division
      begin = begin < end ? begin : end;
      return;
    }
    end = first < high ? (high - first + step - 1) / step : 0;
    end = end < kernel[d] ? end : kernel[d];
    begin = begin < end ? begin : end;
  }
};

/// Splits a linear index over `size` into three.
inline void split(int linear, const int (&size)[3], int (&p)[3]) {
  p[2] = linear % size[2];
  p[1] = linear / size[2] % size[1];
  p[0] = linear / size[2] / size[1];
}

} // namespace mn::detail

#endif // MNISTRT_CPU_IMAGE_H
