//===- pool.h - pools on the CPU --------------------------------*- C++ -*-===//
//
// Maxima and means are computed by lines (pool_lines.h). What must know which
// element of a window it looks at visits adjacent windows together, in SIMD
// registers: along a line of the image (nchw) or along the channels (nhwc).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POOL_H
#define MNISTRT_CPU_POOL_H

#include "mnistrt/cpu/pool_lines.h"
#include "mnistrt/math.h"

#define MN_MAX_POOL_KERNEL(NAME, T, F, ...)
#define MN_AVG_POOL_KERNEL(NAME, T, F, ...)
#define MN_ARG_MAX_POOL_KERNEL(NAME, T, F, ...)

namespace mn {

namespace detail {

constexpr int poolLanes = 32;

using Beside = Fixed<1>;

/// Calls f(lane) for lanes [0, count).
template <typename F> MN_INLINED void forLanes(int count, const F &f) {
  if (count == poolLanes) {
    MN_INDEPENDENT
    for (int lane = 0; lane < poolLanes; ++lane)
      f(lane);
    return;
  }
  MN_INDEPENDENT
  for (int lane = 0; lane < count; ++lane)
    f(lane);
}

/// Visits the elements of `count` windows along a line from `at` on, or of
/// `count` channels of the window `at`; `visit(first, last, from, step,
/// position)`: lanes [first, last) read elements from + lane * step, of which
/// `position` is that of lane 0.
template <typename Visit>
MN_INLINED void visitLine(const PoolPlan &p, Index plane, const int (&at)[3],
                          int count, const Visit &visit) {
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
        const Index from = plane + p.in(position);
        const Index step = Index(p.w.strides[2]) * p.in.at[2];
        if (step == 1)
          visit(first, last, from, Beside(), position);
        else if (step == 2)
          visit(first, last, from, Fixed<2>(), position);
        else
          visit(first, last, from, step, position);
      }
}

template <typename Visit>
MN_INLINED void visitChannels(const PoolPlan &p, Index pixel,
                              const int (&at)[3], int count,
                              const Visit &visit) {
  int begin[3], end[3], k[3];
  for (int d = 0; d < 3; ++d)
    p.w.kernelInside(d, at[d], 0, p.w.in[d], begin[d], end[d]);
  for (k[0] = begin[0]; k[0] < end[0]; ++k[0])
    for (k[1] = begin[1]; k[1] < end[1]; ++k[1])
      for (k[2] = begin[2]; k[2] < end[2]; ++k[2]) {
        const int position[3] = {p.w.look(0, at[0], k[0]),
                                 p.w.look(1, at[1], k[1]),
                                 p.w.look(2, at[2], k[2])};
        const Index from = pixel + p.in(position);
        if (count == poolLanes)
          visit(Fixed<0>(), Fixed<poolLanes>(), from, Beside(), position);
        else
          visit(0, count, from, Beside(), position);
      }
}

/// A run of results: `count` windows along a line of the image, or channels of
/// one window. The result of a lane is at `result(lane)`.
template <bool Line> struct PoolRun {
  static constexpr bool alongLine = Line;
  Index image;
  int channel;
  int at[3];
  int count;
  Index first;

  Index result(int lane) const { return first + lane; }
};

/// Runs along the lines of one channel after another, some lines at a time:
/// finding where they are is worth some divisions.
template <typename Run>
void runLines(const PoolPlan &p, const Pool &s, const Run &run) {
  constexpr int some = 16;
  const int lines = p.w.out[0] * p.w.out[1];
  const int groups = (lines + some - 1) / some;
  const auto runLine = [&](Index image, int channel, int line) {
    int at[3] = {line / p.w.out[1], line % p.w.out[1], 0};
    const Index in = image * p.in.batch + channel * p.in.channel;
    const Index out = image * p.out.batch + channel * p.out.channel;
    for (; at[2] < p.w.out[2]; at[2] += poolLanes) {
      const int left = p.w.out[2] - at[2];
      const int count = left < poolLanes ? left : poolLanes;
      run(
          PoolRun<true>{
              image, channel, {at[0], at[1], at[2]}, count, out + p.out(at)},
          [&](const auto &visit)
              MN_ALWAYS_INLINE { visitLine(p, in, at, count, visit); });
    }
  };
  parallelFor(int64_t(s.batch) * p.channels * groups,
              int64_t(p.w.out[2]) * some * p.w.kernelSize(), [&](int64_t task) {
                const Index plane = static_cast<Index>(task / groups);
                const int first = static_cast<int>(task % groups) * some;
                const int last = lines - first < some ? lines : first + some;
                for (int line = first; line < last; ++line)
                  runLine(plane / p.channels,
                          static_cast<int>(plane % p.channels), line);
              });
}

/// Runs along the channels of one window after another, a line of windows at a
/// time: finding where it is is worth some divisions.
template <typename Run>
void runChannels(const PoolPlan &p, const Pool &s, const Run &run) {
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
        run(PoolRun<false>{image,
                           channel,
                           {at[0], at[1], at[2]},
                           count,
                           image * p.out.batch + channel + p.out(at)},
            [&](const auto &visit) {
              visitChannels(p, image * p.in.batch + channel, at, count, visit);
            });
      }
  });
}

} // namespace detail

template <typename T, typename F>
MN_INLINED void maxPool(Context &, const char *, const Pool &s,
                        const F &functor) {
  detail::poolLines(
      detail::PoolPlan(s), s.batch, functor, Limits<T>::lowest(),
      [](auto &a, const auto &b) { a = ((a > b) | (a != a)) ? a : b; },
      [](const detail::LinePart &, T *) {});
}

template <typename T, typename F>
MN_INLINED void argMaxPool(Context &, const char *, const Pool &s,
                           const F &functor) {
  const detail::PoolPlan p(s);
  const auto find = [&](const auto &run, const auto &visit) {
    T best[detail::poolLanes];
    int64_t where[detail::poolLanes];
    bool any[detail::poolLanes] = {};
    visit([&](auto first, auto last, Index from, auto stride,
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
  };
  // One channel is the same in both layouts.
  if (s.layout == Layout::nchw || s.channels == 1)
    detail::runLines(p, s, find);
  else
    detail::runChannels(p, s, find);
}

template <typename T, typename F>
MN_INLINED void avgPool(Context &, const char *, const Pool &s,
                        const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolLines(
      p, s.batch, functor, T(0), [](auto &a, const auto &b) { a += b; },
      [&p](const detail::LinePart &part, T *sums) {
        // Of a line's results; most lines have the same.
        T counts[detail::LineCut::maxPixels];
        const Index size = Index(part.windows) * part.channels;
        int before = -1;
        for (int line = part.line; line < part.line + part.lines; ++line) {
          const int rest =
              p.counted(0, line / p.w.out[1]) * p.counted(1, line % p.w.out[1]);
          for (Index x = 0; x < part.windows && rest != before; ++x) {
            const int window = part.window + static_cast<int>(x);
            const T count = static_cast<T>(rest * p.counted(2, window));
            for (Index c = 0; c < part.channels; ++c)
              counts[x * part.channels + c] = count;
          }
          before = rest;
          for (Index i = 0; i < size; ++i)
            sums[i] /= counts[i];
          sums += size;
        }
      });
}

} // namespace mn

#endif // MNISTRT_CPU_POOL_H
