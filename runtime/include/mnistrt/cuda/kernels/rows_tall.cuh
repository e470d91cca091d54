//===- rows_tall.cuh - rows that lie side by side in memory -----*- C++ -*-===//
//
// As rows.cuh, of large tensors whose rows are columns in memory: a thread has
// four rows next to each other, so that it loads and stores 16 bytes at a time.
// Where there are few rows, all blocks have a part of them, and each phase is a
// launch: the last block to end it adds the parts up, always in the same order,
// and the next launch begins with these sums. Without totals.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_TALL_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_TALL_CUH

#include "mnistrt/cuda/kernels/row_moments.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What a thread does with its part of four rows, which `splits` blocks share.
template <typename F, Reduce S, shape::RowTeams t, int splits> struct TallRows {
  using Element = typename F::ElementValues;
  using Row = typename F::RowValues;
  static constexpr int tall = t.tall, columns = t.rows / tall;
  static constexpr int phases = F::Phases::count;

  using Lanes = TeamLanes</*along=*/false, t.team, columns>;
  /// Else members of a team are in no equal lanes of warps.
  static constexpr bool hasLanes =
      (columns & (columns - 1)) == 0 && (t.team & (t.team - 1)) == 0;

  /// Numbers of elements.
  using Number = RowNumber<S>;
  static constexpr Number stride = Number(t.team) * splits;
  static constexpr Number each = shape::ceilDiv<Number>(S.size, stride);
  /// Elements of each row that are on their way from memory at once.
  static constexpr int atOnce = int(shape::min<int64_t>(
      each, t.byPhases ? shape::elementsUnderWay(tall * sizeof(Element))
                       : shape::rowDepth / tall));

  /// What a thread has of its rows, from number `o` on.
  struct Mine {
    Row row[tall];
    Index o;
    Number first; ///< element
    int member, number;
    bool inside;
  };

  /// Where the first of neighbours is: the compiler sees a multiple of their
  /// number.
  static MN_DEVICE Index placeOf(const F &f, const Mine &my, Index r) {
    const Index place = opaque(f.placeOf(my.o, r)) & Index(-tall);
    __builtin_assume(place >= 0);
    return place;
  }

  /// Calls use(elements of each row, their number) for all of the thread's.
  template <typename Use>
  static MN_DEVICE void forEach(const F &f, const Mine &my, const Use &use) {
    for (Number start = 0; start < each; start += atOnce) {
      Element e[atOnce][tall];
#pragma unroll
      for (int i = 0; i < atOnce; ++i) {
        // Without branches: beyond the end they are the first ones.
        const Number r = my.first + (start + i) * stride;
        const Index inside = Index(r < S.size ? r : 0);
        __builtin_assume(inside >= 0 && inside < S.size);
        const Index place = placeOf(f, my, inside);
#pragma unroll
        for (int j = 0; j < tall; ++j)
          e[i][j] = f.load(neighbour<tall>(Offset(place), j));
      }
#pragma unroll
      for (int i = 0; i < atOnce; ++i) {
        const Number r = my.first + (start + i) * stride;
        if (r < S.size) {
          __builtin_assume(r >= 0);
          use(e[i], Index(r));
        }
      }
    }
  }

  /// Which rows a thread has; nothing is known of them.
  static MN_DEVICE Mine mine(int64_t group, int split) {
    Mine my{};
    my.number = int(threadIdx.x) % columns;
    my.member = int(threadIdx.x) / columns;
    const int64_t o = group * t.rows + int64_t(my.number) * tall;
    my.inside = o < S.outputs;
    // Threads without rows go with the last ones: all meet at barriers.
    my.o = Index(my.inside ? o : S.outputs - tall);
    __builtin_assume(my.o >= 0);
    my.first = Number(split) * t.team + my.member;
    return my;
  }

  /// The sums over the block's members of the team, in all of its threads, or
  /// without equal lanes in its first member's.
  template <typename Kind, typename State>
  static MN_DEVICE void joinBlock(State (&s)[tall], const Mine &my) {
    if constexpr (hasLanes) {
      joinLanes<Kind>(s, my);
    } else {
#pragma unroll
      for (int i = 0; i < Kind::count; ++i)
        joinMembers<Kind>(s, i, my);
    }
  }
  template <typename Kind, typename State>
  static MN_DEVICE void joinLanes(State (&s)[tall], const Mine &my) {
    const int row = my.number * tall;
#pragma unroll
    for (int j = 0; j < tall; ++j)
#pragma unroll
      for (int lanes = Lanes::widest; lanes >= Lanes::narrowest; lanes /= 2) {
        State other;
#pragma unroll
        for (int i = 0; i < Kind::count; ++i)
          other.v[i] = shuffleState(s[j].v[i], lanes);
        s[j] = Kind::joinAll(s[j], other);
      }
    if constexpr (Lanes::warps > 1) {
      __shared__ State ofWarps[Lanes::warps][t.rows];
      if (my.member % Lanes::members == 0)
#pragma unroll
        for (int j = 0; j < tall; ++j)
          ofWarps[my.member / Lanes::members][row + j] = s[j];
      __syncthreads();
      joinAll<Kind, Lanes::warps>(
          s, [&](int warp, int r) { return ofWarps[warp][r]; }, row);
    }
  }
  /// The sums of number `i`: the second half of the members gives its own to
  /// the first, again and again.
  template <typename Kind, typename State>
  static MN_DEVICE void joinMembers(State (&s)[tall], int i, const Mine &my) {
    __shared__ typename Kind::One ofMembers[(t.team + 1) / 2][t.rows];
    const int row = my.number * tall;
#pragma unroll 1
    for (int all = t.team; all > 1;) {
      const int half = (all + 1) / 2;
      if (my.member >= half && my.member < all)
#pragma unroll
        for (int j = 0; j < tall; ++j)
          ofMembers[my.member - half][row + j] = s[j].v[i];
      __syncthreads();
      if (my.member < all - half)
#pragma unroll
        for (int j = 0; j < tall; ++j)
          s[j].v[i] = Kind::join(s[j].v[i], ofMembers[my.member][row + j]);
      __syncthreads();
      all = half;
    }
  }
  /// part(which, row) of `count` that have parts.
  template <typename Kind, int count, typename State, typename Part>
  static MN_DEVICE void joinAll(State (&s)[tall], const Part &part, int row) {
#pragma unroll
    for (int j = 0; j < tall; ++j) {
      s[j] = part(0, row + j);
#pragma unroll
      for (int i = 1; i < count; ++i)
        s[j] = Kind::joinAll(s[j], part(i, row + j));
    }
  }

  /// The results of neighbours: all are computed before the first is stored.
  static MN_DEVICE void storeElements(const F &f, const Mine &my,
                                      const Element (&x)[tall], Index r) {
    const Index place = placeOf(f, my, r);
    typename F::StoredValues v[tall];
#pragma unroll
    for (int j = 0; j < tall; ++j)
      v[j] = f.results(my.row[j], x[j], my.o + j, r, neighbour<tall>(place, j));
    f.store(v, place);
  }

  /// What the thread's elements give to a phase.
  template <int p, typename State>
  static MN_DEVICE void sum(const F &f, const Mine &my, State (&s)[tall]) {
    using Kind = typename F::Phases::template At<p>;
#pragma unroll
    for (int j = 0; j < tall; ++j)
      s[j] = Kind::noneOfAll();
    forEach(f, my, [&](const Element(&x)[tall], Index r) {
      const Index place = placeOf(f, my, r);
      typename StoredInPhase<F, p>::Type stored[tall];
#pragma unroll
      for (int j = 0; j < tall; ++j)
        s[j] = Kind::joinAll(
            s[j], Kind::ofAll(valuesOf<p>(f, my.row[j], x[j], my.o + j, r,
                                          neighbour<tall>(place, j), stored[j]),
                              r));
      if constexpr (storesInPhase<F, p>)
        if (my.inside)
          f.store(stored, place);
    });
  }
  static MN_DEVICE void storeAll(const F &f, const Mine &my) {
    forEach(f, my, [&](const Element(&x)[tall], Index r) {
      storeElements(f, my, x, r);
    });
  }
  static MN_DEVICE void storeRows(const F &f, const Mine &my) {
#pragma unroll
    for (int j = 0; j < tall; ++j)
      f.storeRow(my.row[j], my.o + j);
  }
};

/// By clusters. Without these one block of those that share rows does all of
/// it.
template <typename F, Reduce S, shape::RowTeams t>
struct TallRowKernel : TallRows<F, S, t, hasClusters ? t.splits : 1> {
  static constexpr int splits = hasClusters ? t.splits : 1;
  static_assert(splits <= t.team, "each block gets a member's sum");
  using Rows = TallRows<F, S, t, splits>;
  static_assert(Rows::hasLanes, "all threads of a row know its sums");
  using Mine = typename Rows::Mine;
  using Parts = NoScratch;
  static constexpr int tall = t.tall, phases = Rows::phases;

  template <int p> using Part = PartOfRow<F, p, /*mean=*/false>;
  using Sent = SentParts<Part, phases, splits, t.rows>;

  /// The sums over the team, in all of its threads.
  template <int p, typename Kind, typename State>
  static MN_DEVICE void joinTeam(State (&s)[tall], const Mine &my) {
    Rows::template joinBlock<Kind>(s, my);
    if constexpr (splits > 1) {
      auto &sent = Sent::template after<p>();
      const int row = my.number * tall;
      // Not before the others run.
      if constexpr (p == 0)
        clusterWait();
      if (my.member < splits)
#pragma unroll
        for (int j = 0; j < tall; ++j)
          sent.send({s[j]}, int(blockIdx.x) % splits, row + j, my.member);
      sent.wait();
      Rows::template joinAll<Kind, splits>(
          s, [&](int block, int r) { return sent.at(block, r).sum; }, row);
    }
  }

  template <int p> static MN_DEVICE void runPhases(const F &f, Mine &my) {
    if constexpr (p < phases) {
      using Kind = typename F::Phases::template At<p>;
      typename Kind::State s[tall];
      Rows::template sum<p>(f, my, s);
      joinTeam<p, Kind>(s, my);
#pragma unroll
      for (int j = 0; j < tall; ++j)
        f.take(Phase<p>{}, Kind::results(s[j]), my.row[j], my.o + j);
      runPhases<p + 1>(f, my);
    }
  }

  static MN_DEVICE void run(const F &functor, Parts &, int) {
    const F f = withAlignedTensors(functor);
    const int split = int(blockIdx.x % t.splits);
    if (split >= splits)
      return gridDependencySync();
    if constexpr (splits > 1) {
      if (threadIdx.x == 0)
        Sent::expect();
      clusterStart();
    }
    gridDependencySync();
    Mine my = Rows::mine(blockIdx.x / t.splits, split);
#pragma unroll
    for (int j = 0; j < tall; ++j)
      f.begin(my.row[j], my.o + j);
    runPhases<0>(f, my);
    if (!my.inside)
      return;
    if constexpr (F::storesElements && !StoresInLastPhase<F>)
      Rows::storeAll(f, my);
    if (split == 0 && my.member == 0)
      Rows::storeRows(f, my);
  }
};

/// By phases, each of which is a launch.
template <typename F, Reduce S, shape::RowTeams t>
struct PhaseRowKernel : TallRows<F, S, t, t.splits> {
  using Rows = TallRows<F, S, t, t.splits>;
  using Mine = typename Rows::Mine;
  using Row = typename Rows::Row;
  static constexpr int tall = t.tall, phases = Rows::phases;
  static constexpr int launches = shape::launchesOf(S, shape::rowTraits<F>);
  template <int p> using Kind = typename F::Phases::template At<p>;

  /// What blocks give to phases, from number `p` on.
  template <int p, bool any> struct PartsFrom {
    typename Kind<p>::State part[t.groups * t.splits][t.rows];
    PartsFrom<p + 1, (p + 1 < phases)> others;
    template <int q> MN_DEVICE auto &at() {
      if constexpr (q == p)
        return part;
      else
        return others.template at<q>();
    }
  };
  template <int p> struct PartsFrom<p, false> {};
  struct Parts {
    PartsFrom<0, (phases > 0)> ofPhases;
    Row row[S.outputs]; ///< what is known of it between launches
    unsigned ticket[t.groups];
  };

  /// What is known of a row before launch `p`.
  template <int p>
  static MN_DEVICE void beginRow(const F &f, Row &row, const Parts &parts,
                                 Index o) {
    if constexpr (p == 0)
      f.begin(row, o);
    else
      row = parts.row[o];
  }

  /// The last block to end a phase of its rows takes what the phase gives, each
  /// row in one thread.
  template <int p>
  static MN_DEVICE void endPhase(const F &f, Mine &my, Parts &parts,
                                 int64_t group) {
    const auto &part = parts.ofPhases.template at<p>();
    typename Kind<p>::State s[tall];
#pragma unroll
    for (int j = 0; j < tall; ++j)
      s[j] = Kind<p>::noneOfAll();
    for (int i = my.member; i < t.splits; i += t.team)
#pragma unroll
      for (int j = 0; j < tall; ++j)
        s[j] = Kind<p>::joinAll(
            s[j], part[group * t.splits + i][my.number * tall + j]);
    Rows::template joinBlock<Kind<p>>(s, my);
    __shared__ typename Kind<p>::State sums[t.rows];
    if (my.member == 0)
#pragma unroll
      for (int j = 0; j < tall; ++j)
        sums[my.number * tall + j] = s[j];
    __syncthreads();
    const Index o = Index(group * t.rows + threadIdx.x);
    if (threadIdx.x >= t.rows || o >= S.outputs)
      return;
    Row row{};
    beginRow<p>(f, row, parts, o);
    f.take(Phase<p>{}, Kind<p>::results(sums[threadIdx.x]), row, o);
    if constexpr (p == launches - 1)
      f.storeRow(row, o);
    else
      parts.row[o] = row;
  }

  /// Whether all blocks that share a block's rows have ended, of which it is
  /// the last.
  static MN_DEVICE bool isLast(Parts &parts, int64_t group) {
    return lastToArrive(&parts.ticket[group], t.splits);
  }

  template <int p>
  static MN_DEVICE void runPhase(const F &f, Mine &my, Parts &parts,
                                 int64_t group, int split) {
    typename Kind<p>::State s[tall];
    Rows::template sum<p>(f, my, s);
    Rows::template joinBlock<Kind<p>>(s, my);
    if (my.member == 0)
#pragma unroll
      for (int j = 0; j < tall; ++j)
        parts.ofPhases
            .template at<p>()[group * t.splits + split][my.number * tall + j] =
            s[j];
    if (isLast(parts, group))
      endPhase<p>(f, my, parts, group);
  }

  template <int p>
  static MN_DEVICE void runFrom(const F &f, Parts &parts, int launch) {
    if constexpr (p < launches) {
      if (p != launch)
        return runFrom<p + 1>(f, parts, launch);
      const int64_t group = blockIdx.x / t.splits;
      const int split = int(blockIdx.x % t.splits);
      Mine my = Rows::mine(group, split);
#pragma unroll
      for (int j = 0; j < tall; ++j)
        beginRow<p>(f, my.row[j], parts, my.o + j);
      if constexpr (p < phases) {
        runPhase<p>(f, my, parts, group, split);
      } else {
        if (my.inside)
          Rows::storeAll(f, my);
        // What it stores may be where rows were read.
        if (isLast(parts, group) && my.inside && my.member == 0)
          Rows::storeRows(f, my);
      }
    }
  }

  static MN_DEVICE void run(const F &functor, Parts &parts, int launch) {
    const F f = withAlignedTensors(functor);
    gridDependencySync();
    runFrom<0>(f, parts, launch);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_ROWS_TALL_CUH
