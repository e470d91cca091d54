//===- conv.h - convolutions and their gradients on the CPU -----*- C++ -*-===//
//
// Each is a matrix product, one operand of which is an image seen through
// windows and never stored: a product for each image and group, or for the
// gradient of a filter, each group. (Of depthwise filters: conv_depthwise.h.)
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_CONV_H
#define MNISTRT_CPU_CONV_H

#include "mnistrt/cpu/conv_depthwise.h"
#include "mnistrt/cpu/gemm.h"
#include "mnistrt/cpu/image.h"

#define MN_CONV_KERNEL(NAME, T, F, ...)
#define MN_CONV_INPUT_GRAD_KERNEL(NAME, T, F, ...)
#define MN_CONV_FILTER_GRAD_KERNEL(NAME, T, F, ...)

namespace mn {

namespace detail {

/// A convolution's sizes, by group. A filter is an image whose batch are the
/// output channels.
struct ConvPlan {
  Windows w;
  int groups, inChannels, outChannels; ///< of one group
  Strides in, out, filter;

  explicit ConvPlan(const Conv &s)
      : w(s), groups(s.groups), inChannels(s.inChannels / s.groups),
        outChannels(s.outChannels / s.groups), in(s.layout, s.inChannels, w.in),
        out(s.layout, s.outChannels, w.out),
        filter(s.layout, s.inChannels / s.groups, w.kernel) {}

  Index image(const Strides &strides, int channels, Index task) const {
    return task / groups * strides.batch +
           task % groups * channels * strides.channel;
  }
  Index filterOf(Index task) const {
    return task % groups * outChannels * filter.batch;
  }
};

/// One row of an image seen through windows: `count` windows from `first` on,
/// kernel element `k` of each, 0 outside of the image. `image` is where the
/// channel begins.
template <typename T, typename Load>
void windowRow(const ConvPlan &p, Index image, int k, int first, int count,
               T *to, const Load &load) {
  int kernel[3], at[3], begin, end;
  split(k, p.w.kernel, kernel);
  split(first, p.w.out, at);
  p.w.windowsInside(2, kernel[2], begin, end);
  while (count > 0) {
    const int here = p.w.out[2] - at[2] < count ? p.w.out[2] - at[2] : count;
    const int z = p.w.look(0, at[0], kernel[0]);
    const int y = p.w.look(1, at[1], kernel[1]);
    int low = begin - at[2], high = end - at[2];
    if (z < 0 || z >= p.w.in[0] || y < 0 || y >= p.w.in[1])
      low = high = 0;
    low = low < 0 ? 0 : low > here ? here : low;
    high = high < low ? low : high > here ? here : high;
    const Index line = image + z * p.in.at[0] + y * p.in.at[1] +
                       p.w.look(2, at[2], kernel[2]) * p.in.at[2];
    const Index step = p.w.strides[2] * p.in.at[2];
    for (int x = 0; x < low; ++x)
      to[x] = 0;
    if (step == 1) {
      for (int x = low; x < high; ++x)
        to[x] = load(line + x);
    } else {
      for (int x = low; x < high; ++x)
        to[x] = load(line + x * step);
    }
    for (int x = high; x < here; ++x)
      to[x] = 0;
    to += here, count -= here, at[2] = 0;
    if (++at[1] == p.w.out[1])
      at[1] = 0, ++at[0];
  }
}

/// k runs over input channels and the kernel, j over windows.
template <typename T, typename F> struct InputWindows {
  const F &f;
  const ConvPlan &p;
  void pack(Index task, Index k, int depth, Index j, int columns, T *to) const {
    const Index base = p.image(p.in, p.inChannels, task);
    const int size = p.w.kernelSize();
    for (int kk = 0; kk < depth; ++kk)
      windowRow(p, base + (k + kk) / size * p.in.channel,
                static_cast<int>((k + kk) % size), static_cast<int>(j), columns,
                to + kk * gemmColumns,
                [this](Index i) { return f.loadInput(i); });
  }
};

/// A filter as a matrix: i runs over its output or its input channels, k over
/// the others and the kernel. The neighbours of each are `row` and `other`
/// apart.
template <typename T, typename F> struct FilterRows {
  const F &f;
  const ConvPlan &p;
  Index row, other;
  void pack(Index task, Index i, int rows, Index k, int depth, T *to) const {
    const int size = p.w.kernelSize();
    for (int kk = 0; kk < depth; ++kk) {
      int at[3];
      split(static_cast<int>((k + kk) % size), p.w.kernel, at);
      const Index from =
          p.filterOf(task) + (k + kk) / size * other + p.filter(at);
      for (int r = 0; r < rows; ++r)
        to[r * gemmDepth + kk] = f.loadFilter(from + (i + r) * row);
    }
  }
};

/// Stores row i, a channel, of the product that is one image's group.
template <typename T, typename F>
void storeChannel(const F &functor, const Strides &strides, Index base, Index i,
                  Index j, int count, const T *values) {
  const F f = functor;
  const Index first = base + i * strides.channel + j * strides.at[2];
  if (strides.at[2] == 1) {
    MN_INDEPENDENT
    for (int column = 0; column < count; ++column)
      f.store(first + column, values[column]);
  } else {
    for (int column = 0; column < count; ++column)
      f.store(first + column * strides.at[2], values[column]);
  }
}

/// k runs over output channels and the kernel, j over the input's positions:
/// the result that reached position j through kernel element k, if any.
template <typename T, typename F> struct OutputsOfInput {
  const F &f;
  const ConvPlan &p;

  /// The window along `d` whose element `k` is at `x`, or -1.
  int window(int d, int x, int k) const {
    const int from = x + p.w.pads[d] - k * p.w.dilations[d];
    const int o = from / p.w.strides[d];
    return from < 0 || from % p.w.strides[d] || o >= p.w.out[d] ? -1 : o;
  }
  void pack(Index task, Index k, int depth, Index j, int columns, T *to) const {
    const int size = p.w.kernelSize();
    for (int kk = 0; kk < depth; ++kk) {
      int kernel[3], at[3];
      split(static_cast<int>((k + kk) % size), p.w.kernel, kernel);
      split(static_cast<int>(j), p.w.in, at);
      const Index base =
          p.image(p.out, p.outChannels, task) + (k + kk) / size * p.out.channel;
      int z = window(0, at[0], kernel[0]), y = window(1, at[1], kernel[1]);
      for (int column = 0; column < columns; ++column) {
        const int x = window(2, at[2], kernel[2]);
        const int position[3] = {z, y, x};
        to[kk * gemmColumns + column] =
            z < 0 || y < 0 || x < 0 ? T(0)
                                    : f.loadOutputGrad(base + p.out(position));
        if (++at[2] < p.w.in[2])
          continue;
        at[2] = 0;
        if (++at[1] == p.w.in[1])
          at[1] = 0, ++at[0];
        z = window(0, at[0], kernel[0]), y = window(1, at[1], kernel[1]);
      }
    }
  }
};

/// i runs over output channels, k over images and windows.
template <typename T, typename F> struct OutputRows {
  const F &f;
  const ConvPlan &p;
  void pack(Index group, Index i, int rows, Index k, int depth, T *to) const {
    const Index size = p.w.outSize();
    for (int row = 0; row < rows; ++row)
      for (int kk = 0; kk < depth; ++kk) {
        const Index image = (k + kk) / size, window = (k + kk) % size;
        to[row * gemmDepth + kk] =
            f.loadOutputGrad(image * p.out.batch +
                             (group * p.outChannels + i + row) * p.out.channel +
                             window * p.out.at[2]);
      }
  }
};

/// k runs over images and windows, j over input channels and the kernel.
template <typename T, typename F> struct InputColumns {
  const F &f;
  const ConvPlan &p;
  void pack(Index group, Index k, int depth, Index j, int columns,
            T *to) const {
    const int size = p.w.kernelSize();
    const Index windows = p.w.outSize();
    T line[gemmDepth];
    for (int column = 0; column < columns; ++column) {
      const Index channel = group * p.inChannels + (j + column) / size;
      for (int done = 0; done < depth;) {
        const Index image = (k + done) / windows, first = (k + done) % windows;
        const int count = windows - first < depth - done
                              ? static_cast<int>(windows - first)
                              : depth - done;
        windowRow(p, image * p.in.batch + channel * p.in.channel,
                  static_cast<int>((j + column) % size),
                  static_cast<int>(first), count, line + done,
                  [this](Index i) { return f.loadInput(i); });
        done += count;
      }
      for (int kk = 0; kk < depth; ++kk)
        to[kk * gemmColumns + column] = line[kk];
    }
  }
};

} // namespace detail

template <typename T, typename F>
void conv(Context &, const char *, Conv s, const F &functor) {
  const detail::ConvPlan p(s);
  const detail::FilterRows<T, F> a{functor, p, p.filter.batch,
                                   p.filter.channel};
  const detail::InputWindows<T, F> b{functor, p};
  detail::gemm<T, Index>(
      Index(s.batch) * s.groups, p.outChannels, p.w.outSize(),
      Index(p.inChannels) * p.w.kernelSize(), a, b,
      [&](Index task, Index i, Index j, int count, const T *values) {
        detail::storeChannel(functor, p.out,
                             p.image(p.out, p.outChannels, task), i, j, count,
                             values);
      });
}

template <typename T, typename F>
void convInputGrad(Context &, const char *, Conv s, const F &functor) {
  const detail::ConvPlan p(s);
  const detail::FilterRows<T, F> a{functor, p, p.filter.channel,
                                   p.filter.batch};
  const detail::OutputsOfInput<T, F> b{functor, p};
  detail::gemm<T, Index>(
      Index(s.batch) * s.groups, p.inChannels, p.w.inSize(),
      Index(p.outChannels) * p.w.kernelSize(), a, b,
      [&](Index task, Index i, Index j, int count, const T *values) {
        detail::storeChannel(functor, p.in, p.image(p.in, p.inChannels, task),
                             i, j, count, values);
      });
}

template <typename T, typename F>
void convFilterGrad(Context &, const char *, Conv s, const F &functor) {
  if (s.groups > 1 && s.inChannels == s.groups && s.batch > 0)
    return detail::depthwiseFilterGrad<T>(s, functor);
  const detail::ConvPlan p(s);
  const detail::OutputRows<T, F> a{functor, p};
  const detail::InputColumns<T, F> b{functor, p};
  const int size = p.w.kernelSize();
  detail::gemm<T, Index>(
      s.groups, p.outChannels, Index(p.inChannels) * size,
      Index(s.batch) * p.w.outSize(), a, b,
      [&](Index group, Index i, Index j, int count, const T *values) {
        const Index base = (group * p.outChannels + i) * p.filter.batch;
        for (int column = 0; column < count; ++column) {
          int at[3];
          detail::split(static_cast<int>((j + column) % size), p.w.kernel, at);
          functor.store(base + (j + column) / size * p.filter.channel +
                            p.filter(at),
                        values[column]);
        }
      });
}

} // namespace mn

#endif // MNISTRT_CPU_CONV_H
