//===- results.cuh - results of a contraction are stored --------*- C++ -*-===//
//
// A sum v becomes result i by F::store(i, v) of the step's functor F, or where
// memory is read for that (a bias, a mask, a parameter that is updated) by
//
//   elements(i)        elements number i of other tensors, if it takes any
//   result(i, v, e)    what becomes of it, with these if there are
//   store(i, that)
//
// so that a thread loads what several results need before it stores the first:
// as far as a compiler knows, a store changes what a load after it reads. Nor
// does it move loads before branches, such as that of a division.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_RESULTS_CUH
#define MNISTRT_CUDA_KERNELS_RESULTS_CUH

#include "mnistrt/cuda/kernels/common.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// The place of a result that there is not, an Index or what has one.
inline constexpr Index none = -1;
template <typename At> MN_DEVICE At placeIf(bool isThere, At place) {
  return isThere ? place : At{none};
}

/// The index of a result, where P results of a channel are adjacent, that also
/// says which of C channels this is: a functor that finds the channel by
/// divisions takes none.
template <int P, int C> struct ChannelIndex {
  static constexpr int adjacent = P, channels = C;
  struct Plane {
    Index number;
    int channel;
    bool isPlane;
    MN_DEVICE operator Index() const { return number; }
    MN_DEVICE Index operator%(int n) const {
      return isPlane && n == C ? Index(channel) : number % n;
    }
  };
  Index number;
  int channel;
  MN_DEVICE operator Index() const { return number; }
  MN_DEVICE Plane operator/(int n) const {
    return {number / n, channel, n == P};
  }
  MN_DEVICE Index operator%(int n) const {
    return P == 1 && n == C ? Index(channel) : number % n;
  }
};

/// Number k of `m` neighbours, of which `first` is the first one: the compiler
/// sees that it is at a multiple of m.
template <int m> MN_DEVICE Index neighbourOf(Index first, int k) {
  return (first & Index(-m)) + k;
}
template <int m, int P, int C>
MN_DEVICE ChannelIndex<P, C> neighbourOf(ChannelIndex<P, C> first, int k) {
  return {neighbourOf<m>(first.number, k),
          P == 1 ? first.channel + k : first.channel};
}

/// Whether what becomes of a result takes elements of other tensors.
template <typename F>
concept TakesElements = requires(const F &f) { f.elements(Index(0)); };

struct NoElements {};
template <typename F, typename At> MN_DEVICE auto elementsOf(const F &f, At i) {
  if constexpr (TakesElements<F>)
    return f.elements(i);
  else
    return NoElements();
}

/// Of all elements before anything is computed of one: a compiler that is short
/// of registers would load each just before that, and wait for one after the
/// other. Words get a part of all of them, which is 0.
template <int n, typename Elements>
MN_DEVICE void arriveTogether(Elements (&e)[n]) {
  if constexpr (sizeof(Elements) % sizeof(unsigned) == 0) {
    constexpr int words = int(sizeof(e) / sizeof(unsigned));
    unsigned word[words], all = 0;
    memcpy(word, e, sizeof(e));
#pragma unroll
    for (int i = 0; i < words; ++i)
      all |= word[i];
    all &= unknownZero();
#pragma unroll
    for (int i = 0; i < words; ++i)
      word[i] |= all;
    memcpy(e, word, sizeof(e));
  }
}

/// Whether a functor computes a result before it stores it.
template <typename F>
concept ComputesResults =
    TakesElements<F> || requires(const F &f) { f.result(Index(0), 0); };

/// What is stored of a result.
template <typename F, typename At, typename T, typename Elements>
MN_DEVICE auto resultOf(const F &f, At i, T v, const Elements &e) {
  if constexpr (TakesElements<F>)
    return f.result(i, v, e);
  else if constexpr (ComputesResults<F>)
    return f.result(i, v);
  else
    return v;
}

/// Stores the result at `place`, of those that there are, from its sum.
template <typename F, typename At, typename T>
MN_DEVICE void storeResult(const F &f, At place, T sum) {
  f.store(place, resultOf(f, place, sum, elementsOf(f, place)));
}

/// Stores `m` neighbours from the first one's place on.
template <int m, typename F, typename At, typename V>
MN_DEVICE void storeNeighbours(const F &f, At first, const V *values) {
  const auto &v = *reinterpret_cast<const V(*)[m]>(values);
  if constexpr (m == 1)
    f.store(first, v[0]);
  else if constexpr (requires { f.store(v, Offset(first)); })
    f.store(v, Offset(first));
  else
#pragma unroll
    for (int k = 0; k < m; ++k)
      f.store(neighbourOf<m>(first, k), v[k]);
}

/// Stores those at `place`, or none, from their sums; each `m` are next to each
/// other, and there or not. Elements are loaded of `some` place that there is,
/// a multiple of m, where there is no result.
template <int m = 1, int n, typename F, typename At, typename T>
MN_DEVICE void storeResults(const F &f, const At (&place)[n], const T (&sum)[n],
                            Index some = 0) {
  using Elements = decltype(elementsOf(f, place[0]));
  Elements e[n];
  decltype(resultOf(f, place[0], T(0), e[0])) v[n];
  const auto isThere = [&](int j) { return place[j / m * m] != none; };
  const auto neighbour = [&](int j) {
    if constexpr (m == 1)
      return place[j];
    else
      return neighbourOf<m>(place[j / m * m], j % m);
  };
  // Without branches, so that all loads are under way together.
  const auto at = [&](int j) {
    return isThere(j) ? neighbour(j) : At{some + Index(j % m)};
  };
#pragma unroll
  for (int j = 0; j < n; ++j)
    e[j] = elementsOf(f, at(j));
  arriveTogether(e);
#pragma unroll
  for (int j = 0; j < n; ++j)
    v[j] = resultOf(f, at(j), sum[j], e[j]);
#pragma unroll
  for (int j = 0; j < n; j += m)
    if (isThere(j))
      storeNeighbours<m>(f, neighbour(j), &v[j]);
}

/// The largest number up to `most` that `turns` is a multiple of.
MN_SHAPE_FN int togetherOf(int turns, int most = 16) {
  int n = shape::min(turns, most);
  while (turns % n != 0)
    --n;
  return n;
}

/// Sums next to each other.
template <typename T, int m> struct alignas(m * sizeof(T)) Sums {
  T v[m];
  MN_DEVICE void operator+=(const Sums &other) {
#pragma unroll
    for (int k = 0; k < m; ++k)
      v[k] += other.v[k];
  }
};

/// Stores results from number `first` on, `m` next to each other at a time,
/// which are in memory next to each other too; then those from `first + step`
/// on, and so on, `turns` times, but for those from `end` on. Number e is at
/// place(e), if has(e); sums(e, has) gives its sum and those of its neighbours,
/// and of one that there is not anything. Without branches: a thread would wait
/// for each by itself.
template <int turns, int m, typename F, typename Has, typename Place,
          typename SumsOf>
MN_DEVICE void storeGroups(const F &f, int first, int step, int end,
                           const Has &has, const Place &place,
                           const SumsOf &sums) {
  constexpr int together = togetherOf(turns, shape::max(1, 16 / m));
#pragma unroll 1
  for (int turn = 0; turn < turns; turn += together) {
    decltype(place(0)) at[together * m];
    decltype(sums(0, true).v[0] + 0) v[together * m];
#pragma unroll
    for (int j = 0; j < together; ++j) {
      const int e = first + (turn + j) * step;
      const bool isThere = e < end && has(e);
      const auto group = sums(e, isThere);
#pragma unroll
      for (int k = 0; k < m; ++k) {
        at[j * m + k] = placeIf(isThere, place(e)); // read of the first one
        v[j * m + k] = group.v[k];
      }
    }
    storeResults<m>(f, at, v);
  }
}

/// The same of single results, of which sum(e, has) gives the sum.
template <int turns, typename F, typename Has, typename Place, typename Sum>
MN_DEVICE void storeEach(const F &f, int first, int step, int end,
                         const Has &has, const Place &place, const Sum &sum) {
  using T = decltype(sum(0, true));
  storeGroups<turns, 1>(
      f, first, step, end, has, place,
      [&](int e, bool isThere) { return Sums<T, 1>{{sum(e, isThere)}}; });
}

/// How many results a thread stores at once where `columns` of them are next to
/// each other in memory, which begin at a multiple of that.
template <typename T> MN_SHAPE_FN int adjacentOf(int64_t columns) {
  constexpr int inWord = 16 / int(sizeof(T));
  return columns % inWord == 0 ? inWord : 1;
}

/// The results of a product: has(batch, row, column), and place(of that).
template <typename F, typename Place, typename Has> struct ProductResults {
  using Functor = F;
  const F &f;
  Place place;
  Has has;
};
template <typename F, typename Place, typename Has>
MN_DEVICE ProductResults<F, Place, Has>
resultsAt(const F &f, const Place &place, const Has &has) {
  return {f, place, has};
}
template <typename F, typename Place>
MN_DEVICE auto resultsAt(const F &f, const Place &place) {
  return resultsAt(f, place, [](int, int, int) { return true; });
}

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_RESULTS_CUH
