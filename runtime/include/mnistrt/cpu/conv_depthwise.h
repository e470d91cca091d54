//===- conv_depthwise.h - gradients of depthwise filters --------*- C++ -*-===//
//
// Of convolutions whose groups have one input channel each, where products
// would have one row. The lanes of SIMD registers are groups: images are copied
// with groups side by side and the padding around them, so that each element of
// a window is one loop over all windows.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_CONV_DEPTHWISE_H
#define MNISTRT_CPU_CONV_DEPTHWISE_H

#include "mnistrt/cpu/array.h"
#include "mnistrt/cpu/image.h"
#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/simd.h"

namespace mn::detail {

/// Sizes, and the memory of one task. The sums of a block of groups are, for
/// each output channel of a group and each element of the window, `lanes`
/// numbers.
template <typename T, typename F> class DepthwiseFilterGrad {
public:
  static constexpr int lanes = 64 / sizeof(T);

  DepthwiseFilterGrad(const Conv &s, const F &f)
      : f(f), w(s), groups(s.groups), channels(s.outChannels / s.groups),
        in(s.layout, s.inChannels, w.in), out(s.layout, s.outChannels, w.out),
        filter(s.layout, 1, w.kernel) {
    for (int d = 0; d < 3; ++d)
      padded[d] = w.look(d, w.out[d] - 1, w.kernel[d] - 1) + w.pads[d] + 1;
  }

  int sumsOfBlock() const { return channels * w.kernelSize() * lanes; }

  /// Adds to sums what images [begin, end) give to the groups from `group` on.
  void add(int group, int begin, int end, T *sums) {
    const int count = groups - group < lanes ? groups - group : lanes;
    image.reset(size_t(padded[0]) * padded[1] * padded[2] * lanes);
    gradient.reset(size_t(w.outSize()) * lanes);
    for (int n = begin; n < end; ++n) {
      copyImage(n * in.batch + group * in.channel, count);
      for (int o = 0; o < channels; ++o) {
        copyGradient(n * out.batch + (group * channels + o) * out.channel,
                     count);
        addWindows(sums + o * w.kernelSize() * lanes);
      }
    }
  }

  /// Stores a block's sums.
  void store(int group, const T *sums) const {
    for (int o = 0; o < channels; ++o)
      for (int k = 0; k < w.kernelSize(); ++k, sums += lanes) {
        int at[3];
        split(k, w.kernel, at);
        for (int lane = 0; lane < lanes && group + lane < groups; ++lane)
          f.store(((group + lane) * channels + o) * filter.batch + filter(at),
                  sums[lane]);
      }
  }

private:
  using Vector = typename Simd<T>::Unaligned;
  static constexpr int vectors = lanes / Simd<T>::lanes;

  const F &f;
  const Windows w;
  const int groups, channels; ///< of output, of one group
  const Strides in, out, filter;
  int padded[3];
  Array<T> image, gradient; ///< rows of pixels of `lanes` numbers

  /// Copies `pixels` neighbours in a row, of `count` groups `apart`, whose
  /// first load(from) gives.
  template <typename Load>
  static void copyRow(Index from, Index next, int pixels, Index apart,
                      int count, T *to, const Load &loads) {
    const Load load = loads;
    if (apart == 1 && count == lanes) {
      for (int x = 0; x < pixels; ++x, to += lanes, from += next) {
        MN_INDEPENDENT
        for (Index lane = 0; lane < lanes; ++lane)
          to[lane] = load(from + lane);
      }
    } else {
      for (int lane = 0; lane < count; ++lane, from += apart)
        for (Index x = 0; x < pixels; ++x)
          to[x * lanes + lane] = load(from + x * next);
    }
  }

  void copyImage(Index from, int count) {
    // What is padding, and the lanes beyond `count`, stay 0.
    const auto rest = [&](int d) {
      const int inside = padded[d] - w.pads[d];
      return inside < w.in[d] ? inside : w.in[d];
    };
    const int deep = rest(0), high = rest(1), wide = rest(2);
    for (int z = 0; z < deep; ++z)
      for (int y = 0; y < high; ++y)
        copyRow(from + z * in.at[0] + y * in.at[1], in.at[2], wide, in.channel,
                count, pixel(z + w.pads[0], y + w.pads[1], w.pads[2]),
                [f = f](Index i) { return f.loadInput(i); });
  }

  void copyGradient(Index from, int count) {
    for (int z = 0; z < w.out[0]; ++z)
      for (int y = 0; y < w.out[1]; ++y)
        copyRow(from + z * out.at[0] + y * out.at[1], out.at[2], w.out[2],
                out.channel * channels, count,
                &gradient[size_t(z * w.out[1] + y) * w.out[2] * lanes],
                [f = f](Index i) { return f.loadOutputGrad(i); });
  }

  T *pixel(int z, int y, int x) {
    return &image[((size_t(z) * padded[1] + y) * padded[2] + x) * lanes];
  }

  /// A row of a window in parts of nearly equal size, of at most four: a single
  /// element's sums would wait for each other.
  void addWindows(T *sums) {
    for (int z = 0; z < w.kernel[0]; ++z)
      for (int y = 0; y < w.kernel[1]; ++y)
        for (int x = 0, count; x < w.kernel[2]; x += count) {
          const int left = w.kernel[2] - x;
          count = left > 7 ? 4 : left > 4 ? (left + 1) / 2 : left;
          addSome(count, z, y, x, sums);
          sums += count * lanes;
        }
  }

  void addSome(int count, int z, int y, int x, T *sums) {
    switch (count) {
    case 1:
      return addElements<1>(z, y, x, sums);
    case 2:
      return addElements<2>(z, y, x, sums);
    case 3:
      return addElements<3>(z, y, x, sums);
    default:
      return addElements<4>(z, y, x, sums);
    }
  }

  /// Of `count` elements of the window next to each other.
  template <int count> void addElements(int kz, int ky, int kx, T *sums) {
    Vector sum[count][vectors] = {};
    const Index apart = Index(w.dilations[2]) * lanes;
    const Index step = Index(w.strides[2]) * lanes;
    const T *dy = gradient.data();
    for (int z = 0; z < w.out[0]; ++z)
      for (int y = 0; y < w.out[1]; ++y) {
        const T *x =
            pixel(z * w.strides[0] + kz * w.dilations[0],
                  y * w.strides[1] + ky * w.dilations[1], kx * w.dilations[2]);
        for (int i = 0; i < w.out[2]; ++i, x += step, dy += lanes)
#pragma GCC unroll 16
          for (int v = 0; v < vectors; ++v) {
            const Vector g = at(dy, v);
#pragma GCC unroll 4
            for (int k = 0; k < count; ++k)
              sum[k][v] += g * at(x + k * apart, v);
          }
      }
    for (int k = 0; k < count; ++k)
      for (int v = 0; v < vectors; ++v)
        *reinterpret_cast<Vector *>(sums + k * lanes + v * Simd<T>::lanes) +=
            sum[k][v];
  }
  static Vector at(const T *from, int vector) {
    return *reinterpret_cast<const Vector *>(from + vector * Simd<T>::lanes);
  }
};

/// Blocks of groups, each in parts of the images that are worth a task; the
/// parts' sums are added up in their order.
template <typename T, typename F>
void depthwiseFilterGrad(const Conv &s, const F &functor) {
  using Grad = DepthwiseFilterGrad<T, F>;
  constexpr int64_t taskWork = 16 * parallelGrain;
  const int blocks = (s.groups + Grad::lanes - 1) / Grad::lanes;
  const int size = Grad(s, functor).sumsOfBlock();
  const int64_t work = int64_t(size) * Windows(s).outSize() * s.batch;
  const int64_t most = work / taskWork < 1 ? 1 : work / taskWork;
  const int parts = s.batch < most ? s.batch : int(most);
  Array<T> sums(size_t(blocks) * parts * size);
  parallelFor(Index(blocks) * parts, work / parts / 8, [&](int64_t task) {
    const int block = int(task / parts), part = int(task % parts);
    Grad(s, functor)
        .add(block * Grad::lanes, int(int64_t(s.batch) * part / parts),
             int(int64_t(s.batch) * (part + 1) / parts), &sums[task * size]);
  });
  for (int block = 0; block < blocks; ++block) {
    T *all = &sums[size_t(block) * parts * size];
    for (int part = 1; part < parts; ++part)
      for (int i = 0; i < size; ++i)
        all[i] += all[size_t(part) * size + i];
    Grad(s, functor).store(block * Grad::lanes, all);
  }
}

} // namespace mn::detail

#endif // MNISTRT_CPU_CONV_DEPTHWISE_H
