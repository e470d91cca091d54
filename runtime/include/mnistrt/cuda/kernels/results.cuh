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
  /// The first or second of two neighbours of a channel, of which this is the
  /// first: the compiler sees that it is at an even place.
  MN_DEVICE ChannelIndex ofPair(int k) const {
    return {(number & Index(-2)) + k, channel};
  }
};

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

/// Stores those at `place`, or none, from their sums; each `m` are next to each
/// other, and there or not.
template <int m = 1, int n, typename F, typename At, typename T>
MN_DEVICE void storeResults(const F &f, const At (&place)[n],
                            const T (&sum)[n]) {
  using Elements = decltype(elementsOf(f, place[0]));
  Elements e[n];
  decltype(resultOf(f, place[0], T(0), e[0])) v[n];
  // Without branches, so that all loads are under way together.
  const auto at = [&](int j) {
    return place[j / m * m] == none ? At{Index(j % m)} : place[j];
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
    if (place[j] != none)
#pragma unroll
      for (int k = 0; k < m; ++k)
        f.store(place[j + k], v[j + k]);
}

/// The largest number up to `most` that `turns` is a multiple of.
MN_SHAPE_FN int togetherOf(int turns, int most = 16) {
  int n = shape::min(turns, most);
  while (turns % n != 0)
    --n;
  return n;
}

/// Stores results number `first`, `first + step` and so on, `turns` of them,
/// but for those from `end` on. Number e is at place(e), if has(e); sum(e, has)
/// gives its sum, and of one that there is not anything. `loads`: where it
/// reads what other blocks have.
template <int turns, bool loads, typename F, typename Has, typename Place,
          typename Sum>
MN_DEVICE void storeEach(const F &f, int first, int step, int end,
                         const Has &has, const Place &place, const Sum &sum) {
  constexpr int n = loads || ComputesResults<F> ? togetherOf(turns) : 1;
#pragma unroll(n == 1 ? 4 : 1)
  for (int turn = 0; turn < turns; turn += n) {
    const int begin = first + turn * step;
    if constexpr (n == 1) {
      if (begin < end && has(begin))
        storeResult(f, place(begin), sum(begin, true));
    } else {
      decltype(place(0)) at[n];
      decltype(sum(0, true)) v[n];
#pragma unroll
      for (int j = 0; j < n; ++j) {
        const int e = begin + j * step;
        at[j] = placeIf(e < end && has(e), place(e));
        v[j] = sum(e, at[j] != none);
      }
      storeResults(f, at, v);
    }
  }
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
