//===- reductions.h - the reductions ----------------------------*- C++ -*-===//
//
// The one definition of every reduction, as math.h is of the elementwise ops:
// for the kernels of both targets, reductions inside of an element, and the
// compiler where it folds constants. Each is a state of the elements seen so
// far, and how two of them are joined. Each kernel joins in its own order,
// which is fixed; that changes the rounding of a sum, and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REDUCTIONS_H
#define MNISTRT_REDUCTIONS_H

#include "mnistrt/math.h"

namespace mn {

/// A reduction whose state is a number. States have no constructors: they are
/// in shared memory, too.
template <typename R> struct ReduceToNumber {
  template <typename T> struct State {
    T value;
  };
  template <typename T> MN_FN static State<T> none() {
    return {R::template empty<T>()};
  }
  template <typename T> MN_FN static State<T> of(T x, int64_t) { return {x}; }
  template <typename S> MN_FN static S join(S a, S b) {
    return {R::both(a.value, b.value)};
  }
  template <typename S> MN_FN static auto result(S s) { return s.value; }
};

struct Sum : ReduceToNumber<Sum> {
  template <typename T> MN_FN static T empty() { return T(0); }
  template <typename T> MN_FN static T both(T a, T b) { return add(a, b); }
};

/// NaN where one is.
struct Max : ReduceToNumber<Max> {
  template <typename T> MN_FN static T empty() { return Limits<T>::lowest(); }
  template <typename T> MN_FN static T both(T a, T b) { return max(a, b); }
};

struct Min : ReduceToNumber<Min> {
  template <typename T> MN_FN static T empty() { return Limits<T>::highest(); }
  template <typename T> MN_FN static T both(T a, T b) { return min(a, b); }
};

/// The index of the maximum: of several equal ones the first, or the last. A
/// NaN is larger than any number, and equal to any NaN.
template <bool last> struct ArgMax {
#ifdef __CUDACC__
  using Number = Index; ///< shorter where it can be
#else
  using Number = int64_t;
#endif
  template <typename T> struct State {
    T value;
    Number index; ///< -1: nothing seen yet
  };

  /// Whether `x`, which comes after `best`, takes its place.
  template <typename T> MN_FN static bool wins(T x, T best) {
    if constexpr (last)
      return x >= best || x != x;
    else
      return x > best || (x != x && best == best);
  }
  template <typename T> MN_FN static State<T> none() {
    return {Limits<T>::lowest(), -1};
  }
  template <typename T> MN_FN static State<T> of(T x, int64_t index) {
    return {x, Number(index)};
  }
  template <typename S> MN_FN static S join(S a, S b) {
    const bool bWins =
        a.index < b.index ? wins(b.value, a.value) : !wins(a.value, b.value);
    return b.index >= 0 && (a.index < 0 || bWins) ? b : a;
  }
  template <typename S> MN_FN static int64_t result(S s) {
    return s.index < 0 ? 0 : s.index;
  }
};
using ArgMaxFirst = ArgMax<false>;
using ArgMaxLast = ArgMax<true>;

} // namespace mn

#endif // MNISTRT_REDUCTIONS_H
