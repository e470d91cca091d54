//===- pool.h - pools and their gradients on the CPU ------------*- C++ -*-===//
//
// Windows side by side are done together, in SIMD registers: along a line of
// the image (nchw) or along the channels (nhwc). Gradients are gathered, not
// scattered, so that every result has one writer.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POOL_H
#define MNISTRT_CPU_POOL_H

#include "mnistrt/cpu/image.h"
#include "mnistrt/cpu/parallel.h"
#include "mnistrt/math.h"

#define MN_MAX_POOL_KERNEL(NAME, T, F, ...)
#define MN_AVG_POOL_KERNEL(NAME, T, F, ...)
#define MN_ARG_MAX_POOL_KERNEL(NAME, T, F, ...)
#define MN_MAX_POOL_GRAD_KERNEL(NAME, T, F, ...)
#define MN_AVG_POOL_GRAD_KERNEL(NAME, T, F, ...)

namespace mn {

namespace detail {

constexpr int poolLanes = 32;

struct PoolPlan {
  Windows w;
  int channels;
  bool countPads, columnMajor;
  Strides in, out;

  explicit PoolPlan(const Pool &s)
      : w(s), channels(s.channels), countPads(s.countPads),
        columnMajor(s.columnMajor), in(s.layout, s.channels, w.in),
        out(s.layout, s.channels, w.out) {}

  /// How many elements the mean over window `o` is over, along `d`.
  int counted(int d, int o) const {
    int begin, end;
    if (countPads)
      w.kernelInside(d, o, -w.pads[d], w.in[d] + w.padsAfter[d], begin, end);
    else
      w.kernelInside(d, o, 0, w.in[d], begin, end);
    return end - begin;
  }
  /// The index that argMaxPool gives for a position of the input.
  int64_t index(Index image, int channel, const int (&at)[3]) const {
    const int64_t plane = image * channels + channel;
    const int64_t inside =
        columnMajor
            ? at[0] + int64_t(w.in[0]) * (at[1] + int64_t(w.in[1]) * at[2])
            : at[2] + int64_t(w.in[2]) * (at[1] + int64_t(w.in[1]) * at[0]);
    return plane * w.inSize() + inside;
  }
};

/// Visits the elements of `count` windows along a line from `at` on, or of
/// `count` channels of the window `at`; `visit(first, last, from, step,
/// position)`: lanes [first, last) read elements from + lane * step, of which
/// `position` is that of lane 0.
template <typename Visit>
void visitLine(const PoolPlan &p, Index plane, const int (&at)[3], int count,
               const Visit &visit) {
  int begin[2], end[2], k[3];
  for (int d = 0; d < 2; ++d)
    p.w.kernelInside(d, at[d], 0, p.w.in[d], begin[d], end[d]);
  for (k[0] = begin[0]; k[0] < end[0]; ++k[0])
    for (k[1] = begin[1]; k[1] < end[1]; ++k[1])
      for (k[2] = 0; k[2] < p.w.kernel[2]; ++k[2]) {
        int first, last;
        p.w.windowsInside(2, k[2], first, last);
        first = first < at[2] ? 0 : first - at[2];
        last = last - at[2] < count ? last - at[2] : count;
        const int position[3] = {p.w.look(0, at[0], k[0]),
                                 p.w.look(1, at[1], k[1]),
                                 p.w.look(2, at[2], k[2])};
        visit(first, last, plane + p.in(position),
              Index(p.w.strides[2]) * p.in.at[2], position);
      }
}

template <typename Visit>
void visitChannels(const PoolPlan &p, Index pixel, const int (&at)[3],
                   int count, const Visit &visit) {
  int begin[3], end[3], k[3];
  for (int d = 0; d < 3; ++d)
    p.w.kernelInside(d, at[d], 0, p.w.in[d], begin[d], end[d]);
  for (k[0] = begin[0]; k[0] < end[0]; ++k[0])
    for (k[1] = begin[1]; k[1] < end[1]; ++k[1])
      for (k[2] = begin[2]; k[2] < end[2]; ++k[2]) {
        const int position[3] = {p.w.look(0, at[0], k[0]),
                                 p.w.look(1, at[1], k[1]),
                                 p.w.look(2, at[2], k[2])};
        visit(0, count, pixel + p.in(position), Index(1), position);
      }
}

/// A run of results: `count` windows along a line of the image, or channels of
/// one window. The result of a lane lies at `result(lane)`.
template <bool Line, typename Step> struct PoolRun {
  static constexpr bool alongLine = Line;
  Index image;
  int channel;
  int at[3];
  int count;
  Index first;
  Step step;

  Index result(int lane) const { return first + lane * step; }
};
struct Beside {
  friend constexpr int operator*(int lane, Beside) { return lane; }
};

/// Runs along the lines of one channel after another.
template <typename Step, typename Run>
void poolLines(const PoolPlan &p, const Pool &s, Step step, const Run &run) {
  const int lines = p.w.out[0] * p.w.out[1];
  const int tiles = (p.w.out[2] + poolLanes - 1) / poolLanes;
  parallelFor(int64_t(s.batch) * p.channels * lines * tiles,
              int64_t(poolLanes) * p.w.kernelSize(), [&](int64_t task) {
                const int line = static_cast<int>(task / tiles % lines);
                const Index plane = static_cast<Index>(task / tiles / lines);
                const Index image = plane / p.channels;
                const int channel = static_cast<int>(plane % p.channels);
                const int at[3] = {line / p.w.out[1], line % p.w.out[1],
                                   static_cast<int>(task % tiles) * poolLanes};
                const int left = p.w.out[2] - at[2];
                const int count = left < poolLanes ? left : poolLanes;
                run(PoolRun<true, Step>{image,
                                        channel,
                                        {at[0], at[1], at[2]},
                                        count,
                                        image * p.out.batch +
                                            channel * p.out.channel + p.out(at),
                                        step},
                    [&](const auto &visit) {
                      visitLine(p, image * p.in.batch + channel * p.in.channel,
                                at, count, visit);
                    });
              });
}

/// Runs along the channels of one window after another, a line of windows at a
/// time: where it lies is worth some divisions.
template <typename Run>
void poolChannels(const PoolPlan &p, const Pool &s, const Run &run) {
  const int lines = p.w.out[0] * p.w.out[1];
  const int64_t work = int64_t(poolLanes) * p.w.kernelSize() * p.w.out[2] *
                       ((p.channels + poolLanes - 1) / poolLanes);
  parallelFor(int64_t(s.batch) * lines, work, [&](int64_t task) {
    const Index image = static_cast<Index>(task / lines);
    const int line = static_cast<int>(task % lines);
    int at[3] = {line / p.w.out[1], line % p.w.out[1], 0};
    for (; at[2] < p.w.out[2]; ++at[2])
      for (int channel = 0; channel < p.channels; channel += poolLanes) {
        const int left = p.channels - channel;
        const int count = left < poolLanes ? left : poolLanes;
        run(PoolRun<false, Beside>{image,
                                   channel,
                                   {at[0], at[1], at[2]},
                                   count,
                                   image * p.out.batch + channel + p.out(at),
                                   {}},
            [&](const auto &visit) {
              visitChannels(p, image * p.in.batch + channel, at, count, visit);
            });
      }
  });
}

/// Calls run(PoolRun, visitor) for all runs.
template <typename Run>
void poolRuns(const PoolPlan &p, const Pool &s, const Run &run) {
  // So few channels fill no register.
  constexpr int few = 4;
  if (s.layout == Layout::nchw)
    poolLines(p, s, Beside(), run);
  else if (p.channels < few && p.channels < p.w.out[2])
    poolLines(p, s, Index(p.channels), run);
  else
    poolChannels(p, s, run);
}

/// Visits the windows of the gradient that position `x` of the input is in:
/// visit(window) with the window's coordinates.
template <typename Visit>
void visitWindows(const PoolPlan &p, const int (&x)[3], const Visit &visit) {
  int first[3], last[3], o[3];
  for (int d = 0; d < 3; ++d) {
    const int reach = (p.w.kernel[d] - 1) * p.w.dilations[d];
    const int low = x[d] + p.w.pads[d] - reach;
    first[d] = low <= 0 ? 0 : (low + p.w.strides[d] - 1) / p.w.strides[d];
    last[d] = (x[d] + p.w.pads[d]) / p.w.strides[d];
    last[d] = last[d] < p.w.out[d] ? last[d] : p.w.out[d] - 1;
  }
  const auto hits = [&](int d) {
    return (x[d] - p.w.look(d, o[d], 0)) % p.w.dilations[d] == 0;
  };
  for (o[0] = first[0]; o[0] <= last[0]; ++o[0])
    for (o[1] = first[1]; o[1] <= last[1]; ++o[1])
      for (o[2] = first[2]; o[2] <= last[2]; ++o[2])
        if (hits(0) && hits(1) && hits(2))
          visit(o);
}

/// Calls at(image, channel, position, index) for all elements of the input.
template <typename At>
void poolInputs(const PoolPlan &p, const Pool &s, const At &at) {
  const int64_t planes = int64_t(s.batch) * p.channels;
  const int64_t work = int64_t(p.w.inSize()) * p.w.kernelSize();
  parallelFor(planes, work, [&](int64_t plane) {
    const Index image = static_cast<Index>(plane / p.channels);
    const int channel = static_cast<int>(plane % p.channels);
    const Index base = image * p.in.batch + channel * p.in.channel;
    for (int i = 0; i < p.w.inSize(); ++i) {
      int position[3];
      split(i, p.w.in, position);
      at(image, channel, position, base + p.in(position));
    }
  });
}

} // namespace detail

template <typename T, typename F>
void maxPool(Context &, const char *, Pool s, const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolRuns(p, s, [&](const auto &run, const auto &visit) {
    const F f = functor;
    T best[detail::poolLanes];
    for (int lane = 0; lane < run.count; ++lane)
      best[lane] = Limits<T>::lowest();
    visit([&](int first, int last, Index from, Index stride, const int(&)[3]) {
      for (int lane = first; lane < last; ++lane)
        best[lane] = max(best[lane], f.load(from + lane * stride));
    });
    MN_INDEPENDENT
    for (int lane = 0; lane < run.count; ++lane)
      f.store(run.result(lane), best[lane]);
  });
}

template <typename T, typename F>
void argMaxPool(Context &, const char *, Pool s, const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolRuns(p, s, [&](const auto &run, const auto &visit) {
    T best[detail::poolLanes];
    int64_t where[detail::poolLanes];
    bool any[detail::poolLanes] = {};
    visit([&](int first, int last, Index from, Index stride,
              const int(&position)[3]) {
      for (int lane = first; lane < last; ++lane) {
        const T value = functor.load(from + lane * stride);
        if (any[lane] && !(value > best[lane]) &&
            !(value != value && best[lane] == best[lane]))
          continue;
        const int at[3] = {position[0], position[1],
                           position[2] +
                               (run.alongLine ? lane * p.w.strides[2] : 0)};
        any[lane] = true, best[lane] = value;
        where[lane] =
            p.index(run.image, run.channel + (run.alongLine ? 0 : lane), at);
      }
    });
    for (int lane = 0; lane < run.count; ++lane)
      functor.store(run.result(lane), any[lane] ? where[lane] : int64_t(0));
  });
}

template <typename T, typename F>
void avgPool(Context &, const char *, Pool s, const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolRuns(p, s, [&](const auto &run, const auto &visit) {
    const F f = functor;
    T sums[detail::poolLanes] = {};
    visit([&](int first, int last, Index from, Index stride, const int(&)[3]) {
      for (int lane = first; lane < last; ++lane)
        sums[lane] += f.load(from + lane * stride);
    });
    const int rest = p.counted(0, run.at[0]) * p.counted(1, run.at[1]);
    for (int lane = 0; lane < run.count; ++lane) {
      const int x = run.at[2] + (run.alongLine ? lane : 0);
      f.store(run.result(lane),
              sums[lane] / static_cast<T>(rest * p.counted(2, x)));
    }
  });
}

template <typename T, typename F>
void maxPoolGrad(Context &, const char *, Pool s, const F &f) {
  const detail::PoolPlan p(s);
  detail::poolInputs(
      p, s, [&](Index image, int channel, const int(&x)[3], Index i) {
        const Index inputs = image * p.in.batch + channel * p.in.channel;
        const Index outputs = image * p.out.batch + channel * p.out.channel;
        T sum = 0;
        detail::visitWindows(p, x, [&](const int(&o)[3]) {
          // The first largest element of the window, and whether it is this
          // one.
          T best = Limits<T>::lowest();
          Index where = -1;
          int begin[3], end[3], k[3];
          for (int d = 0; d < 3; ++d)
            p.w.kernelInside(d, o[d], 0, p.w.in[d], begin[d], end[d]);
          for (k[0] = begin[0]; k[0] < end[0]; ++k[0])
            for (k[1] = begin[1]; k[1] < end[1]; ++k[1])
              for (k[2] = begin[2]; k[2] < end[2]; ++k[2]) {
                const int at[3] = {p.w.look(0, o[0], k[0]),
                                   p.w.look(1, o[1], k[1]),
                                   p.w.look(2, o[2], k[2])};
                const Index from = inputs + p.in(at);
                const T value = f.loadInput(from);
                if (where < 0 || value > best ||
                    (value != value && best == best))
                  best = value, where = from;
              }
          if (where == i)
            sum += f.loadOutputGrad(outputs + p.out(o));
        });
        f.store(i, sum);
      });
}

template <typename T, typename F>
void avgPoolGrad(Context &, const char *, Pool s, const F &f) {
  const detail::PoolPlan p(s);
  detail::poolInputs(
      p, s, [&](Index image, int channel, const int(&x)[3], Index i) {
        const Index outputs = image * p.out.batch + channel * p.out.channel;
        T sum = 0;
        detail::visitWindows(p, x, [&](const int(&o)[3]) {
          const int count =
              p.counted(0, o[0]) * p.counted(1, o[1]) * p.counted(2, o[2]);
          sum += f.load(outputs + p.out(o)) / static_cast<T>(count);
        });
        f.store(i, sum);
      });
}

} // namespace mn

#endif // MNISTRT_CPU_POOL_H
