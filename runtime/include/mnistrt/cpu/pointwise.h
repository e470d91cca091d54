//===- pointwise.h - one element or one row at a time -----------*- C++ -*-===//
//
// The kinds of step whose results come from one element or one row each.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POINTWISE_H
#define MNISTRT_CPU_POINTWISE_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/math.h"

#define MN_POINTWISE_KERNEL(NAME, F)
#define MN_SOFTMAX_KERNEL(NAME, T, F, ...)

namespace mn {

template <typename F>
void pointwise(Context &, const char *, Index count, const F &functor) {
  parallelRanges(count, 1, [&functor](int64_t begin, int64_t end) {
    // A copy, whose pointers no store can change.
    const F f = functor;
    const Element last = static_cast<Element>(end);
    MN_INDEPENDENT
    for (Element i = static_cast<Element>(begin); i < last; ++i)
      f(i);
  });
}

namespace detail {

/// One row: `size` elements, `stride` apart, from `first`.
template <typename T, typename F>
void softmaxRow(const F &f, Index first, Index size, Index stride, bool log) {
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
  const auto finish = [&](auto element) {
    MN_INDEPENDENT
    for (Index j = 0; j < size; ++j) {
      const Index at = first + j * stride;
      f.store(at, element(f.load(at)));
    }
  };
  if (log)
    finish([&](T x) { return softmaxElement<true>(x, largest, sum); });
  else
    finish([&](T x) { return softmaxElement<false>(x, largest, sum); });
}

} // namespace detail

template <typename T, typename F>
void softmax(Context &, const char *, Softmax s, const F &functor) {
  parallelFor(s.outer * s.inner, 16 * s.size, [&](int64_t row) {
    const F f = functor;
    const Index size = static_cast<Index>(s.size);
    const Index inner = static_cast<Index>(s.inner);
    const Index first = static_cast<Index>(row / s.inner) * size * inner +
                        static_cast<Index>(row % s.inner);
    if (inner == 1)
      detail::softmaxRow<T>(f, first, size, Index(1), s.log);
    else
      detail::softmaxRow<T>(f, first, size, inner, s.log);
  });
}

} // namespace mn

#endif // MNISTRT_CPU_POINTWISE_H
