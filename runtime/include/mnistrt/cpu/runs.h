//===- runs.h - elements by the run that they are in ------------*- C++ -*-===//
//
// Where an element lies in what a map or reduction reads is a sum of quotients
// and remainders of its number, from which no compiler sees that neighbours are
// read side by side. So elements are counted in runs: of those in one run only
// the place differs, quotients by the length of a run and its multiples are
// equal, and remainders are as far apart as the elements are. A functor that
// is to be called with such numbers has
//
//   static constexpr mn::Index run
//
// the length, which divides the number of elements; or, of a reduction whose
// results are to be counted so, `resultRun`.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_RUNS_H
#define MNISTRT_CPU_RUNS_H

#include "mnistrt/generated.h"
#include <type_traits>

namespace mn {

template <typename F>
concept CountsInRuns = requires { F::run; };
template <typename F>
concept CountsResultsInRuns = requires { F::resultRun; };

/// Element number `run * length + place`; 0 <= place < length.
template <Index length> struct InRun {
  Index run, place;
  constexpr operator Index() const { return run * length + place; }
};

/// By a number that is known when this is compiled.
template <Index length, typename Integer>
  requires std::is_integral_v<Integer>
constexpr Index operator/(InRun<length> i, Integer by) {
  const Index d = by;
  if (d % length == 0)
    return i.run / (d / length);
  if (length % d == 0)
    return i.run * (length / d) + i.place / d;
  return Index(i) / d;
}
template <Index length, typename Integer>
  requires std::is_integral_v<Integer>
constexpr Index operator%(InRun<length> i, Integer by) {
  const Index d = by;
  if (d % length == 0)
    return i.run % (d / length) * length + i.place;
  if (length % d == 0)
    return i.place % d;
  return Index(i) % d;
}

} // namespace mn

#endif // MNISTRT_CPU_RUNS_H
