//===- pool.h - pools on the CPU --------------------------------*- C++ -*-===//
//
// Windows side by side are done together, in SIMD registers: along a line of
// the image (nchw) or along the channels (nhwc).
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

namespace mn {

namespace detail {

constexpr int poolLanes = 32;

/// Distances and numbers that the compiler should know, for SIMD.
template <int N> struct Fixed {
  constexpr operator int() const { return N; }
  friend constexpr Index operator*(int lane, Fixed) { return Index(lane) * N; }
};
using Beside = Fixed<1>;

/// Calls f(lane) for lanes [0, count).
template <typename F> MN_INLINED void forLanes(int count, const F &f) {
  if (count == poolLanes) {
    for (int lane = 0; lane < poolLanes; ++lane)
      f(lane);
    return;
  }
  int lane = 0;
  for (; lane + 8 <= count; lane += 8)
    for (int beside = 0; beside < 8; ++beside)
      f(lane + beside);
  for (; lane < count; ++lane)
    f(lane);
}

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

/// Runs along the lines of one channel after another, some lines at a time:
/// where they lie is worth some divisions.
template <typename Step, typename Run>
void poolLines(const PoolPlan &p, const Pool &s, Step step, const Run &run) {
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
      run(PoolRun<true, Step>{image,
                              channel,
                              {at[0], at[1], at[2]},
                              count,
                              out + p.out(at),
                              step},
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

} // namespace detail

template <typename T, typename F>
void maxPool(Context &, const char *, Pool s, const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolRuns(p, s, [&](const auto &run, const auto &visit) {
    const F f = functor;
    T best[detail::poolLanes];
    detail::forLanes(run.count,
                     [&](int lane) { best[lane] = Limits<T>::lowest(); });
    visit([&](auto first, auto last, Index from, auto stride, const int(&)[3])
              MN_ALWAYS_INLINE {
                for (int lane = first; lane < last; ++lane)
                  best[lane] = max(best[lane], f.load(from + lane * stride));
              });
    detail::forLanes(run.count,
                     [&](int lane) { f.store(run.result(lane), best[lane]); });
  });
}

template <typename T, typename F>
void argMaxPool(Context &, const char *, Pool s, const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolRuns(p, s, [&](const auto &run, const auto &visit) {
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
  });
}

template <typename T, typename F>
void avgPool(Context &, const char *, Pool s, const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolRuns(p, s, [&](const auto &run, const auto &visit) {
    const F f = functor;
    T sums[detail::poolLanes] = {};
    visit([&](auto first, auto last, Index from, auto stride, const int(&)[3])
              MN_ALWAYS_INLINE {
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

} // namespace mn

#endif // MNISTRT_CPU_POOL_H
