//===- parallel.h - loops over all cores ------------------------*- C++ -*-===//
//
// OpenMP, where the work pays for waking the threads. What a thread computes
// never depends on how many there are: results are the same bits on every
// machine with the same instructions.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_PARALLEL_H
#define MNISTRT_CPU_PARALLEL_H

#include "mnistrt/model.h"

// Iterations of the loop that follows do not depend on each other: a result
// may be where an operand was, but only for the same element.
#ifdef __clang__
#define MN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MN_INDEPENDENT _Pragma("GCC ivdep")
#endif

// The loop that follows has few iterations, fewer than an array has elements:
// compilers would write the code of each of them.
#ifdef __clang__
#define MN_ONE_BY_ONE _Pragma("clang loop unroll(disable)")
#else
#define MN_ONE_BY_ONE _Pragma("GCC unroll 1")
#endif

// What takes a loop's body as an argument: only where all of it is one function
// does a loop become SIMD code.
#define MN_ALWAYS_INLINE __attribute__((always_inline))
#define MN_INLINED MN_ALWAYS_INLINE inline

// The runtime's own libraries are compiled without OpenMP.
#ifdef _OPENMP
#define MN_THREADS _Pragma("omp parallel for schedule(static)")
#else
#define MN_THREADS
#endif

namespace mn {

/// Work, in elements touched or multiplications, that is worth a second thread:
/// some ten microseconds.
constexpr int64_t parallelGrain = 32768;

namespace detail {

/// Calls run(f, begin, end) for parts of `each` of [0, count). A function of
/// its own: what it runs is compiled once, for one thread as for many.
[[gnu::noinline]] inline void runParts(int64_t count, int64_t each,
                                       void (*run)(const void *f, int64_t begin,
                                                   int64_t end),
                                       const void *f) {
  const int64_t parts = (count + each - 1) / each;
  MN_THREADS
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = part * each;
    run(f, begin, begin + each < count ? begin + each : count);
  }
}

template <typename F>
[[gnu::noinline]] void callRange(const void *f, int64_t begin, int64_t end) {
  (*static_cast<const F *>(f))(begin, end);
}

} // namespace detail

/// Calls f(begin, end) for parts of [0, count) that together cover it; `work`
/// is what one of them costs. Parts begin at multiples of `apart`, so that no
/// two threads write to one cache line.
template <typename F>
void parallelRanges(int64_t count, int64_t work, const F &f,
                    int64_t apart = 64) {
  const int64_t parts = count * work / parallelGrain;
  if (parts < 2)
    return detail::callRange<F>(&f, 0, count);
  detail::runParts(count,
                   ((count + parts - 1) / parts + apart - 1) / apart * apart,
                   detail::callRange<F>, &f);
}

/// Calls f(i) for each i in [0, count); `work` is what one of them costs.
template <typename F>
void parallelFor(int64_t count, int64_t work, const F &f) {
  const auto range = [&f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      f(i);
  };
  if (count < 2 || count * work < 2 * parallelGrain)
    return detail::callRange<decltype(range)>(&range, 0, count);
  // More parts than threads, so that each thread gets nearly as many.
  constexpr int64_t most = 1024;
  detail::runParts(count, (count + most - 1) / most,
                   detail::callRange<decltype(range)>, &range);
}

} // namespace mn

#endif // MNISTRT_CPU_PARALLEL_H
