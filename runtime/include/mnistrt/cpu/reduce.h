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
#include "mnistrt/math.h"

#define MN_REDUCE_KERNEL(NAME, R, T, F, ...)

namespace mn {

//===----------------------------------------------------------------------===//
// What is kept of the elements seen so far
//===----------------------------------------------------------------------===//

/// A number that takes each element in; `R` says what it begins as and how.
template <typename R, typename T> struct Taken {
  T value = R::template none<T>();
  void add(T x, Index) { value = R::join(value, x); }
  void add(const Taken &later) { add(later.value, 0); }
  T result() const { return value; }
};

struct Sum {
  template <typename T> using State = Taken<Sum, T>;
  template <typename T> static T none() { return 0; }
  template <typename T> static T join(T a, T b) {
    return static_cast<T>(a + b);
  }
};

struct Max {
  template <typename T> using State = Taken<Max, T>;
  template <typename T> static T none() { return Limits<T>::lowest(); }
  template <typename T> static T join(T a, T b) { return max(a, b); }
};

struct Min {
  template <typename T> using State = Taken<Min, T>;
  template <typename T> static T none() { return Limits<T>::highest(); }
  template <typename T> static T join(T a, T b) { return min(a, b); }
};

/// The first or the last of equal ones; a NaN is larger than everything. With
/// lanes the elements do not come in order, hence the look at the index.
template <bool last> struct ArgMax {
  template <typename T> struct State {
    T value = Limits<T>::lowest();
    Index index = -1;
    void add(T x, Index i) {
      const bool nan = x != x, wasNan = value != value;
      const bool equal = x == value || (nan && wasNan);
      const bool wanted = last ? i > index : i < index;
      if (index < 0 || (!wasNan && (nan || x > value)) || (equal && wanted))
        value = x, index = i;
    }
    void add(const State &later) {
      if (later.index >= 0)
        add(later.value, later.index);
    }
    int64_t result() const { return index < 0 ? 0 : index; }
  };
};
using ArgMaxFirst = ArgMax<false>;
using ArgMaxLast = ArgMax<true>;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace detail {

constexpr int reduceLanes = 16;
/// A result of very many elements is cut into at most this many parts.
constexpr int64_t reduceParts = 64;
constexpr int64_t reducePartSize = 4096;

/// Elements [begin, end) of result `o`, in lanes that SIMD registers hold.
template <typename State, typename F>
State reduceRun(const F &f, Index o, Index begin, Index end) {
  State lanes[reduceLanes];
  Index r = begin;
  for (; r + reduceLanes <= end; r += reduceLanes)
    for (int lane = 0; lane < reduceLanes; ++lane)
      lanes[lane].add(f.load(o, r + lane), r + lane);
  for (int lane = 0; r < end; ++r, ++lane)
    lanes[lane].add(f.load(o, r), r);
  for (int width = reduceLanes / 2; width; width /= 2)
    for (int lane = 0; lane < width; ++lane)
      lanes[lane].add(lanes[lane + width]);
  return lanes[0];
}

/// Results [first, first + count), count <= reduceLanes, that lie side by side.
template <typename State, typename F>
void reduceColumns(const F &f, Index first, Index count, Index begin, Index end,
                   State *states) {
  State lanes[reduceLanes];
  if (count == reduceLanes) {
    for (Index r = begin; r < end; ++r)
      for (int lane = 0; lane < reduceLanes; ++lane)
        lanes[lane].add(f.load(first + lane, r), r);
  } else {
    for (Index r = begin; r < end; ++r)
      for (int lane = 0; lane < count; ++lane)
        lanes[lane].add(f.load(first + lane, r), r);
  }
  for (int lane = 0; lane < count; ++lane)
    states[lane] = lanes[lane];
}

/// Part `part` of `parts` of up to reduceLanes results from `first` on.
template <typename State, typename F>
void reducePart(const F &f, const Reduce &s, Index first, Index count,
                int64_t part, int64_t parts, State *states) {
  const int64_t each = (s.size + parts - 1) / parts;
  const int64_t from = part * each, to = from + each;
  const Index begin = static_cast<Index>(from < s.size ? from : s.size);
  const Index end = static_cast<Index>(to < s.size ? to : s.size);
  if (!s.contiguous)
    return reduceColumns<State>(f, first, count, begin, end, states);
  for (Index o = 0; o < count; ++o)
    states[o] = reduceRun<State>(f, first + o, begin, end);
}

} // namespace detail

template <typename R, typename T, typename F>
void reduce(Context &, const char *, Reduce s, const F &functor) {
  using State = typename R::template State<T>;
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
      detail::reducePart(f, s, first, count, 0, 1, states);
      for (Index o = 0; o < count; ++o)
        f.store(first + o, states[o].result());
    });
    return;
  }

  // At most 8 tiles: the partial results fit on the stack.
  State partial[8 * detail::reduceParts][lanes];
  parallelFor(tiles * parts, lanes * s.size / parts, [&](int64_t task) {
    const F f = functor;
    const int64_t tile = task / parts, left = s.outputs - tile * lanes;
    detail::reducePart(f, s, static_cast<Index>(tile * lanes),
                       static_cast<Index>(left < lanes ? left : lanes),
                       task % parts, parts, partial[task]);
  });
  for (int64_t o = 0; o < s.outputs; ++o) {
    State *states = partial[o / lanes * parts];
    State whole = states[o % lanes];
    for (int64_t part = 1; part < parts; ++part)
      whole.add(partial[o / lanes * parts + part][o % lanes]);
    functor.store(static_cast<Index>(o), whole.result());
  }
}

} // namespace mn

#endif // MNISTRT_CPU_REDUCE_H
