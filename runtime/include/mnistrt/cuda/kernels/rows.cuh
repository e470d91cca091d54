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
// A load is under way until its value is needed, which no barrier changes: what
// begin() loads for all threads of a row may not be where storeRow() stores.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_CUH

#include "mnistrt/cuda/kernels/row_moments.cuh"
#include "mnistrt/cuda/kernels/rows_elements.cuh"
#include "mnistrt/cuda/kernels/rows_tall.cuh"
#include "mnistrt/cuda/launches.h"

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

/// Where the warps of a team leave their sums: each phase has its own place.
struct OwnJoins {
  template <typename State, int count, int phase>
  static MN_DEVICE State *memory() {
    __shared__ State ofWarps[count];
    return ofWarps;
  }
};

/// Of a block of so many threads.
template <typename F, Reduce S, shape::RowTeams teams = shape::rowTeamsOf<F>(S),
          int threads = teams.threads(), typename Joins = OwnJoins>
struct RowKernel {
  static constexpr bool hasTotals = HasTotals<F>;
  static constexpr shape::RowTeams t = teams;
  using Element = typename F::ElementValues;
  using Row = typename F::RowValues;

  using Elements = RowElements<F, S, t, threads>;
  using Place = typename Elements::Place;
  using Spot = typename Elements::Spot;
  using Held = typename Elements::Held;
  static constexpr int wide = t.wide, splits = Elements::splits;
  static_assert(splits <= t.team, "each block gets a member's sum");
  static constexpr int phases = F::Phases::count;
  template <int p> using Kind = typename F::Phases::template At<p>;
  template <int p> using State = typename Kind<p>::State;
  /// What a block has of a row after phase `p`, and after the next where the
  /// two are put together at once.
  template <int p>
  static constexpr bool isMean =
      splits > 1 && !t.ragged && shape::takesMoments<F, p>;
  template <int p> using Shared = PartOfRow<F, p, isMean<p>>;

  // How blocks that have all rows together get totals.
  static constexpr bool byCluster = hasTotals && hasClusters && t.groups > 1 &&
                                    t.isOneCluster();
  static constexpr bool byTicket = hasTotals && t.groups > 1 && !byCluster;
  using Parts = typename TotalParts<F, byTicket ? t.groups : 0>::Type;

  using Lanes = TeamLanes<t.alongElements, t.team, t.rows>;

  /// The sum over the block's members of the team, in all of its threads.
  template <int p>
  static MN_DEVICE State<p> joinBlock(State<p> s, int member, int row) {
#pragma unroll
    for (int lanes = Lanes::widest; lanes >= Lanes::narrowest; lanes /= 2) {
      State<p> other;
#pragma unroll
      for (int i = 0; i < Kind<p>::count; ++i)
        other.v[i] = shuffleState(s.v[i], lanes);
      s = Kind<p>::joinAll(s, other);
    }
    if constexpr (Lanes::warps > 1) {
      State<p> *ofWarps =
          Joins::template memory<State<p>, Lanes::warps * t.rows, p>();
      if (member % Lanes::members == 0)
        ofWarps[member / Lanes::members * t.rows + row] = s;
      __syncthreads();
      s = ofWarps[row];
#pragma unroll
      for (int warp = 1; warp < Lanes::warps; ++warp)
        s = Kind<p>::joinAll(s, ofWarps[warp * t.rows + row]);
    }
    return s;
  }

  using Sent = SentParts<Shared, phases, splits, t.rows>;
  template <int p> using SentAfter = typename Sent::template After<p>;
  /// What each block of the row has, known to all.
  template <int p>
  static MN_DEVICE const SentAfter<p> &exchange(const Shared<p> &s, int member,
                                                int row) {
    SentAfter<p> &sent = Sent::template after<p>();
    const int split = int(blockIdx.x) % splits;
    const int first = byCluster ? int(blockIdx.x) / splits * splits : 0;
    // Not before the others run.
    if constexpr (p == 0)
      clusterWait();
    if (member < splits)
      sent.send(s, split, row, first + member);
    sent.wait();
    return sent;
  }

  template <int p>
  static MN_DEVICE State<p> sumOfBlocks(const SentAfter<p> &sent, int row) {
    State<p> s = sent.at(0, row).sum;
#pragma unroll
    for (int block = 1; block < splits; ++block)
      s = Kind<p>::joinAll(s, sent.at(block, row).sum);
    return s;
  }

  /// The sum over the team, in all of its threads.
  template <int p>
  static MN_DEVICE State<p> joinTeam(State<p> s, int member, int row) {
    s = joinBlock<p>(s, member, row);
    if constexpr (splits > 1)
      s = sumOfBlocks<p>(exchange<p>({s}, member, row), row);
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
    store(f, v, spot);
  }
  template <typename Stored>
  static MN_DEVICE void store(const F &f, const Stored (&v)[wide],
                              const Spot &spot) {
    if (spot.isWhole())
      return f.store(v, spot.place);
#pragma unroll
    for (int j = 0; j < wide; ++j)
      if (spot.has(j)) {
        const Stored one[1] = {v[j]};
        f.store(one, Offset(spot.place) + j);
      }
  }

  /// What the thread's elements give to a phase; with their results, which are
  /// stored where the row is `inside`, if these are known.
  template <int p>
  static MN_DEVICE State<p> sumOf(Held &e, const F &f, const Row &row,
                                  const Place &at, bool inside) {
    State<p> s = Kind<p>::noneOfAll();
    Elements::forEach(e, f, at, [&](const Element(&x)[wide], const Spot &spot) {
      // Also of other rows' elements: neighbours share random numbers.
      typename StoredInPhase<F, p>::Type stored[wide];
      decltype(valuesOf<p>(f, row, x[0], at.o, spot.r,
                           neighbour<wide>(spot.place, 0), stored[0])) v[wide];
#pragma unroll
      for (int j = 0; j < wide; ++j)
        v[j] = valuesOf<p>(f, row, x[j], at.o, spot.r + j,
                           neighbour<wide>(spot.place, j), stored[j]);
#pragma unroll
      for (int j = 0; j < wide; ++j)
        if (spot.has(j))
          s = Kind<p>::joinAll(s, Kind<p>::ofAll(v[j], spot.r + j));
      if constexpr (storesInPhase<F, p>)
        if (inside)
          store(f, stored, spot);
    });
    return at.isIdle ? Kind<p>::noneOfAll() : s;
  }

  /// A mean and the squares of differences from it, of the block's elements
  /// first.
  template <int p>
  static MN_DEVICE void takeMoments(Held &e, const F &f, Row &row,
                                    const Place &at, int member, int number) {
    Shared<p> mine;
    mine.sum = joinBlock<p>(sumOf<p>(e, f, row, at, false), member, number);
    Row own = row;
    const int64_t count = Elements::countOf(int(blockIdx.x) % splits);
    f.take(Phase<p>{}, mine.resultsOf(count, S.size), own, at.o);
    mine.squares =
        joinBlock<p + 1>(sumOf<p + 1>(e, f, own, at, false), member, number);
    const auto &sent = exchange<p>(mine, member, number);
    const State<p> sum = sumOfBlocks<p>(sent, number);
    State<p + 1> squares = Kind<p + 1>::noneOfAll();
#pragma unroll
    for (int block = 0; block < splits; ++block)
      sent.at(block, number)
          .addSquares(squares, Elements::countOf(block), sum, S.size);
    f.take(Phase<p>{}, Kind<p>::results(sum), row, at.o);
    f.take(Phase<p + 1>{}, Kind<p + 1>::results(squares), row, at.o);
  }

  template <int p>
  static MN_DEVICE void runPhases(Held &e, const F &f, Row &row,
                                  const Place &at, int member, int number,
                                  bool inside) {
    if constexpr (p < phases) {
      if constexpr (isMean<p>)
        takeMoments<p>(e, f, row, at, member, number);
      else
        f.take(Phase<p>{},
               Kind<p>::results(joinTeam<p>(sumOf<p>(e, f, row, at, inside),
                                            member, number)),
               row, at.o);
      runPhases<p + Shared<p>::phases>(e, f, row, at, member, number, inside);
    }
  }

  /// A row from its first phase to its results, which are stored where it is
  /// `inside`; what there is one of for the row by the first block. `at` and
  /// `e` are of Elements::find().
  static MN_DEVICE void runRow(Held &e, const F &f, Row &row, const Place &at,
                               int split, int member, int number, bool inside) {
    f.begin(row, at.o);
    if constexpr (Elements::keeps)
      Elements::loadAll(e, f, at);
    // Rows that are loaded again in each phase hold no next kernel back.
    afterLastLoads<F>();
    runPhases<0>(e, f, row, at, member, number, inside && !at.isIdle);
    if (!inside || at.isIdle)
      return;
    if constexpr (F::storesElements && !StoresInLastPhase<F>)
      Elements::forEach(e, f, at,
                        [&](const Element(&x)[wide], const Spot &spot) {
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
    const int64_t group = blockIdx.x / t.splits;
    const int split = int(blockIdx.x % t.splits);
    if (split >= splits)
      return gridDependencySync();
    if constexpr (splits > 1) {
      if (threadIdx.x == 0)
        Sent::expect();
      clusterStart();
    }
    const int number =
        t.alongElements ? threadIdx.x / t.team : threadIdx.x % t.rows;
    const int member =
        t.alongElements ? threadIdx.x % t.team : threadIdx.x / t.rows;
    const int64_t o = group * t.rows + number;
    const bool inside = o < S.outputs;
    // Threads without a row go with the last one: all meet at barriers.
    const Index mine = Index(inside ? o : S.outputs - 1);
    Held e;
    const Place at =
        Elements::template find</*isEarly=*/true>(e, f, mine, split, member);
    gridDependencySyncOf<F>();
    Row row{};
    runRow(e, f, row, at, split, member, number, inside);
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
  MN_GLOBAL_CLUSTERS(mn::shape::rows(__VA_ARGS__, mn::shape::rowTraits<F>))    \
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
  const RowLaunches all = rowLaunches(s, shape::rowTraits<F>);
  for (int n = 0; n < all.count; ++n) {
    void *arguments[] = {const_cast<F *>(&functor), &n};
    launch(ctx, kernel, all.shape, arguments);
  }
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_ROWS_CUH
