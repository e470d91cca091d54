//===- pool_grad.h - gradients of pools on the CPU --------------*- C++ -*-===//
//
// The gradient is cut into tiles that fit on a thread's stack. The thread of a
// tile goes through the windows that reach into it, in order, and keeps what
// falls into the tile: every result has one writer, no window is looked at once
// for each of its elements, and no thread depends on another.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POOL_GRAD_H
#define MNISTRT_CPU_POOL_GRAD_H

#include "mnistrt/cpu/pool.h"
#include "mnistrt/cpu/pool_squares.h"

#define MN_MAX_POOL_GRAD_KERNEL(NAME, T, F, ...)
#define MN_AVG_POOL_GRAD_KERNEL(NAME, T, F, ...)
#define MN_MAX_UNPOOL_KERNEL(NAME, T, F, ...)

namespace mn {

namespace detail {

/// Elements of a tile: half of a first-level cache.
constexpr int poolTileSize = 4096;

/// A box of the image; `lanes` channels of it are adjacent.
struct PoolTile {
  int begin[3], size[3], lanes;

  /// Where an element is in the tile.
  int at(const int (&x)[3]) const {
    return (((x[0] - begin[0]) * size[1] + x[1] - begin[1]) * size[2] + x[2] -
            begin[2]) *
           lanes;
  }
  bool has(int d, int x) const {
    return x >= begin[d] && x < begin[d] + size[d];
  }
  int count() const { return size[0] * size[1] * size[2] * lanes; }

  /// The windows [first, last) along `d` that reach into it.
  void windows(const Windows &w, int d, int &first, int &last) const {
    const int reach = (w.kernel[d] - 1) * w.dilations[d];
    const int low = begin[d] + w.pads[d] - reach;
    const int high = begin[d] + size[d] - 1 + w.pads[d];
    first = low <= 0 ? 0 : (low + w.strides[d] - 1) / w.strides[d];
    last = high / w.strides[d] + 1;
    last = last < w.out[d] ? last : w.out[d];
  }
};

/// All tiles of one image's channel, or of some of its channels.
struct PoolTiles {
  int size[3], number[3], lanes;

  PoolTiles(const Windows &w, int lanes) : lanes(lanes) {
    int left = poolTileSize / lanes;
    for (int d = 2; d >= 0; --d) {
      size[d] = w.in[d] < left ? w.in[d] : left;
      // Windows that do not overlap are not cut.
      if (size[d] < w.in[d] && size[d] > w.strides[d])
        size[d] -= size[d] % w.strides[d];
      number[d] = (w.in[d] + size[d] - 1) / size[d];
      left = left / size[d] > 1 ? left / size[d] : 1;
    }
  }
  int count() const { return number[0] * number[1] * number[2]; }
  PoolTile tile(const Windows &w, int i) const {
    int at[3];
    split(i, number, at);
    PoolTile tile{{}, {}, lanes};
    for (int d = 0; d < 3; ++d) {
      tile.begin[d] = at[d] * size[d];
      const int left = w.in[d] - tile.begin[d];
      tile.size[d] = left < size[d] ? left : size[d];
    }
    return tile;
  }
};

/// Adds to a tile what element `position` of adjacent windows gets: for
/// lanes [first, last), `value(lane)`.
template <bool Line, typename T, typename First, typename Last, typename Value>
MN_INLINED void addToTile(const Windows &w, const PoolTile &tile,
                          const int (&position)[3], First first, Last last,
                          T *sums, const Value &value) {
  if (!tile.has(0, position[0]) || !tile.has(1, position[1]))
    return;
  T *to = sums + tile.at(position);
  if constexpr (Line) {
    const int stride = w.strides[2], x = position[2] - tile.begin[2];
    const int low = x >= 0 ? 0 : (-x + stride - 1) / stride;
    const int high =
        tile.size[2] <= x ? 0 : (tile.size[2] - x - 1) / stride + 1;
    const int end = last < high ? last : high;
    for (int lane = first < low ? low : first; lane < end; ++lane)
      to[Index(lane) * stride] += value(lane);
  } else if (tile.has(2, position[2])) {
    for (int lane = first; lane < last; ++lane)
      to[lane] += value(lane);
  }
}

/// Calls spread(PoolRun, visitor, add) for the windows that reach into a tile;
/// `add(first, last, position, value)` as addToTile does.
template <bool Line, typename T, typename Spread>
void fillTile(const PoolPlan &p, const PoolTile &tile, Index image, int channel,
              int count, T *sums, const Spread &spread) {
  int first[3], last[3], at[3];
  for (int d = 0; d < 3; ++d)
    tile.windows(p.w, d, first[d], last[d]);
  const Index in = image * p.in.batch + channel * p.in.channel;
  const Index out = image * p.out.batch + channel * p.out.channel;
  const auto add = [&](auto from, auto to, const int(&position)[3],
                       const auto &value) MN_ALWAYS_INLINE {
    addToTile<Line>(p.w, tile, position, from, to, sums, value);
  };
  for (at[0] = first[0]; at[0] < last[0]; ++at[0])
    for (at[1] = first[1]; at[1] < last[1]; ++at[1])
      for (at[2] = first[2]; at[2] < last[2]; at[2] += Line ? poolLanes : 1) {
        const int left = last[2] - at[2];
        const int lanes = !Line ? count : left < poolLanes ? left : poolLanes;
        const PoolRun<Line> run{
            image, channel, {at[0], at[1], at[2]}, lanes, out + p.out(at)};
        spread(
            run,
            [&](const auto &visit) MN_ALWAYS_INLINE {
              if constexpr (Line)
                visitLine(p, in, at, lanes, visit);
              else
                visitChannels(p, in, at, lanes, visit);
            },
            add);
      }
}

/// Hands a tile's lines to the functor.
template <bool Line, typename T, typename F>
void storeTile(const F &functor, const PoolPlan &p, const PoolTile &tile,
               Index base, int count, const T *sums) {
  const F f = functor;
  int at[3];
  for (at[0] = tile.begin[0]; at[0] < tile.begin[0] + tile.size[0]; ++at[0])
    for (at[1] = tile.begin[1]; at[1] < tile.begin[1] + tile.size[1]; ++at[1]) {
      at[2] = tile.begin[2];
      const Index to = base + p.in(at);
      const T *line = sums + tile.at(at);
      if constexpr (Line) {
        MN_INDEPENDENT
        for (int x = 0; x < tile.size[2]; ++x)
          f.store(to + x, line[x]);
        continue;
      }
      for (int x = 0; x < tile.size[2]; ++x) {
        const Index pixel = to + x * p.in.at[2];
        forLanes(count, [&](int lane) { f.store(pixel + lane, line[lane]); });
        line += tile.lanes;
      }
    }
}

template <bool Line, typename T, typename F, typename Spread>
void poolGradTiles(const PoolPlan &p, const Pool &s, const F &f,
                   const Spread &spread) {
  const int lanes = Line ? 1 : p.channels < poolLanes ? p.channels : poolLanes;
  const PoolTiles tiles(p.w, lanes);
  const int blocks = (p.channels + lanes - 1) / lanes;
  const int64_t each = tiles.count();
  parallelFor(
      int64_t(s.batch) * blocks * each, 4 * tiles.tile(p.w, 0).count(),
      [&](int64_t task) {
        const PoolTile tile = tiles.tile(p.w, static_cast<int>(task % each));
        const int block = static_cast<int>(task / each % blocks);
        const Index image = static_cast<Index>(task / each / blocks);
        const int channel = block * lanes;
        const int left = p.channels - channel;
        const int count = left < lanes ? left : lanes;
        alignas(64) T sums[poolTileSize];
        for (int i = 0; i < tile.count(); ++i)
          sums[i] = 0;
        fillTile<Line>(p, tile, image, channel, count, sums, spread);
        storeTile<Line>(f, p, tile, image * p.in.batch + channel * p.in.channel,
                        count, sums);
      });
}

/// Calls spread(run, visitor, add) for all windows, and the functor's store
/// once for each element of the gradient.
template <typename T, typename F, typename Spread>
MN_INLINED void poolGrad(const PoolPlan &p, const Pool &s, const F &f,
                         const Spread &spread) {
  // One channel is the same in both layouts.
  if (s.layout == Layout::nchw || s.channels == 1)
    poolGradTiles<true, T>(p, s, f, spread);
  else
    poolGradTiles<false, T>(p, s, f, spread);
}

} // namespace detail

/// The first largest element of a window gets all.
template <typename T, typename F>
MN_INLINED void maxPoolGrad(Context &, const char *, const Pool &s,
                            const F &functor) {
  const detail::PoolPlan p(s);
  if (detail::hasSquares(s, p))
    return detail::squaresGrad<T>(
        s, p, functor,
        [f = functor](Index first, Index below, Index) {
          return detail::largestOf<T>(
              f.loadInput(first), f.loadInput(first + 1), f.loadInput(below),
              f.loadInput(below + 1));
        },
        [f = functor](Index o) { return f.loadOutputGrad(o); });
  detail::poolGrad<T>(
      p, s, functor, [&](const auto &run, const auto &visit, const auto &add) {
        const F f = functor;
        T best[detail::poolLanes], grads[detail::poolLanes];
        int where[detail::poolLanes], element = 0;
        detail::forLanes(run.count, [&](int lane) {
          best[lane] = Limits<T>::lowest(), where[lane] = -1;
          grads[lane] = f.loadOutputGrad(run.result(lane));
        });
        visit([&](auto first, auto last, Index from, auto stride,
                  const int(&)[3]) MN_ALWAYS_INLINE {
          for (int lane = first; lane < last; ++lane) {
            const T value = f.loadInput(from + lane * stride);
            const bool nan = (value != value) & (best[lane] == best[lane]);
            const bool better = (where[lane] < 0) | (value > best[lane]) | nan;
            best[lane] = better ? value : best[lane];
            where[lane] = better ? element : where[lane];
          }
          ++element;
        });
        element = 0;
        visit([&](auto first, auto last, Index, auto, const int(&position)[3])
                  MN_ALWAYS_INLINE {
                    add(first, last, position, [&, here = element++](int lane) {
                      const T grad = grads[lane];
                      return where[lane] == here ? grad : T(0);
                    });
                  });
      });
}

/// The element that a window's index says gets all.
template <typename T, typename F>
MN_INLINED void maxUnpool(Context &, const char *, const Pool &s,
                          const F &functor) {
  const detail::PoolPlan p(s);
  if (detail::hasSquares(s, p))
    return detail::squaresGrad<T>(
        s, p, functor,
        [f = functor](Index, Index, Index o) {
          return static_cast<T>(f.loadIndex(o));
        },
        [f = functor](Index o) { return f.load(o); });
  detail::poolGrad<T>(
      p, s, functor, [&](const auto &run, const auto &visit, const auto &add) {
        const F f = functor;
        T values[detail::poolLanes];
        int where[detail::poolLanes];
        detail::forLanes(run.count, [&](int lane) {
          values[lane] = f.load(run.result(lane));
          where[lane] = static_cast<int>(f.loadIndex(run.result(lane)));
        });
        visit([&](auto first, auto last, Index, auto, const int(&position)[3])
                  MN_ALWAYS_INLINE {
                    const int here = p.inItsWindow(position);
                    add(first, last, position, [&](int lane) {
                      return where[lane] == here ? values[lane] : T(0);
                    });
                  });
      });
}

/// All elements of a window get the same.
template <typename T, typename F>
MN_INLINED void avgPoolGrad(Context &, const char *, const Pool &s,
                            const F &functor) {
  const detail::PoolPlan p(s);
  detail::poolGrad<T>(
      p, s, functor, [&](const auto &run, const auto &visit, const auto &add) {
        const F f = functor;
        T grads[detail::poolLanes];
        const int rest = p.counted(0, run.at[0]) * p.counted(1, run.at[1]);
        for (int lane = 0; lane < run.count; ++lane) {
          const int x = run.at[2] + (run.alongLine ? lane : 0);
          grads[lane] =
              f.load(run.result(lane)) / static_cast<T>(rest * p.counted(2, x));
        }
        visit([&](auto first, auto last, Index, auto,
                  const int(&position)[3]) MN_ALWAYS_INLINE {
          add(first, last, position, [&](int lane) { return grads[lane]; });
        });
      });
}

} // namespace mn

#endif // MNISTRT_CPU_POOL_GRAD_H
