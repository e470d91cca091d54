//===- pointwise.h - one element or one row at a time -----------*- C++ -*-===//
//
// The kinds of step whose results come from one element or one row each.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POINTWISE_H
#define MNISTRT_CPU_POINTWISE_H

#include "mnistrt/cpu/draws.h"
#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/runs.h"
#include "mnistrt/maps.h"
#include "mnistrt/math.h"

#define MN_POINTWISE_KERNEL(NAME, F)
#define MN_SEGMENTS_KERNEL(NAME, E, ...)
#define MN_SOFTMAX_KERNEL(NAME, T, F, ...)

namespace mn {

namespace detail {

/// Elements [begin, end) of run number `run`.
template <typename F>
MN_INLINED void forPlaces(const F &f, Index run, Index begin, Index end) {
  MN_INDEPENDENT
  for (Index place = begin; place < end; ++place)
    f(InRun<F::run>{run, place});
}

/// Runs [begin, end).
template <typename F>
MN_INLINED void forRuns(const F &functor, int64_t begin, int64_t end) {
  const F f = functor;
  for (Index run = begin; run < end; ++run)
    forPlaces(f, run, 0, F::run);
}

template <CountsInRuns F>
MN_INLINED void forElements(const F &functor, int64_t begin, int64_t end) {
  const F f = functor;
  while (begin < end) {
    const Index place = begin % F::run;
    const Index count = min<Index>(F::run - place, end - begin);
    forPlaces(f, begin / F::run, place, place + count);
    begin += count;
  }
}

/// Element `i` of the numbers `j` of each sequence; those of the first are
/// known.
template <typename F, int n, int size, typename... Known>
MN_INLINED void callDrawn(const F &f, Element i,
                          const float (&numbers)[n][size], int64_t j,
                          Known... known) {
  if constexpr (sizeof...(known) == n)
    f(i, known...);
  else
    callDrawn(f, i, numbers, j, known..., numbers[sizeof...(known)][j]);
}

template <TakesDrawn F>
MN_INLINED void forElements(const F &functor, int64_t begin, int64_t end) {
  const F f = functor;
  const auto draws = f.draws();
  constexpr int n = decltype(draws)::count, most = 256;
  float numbers[n][most];
  while (begin < end) {
    const int64_t count = min<int64_t>(most, end - begin);
    for (int k = 0; k < n; ++k)
      draws.of[k].fill(begin, count, numbers[k]);
    MN_INDEPENDENT
    for (int64_t j = 0; j < count; ++j)
      callDrawn(f, Element(begin + j), numbers, j);
    begin += count;
  }
}

template <typename F>
MN_INLINED void forElements(const F &functor, int64_t begin, int64_t end) {
  // A copy, whose pointers no store can change.
  const F f = functor;
  const Element last = static_cast<Element>(end);
  MN_INDEPENDENT
  for (Element i = static_cast<Element>(begin); i < last; ++i)
    computeElements<1>(f, i);
}

/// What is in [begin, end) of the segments of a table, of which the first has
/// element number `first`; it becomes that of the next table.
template <typename F, int n>
MN_INLINED void forSegments(const F (&table)[n], const int64_t *&elements,
                            int64_t &first, int64_t begin, int64_t end) {
  for (const F &functor : table) {
    const int64_t size = *elements++;
    if (begin < first + size && first < end)
      forElements(functor, begin < first ? 0 : begin - first,
                  end < first + size ? end - first : size);
    first += size;
  }
}

} // namespace detail

template <typename F>
MN_INLINED void pointwise(Context &, const char *, Index count,
                          const F &functor) {
  if constexpr (!TakesDrawn<F>)
    if (count == 1)
      return computeElements<1>(functor, 0);
  if constexpr (CountsInRuns<F>) {
    // The largest power of two that divides the run and 64.
    constexpr int64_t common = (F::run | 64) & -(F::run | 64);
    constexpr int64_t apart = 64 / common;
    return parallelRanges(
        count / F::run, F::run,
        [&functor](int64_t begin, int64_t end) {
          detail::forRuns(functor, begin, end);
        },
        apart);
  }
  parallelRanges(count, 1, [&functor](int64_t begin, int64_t end) {
    detail::forElements(functor, begin, end);
  });
}

/// Each array has the functors of segments that are computed alike.
template <int count, typename... Fs, int... ns>
MN_INLINED void segments(Context &, const char *,
                         const Elements<count> &elements,
                         const Fs (&...tables)[ns]) {
  static_assert((ns + ...) == count, "one functor for each segment");
  int64_t total = 0;
  for (int64_t size : elements.of)
    total += size;
  parallelRanges(total, 1, [&](int64_t begin, int64_t end) {
    const int64_t *size = elements.of;
    int64_t first = 0;
    (detail::forSegments(tables, size, first, begin, end), ...);
  });
}

namespace detail {

/// One row: `size` elements, `stride` apart, from `first`.
template <bool log, typename T, typename F, typename Stride>
void softmaxRow(const F &f, Index first, Index size, Stride stride) {
  T largest = Limits<T>::lowest();
  for (Index i = 0; i < size; ++i)
    largest = max(largest, f.load(first + i * stride));
  T sums[8] = {};
  Index i = 0;
  for (; i + 8 <= size; i += 8)
    for (Index lane = 0; lane < 8; ++lane)
      sums[lane] += exp(f.load(first + (i + lane) * stride) - largest);
  T sum = 0;
  for (T lane : sums)
    sum += lane;
  for (; i < size; ++i)
    sum += exp(f.load(first + i * stride) - largest);

  // A NaN in the row is one in every result.
  MN_INDEPENDENT
  for (Index j = 0; j < size; ++j) {
    const Index at = first + j * stride;
    f.store(at, softmaxElement<log>(f.load(at), largest, sum));
  }
}

template <bool log, typename T, typename F, typename Stride>
void softmaxRows(const Softmax &s, Stride inner, const F &functor) {
  parallelFor(s.outer * inner, 16 * s.size, [&](int64_t row) {
    const F f = functor;
    const Index size = static_cast<Index>(s.size);
    softmaxRow<log, T>(f, row / inner * size * inner + row % inner, size,
                       inner);
  });
}

template <bool log, typename T, typename F>
MN_INLINED void softmaxAs(const Softmax &s, const F &functor) {
  if (s.inner == 1)
    softmaxRows<log, T>(s, std::integral_constant<Index, 1>(), functor);
  else
    softmaxRows<log, T>(s, static_cast<Index>(s.inner), functor);
}

} // namespace detail

// Inlined, so that of all ways only the one that fits the sizes is compiled.
template <typename T, typename F>
MN_INLINED void softmax(Context &, const char *, const Softmax &s,
                        const F &functor) {
  if (s.log)
    detail::softmaxAs<true, T>(s, functor);
  else
    detail::softmaxAs<false, T>(s, functor);
}

} // namespace mn

#endif // MNISTRT_CPU_POINTWISE_H
