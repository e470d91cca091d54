//===- rows.h - steps that reduce rows, on the CPU --------------*- C++ -*-===//
//
// Threads share the rows. A phase sums parts of fixed size in lanes that SIMD
// registers hold, and joins them in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_ROWS_H
#define MNISTRT_CPU_ROWS_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/rows.h"
#include "mnistrt/shapes.h"

#define MN_ROWS_KERNEL(NAME, F, ...)

namespace mn {

namespace detail {

constexpr int rowLanes = 16;
constexpr Index rowPart = 1024;

/// Phase number `p` of elements [begin, end) of row `o`. A sum's lanes are
/// adjacent, so that they are a SIMD register.
template <int p, typename F>
auto rowPartOf(const F &f, const typename F::RowValues &row, Index o,
               Index begin, Index end) {
  using Kind = typename F::Phases::template At<p>;
  constexpr int count = Kind::count;
  typename Kind::One lanes[count][rowLanes];
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < rowLanes; ++lane)
      lanes[i][lane] = Kind::none();
  const auto take = [&](int lane, Index r) MN_ALWAYS_INLINE {
    const Index place = f.placeOf(o, r);
    const auto values = f.values(Phase<p>{}, row, f.load(place), o, r,
                                 neighbour<1>(Element(place), 0));
    for (int i = 0; i < count; ++i)
      lanes[i][lane] = Kind::join(lanes[i][lane], Kind::of(values.v[i], r));
  };
  Index r = begin;
  for (; r + rowLanes <= end; r += rowLanes)
    for (int lane = 0; lane < rowLanes; ++lane)
      take(lane, r + lane);
  MN_ONE_BY_ONE
  for (int lane = 0; r < end; ++r, ++lane)
    take(lane, r);
  typename Kind::State state;
  for (int i = 0; i < count; ++i) {
    for (int width = rowLanes / 2; width; width /= 2)
      for (int lane = 0; lane < width; ++lane)
        lanes[i][lane] = Kind::join(lanes[i][lane], lanes[i][lane + width]);
    state.v[i] = lanes[i][0];
  }
  return state;
}

/// Phase number `p` and those after it.
template <int p, typename F>
void rowPhases(const F &f, typename F::RowValues &row, Index o, Index size) {
  if constexpr (p < F::Phases::count) {
    using Kind = typename F::Phases::template At<p>;
    typename Kind::State s = Kind::noneOfAll();
    for (Index begin = 0; begin < size; begin += rowPart)
      s = Kind::joinAll(
          s, rowPartOf<p>(f, row, o, begin,
                          begin + rowPart < size ? begin + rowPart : size));
    f.take(Phase<p>{}, Kind::results(s), row, o);
    rowPhases<p + 1>(f, row, o, size);
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
  if constexpr (F::storesElements) {
    MN_INDEPENDENT
    for (Index r = 0; r < size; ++r) {
      const Index place = f.placeOf(o, r);
      const typename F::StoredValues v[] = {f.results(
          known, f.load(place), o, r, neighbour<1>(Element(place), 0))};
      f.store(v, place);
    }
  }
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

} // namespace detail

template <typename F>
void rows(Context &, const char *, const Reduce &s, const F &functor) {
  if constexpr (HasTotals<F>)
    detail::rowsWithTotals(s, functor);
  else
    parallelFor(s.outputs, s.size * F::Phases::count,
                [&](int64_t o) { detail::oneRow(functor, Index(o), s.size); });
}

} // namespace mn

#endif // MNISTRT_CPU_ROWS_H
