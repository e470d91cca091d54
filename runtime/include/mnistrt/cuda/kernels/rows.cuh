//===- rows.cuh - steps that reduce rows ------------------------*- C++ -*-===//
//
// A team of threads has a row (mnistrt/rows.h), from its first phase to its
// results: what a thread loads it keeps in registers where they suffice, else
// it loads it again in each phase. Results that need nothing of the last phase
// are stored in it: no element is loaded, no random number drawn for them
// alone. Neighbouring threads have neighbouring elements, or fours of them,
// where these are adjacent in memory, else neighbouring rows, of large tensors
// in rows_tall.cuh. Single elements of a thread are whole runs apart where
// these are equally far apart in memory. Of a row of which runs begin anywhere
// some of a four may be another row's: they are loaded, and left alone. A large
// row has the blocks of a cluster, which write their sums to each other's
// shared memory. Totals over all rows are made by one block, a cluster, or the
// last block to end its rows. The order of all sums is fixed.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_CUH

#include "mnistrt/cuda/kernels/rows_tall.cuh"

namespace mn {

#ifdef __CUDACC__

namespace device {

/// Scratch memory of a kernel whose blocks have a part of totals each.
template <typename F, int64_t blocks> struct TotalParts {
  using Type = Scratch<TotalsOf<F>, blocks, 1>;
};
template <typename F> struct TotalParts<F, 0> {
  using Type = NoScratch;
};

/// Of a block of so many threads.
template <typename F, Reduce S, shape::RowTeams teams = shape::rowTeamsOf<F>(S),
          int threads = teams.threads()>
struct RowKernel {
  static constexpr bool hasTotals = HasTotals<F>;
  static constexpr shape::RowTeams t = teams;
  using Element = typename F::ElementValues;
  using Row = typename F::RowValues;

  // Without clusters one block of those that share a row does all of it.
  static constexpr int splits = hasClusters ? t.splits : 1;
  static_assert(splits <= t.team, "each block gets a member's sum");
  static constexpr int phases = F::Phases::count;
  template <int p>
  static constexpr bool storesInPhase = StoresInLastPhase<F> && p == phases - 1;

  // How blocks that have all rows together get totals.
  static constexpr bool byCluster = hasTotals && hasClusters && t.groups > 1 &&
                                    t.isOneCluster();
  static constexpr bool byTicket = hasTotals && t.groups > 1 && !byCluster;
  using Parts = typename TotalParts<F, byTicket ? t.groups : 0>::Type;

  // Of a team, `laneTeam` members are in one warp, which has `laneRows`.
  static constexpr int laneRows =
      t.alongElements ? 32 / shape::min(t.team, 32) : shape::min(t.rows, 32);
  static constexpr int laneTeam = 32 / laneRows;
  static constexpr int warpsApart = t.team / laneTeam;
  // How far apart in a warp they are, at most and at least.
  static constexpr int widest = t.alongElements ? laneTeam / 2 : 16;
  static constexpr int narrowest = t.alongElements ? 1 : laneRows;

  // What a thread has of a row, in registers if it fits. Of neighbours that it
  // has all are inside the row, or none is, but for ragged ones.
  static constexpr int wide = t.wide;
  static_assert(t.ragged || S.size % wide == 0);
  /// Where a thread's elements are whole runs apart, no division says where
  /// the next one is: of a team so many threads have elements.
  static constexpr int atWork = shape::threadsAtWork<F>(S, t);
  static constexpr bool byRuns = shape::goesByRuns<F>(S, t);
  /// Numbers of elements. By 64 bits the compiler unrolls no loop more than is
  /// said: it would put loads off to where they are used.
  using Number = typename Choice<byRuns, RowNumber<S>, int64_t>::Type;
  static constexpr Number all = t.ragged ? 4 * shape::raggedFours(S) : S.size;
  static constexpr Number stride = Number(atWork) * splits * wide;
  static constexpr Number each = shape::ceilDiv<Number>(all, stride);
  static constexpr bool keeps = shape::keepsRows<F>(S, t, threads);
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
  using Held = Element[atOnce][wide];

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

  /// Loads `count` times neighbours, from number `start` of the thread on;
  /// without branches: beyond the end they are the first ones.
  template <Turn turn, int count>
  static MN_DEVICE void load(Held &e, const F &f, const Place &at,
                             Number start) {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const Index place =
          spotOf(f, at, has<turn>(at, start + i) ? start + i : 0).place;
#pragma unroll
      for (int j = 0; j < wide; ++j)
        e[i][j] = f.load(Offset(place) + j);
    }
  }

  template <Turn turn, int count, typename Use>
  static MN_DEVICE void forSome(Held &e, const F &f, const Place &at,
                                Number start, const Use &use) {
    if constexpr (!keeps)
      load<turn, count>(e, f, at, start);
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (has<turn>(at, start + i))
        use(e[i], spotOf(f, at, start + i));
  }
  /// Calls use(neighbours, their spot) for all elements of the thread.
  template <typename Use>
  static MN_DEVICE void forEach(Held &e, const F &f, const Place &at,
                                const Use &use) {
    for (Number start = 0; start < sure; start += atOnce)
      forSome<Turn::whole, atOnce>(e, f, at, start, use);
    if constexpr (byRuns && each > sure && each - sure <= atOnce)
      forSome<Turn::last, int(each - sure)>(e, f, at, sure, use);
    else
      for (Number start = sure; start < each; start += atOnce)
        forSome<Turn::any, atOnce>(e, f, at, start, use);
  }

  /// The sum over the team, in all of its threads.
  template <int p, typename Kind, typename State>
  static MN_DEVICE State joinTeam(State s, int member, int row) {
#pragma unroll
    for (int lanes = widest; lanes >= narrowest; lanes /= 2) {
      State other;
#pragma unroll
      for (int i = 0; i < Kind::count; ++i)
        other.v[i] = shuffleState(s.v[i], lanes);
      s = Kind::joinAll(s, other);
    }
    if constexpr (warpsApart > 1) {
      __shared__ State ofWarps[warpsApart * t.rows];
      if (member % laneTeam == 0)
        ofWarps[member / laneTeam * t.rows + row] = s;
      __syncthreads();
      s = ofWarps[row];
#pragma unroll
      for (int warp = 1; warp < warpsApart; ++warp)
        s = Kind::joinAll(s, ofWarps[warp * t.rows + row]);
    }
    if constexpr (splits > 1) {
      __shared__ State ofBlocks[splits][t.rows];
      const int split = int(blockIdx.x) % splits;
      const int first = byCluster ? int(blockIdx.x) / splits * splits : 0;
      // Not before the others run.
      if constexpr (p == 0)
        clusterWait();
      if (member < splits)
        *inBlock(&ofBlocks[split][row], first + member) = s;
      clusterSync();
      s = ofBlocks[0][row];
#pragma unroll
      for (int block = 1; block < splits; ++block)
        s = Kind::joinAll(s, ofBlocks[block][row]);
    }
    return s;
  }

  /// The results of neighbours: all are computed before the first is stored.
  static MN_DEVICE void storeElements(const F &f, const Row &row,
                                      const Element (&x)[wide], Index o,
                                      const Spot &spot) {
    typename F::StoredValues v[wide];
#pragma unroll
    for (int j = 0; j < wide; ++j)
      v[j] =
          f.results(row, x[j], o, spot.r + j, neighbour<wide>(spot.place, j));
    if (spot.isWhole())
      return f.store(v, spot.place);
#pragma unroll
    for (int j = 0; j < wide; ++j)
      if (spot.has(j)) {
        const typename F::StoredValues one[1] = {v[j]};
        f.store(one, Offset(spot.place) + j);
      }
  }

  template <int p>
  static MN_DEVICE void runPhases(Held &e, const F &f, Row &row,
                                  const Place &at, int member, int number,
                                  bool inside) {
    if constexpr (p < phases) {
      using Kind = typename F::Phases::template At<p>;
      auto s = Kind::noneOfAll();
      forEach(e, f, at, [&](const Element(&x)[wide], const Spot &spot) {
        // Also of other rows' elements: neighbours share random numbers.
        decltype(f.values(Phase<p>{}, row, x[0], at.o, spot.r,
                          neighbour<wide>(spot.place, 0))) v[wide];
#pragma unroll
        for (int j = 0; j < wide; ++j)
          v[j] = f.values(Phase<p>{}, row, x[j], at.o, spot.r + j,
                          neighbour<wide>(spot.place, j));
#pragma unroll
        for (int j = 0; j < wide; ++j)
          if (spot.has(j))
            s = Kind::joinAll(s, Kind::ofAll(v[j], spot.r + j));
        if constexpr (storesInPhase<p>)
          if (inside)
            storeElements(f, row, x, at.o, spot);
      });
      if (at.isIdle)
        s = Kind::noneOfAll();
      s = joinTeam<p, Kind>(s, member, number);
      f.take(Phase<p>{}, Kind::results(s), row, at.o);
      runPhases<p + 1>(e, f, row, at, member, number, inside);
    }
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

  /// A row from its first phase to its results, which are stored where it is
  /// `inside`; what there is one of for the row by the first block.
  static MN_DEVICE void runRow(const F &f, Row &row, Index o, int split,
                               int member, int number, bool inside) {
    const Place at = placeFor(f, o, split, member);
    f.begin(row, at.o);
    Held e;
    if constexpr (keeps)
      load<byRuns ? Turn::last : Turn::any, atOnce>(e, f, at, 0);
    runPhases<0>(e, f, row, at, member, number, inside && !at.isIdle);
    if (!inside || at.isIdle)
      return;
    if constexpr (F::storesElements && !StoresInLastPhase<F>)
      forEach(e, f, at, [&](const Element(&x)[wide], const Spot &spot) {
        storeElements(f, row, x, at.o, spot);
      });
    if (split == 0 && member == 0)
      f.storeRow(row, at.o);
  }

  /// The sum of `count` parts, in the lanes of the first warp.
  template <typename Totals, typename PartAt>
  static MN_DEVICE Totals joinParts(int64_t count, const PartAt &partAt) {
    Totals s;
    s.clear();
    for (int64_t i = threadIdx.x; i < count; i += 32)
      s.join(*partAt(i));
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2)
      s.join(shuffleBytes(s, lanes));
    return s;
  }

  /// Takes the totals of all rows, in one thread of the grid. `isFirst`:
  /// whether the thread has a row that it gives to them.
  static MN_DEVICE void runTotals(const F &f, const Row &row, Index o,
                                  bool isFirst, int number, Parts &parts) {
    using Totals = TotalsOf<F>;
    __shared__ char memory[t.rows * sizeof(Totals)]
        __attribute__((aligned(16)));
    Totals *ofRows = reinterpret_cast<Totals *>(memory), s;
    s.clear();
    if (isFirst)
      s.addRow(f, row, o);
    const bool isMember =
        t.alongElements ? threadIdx.x % t.team == 0 : threadIdx.x < t.rows;
    if (isMember)
      ofRows[number] = s;
    __syncthreads();
    if (threadIdx.x < 32)
      s = joinParts<Totals>(t.rows, [&](int64_t i) { return ofRows + i; });
    if constexpr (byCluster) {
      if (threadIdx.x == 0)
        *ofRows = s;
      clusterSync();
      if (blockIdx.x == 0 && threadIdx.x < 32)
        s = joinParts<Totals>(t.groups, [&](int64_t i) {
          return inBlock(ofRows, int(i) * splits);
        });
      clusterArrive();
    }
    if constexpr (byTicket) {
      if (threadIdx.x == 0)
        parts.part[blockIdx.x / t.splits] = s;
      if (!lastToArrive(parts.ticket, unsigned(t.groups)))
        return;
      if (threadIdx.x < 32)
        s = joinParts<Totals>(t.groups,
                              [&](int64_t i) { return parts.part + i; });
    }
    if (threadIdx.x == 0 && (byTicket || blockIdx.x == 0)) {
      typename F::TotalValues totals{};
      s.take(f, totals);
      f.storeTotals(totals);
    }
    if constexpr (byCluster)
      clusterWait();
  }

  static MN_DEVICE void run(const F &functor, Parts &parts, int) {
    const F f = wide > 1 ? withAlignedTensors(functor) : functor;
    gridDependencySync();
    const int64_t group = blockIdx.x / t.splits;
    const int split = int(blockIdx.x % t.splits);
    if (split >= splits)
      return;
    if constexpr (splits > 1)
      clusterStart();
    const int number =
        t.alongElements ? threadIdx.x / t.team : threadIdx.x % t.rows;
    const int member =
        t.alongElements ? threadIdx.x % t.team : threadIdx.x / t.rows;
    const int64_t o = group * t.rows + number;
    const bool inside = o < S.outputs;
    // Threads without a row go with the last one: all meet at barriers.
    const Index mine = Index(inside ? o : S.outputs - 1);
    Row row{};
    runRow(f, row, mine, split, member, number, inside);
    if constexpr (hasTotals)
      if (byCluster || split == 0)
        runTotals(f, row, mine, inside && split == 0 && member == 0, number,
                  parts);
  }
};

template <typename F, Reduce S, shape::RowTeams t = shape::rowTeamsOf<F>(S)>
struct RowKernelFor {
  using Type = RowKernel<F, S, t>;
};
template <typename F, Reduce S, shape::RowTeams t>
  requires(t.tall > 1 && !t.byPhases)
struct RowKernelFor<F, S, t> {
  using Type = TallRowKernel<F, S, t>;
};
template <typename F, Reduce S, shape::RowTeams t>
  requires(t.byPhases)
struct RowKernelFor<F, S, t> {
  using Type = PhaseRowKernel<F, S, t>;
};
template <typename F, Reduce S>
using RowKernelOf = typename RowKernelFor<F, S>::Type;

} // namespace device

#define MN_ROWS_KERNEL(NAME, F, ...)                                           \
  __device__ mn::device::RowKernelOf<F, __VA_ARGS__>::Parts NAME##_parts;      \
  MN_GLOBAL_CLUSTERS(mn::shape::rows<F>(__VA_ARGS__))                          \
  NAME(const __grid_constant__ F f, const int launch MN_TIMES_ARGUMENT) {      \
    MN_RECORD_TIMES                                                            \
    mn::device::RowKernelOf<F, __VA_ARGS__>::run(f, NAME##_parts, launch);     \
  }

#else

#define MN_ROWS_KERNEL(NAME, F, ...)

template <typename F>
void rows(Context &ctx, const char *kernel, const Reduce &s, const F &functor) {
  if (s.outputs == 0)
    return;
  for (int n = 0; n < shape::rowLaunches<F>(s); ++n) {
    void *arguments[] = {const_cast<F *>(&functor), &n};
    launch(ctx, kernel, shape::rows<F>(s), arguments);
  }
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_ROWS_CUH
