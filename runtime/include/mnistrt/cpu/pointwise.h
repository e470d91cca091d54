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

/// One row: `size` elements, `stride` apart, from `first`. Its exponentials are
/// computed side by side, `most` at once.
template <bool log, typename T, typename F, typename Stride> struct SoftmaxRow {
  static constexpr Index lanes = 8, most = 512;
  const F &f;
  Index first, size;
  Stride stride;
  T largest = Limits<T>::lowest();
  T exponentials[most]; ///< from exponentiate() on

  SoftmaxRow(const F &f, Index first, Index size, Stride stride)
      : f(f), first(first), size(size), stride(stride) {}

  T at(Index i) const { return f.load(first + i * stride); }
  /// As registers compare: without NaNs, which sums have.
  static T larger(T x, T y) { return x > y ? x : y; }

  void findLargest() {
    T tops[lanes];
    for (T &top : tops)
      top = largest;
    Index i = 0;
    for (; i + lanes <= size; i += lanes)
      for (Index lane = 0; lane < lanes; ++lane)
        tops[lane] = larger(at(i + lane), tops[lane]);
    for (; i < size; ++i)
      tops[0] = larger(at(i), tops[0]);
    for (T top : tops)
      largest = larger(top, largest);
  }
  /// Of elements from `start` on; how many these are. Whole registers are
  /// computed: what is behind the last one is 0.
  Index exponentiate(Index start) {
    const Index count = min(size - start, most);
    MN_INDEPENDENT
    for (Index i = 0; i < count; ++i)
      exponentials[i] = at(start + i) - largest;
    const Index whole = (count + lanes - 1) / lanes * lanes;
    for (Index i = count; i < whole; ++i)
      exponentials[i] = 0;
    MN_INDEPENDENT
    for (Index i = 0; i < whole; ++i)
      exponentials[i] = exp(exponentials[i]);
    return count;
  }
  /// Of all of them: those of each lane first, at last those that fill none.
  T sum() {
    T sums[lanes] = {}, all = 0;
    Index count = 0;
    for (Index start = 0; start < size; start += most) {
      count = exponentiate(start);
      for (Index i = 0; i + lanes <= count; i += lanes)
        for (Index lane = 0; lane < lanes; ++lane)
          sums[lane] += exponentials[i + lane];
    }
    for (T lane : sums)
      all += lane;
    for (Index i = count / lanes * lanes; i < count; ++i)
      all += exponentials[i];
    return all;
  }
  /// A NaN in the row is one in every result.
  void store(T sum) {
    for (Index start = 0; start < size; start += most) {
      const Index count =
          size <= most || log ? min(size - start, most) : exponentiate(start);
      MN_INDEPENDENT
      for (Index i = 0; i < count; ++i)
        f.store(first + (start + i) * stride,
                log ? softmaxElement<true>(at(start + i), largest, sum)
                    : exponentials[i] / sum);
    }
  }
};

template <bool log, typename T, typename F, typename Stride>
void softmaxRows(const Softmax &s, Stride inner, const F &functor) {
  parallelFor(s.outer * inner, 16 * s.size, [&](int64_t row) {
    const F f = functor;
    const Index size = static_cast<Index>(s.size);
    SoftmaxRow<log, T, F, Stride> all(
        f, row / inner * size * inner + row % inner, size, inner);
    all.findLargest();
    all.store(all.sum());
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
