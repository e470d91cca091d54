//===- rows.h - what a functor of rows says ---------------------*- C++ -*-===//
//
// A step that reduces rows has for each row some phases: a loop over its
// elements that sums (or takes the maximum of) one value or several of each.
// After the last phase there may be results for every element. The functor F of
// such a step has
//
//   ElementValues      an element's inputs, which load(o, r) reads
//   RowValues          what is known of a row: begin(row, o) starts it
//   Phases             the phases, a mn::Phases<mn::RowPhase<...>, ...>
//   storesElements     whether there are results for every element
//   values(Phase<p>, row, e, o, r)    what an element gives to phase p
//   take(Phase<p>, v, row, o)         what the row knows from its results v
//   store(row, e, o, r), storeRow(row, o)   after the last phase
//
// for element r of row o.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_ROWS_H
#define MNISTRT_ROWS_H

#include "mnistrt/reductions.h"

namespace mn {

/// The number of a phase, as a type.
template <int n> struct Phase {};

/// What an element gives to a phase, or a row gets from it.
template <typename T, int n> struct Values {
  T v[n];
};

/// `n` reductions of one kind, which one loop computes.
template <typename R, typename T, int n> struct RowPhase {
  using Type = T;
  using State = Values<T, n>;
  static constexpr int count = n;

  MN_FN static State none() {
    State s;
    for (int i = 0; i < n; ++i)
      s.v[i] = R::template empty<T>();
    return s;
  }
  MN_FN static T both(T a, T b) { return R::both(a, b); }
  MN_FN static State join(State a, const State &b) {
    for (int i = 0; i < n; ++i)
      a.v[i] = both(a.v[i], b.v[i]);
    return a;
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

} // namespace mn

#endif // MNISTRT_ROWS_H
