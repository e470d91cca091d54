//===- rows.h - what a functor of rows says ---------------------*- C++ -*-===//
//
// A step that reduces rows has for each row some phases: a loop over its
// elements that sums (or takes the maximum of) one value or several of each.
// After the last phase there may be results for every element. The functor F of
// such a step has
//
//   placeOf(o, r)      where an element is in its tensors
//   rowsInFours        true, if at all: elements r of rows 4 n to 4 n + 3 are
//                      adjacent, for each n
//   runsApart          how many elements apart runs of adjacent elements of a
//                      row begin, if all do
//   ElementValues      an element's inputs, which load(place) reads: the place
//   is
//                      an Offset or, as that of maps.h, in its four
//   RowValues          what is known of a row: begin(row, o) starts it
//   Phases             the phases, a mn::Phases<mn::RowPhase<...>, ...>
//   meanPhase          p, if at all: the numbers that elements give to phase
//                      p + 1 are the squares of how much the first ones that
//                      they give to phase p differ from their mean over the
//                      row, in the same order
//   drawsNumbers       true, if at all: random numbers are drawn for elements
//   storesElements     whether there are results for every element
//   storesInLastPhase  whether these, if any, need nothing that the last phase
//                      gives
//   values(Phase<p>, row, e, o, r, place)  what an element gives to phase p;
//                      where it storesInLastPhase, that one's has a
//                      StoredValues & as its last parameter, which gets the
//                      results
//   take(Phase<p>, v, row, o)              what the row knows from the phase's
//                      results v
//   results(row, e, o, r, place)           after the last phase, unless it
//                      storesInLastPhase, an element's StoredValues;
//                      store(v, place) stores those of some next to each other
//   storeRow(row, o)                       after the last phase
//
// for element r of row o, whose place is a mn::Neighbour where it is computed.
// There may also be totals over all rows, which are
// known once the last row is:
//
//   Totals             their phases, as above
//   TotalValues        what is known of them
//   values(Total<p>, row, o)          what a row gives to phase p
//   take(Total<p>, v, totals)         what is known from its results v
//   storeTotals(totals)
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_ROWS_H
#define MNISTRT_ROWS_H

#include "mnistrt/neighbour.h"
#include "mnistrt/reductions.h"

namespace mn {

/// The number of a phase, as a type.
template <int n> struct Phase {};

/// The number of a phase of the totals, as a type.
template <int n> struct Total {};

/// What an element gives to a phase, or a row gets from it.
template <typename T, int n> struct Values {
  T v[n];
};

/// `n` reductions of one kind, which one loop computes.
template <typename R, typename T, int n> struct RowPhase {
  using One = typename R::template State<T>;
  using Result = decltype(R::result(One{}));
  struct State {
    One v[n];
  };
  static constexpr int count = n;

  MN_FN static One none() { return R::template none<T>(); }
  MN_FN static One of(T x, int64_t r) { return R::template of<T>(x, r); }
  MN_FN static One join(const One &a, const One &b) { return R::join(a, b); }

  MN_FN static State noneOfAll() {
    State s;
    for (int i = 0; i < n; ++i)
      s.v[i] = none();
    return s;
  }
  MN_FN static State ofAll(const Values<T, n> &x, int64_t r) {
    State s;
    for (int i = 0; i < n; ++i)
      s.v[i] = of(x.v[i], r);
    return s;
  }
  MN_FN static State joinAll(State a, const State &b) {
    for (int i = 0; i < n; ++i)
      a.v[i] = join(a.v[i], b.v[i]);
    return a;
  }
  MN_FN static Values<Result, n> results(const State &s) {
    Values<Result, n> x;
    for (int i = 0; i < n; ++i)
      x.v[i] = R::result(s.v[i]);
    return x;
  }
};

template <int n, typename First, typename... Rest> struct PhaseAt {
  using Type = typename PhaseAt<n - 1, Rest...>::Type;
};
template <typename First, typename... Rest> struct PhaseAt<0, First, Rest...> {
  using Type = First;
};

template <typename... P> struct Phases {
  static constexpr int count = sizeof...(P);
  template <int n> using At = typename PhaseAt<n, P...>::Type;
};

template <typename F>
concept StoresInLastPhase = F::storesElements && F::storesInLastPhase;

/// Whether results of elements are known in phase `p`.
template <typename F, int p>
inline constexpr bool storesInPhase =
    StoresInLastPhase<F> && p + 1 == F::Phases::count;

/// What phase `p` gives of an element but its values: StoredValues, or nothing.
template <typename F, int p> struct StoredInPhase {
  struct Type {};
};
template <typename F, int p>
  requires storesInPhase<F, p>
struct StoredInPhase<F, p> {
  using Type = typename F::StoredValues;
};

/// What an element gives to phase `p`; its results, where they are known then.
template <int p, typename F, typename Row, typename Element>
MN_FN auto valuesOf(const F &f, const Row &row, const Element &e, Index o,
                    auto r, const Neighbour &place,
                    typename StoredInPhase<F, p>::Type &stored) {
  if constexpr (storesInPhase<F, p>)
    return f.values(Phase<p>{}, row, e, o, r, place, stored);
  else
    return f.values(Phase<p>{}, row, e, o, r, place);
}

template <typename F>
concept DrawsNumbers = requires { requires F::drawsNumbers; };

template <typename F>
concept HasRunsApart = requires { F::runsApart; };

template <typename F>
concept HasRowsInFours = requires { requires F::rowsInFours; };

template <typename F, int p>
concept IsMean = requires { requires F::meanPhase == p; };

template <typename F>
concept HasTotals = requires { typename F::Totals; };

/// The totals of some rows, from phase number `p` on.
template <typename F, int p = 0> struct TotalsOf {
  using Kind = typename F::Totals::template At<p>;
  typename Kind::State first;
  TotalsOf<F, p + 1> others;

  MN_FN void clear() {
    first = Kind::noneOfAll();
    others.clear();
  }
  MN_FN void addRow(const F &f, const typename F::RowValues &row, Index o) {
    first = Kind::joinAll(first, Kind::ofAll(f.values(Total<p>{}, row, o), o));
    others.addRow(f, row, o);
  }
  MN_FN void join(const TotalsOf &more) {
    first = Kind::joinAll(first, more.first);
    others.join(more.others);
  }
  MN_FN void take(const F &f, typename F::TotalValues &totals) const {
    f.take(Total<p>{}, Kind::results(first), totals);
    others.take(f, totals);
  }
};

template <typename F, int p>
  requires(p == F::Totals::count)
struct TotalsOf<F, p> {
  MN_FN void clear() {}
  MN_FN void addRow(const F &, const typename F::RowValues &, Index) {}
  MN_FN void join(const TotalsOf &) {}
  MN_FN void take(const F &, typename F::TotalValues &) const {}
};

} // namespace mn

#endif // MNISTRT_ROWS_H
