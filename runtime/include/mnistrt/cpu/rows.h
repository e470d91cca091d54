//===- rows.h - steps that reduce rows, on the CPU --------------*- C++ -*-===//
//
// Threads share the rows. A phase sums parts of fixed size in lanes that SIMD
// registers hold, and joins them in a fixed order.
//
// Where neighbouring rows are adjacent in memory, and not the elements of one,
// threads share the elements: SIMD registers hold rows. The functor has then
//
//   RowArrays<n>       RowValues of n rows, which at(i) gives one by one and
//                      set(i, row) changes
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_ROWS_H
#define MNISTRT_CPU_ROWS_H

#include "mnistrt/cpu/array.h"
#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/runs.h"
#include "mnistrt/math.h"
#include "mnistrt/rows.h"
#include "mnistrt/shapes.h"

#define MN_ROWS_KERNEL(NAME, F, ...)

namespace mn {

template <typename F>
concept AreColumns = requires { typename F::template RowArrays<1>; };

namespace detail {

constexpr int rowLanes = 16;
constexpr Index rowPart = 1024;
/// As many runs as are no more elements, but one at least.
template <typename F>
constexpr Index runsOfPart = rowPart < F::run ? 1 : rowPart / F::run;

/// The states of a phase, in lanes that SIMD registers hold.
template <int p, typename F> struct RowLanes {
  using Kind = typename F::Phases::template At<p>;
  typename Kind::One of[Kind::count][rowLanes];

  RowLanes() {
    for (auto &lanes : of)
      for (auto &lane : lanes)
        lane = Kind::none();
  }
  /// Takes element `r` of row `o` in.
  MN_INLINED void take(int lane, const F &f, const typename F::RowValues &row,
                       Index o, auto r) {
    const Index place = f.placeOf(o, r);
    typename StoredInPhase<F, p>::Type stored;
    const auto values = valuesOf<p>(f, row, f.load(place), o, r,
                                    neighbour<1>(Element(place), 0), stored);
    for (int i = 0; i < Kind::count; ++i)
      of[i][lane] = Kind::join(of[i][lane], Kind::of(values.v[i], r));
  }
  typename Kind::State joined() {
    typename Kind::State state;
    for (int i = 0; i < Kind::count; ++i) {
      for (int width = rowLanes / 2; width; width /= 2)
        for (int lane = 0; lane < width; ++lane)
          of[i][lane] = Kind::join(of[i][lane], of[i][lane + width]);
      state.v[i] = of[i][0];
    }
    return state;
  }
};

/// Takes the elements [0, count) in, numbered as `at` says.
template <typename Lanes, typename F, typename At>
MN_INLINED void takeElements(Lanes &lanes, const F &f,
                             const typename F::RowValues &row, Index o,
                             Index count, At at) {
  Index r = 0;
  for (; r + rowLanes <= count; r += rowLanes)
    for (int lane = 0; lane < rowLanes; ++lane)
      lanes.take(lane, f, row, o, at(r + lane));
  MN_ONE_BY_ONE
  for (int lane = 0; r < count; ++r, ++lane)
    lanes.take(lane, f, row, o, at(r));
}

/// Part number `part` of row `o` in phase `p`: elements of which a lane sums at
/// most 64.
template <int p, typename F>
auto rowPartOf(const F &f, const typename F::RowValues &row, Index o,
               Index part, Index size) {
  RowLanes<p, F> lanes;
  if constexpr (CountsInRuns<F>) {
    const Index end = min(size / F::run, (part + 1) * runsOfPart<F>);
    for (Index run = part * runsOfPart<F>; run < end; ++run)
      takeElements(lanes, f, row, o, F::run,
                   [run](Index place) { return InRun<F::run>{run, place}; });
  } else {
    const Index begin = part * rowPart;
    takeElements(lanes, f, row, o, min(rowPart, size - begin),
                 [begin](Index r) { return begin + r; });
  }
  return lanes.joined();
}

/// Phase number `p` and those after it.
template <int p, typename F>
void rowPhases(const F &f, typename F::RowValues &row, Index o, Index size) {
  if constexpr (p < F::Phases::count) {
    using Kind = typename F::Phases::template At<p>;
    typename Kind::State s = Kind::noneOfAll();
    Index each = rowPart;
    if constexpr (CountsInRuns<F>)
      each = runsOfPart<F> * F::run;
    for (Index part = 0; part * each < size; ++part)
      s = Kind::joinAll(s, rowPartOf<p>(f, row, o, part, size));
    f.take(Phase<p>{}, Kind::results(s), row, o);
    rowPhases<p + 1>(f, row, o, size);
  }
}

/// Stores what element `e` of row `o` gives.
template <typename F>
MN_INLINED void storeElement(const F &f, const typename F::RowValues &known,
                             const typename F::ElementValues &e, Index o,
                             auto r, Index place) {
  const auto here = neighbour<1>(Element(place), 0);
  typename F::StoredValues v[1];
  if constexpr (StoresInLastPhase<F>)
    valuesOf<F::Phases::count - 1>(f, known, e, o, r, here, v[0]);
  else
    v[0] = f.results(known, e, o, r, here);
  f.store(v, place);
}
template <typename F>
MN_INLINED void storeElement(const F &f, const typename F::RowValues &known,
                             Index o, auto r) {
  const Index place = f.placeOf(o, r);
  storeElement(f, known, f.load(place), o, r, place);
}

template <typename F>
MN_INLINED void storeRowElements(const F &f, const typename F::RowValues &known,
                                 Index o, Index size) {
  if constexpr (CountsInRuns<F>) {
    for (Index run = 0; run < size / F::run; ++run) {
      MN_INDEPENDENT
      for (Index place = 0; place < F::run; ++place)
        storeElement(f, known, o, InRun<F::run>{run, place});
    }
  } else {
    MN_INDEPENDENT
    for (Index r = 0; r < size; ++r)
      storeElement(f, known, o, r);
  }
}

/// All of row `o`; what it knows in the end.
template <typename F>
MN_INLINED typename F::RowValues oneRow(const F &functor, Index o, Index size) {
  // A copy, whose pointers no store can change.
  const F f = functor;
  typename F::RowValues row{};
  f.begin(row, o);
  rowPhases<0>(f, row, o, size);
  // A copy, which no store can change.
  const typename F::RowValues known = row;
  if constexpr (F::storesElements)
    storeRowElements(f, known, o, size);
  f.storeRow(known, o);
  return known;
}

/// Rows in parts whose totals are joined pairwise: the order depends on nothing
/// but their number.
template <typename F> void rowsWithTotals(const Reduce &s, const F &f) {
  constexpr int64_t most = 256;
  const int64_t each = (s.outputs + most - 1) / most;
  const int64_t parts = (s.outputs + each - 1) / each;
  TotalsOf<F> ofPart[most];
  parallelFor(parts, each * s.size * F::Phases::count, [&](int64_t part) {
    TotalsOf<F> totals;
    totals.clear();
    const int64_t end = (part + 1) * each;
    for (int64_t o = part * each; o < end && o < s.outputs; ++o)
      totals.addRow(f, oneRow(f, Index(o), s.size), Index(o));
    ofPart[part] = totals;
  });
  for (int64_t apart = 1; apart < parts; apart *= 2)
    for (int64_t part = 0; part + apart < parts; part += 2 * apart)
      ofPart[part].join(ofPart[part + apart]);
  typename F::TotalValues totals{};
  ofPart[0].take(f, totals);
  f.storeTotals(totals);
}

//===----------------------------------------------------------------------===//
// Rows that are columns in memory
//===----------------------------------------------------------------------===//

// A part is so many elements of all rows, and a thread has one at a time. Of
// these it has some rows at once, and each phase ends before the next begins.
constexpr int64_t columnPart = 32768;
constexpr int64_t mostColumnParts = 64;
constexpr int columnsAtOnce = 64;
/// Elements of a row that are summed up before they are added to the others.
constexpr Index columnRun = 64;

/// What is known of `count` rows from `first` on.
template <typename F>
MN_INLINED auto knownColumns(const typename F::RowValues *rows, Index first,
                             Index count) {
  typename F::template RowArrays<columnsAtOnce> known;
  for (Index i = 0; i < count; ++i)
    known.set(i, rows[first + i]);
  return known;
}

/// Elements [begin, end) of `count` rows from `first` on, added to the states
/// of all rows; results that are known then are stored.
template <int p, typename F, typename State>
MN_INLINED void addColumns(const F &f, const typename F::RowValues *rows,
                           Index first, Index count, Index begin, Index end,
                           State *states) {
  using Kind = typename F::Phases::template At<p>;
  const auto known = knownColumns<F>(rows, first, count);
  while (begin < end) {
    typename Kind::One sums[Kind::count][columnsAtOnce];
    for (auto &each : sums)
      fill(each, columnsAtOnce, Kind::none());
    const Index next = min(end, begin + columnRun);
    for (Index r = begin; r < next; ++r) {
      MN_INDEPENDENT
      for (Index i = 0; i < count; ++i) {
        const Index place = f.placeOf(first + i, r);
        const auto e = f.load(place);
        const auto row = known.at(i);
        typename StoredInPhase<F, p>::Type stored[1];
        const auto values =
            valuesOf<p>(f, row, e, first + i, r,
                        neighbour<1>(Element(place), 0), stored[0]);
        for (int k = 0; k < Kind::count; ++k)
          sums[k][i] = Kind::join(sums[k][i], Kind::of(values.v[k], r));
        if constexpr (storesInPhase<F, p>)
          f.store(stored, place);
      }
    }
    for (Index i = 0; i < count; ++i)
      for (int k = 0; k < Kind::count; ++k)
        states[first + i].v[k] = Kind::join(states[first + i].v[k], sums[k][i]);
    begin = next;
  }
}

template <typename F>
MN_INLINED void storeColumns(const F &f, const typename F::RowValues *rows,
                             Index first, Index count, Index begin, Index end) {
  const auto known = knownColumns<F>(rows, first, count);
  for (Index r = begin; r < end; ++r) {
    MN_INDEPENDENT
    for (Index i = 0; i < count; ++i)
      storeElement(f, known.at(i), first + i, r);
  }
}

/// use(part, first, count, begin, end) for elements [begin, end) of `count`
/// rows from `first` on.
template <typename Use>
MN_INLINED void eachColumnPart(const Reduce &s, int64_t parts, const Use &use) {
  const int64_t each = (s.size + parts - 1) / parts;
  parallelFor(parts, each * s.outputs, [&](int64_t part) {
    const int64_t begin = part * each, end = min(s.size, begin + each);
    for (int64_t first = 0; first < s.outputs; first += columnsAtOnce)
      use(part, first, min<int64_t>(columnsAtOnce, s.outputs - first), begin,
          end);
  });
}

template <int p, typename F>
void columnPhases(const F &functor, const Reduce &s, int64_t parts,
                  Array<typename F::RowValues> &rows) {
  if constexpr (p < F::Phases::count) {
    using Kind = typename F::Phases::template At<p>;
    const size_t count = size_t(s.outputs);
    Array<typename Kind::State> states(size_t(parts) * count,
                                       Kind::noneOfAll());
    eachColumnPart(s, parts,
                   [&](int64_t part, Index first, Index some, Index begin,
                       Index end) MN_ALWAYS_INLINE {
                     const F f = functor;
                     addColumns<p>(f, rows.data(), first, some, begin, end,
                                   &states[size_t(part) * count]);
                   });
    for (size_t o = 0; o < count; ++o) {
      for (size_t part = 1; part < size_t(parts); ++part)
        states[o] = Kind::joinAll(states[o], states[part * count + o]);
      functor.take(Phase<p>{}, Kind::results(states[o]), rows[o], Index(o));
    }
    columnPhases<p + 1>(functor, s, parts, rows);
  }
}

template <typename F> void columns(const Reduce &s, const F &functor) {
  const int64_t parts = max<int64_t>(
      min(min(s.outputs * s.size / columnPart, s.size), mostColumnParts), 1);
  Array<typename F::RowValues> rows(size_t(s.outputs));
  for (size_t o = 0; o < rows.size(); ++o)
    functor.begin(rows[o], Index(o));
  columnPhases<0>(functor, s, parts, rows);
  if constexpr (F::storesElements && !StoresInLastPhase<F>)
    eachColumnPart(s, parts,
                   [&](int64_t, Index first, Index count, Index begin,
                       Index end) MN_ALWAYS_INLINE {
                     const F f = functor;
                     storeColumns(f, rows.data(), first, count, begin, end);
                   });
  for (size_t o = 0; o < rows.size(); ++o)
    functor.storeRow(rows[o], Index(o));
}

} // namespace detail

template <typename F>
void rows(Context &, const char *, const Reduce &s, const F &functor) {
  if constexpr (HasTotals<F>)
    detail::rowsWithTotals(s, functor);
  else if constexpr (AreColumns<F>)
    detail::columns(s, functor);
  else
    parallelFor(s.outputs, s.size * F::Phases::count,
                [&](int64_t o) { detail::oneRow(functor, Index(o), s.size); });
}

} // namespace mn

#endif // MNISTRT_CPU_ROWS_H
