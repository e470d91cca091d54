//===- rows_elements.cuh - which elements a thread has ----------*- C++ -*-===//
//
// Of a row (rows.cuh), and how it goes through them: neighbours, or single ones
// that are whole runs apart, loaded once where registers hold them.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_ELEMENTS_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_ELEMENTS_CUH

#include "mnistrt/cuda/kernels/rows_shape.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Of a block of so many threads.
template <typename F, Reduce S, shape::RowTeams t, int threads>
struct RowElements {
  using Element = typename F::ElementValues;
  // Without clusters one block of those that share a row does all of it.
  static constexpr int splits = hasClusters ? t.splits : 1;

  // What a thread has of a row, in registers if it fits. Of neighbours that it
  // has all are inside the row, or none is, but for ragged ones.
  static constexpr int wide = t.wide;
  static_assert(t.ragged || S.size % wide == 0);
  /// Where a thread's elements are whole runs apart, no division says where
  /// the next one is: of a team so many threads have elements.
  static constexpr int atWork = shape::threadsAtWork(S, shape::rowTraits<F>, t);
  static constexpr bool byRuns = shape::goesByRuns(S, shape::rowTraits<F>, t);
  /// Numbers of elements. By 64 bits the compiler unrolls no loop more than is
  /// said: it would put loads off to where they are used.
  using Number = typename Choice<byRuns, RowNumber<S>, int64_t>::Type;
  static constexpr Number all = t.ragged ? 4 * shape::raggedFours(S) : S.size;
  static constexpr Number stride = Number(atWork) * splits * wide;
  static constexpr Number each = shape::ceilDiv<Number>(all, stride);
  static constexpr bool keeps =
      shape::keepsRows(S, shape::rowTraits<F>, t, threads);
  /// Elements, or neighbours, that are on their way from memory at once: of few
  /// bytes more. To draw numbers takes longer, and much code for each.
  static constexpr int depth =
      wide == 1 || DrawsNumbers<F>
          ? shape::rowDepth / wide
          : shape::elementsUnderWay(wide * sizeof(Element));
  static constexpr int atOnce =
      keeps ? int(each) : int(shape::min<int64_t>(each, depth));
  /// So many, in turns of these, every thread has.
  static constexpr Number sure =
      byRuns && each >= 2 * atOnce ? all / stride / atOnce * atOnce : 0;

  /// Of the first element that a thread has of row `o`; where it has none, of
  /// the row's first.
  struct Place {
    Index o;
    Index first, begin; ///< its number, and where it is
    bool isIdle;
  };
  /// What a thread has in registers.
  struct Held {
    Element e[atOnce][wide];
    Index place[atOnce]; ///< where they are, if placesAreHeld
  };
  /// Of few elements, which are known before these can be loaded.
  static constexpr bool placesAreHeld = keeps && !byRuns && !t.ragged;

  /// Neighbours in memory, and which of them are the row's: numbers `from` to
  /// `to` - 1.
  struct Spot {
    Index place; ///< of the first; the compiler sees a multiple of their number
    Index r;     ///< its number in the row
    int from, to;

    MN_DEVICE bool has(int j) const {
      return !t.ragged || (j >= from && j < to);
    }
    MN_DEVICE bool isWhole() const { return !t.ragged || to - from == wide; }
  };
  /// Of the thread's elements that of number `n`.
  static MN_DEVICE Spot spotOf(const F &f, const Place &at, Number n) {
    const Index i = Index(at.first + n * stride);
    __builtin_assume(i >= 0 && i < all);
    if constexpr (byRuns) {
      constexpr Index apart = Index(stride / S.run * F::runsApart);
      return {(at.begin + Index(n) * apart) & Index(-wide), i, 0, wide};
    } else if constexpr (!t.ragged) {
      return {f.placeOf(at.o, i) & Index(-wide), i, 0, wide};
    } else {
      constexpr Index ofRun = shape::foursOfRun(S) * 4, run = S.run;
      const Index begin = i / ofRun * run, after = i % ofRun & Index(-wide);
      const Index first = f.placeOf(at.o, begin), whole = first & Index(-wide);
      const int before = int(first - whole);
      const int to = shape::min(int(before + run - after), wide);
      // Not beyond the tensor.
      if (to <= 0)
        return {whole, begin, 0, 0};
      return {(whole + after) & Index(-wide), begin + after - before,
              shape::max(int(before - after), 0), to};
    }
  }

  /// Of some elements of each thread: all threads have them; their numbers are
  /// constants; or nothing is known.
  enum class Turn { whole, last, any };
  /// Whether the thread has an element of number `n`.
  template <Turn turn> static MN_DEVICE bool has(const Place &at, Number n) {
    return turn == Turn::whole ||
           (turn == Turn::last && (n + 1) * stride <= all) ||
           at.first + n * stride < all;
  }

  /// Of what is loaded from number `start` of the thread on number `i`.
  template <Turn turn>
  static MN_DEVICE Index placeToLoad(const Held &held, const F &f,
                                     const Place &at, Number start, int i) {
    if constexpr (placesAreHeld) {
      const Index place = held.place[i] & Index(-wide);
      __builtin_assume(place >= 0);
      return place;
    } else {
      return spotOf(f, at, has<turn>(at, start + i) ? start + i : 0).place;
    }
  }

  /// Loads `count` times neighbours, from number `start` of the thread on;
  /// without branches: beyond the end they are the first ones.
  template <Turn turn, int count>
  static MN_DEVICE void load(Held &held, const F &f, const Place &at,
                             Number start) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const Index place = placeToLoad<turn>(held, f, at, start, i);
#pragma unroll
      for (int j = 0; j < wide; ++j)
        held.e[i][j] = f.load(neighbour<wide>(Offset(place), j));
    }
  }

  /// Those that stay in registers.
  static MN_DEVICE void loadAll(Held &held, const F &f, const Place &at) {
    load<byRuns ? Turn::last : Turn::any, atOnce>(held, f, at, 0);
  }

  /// Where the thread's elements of row `o` are: nothing is loaded. `isEarly`:
  /// before a kernel waits for who computes them.
  template <bool isEarly>
  static MN_DEVICE Place find(Held &held, const F &f, Index o, int split,
                              int member) {
    Place at = placeFor(f, o, split, member);
    if constexpr (placesAreHeld)
#pragma unroll
      for (int i = 0; i < atOnce; ++i)
        held.place[i] = spotOf(f, at, has<Turn::any>(at, i) ? i : 0).place;
    if constexpr (isEarly) {
      if constexpr (byRuns)
        at.begin = computedHere(at.begin);
      if constexpr (placesAreHeld)
#pragma unroll
        for (Index &place : held.place)
          place = computedHere(place);
    }
    return at;
  }

  template <Turn turn, int count, typename Use>
  static MN_DEVICE void forSome(Held &held, const F &f, const Place &at,
                                Number start, const Use &use) {
    if constexpr (!keeps)
      load<turn, count>(held, f, at, start);
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (has<turn>(at, start + i)) {
        if constexpr (placesAreHeld)
          use(held.e[i], Spot{placeToLoad<turn>(held, f, at, start, i),
                              Index(at.first + (start + i) * stride), 0, wide});
        else
          use(held.e[i], spotOf(f, at, start + i));
      }
  }
  /// Calls use(neighbours, their spot) for all elements of the thread.
  template <typename Use>
  static MN_DEVICE void forEach(Held &held, const F &f, const Place &at,
                                const Use &use) {
    for (Number start = 0; start < sure; start += atOnce)
      forSome<Turn::whole, atOnce>(held, f, at, start, use);
    if constexpr (byRuns && each > sure && each - sure <= atOnce)
      forSome<Turn::last, int(each - sure)>(held, f, at, sure, use);
    else
      for (Number start = sure; start < each; start += atOnce)
        forSome<Turn::any, atOnce>(held, f, at, start, use);
  }

  static MN_DEVICE Place placeFor(const F &f, Index o, int split, int member) {
    const int64_t first = (int64_t(split) * atWork + member) * wide;
    const bool isIdle =
        (byRuns || stride > all) && (member >= atWork || first >= all);
    Place at{o, Index(isIdle ? 0 : first), 0, isIdle};
    if constexpr (byRuns)
      at.begin = f.placeOf(o, at.first);
    return at;
  }

  /// So many elements of a row block number `split` of the row's has.
  static MN_SHAPE_FN int64_t countOf(int split) {
    return shape::elementsOf(S, int64_t(atWork) * wide, splits, split);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_ROWS_ELEMENTS_CUH
