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
  using T = typename Kind::Type;
  constexpr int count = Kind::count;
  T lanes[count][rowLanes];
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < rowLanes; ++lane)
      lanes[i][lane] = Kind::none().v[i];
  const auto take = [&](int lane, Index r) MN_ALWAYS_INLINE {
    const auto values = f.values(Phase<p>{}, row, f.load(o, r), o, r);
    for (int i = 0; i < count; ++i)
      lanes[i][lane] = Kind::both(lanes[i][lane], values.v[i]);
  };
  Index r = begin;
  for (; r + rowLanes <= end; r += rowLanes)
    for (int lane = 0; lane < rowLanes; ++lane)
      take(lane, r + lane);
  for (int lane = 0; r < end; ++r, ++lane)
    take(lane, r);
  typename Kind::State state;
  for (int i = 0; i < count; ++i) {
    for (int width = rowLanes / 2; width; width /= 2)
      for (int lane = 0; lane < width; ++lane)
        lanes[i][lane] = Kind::both(lanes[i][lane], lanes[i][lane + width]);
    state.v[i] = lanes[i][0];
  }
  return state;
}

/// Phase number `p` and those after it.
template <int p, typename F>
void rowPhases(const F &f, typename F::RowValues &row, Index o, Index size) {
  if constexpr (p < F::Phases::count) {
    using Kind = typename F::Phases::template At<p>;
    typename Kind::State s = Kind::none();
    for (Index begin = 0; begin < size; begin += rowPart)
      s = Kind::join(
          s, rowPartOf<p>(f, row, o, begin,
                          begin + rowPart < size ? begin + rowPart : size));
    f.take(Phase<p>{}, s, row, o);
    rowPhases<p + 1>(f, row, o, size);
  }
}

} // namespace detail

template <typename F>
void rows(Context &, const char *, const Reduce &s, const F &functor) {
  parallelFor(s.outputs, s.size * F::Phases::count, [&](int64_t at) {
    // A copy, whose pointers no store can change.
    const F f = functor;
    const Index o = Index(at);
    typename F::RowValues row{};
    f.begin(row, o);
    detail::rowPhases<0>(f, row, o, s.size);
    // A copy, which no store can change.
    const typename F::RowValues known = row;
    MN_INDEPENDENT
    for (Index r = 0; r < s.size; ++r)
      f.store(known, f.load(o, r), o, r);
    f.storeRow(known, o);
  });
}

} // namespace mn

#endif // MNISTRT_CPU_ROWS_H
