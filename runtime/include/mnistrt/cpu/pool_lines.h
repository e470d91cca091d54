//===- pool_lines.h - maxima and means of windows, by lines -----*- C++ -*-===//
//
// Some lines of windows are done at once: first down the lines of the input
// that each reaches, then along what came of them. Both go through memory in
// order, whatever the layout and however few channels there are, and windows
// that overlap share what is down.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POOL_LINES_H
#define MNISTRT_CPU_POOL_LINES_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/pool_plan.h"
#include "mnistrt/cpu/simd.h"

namespace mn::detail {

/// What is done at once: adjacent channels, windows of a line,
/// columns of the kernel, and lines.
struct LineCut {
  int channels, windows, columns, lines;

  /// Elements at once: they stay in the first-level cache, on the stack.
  static constexpr int maxPixels = 1024;
  /// Elements that may be written after them: a register's.
  static constexpr int room = maxPixels + 32;

  explicit LineCut(const PoolPlan &p) {
    constexpr int manyChannels = 64, manyLines = 16;
    const int stride = p.w.strides[2], dilation = p.w.dilations[2];
    channels = p.in.at[2] == 1 ? 1 : min(p.channels, manyChannels);
    const int pixels = maxPixels / channels;
    columns = min(p.w.kernel[2], (pixels - 1) / dilation + 1);
    const int reach = (columns - 1) * dilation + 1;
    windows = min(p.w.out[2], (pixels - reach) / stride + 1);
    const int width = (windows - 1) * stride + reach;
    lines = windows < p.w.out[2] ? 1 : min(pixels / width, manyLines);
  }

  static int min(int a, int b) { return a < b ? a : b; }
};

/// Windows [window, window + windows) of lines [line, line + lines), of some
/// channels of an image, which begin at `in` and `out`.
struct LinePart {
  Index in, out;
  int channels, line, lines, window, windows;

  int size() const { return lines * windows * channels; }
};

/// down[x][c] = all elements of column low + x that line `line` of windows
/// reaches, joined, for columns [low, high).
template <typename T, typename F, typename Join>
MN_INLINED void joinDown(const PoolPlan &p, const LinePart &part, int line,
                         const F &f, int low, int high, T none,
                         const Join &join, T *down) {
  // Where a line of the input is contiguous it is one loop.
  const bool whole = p.in.at[2] == part.channels;
  const Index pixels = whole ? 1 : high - low;
  const Index run = whole ? Index(high - low) * part.channels : part.channels;
  const auto fill = [&](const auto &element) MN_ALWAYS_INLINE {
    for (Index x = 0; x < pixels; ++x) {
      T *to = down + x * run;
      const Index pixel = x * p.in.at[2];
      MN_INDEPENDENT
      for (Index i = 0; i < run; ++i)
        to[i] = element(to[i], pixel + i);
    }
  };
  const int at[2] = {line / p.w.out[1], line % p.w.out[1]};
  int begin[2], end[2], k[2];
  for (int d = 0; d < 2; ++d)
    p.w.kernelInside(d, at[d], 0, p.w.in[d], begin[d], end[d]);
  Index first = 0;
  int lines = 0;
  for (k[0] = begin[0]; k[0] < end[0]; ++k[0])
    for (k[1] = begin[1]; k[1] < end[1]; ++k[1], ++lines) {
      const int position[3] = {p.w.look(0, at[0], k[0]),
                               p.w.look(1, at[1], k[1]), low};
      const Index from = part.in + p.in(position);
      if (lines == 0)
        first = from;
      else if (lines == 1)
        fill([&](T, Index i) MN_ALWAYS_INLINE {
          T both = f.load(first + i);
          join(both, f.load(from + i));
          return both;
        });
      else
        fill([&](T all, Index i) MN_ALWAYS_INLINE {
          join(all, f.load(from + i));
          return all;
        });
    }
  if (lines == 1)
    fill([&](T, Index i) MN_ALWAYS_INLINE { return f.load(first + i); });
  else if (lines == 0)
    fill([&](T, Index) MN_ALWAYS_INLINE { return none; });
}

/// to[i] = from[i], from[i + column], ..., joined, for i < count and up to the
/// end of a register.
template <typename T, typename Join>
MN_INLINED void joinRun(T *to, const T *from, Index count, int columns,
                        Index column, const Join &join) {
  using Vector = typename Simd<T>::Vector;
  using Unaligned = typename Simd<T>::Unaligned;
  for (Index i = 0; i < count; i += Simd<T>::lanes) {
    Vector lanes = *reinterpret_cast<const Unaligned *>(from + i);
    for (int k = 1; k < columns; ++k) {
      const Vector next =
          *reinterpret_cast<const Unaligned *>(from + i + k * column);
      join(lanes, next);
    }
    *reinterpret_cast<Unaligned *>(to + i) = lanes;
  }
}

/// to[x][c] = before[x * Before][c] and from[2 * x][c], joined.
template <typename T, int Channels, int Before, typename Join>
MN_INLINED void joinSecond(T *to, const T *before, const T *from, Index count,
                           const Join &join) {
  for (Index x = 0; x < count; ++x) {
    for (int c = 0; c < Channels; ++c) {
      T both = before[c];
      join(both, from[c]);
      to[c] = both;
    }
    to += Channels, before += Before * Channels, from += 2 * Channels;
  }
}

/// to[x] = from[2 * x], from[2 * x + column], ..., joined: `columns` of them,
/// two or more.
template <typename T, int Channels, typename Join>
MN_INLINED void joinSeconds(T *to, const T *from, Index count, int columns,
                            Index column, const Join &join) {
  joinSecond<T, Channels, 2>(to, from, from + column, count, join);
  for (int k = 2; k < columns; ++k)
    joinSecond<T, Channels, 1>(to, to, from + k * column, count, join);
}

/// to[x][c] = all columns of window x, joined, of `count` windows; `from` is
/// where the first one begins. What follows the results is overwritten.
template <typename T, typename Join>
MN_INLINED void joinAlong(T *to, const T *from, Index count, Index channels,
                          int stride, int columns, Index column,
                          const Join &join) {
  // Where no register is full, every second window of a line.
  if (stride == 1)
    joinRun(to, from, count * channels, columns, column, join);
  else if (stride == 2 && channels == 1 && columns > 1)
    joinSeconds<T, 1>(to, from, count, columns, column, join);
  else if (stride == 2 && channels == 2 && columns > 1)
    joinSeconds<T, 2>(to, from, count, columns, column, join);
  else // Each window overwrites what the one before it wrote too far.
    for (Index x = 0; x < count; ++x)
      joinRun(to + x * channels, from + x * stride * channels, channels,
              columns, column, join);
}

/// results[line][x][c] = all elements of window x of a line, in columns [k,
/// end) of the kernel, joined.
template <typename T, typename F, typename Join>
void joinWindows(const PoolPlan &p, const LinePart &part, int k, int end,
                 const F &functor, T none, const Join &join, T *results) {
  const F f = functor;
  const int stride = p.w.strides[2], dilation = p.w.dilations[2];
  const int width = (part.windows - 1) * stride + (end - 1 - k) * dilation + 1;
  const int begin = p.w.look(2, part.window, k);
  // Columns [low, high) are in the image.
  const int low = begin > 0 ? 0 : LineCut::min(-begin, width);
  const int right = p.w.in[2] - begin;
  const int high = right < low ? low : LineCut::min(right, width);
  const Index channels = part.channels, size = width * channels;
  T down[LineCut::room];
  for (int line = 0; line < part.lines; ++line) {
    T *to = down + line * size;
    for (Index i = 0; i < low * channels; ++i)
      to[i] = none;
    for (Index i = high * channels; i < size; ++i)
      to[i] = none;
    joinDown(p, part, part.line + line, f, begin + low, begin + high, none,
             join, to + low * channels);
  }
  // Lines that follow each other as their windows do are one.
  Index count = part.windows, lines = part.lines;
  if (width == count * stride)
    count *= lines, lines = 1;
  for (Index line = 0; line < lines; ++line)
    joinAlong(results + line * count * channels, down + line * size, count,
              channels, stride, end - k, dilation * channels, join);
}

/// The same in all columns.
template <typename T, typename F, typename Join>
void joinWholeWindows(const PoolPlan &p, const LineCut &cut,
                      const LinePart &part, const F &f, T none,
                      const Join &join, T *results) {
  const int kernel = p.w.kernel[2];
  joinWindows(p, part, 0, cut.columns, f, none, join, results);
  for (int k = cut.columns; k < kernel; k += cut.columns) {
    T others[LineCut::room];
    joinWindows(p, part, k, LineCut::min(k + cut.columns, kernel), f, none,
                join, others);
    for (int i = 0; i < part.size(); ++i)
      join(results[i], others[i]);
  }
}

template <typename T, typename F>
void storeWindows(const PoolPlan &p, const LinePart &part, const F &functor,
                  const T *results) {
  const F f = functor;
  // Whole lines of all channels are contiguous.
  const bool whole = p.out.at[2] == part.channels;
  const Index pixels = whole ? 1 : part.lines * part.windows;
  const Index run = whole ? part.size() : part.channels;
  const Index first =
      part.out + (Index(part.line) * p.w.out[2] + part.window) * p.out.at[2];
  for (Index x = 0; x < pixels; ++x) {
    MN_INDEPENDENT
    for (Index i = 0; i < run; ++i)
      f.store(first + x * p.out.at[2] + i, results[x * run + i]);
  }
}

/// The elements of every window, joined: join(a, b) puts what comes of numbers
/// or registers `a` and `b` into `a`, and `none` changes nothing. finish(part,
/// results) does what is left to do.
template <typename T, typename F, typename Join, typename Finish>
void poolLines(const PoolPlan &p, int batch, const F &f, T none,
               const Join &join, const Finish &finish) {
  const LineCut cut(p);
  const int lines = p.w.out[0] * p.w.out[1];
  const int groups = (lines + cut.lines - 1) / cut.lines;
  const int blocks = (p.channels + cut.channels - 1) / cut.channels;
  parallelFor(int64_t(batch) * blocks * groups,
              int64_t(cut.lines) * p.w.out[2] * p.w.kernelSize() * cut.channels,
              [&](int64_t task) {
                const Index image = static_cast<Index>(task / groups / blocks);
                const int channel =
                    static_cast<int>(task / groups % blocks) * cut.channels;
                LinePart part;
                part.in = image * p.in.batch + channel * p.in.channel;
                part.out = image * p.out.batch + channel * p.out.channel;
                part.channels =
                    LineCut::min(p.channels - channel, cut.channels);
                part.line = static_cast<int>(task % groups) * cut.lines;
                part.lines = LineCut::min(lines - part.line, cut.lines);
                T results[LineCut::room];
                for (part.window = 0; part.window < p.w.out[2];
                     part.window += cut.windows) {
                  part.windows =
                      LineCut::min(p.w.out[2] - part.window, cut.windows);
                  joinWholeWindows(p, cut, part, f, none, join, results);
                  finish(part, results);
                  storeWindows(p, part, f, results);
                }
              });
}

} // namespace mn::detail

#endif // MNISTRT_CPU_POOL_LINES_H
