//===- reduce.h - reductions on the CPU -------------------------*- C++ -*-===//
//
// Every result is made of partial results of fixed parts of its elements,
// combined in a fixed order, whatever the number of threads. Many short sums
// are also more exact than one long one.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_REDUCE_H
#define MNISTRT_CPU_REDUCE_H

#include "mnistrt/cpu/array.h"
#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/runs.h"
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

/// The lanes as one.
template <typename R, typename State> State joinLanes(State *lanes) {
  for (int width = reduceLanes / 2; width; width /= 2)
    for (int lane = 0; lane < width; ++lane)
      lanes[lane] = R::join(lanes[lane], lanes[lane + width]);
  return lanes[0];
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
  MN_ONE_BY_ONE
  for (int lane = 0; r < end; ++r, ++lane)
    take<R, T>(lanes[lane], f.load(o, r), r);
  return joinLanes<R>(lanes);
}

/// Any number of them: short runs, and as many of those at a time, so that no
/// sum has many terms.
template <typename R, typename T, typename F>
StateOf<R, T> reduceRun(const F &f, Index o, Index begin, Index end) {
  constexpr Index each = reduceLanes * reduceRunSize;
  StateOf<R, T> whole = R::template none<T>();
  while (begin < end) {
    StateOf<R, T> group = R::template none<T>();
    for (Index run = 0; run < reduceRunSize && begin < end; ++run) {
      const Index next = end - begin < each ? end : begin + each;
      group = R::join(group, reduceShortRun<R, T>(f, o, begin, next));
      begin = next;
    }
    whole = R::join(whole, group);
  }
  return whole;
}

/// Run number `run` of result `o`, in lanes.
template <typename R, typename T, typename F>
MN_INLINED void takeRun(StateOf<R, T> *lanes, const F &f, Index o, Index run) {
  using Element = InRun<F::run>;
  Index place = 0;
  for (; place + reduceLanes <= F::run; place += reduceLanes)
    for (int lane = 0; lane < reduceLanes; ++lane) {
      const Element r = {run, place + lane};
      take<R, T>(lanes[lane], f.load(o, r), r);
    }
  MN_ONE_BY_ONE
  for (int lane = 0; place < F::run; ++place, ++lane) {
    const Element r = {run, place};
    take<R, T>(lanes[lane], f.load(o, r), r);
  }
}

/// Runs [begin, end) of result `o`; as many at a time as keep a lane's sum
/// short.
template <typename R, typename T, typename F>
StateOf<R, T> reduceRuns(const F &f, Index o, Index begin, Index end) {
  constexpr Index turns = (F::run + reduceLanes - 1) / reduceLanes;
  constexpr Index each = turns < reduceRunSize ? reduceRunSize / turns : 1;
  StateOf<R, T> whole = R::template none<T>();
  while (begin < end) {
    StateOf<R, T> lanes[reduceLanes];
    for (StateOf<R, T> &lane : lanes)
      lane = R::template none<T>();
    const Index next = end - begin < each ? end : begin + each;
    for (; begin < next; ++begin)
      takeRun<R, T>(lanes, f, o, begin);
    whole = R::join(whole, joinLanes<R>(lanes));
  }
  return whole;
}

/// Results that are reduced side by side: as many as there are lanes, or what
/// is left of all, or of a run of results.
struct ReduceTile {
  Index first, count;
};
template <typename F> Index lengthOfResults(const Reduce &s) {
  if constexpr (CountsResultsInRuns<F>)
    return F::resultRun;
  else
    return static_cast<Index>(s.outputs);
}
template <typename F> int64_t tilesOf(const Reduce &s) {
  const Index length = lengthOfResults<F>(s);
  return length == 0
             ? 0
             : s.outputs / length * ((length + reduceLanes - 1) / reduceLanes);
}
template <typename F> ReduceTile tileAt(const Reduce &s, int64_t tile) {
  const Index length = lengthOfResults<F>(s);
  const Index tiles = (length + reduceLanes - 1) / reduceLanes;
  const Index place = static_cast<Index>(tile % tiles) * reduceLanes;
  const Index left = length - place;
  return {static_cast<Index>(tile / tiles) * length + place,
          left < reduceLanes ? left : reduceLanes};
}

/// Result number `first + lane`, as the functor counts them.
template <typename F> struct ResultsFrom {
  const Index first;
  Index operator+(int lane) const { return first + lane; }
};
template <CountsResultsInRuns F> struct ResultsFrom<F> {
  const Index run, place;
  explicit ResultsFrom(Index first)
      : run(first / F::resultRun), place(first % F::resultRun) {}
  InRun<F::resultRun> operator+(int lane) const { return {run, place + lane}; }
};

/// Results [first, first + count), count <= reduceLanes, that are adjacent.
/// Here and below `states` has reduceLanes elements, whatever `count` is: loops
/// of a fixed size are a few instructions, and compiled as soon.
template <typename R, bool whole, typename T, typename F>
void reduceShortColumns(const F &f, Index first, Index count, Index begin,
                        Index end, StateOf<R, T> *states) {
  StateOf<R, T> lanes[reduceLanes];
  for (StateOf<R, T> &lane : lanes)
    lane = R::template none<T>();
  const ResultsFrom<F> o{first};
  if (whole || count == reduceLanes) {
    for (Index r = begin; r < end; ++r)
      for (int lane = 0; lane < reduceLanes; ++lane)
        take<R, T>(lanes[lane], f.load(o + lane, r), r);
  } else {
    for (Index r = begin; r < end; ++r)
      MN_ONE_BY_ONE
    for (int lane = 0; lane < count; ++lane)
      take<R, T>(lanes[lane], f.load(o + lane, r), r);
  }
  for (int lane = 0; lane < reduceLanes; ++lane)
    states[lane] = lanes[lane];
}

/// Joins results with others.
template <typename R, typename State>
void joinAll(State *states, const State *others) {
  for (int lane = 0; lane < reduceLanes; ++lane)
    states[lane] = R::join(states[lane], others[lane]);
}

/// Any number of rows, as reduceRun does.
template <typename R, bool whole, typename T, typename F>
void reduceColumns(const F &f, Index first, Index count, Index begin, Index end,
                   StateOf<R, T> *states) {
  fill(states, reduceLanes, R::template none<T>());
  while (begin < end) {
    StateOf<R, T> group[reduceLanes], run[reduceLanes];
    fill(group, reduceLanes, R::template none<T>());
    for (Index i = 0; i < reduceRunSize && begin < end; ++i) {
      const Index next =
          end - begin < reduceRunSize ? end : begin + reduceRunSize;
      reduceShortColumns<R, whole, T>(f, first, count, begin, next, run);
      joinAll<R>(group, run);
      begin = next;
    }
    joinAll<R>(states, group);
  }
}

/// Whether a result's elements are adjacent, all or those of a run, or else
/// results: these may all have reduceLanes of them at a time.
enum class Reducing { rows, runs, columns, wholeColumns };

/// Elements that stay together.
template <typename F> constexpr int64_t runOf() {
  if constexpr (CountsInRuns<F>)
    return F::run;
  return 1;
}

/// Part `part` of `parts` of up to reduceLanes results from `first` on.
template <typename R, Reducing way, typename T, typename F>
void reducePart(const F &f, const Reduce &s, Index first, Index count,
                int64_t part, int64_t parts, StateOf<R, T> *states) {
  constexpr int64_t unit = runOf<F>();
  const int64_t each = (s.size / unit + parts - 1) / parts * unit;
  const int64_t from = part * each, to = from + each;
  const Index begin = static_cast<Index>(from < s.size ? from : s.size);
  const Index end = static_cast<Index>(to < s.size ? to : s.size);
  if constexpr (way == Reducing::rows)
    for (Index o = 0; o < count; ++o)
      states[o] = reduceRun<R, T>(f, first + o, begin, end);
  else if constexpr (way == Reducing::runs)
    for (Index o = 0; o < count; ++o)
      states[o] = reduceRuns<R, T>(f, first + o, begin / F::run, end / F::run);
  else
    reduceColumns<R, way == Reducing::wholeColumns, T>(f, first, count, begin,
                                                       end, states);
}

/// Each result as a whole, reduceLanes of them at a time.
template <typename R, Reducing way, typename T, typename F>
void reduceTiles(const Reduce &s, int64_t tiles, const F &functor) {
  parallelFor(tiles, reduceLanes * s.size, [&](int64_t tile) {
    const F f = functor;
    StateOf<R, T> states[reduceLanes];
    const ReduceTile at = tileAt<F>(s, tile);
    reducePart<R, way, T>(f, s, at.first, at.count, 0, 1, states);
    for (Index o = 0; o < at.count; ++o)
      f.store(at.first + o, R::result(states[o]));
  });
}

/// At most 8 tiles, each cut into `parts`: partial results fit on the stack.
template <typename R, Reducing way, typename T, typename F>
void reduceParted(const Reduce &s, int64_t tiles, int64_t parts,
                  const F &functor) {
  constexpr int lanes = reduceLanes;
  using State = StateOf<R, T>;
  State partial[8 * reduceParts][lanes];
  parallelFor(tiles * parts, lanes * s.size / parts, [&](int64_t task) {
    const F f = functor;
    const ReduceTile at = tileAt<F>(s, task / parts);
    reducePart<R, way, T>(f, s, at.first, at.count, task % parts, parts,
                          partial[task]);
  });
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const ReduceTile at = tileAt<F>(s, tile);
    for (Index o = 0; o < at.count; ++o) {
      State whole = partial[tile * parts][o];
      for (int64_t part = 1; part < parts; ++part)
        whole = R::join(whole, partial[tile * parts + part][o]);
      functor.store(at.first + o, R::result(whole));
    }
  }
}

template <typename R, Reducing way, typename T, typename F>
MN_INLINED void reduceAs(const Reduce &s, const F &functor) {
  const int64_t tiles = tilesOf<F>(s);
  if (tiles >= 8 || s.size <= 2 * reducePartSize)
    return reduceTiles<R, way, T>(s, tiles, functor);
  const int64_t parts = s.size / reducePartSize;
  reduceParted<R, way, T>(s, tiles, parts < reduceParts ? parts : reduceParts,
                          functor);
}

} // namespace detail

// Inlined, so that of all ways only the one that fits the sizes is compiled.
template <typename R, typename T, typename F>
MN_INLINED void reduce(Context &, const char *, const Reduce &s,
                       const F &functor) {
  if constexpr (CountsInRuns<F>)
    detail::reduceAs<R, detail::Reducing::runs, T>(s, functor);
  else if (s.contiguous)
    detail::reduceAs<R, detail::Reducing::rows, T>(s, functor);
  else if (detail::lengthOfResults<F>(s) % detail::reduceLanes == 0)
    detail::reduceAs<R, detail::Reducing::wholeColumns, T>(s, functor);
  else
    detail::reduceAs<R, detail::Reducing::columns, T>(s, functor);
}

} // namespace mn

#endif // MNISTRT_CPU_REDUCE_H
