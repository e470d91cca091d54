//===- reduce.h - reductions on the CPU -------------------------*- C++ -*-===//
//
// Every result is made of partial results of fixed parts of its elements,
// combined in a fixed order, whatever the number of threads. Many short sums
// are also more exact than one long one.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_REDUCE_H
#define MNISTRT_CPU_REDUCE_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/reductions.h"

#define MN_REDUCE_KERNEL(NAME, R, T, F, ...)

namespace mn {

namespace detail {

constexpr int reduceLanes = 16;
/// Elements in a row that one lane adds up.
constexpr Index reduceRunSize = 64;
/// A result of very many elements is cut into at most this many parts.
constexpr int64_t reduceParts = 64;
constexpr int64_t reducePartSize = 4096;

template <typename R, typename T> using StateOf = typename R::template State<T>;

/// Takes element number `r` of a result in.
template <typename R, typename T>
void take(StateOf<R, T> &state, T x, Index r) {
  state = R::join(state, R::template of<T>(x, r));
}

/// Elements [begin, end) of result `o`, in lanes that SIMD registers hold: few
/// enough of them that a sum's rounding stays small, also of equal numbers.
template <typename R, typename T, typename F>
StateOf<R, T> reduceShortRun(const F &f, Index o, Index begin, Index end) {
  StateOf<R, T> lanes[reduceLanes];
  for (StateOf<R, T> &lane : lanes)
    lane = R::template none<T>();
  Index r = begin;
  for (; r + reduceLanes <= end; r += reduceLanes)
    for (int lane = 0; lane < reduceLanes; ++lane)
      take<R, T>(lanes[lane], f.load(o, r + lane), r + lane);
  for (int lane = 0; r < end; ++r, ++lane)
    take<R, T>(lanes[lane], f.load(o, r), r);
  for (int width = reduceLanes / 2; width; width /= 2)
    for (int lane = 0; lane < width; ++lane)
      lanes[lane] = R::join(lanes[lane], lanes[lane + width]);
  return lanes[0];
}

/// Any number of them, in short runs.
template <typename R, typename T, typename F>
StateOf<R, T> reduceRun(const F &f, Index o, Index begin, Index end) {
  constexpr Index each = reduceLanes * reduceRunSize;
  StateOf<R, T> whole = R::template none<T>();
  for (; begin < end; begin += each)
    whole = R::join(
        whole, reduceShortRun<R, T>(f, o, begin,
                                    end - begin < each ? end : begin + each));
  return whole;
}

/// Results [first, first + count), count <= reduceLanes, that are adjacent.
template <typename R, typename T, typename F>
void reduceShortColumns(const F &f, Index first, Index count, Index begin,
                        Index end, StateOf<R, T> *states) {
  StateOf<R, T> lanes[reduceLanes];
  for (StateOf<R, T> &lane : lanes)
    lane = R::template none<T>();
  if (count == reduceLanes) {
    for (Index r = begin; r < end; ++r)
      for (int lane = 0; lane < reduceLanes; ++lane)
        take<R, T>(lanes[lane], f.load(first + lane, r), r);
  } else {
    for (Index r = begin; r < end; ++r)
      for (int lane = 0; lane < count; ++lane)
        take<R, T>(lanes[lane], f.load(first + lane, r), r);
  }
  for (int lane = 0; lane < count; ++lane)
    states[lane] = lanes[lane];
}

/// Any number of rows, in short runs.
template <typename R, typename T, typename F>
void reduceColumns(const F &f, Index first, Index count, Index begin, Index end,
                   StateOf<R, T> *states) {
  for (Index o = 0; o < count; ++o)
    states[o] = R::template none<T>();
  for (; begin < end; begin += reduceRunSize) {
    StateOf<R, T> run[reduceLanes];
    reduceShortColumns<R, T>(
        f, first, count, begin,
        end - begin < reduceRunSize ? end : begin + reduceRunSize, run);
    for (Index o = 0; o < count; ++o)
      states[o] = R::join(states[o], run[o]);
  }
}

/// Part `part` of `parts` of up to reduceLanes results from `first` on.
template <typename R, typename T, typename F>
void reducePart(const F &f, const Reduce &s, Index first, Index count,
                int64_t part, int64_t parts, StateOf<R, T> *states) {
  const int64_t each = (s.size + parts - 1) / parts;
  const int64_t from = part * each, to = from + each;
  const Index begin = static_cast<Index>(from < s.size ? from : s.size);
  const Index end = static_cast<Index>(to < s.size ? to : s.size);
  if (!s.contiguous)
    return reduceColumns<R, T>(f, first, count, begin, end, states);
  for (Index o = 0; o < count; ++o)
    states[o] = reduceRun<R, T>(f, first + o, begin, end);
}

} // namespace detail

template <typename R, typename T, typename F>
void reduce(Context &, const char *, Reduce s, const F &functor) {
  using State = detail::StateOf<R, T>;
  constexpr int lanes = detail::reduceLanes;
  const int64_t tiles = (s.outputs + lanes - 1) / lanes;
  int64_t parts = 1;
  if (tiles < 8 && s.size > 2 * detail::reducePartSize) {
    parts = s.size / detail::reducePartSize;
    parts = parts < detail::reduceParts ? parts : detail::reduceParts;
  }
  if (parts == 1) {
    parallelFor(tiles, lanes * s.size, [&](int64_t tile) {
      const F f = functor;
      State states[lanes];
      const Index first = static_cast<Index>(tile * lanes);
      const int64_t left = s.outputs - tile * lanes;
      const Index count = static_cast<Index>(left < lanes ? left : lanes);
      detail::reducePart<R, T>(f, s, first, count, 0, 1, states);
      for (Index o = 0; o < count; ++o)
        f.store(first + o, R::result(states[o]));
    });
    return;
  }

  // At most 8 tiles: the partial results fit on the stack.
  State partial[8 * detail::reduceParts][lanes];
  parallelFor(tiles * parts, lanes * s.size / parts, [&](int64_t task) {
    const F f = functor;
    const int64_t tile = task / parts, left = s.outputs - tile * lanes;
    detail::reducePart<R, T>(f, s, static_cast<Index>(tile * lanes),
                             static_cast<Index>(left < lanes ? left : lanes),
                             task % parts, parts, partial[task]);
  });
  for (int64_t o = 0; o < s.outputs; ++o) {
    State *states = partial[o / lanes * parts];
    State whole = states[o % lanes];
    for (int64_t part = 1; part < parts; ++part)
      whole = R::join(whole, partial[o / lanes * parts + part][o % lanes]);
    functor.store(static_cast<Index>(o), R::result(whole));
  }
}

} // namespace mn

#endif // MNISTRT_CPU_REDUCE_H
