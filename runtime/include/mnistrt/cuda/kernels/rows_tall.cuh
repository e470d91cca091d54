//===- rows_tall.cuh - rows that lie side by side in memory -----*- C++ -*-===//
//
// As rows.cuh, of large tensors whose rows are columns in memory: a thread has
// four rows next to each other, so that it loads and stores 16 bytes at a time.
// Without totals.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_TALL_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_TALL_CUH

#include "mnistrt/cuda/kernels/rows_shape.cuh"

#ifdef __CUDACC__

namespace mn::device {

template <typename F, Reduce S, shape::RowTeams t> struct TallRowKernel {
  using Element = typename F::ElementValues;
  using Row = typename F::RowValues;
  using Parts = NoScratch;
  static constexpr int tall = t.tall, columns = t.rows / tall;
  // Without clusters one block of those that share rows does all of it.
  static constexpr int splits = hasClusters ? t.splits : 1;
  static_assert(splits <= t.team, "each block gets a member's sum");
  static constexpr int phases = F::Phases::count;
  template <int p>
  static constexpr bool storesInPhase = StoresInLastPhase<F> && p == phases - 1;

  // Of a team, `laneTeam` members are in one warp, which has `laneColumns`.
  static constexpr int laneColumns = shape::min(columns, 32);
  static constexpr int laneTeam = 32 / laneColumns;
  static constexpr int warpsApart = t.team / laneTeam;

  static constexpr int64_t stride = int64_t(t.team) * splits;
  static constexpr int64_t each = shape::ceilDiv<int64_t>(S.size, stride);
  /// Elements of each row that are on their way from memory at once.
  static constexpr int atOnce =
      int(shape::min<int64_t>(each, shape::rowDepth / tall));

  /// What a thread has of its rows, from number `o` on.
  struct Mine {
    Row row[tall];
    Index o;
    int64_t first; ///< element
    int member, number;
    bool inside;
  };

  /// Calls use(elements of each row, their number) for all of the thread's.
  template <typename Use>
  static MN_DEVICE void forEach(const F &f, const Mine &my, const Use &use) {
    for (int64_t start = 0; start < each; start += atOnce) {
      Element e[atOnce][tall];
#pragma unroll
      for (int i = 0; i < atOnce; ++i) {
        // Without branches: beyond the end they are the first ones.
        const int64_t r = my.first + (start + i) * stride;
        const Index inside = Index(r < S.size ? r : 0);
        __builtin_assume(inside >= 0 && inside < S.size);
#pragma unroll
        for (int j = 0; j < tall; ++j)
          e[i][j] = f.load(f.placeOf(my.o + j, inside));
      }
#pragma unroll
      for (int i = 0; i < atOnce; ++i) {
        const int64_t r = my.first + (start + i) * stride;
        if (r < S.size) {
          __builtin_assume(r >= 0);
          use(e[i], Index(r));
        }
      }
    }
  }

  /// The sums over the team, in all of its threads.
  template <int p, typename Kind, typename State>
  static MN_DEVICE void joinTeam(State (&s)[tall], const Mine &my) {
    const int row = my.number * tall;
#pragma unroll
    for (int j = 0; j < tall; ++j)
#pragma unroll
      for (int lanes = 16; lanes >= laneColumns; lanes /= 2) {
        State other;
#pragma unroll
        for (int i = 0; i < Kind::count; ++i)
          other.v[i] = shuffleState(s[j].v[i], lanes);
        s[j] = Kind::joinAll(s[j], other);
      }
    if constexpr (warpsApart > 1) {
      __shared__ State ofWarps[warpsApart][t.rows];
      if (my.member % laneTeam == 0)
#pragma unroll
        for (int j = 0; j < tall; ++j)
          ofWarps[my.member / laneTeam][row + j] = s[j];
      __syncthreads();
      joinAll<Kind, warpsApart>(s, ofWarps, row);
    }
    if constexpr (splits > 1) {
      __shared__ State ofBlocks[splits][t.rows];
      // Not before the others run.
      if constexpr (p == 0)
        clusterWait();
      if (my.member < splits)
#pragma unroll
        for (int j = 0; j < tall; ++j)
          *inBlock(&ofBlocks[int(blockIdx.x) % splits][row + j], my.member) =
              s[j];
      clusterSync();
      joinAll<Kind, splits>(s, ofBlocks, row);
    }
  }
  template <typename Kind, int count, typename State>
  static MN_DEVICE void joinAll(State (&s)[tall],
                                const State (&parts)[count][t.rows], int row) {
#pragma unroll
    for (int j = 0; j < tall; ++j) {
      s[j] = parts[0][row + j];
#pragma unroll
      for (int i = 1; i < count; ++i)
        s[j] = Kind::joinAll(s[j], parts[i][row + j]);
    }
  }

  /// The results of neighbours: all are computed before the first is stored.
  static MN_DEVICE void storeElements(const F &f, const Mine &my,
                                      const Element (&x)[tall], Index r) {
    typename F::StoredValues v[tall][1];
#pragma unroll
    for (int j = 0; j < tall; ++j)
      v[j][0] = f.results(my.row[j], x[j], my.o + j, r,
                          neighbour<1>(f.placeOf(my.o + j, r), 0));
#pragma unroll
    for (int j = 0; j < tall; ++j)
      f.store(v[j], f.placeOf(my.o + j, r));
  }

  template <int p> static MN_DEVICE void runPhases(const F &f, Mine &my) {
    if constexpr (p < phases) {
      using Kind = typename F::Phases::template At<p>;
      typename Kind::State s[tall];
#pragma unroll
      for (int j = 0; j < tall; ++j)
        s[j] = Kind::noneOfAll();
      forEach(f, my, [&](const Element(&x)[tall], Index r) {
#pragma unroll
        for (int j = 0; j < tall; ++j)
          s[j] = Kind::joinAll(
              s[j],
              Kind::ofAll(f.values(Phase<p>{}, my.row[j], x[j], my.o + j, r,
                                   neighbour<1>(f.placeOf(my.o + j, r), 0)),
                          r));
        if constexpr (storesInPhase<p>)
          if (my.inside)
            storeElements(f, my, x, r);
      });
      joinTeam<p, Kind>(s, my);
#pragma unroll
      for (int j = 0; j < tall; ++j)
        f.take(Phase<p>{}, Kind::results(s[j]), my.row[j], my.o + j);
      runPhases<p + 1>(f, my);
    }
  }

  static MN_DEVICE void run(const F &functor, Parts &) {
    const F f = withAlignedTensors(functor);
    gridDependencySync();
    const int split = int(blockIdx.x % t.splits);
    if (split >= splits)
      return;
    if constexpr (splits > 1)
      clusterStart();
    Mine my{};
    my.number = int(threadIdx.x) % columns;
    my.member = int(threadIdx.x) / columns;
    const int64_t o =
        int64_t(blockIdx.x / t.splits) * t.rows + int64_t(my.number) * tall;
    my.inside = o < S.outputs;
    // Threads without rows go with the last ones: all meet at barriers. The
    // compiler sees that the first is a multiple of their number.
    my.o = opaque(Index(my.inside ? o : S.outputs - tall)) & Index(-tall);
    __builtin_assume(my.o >= 0);
    my.first = int64_t(split) * t.team + my.member;
#pragma unroll
    for (int j = 0; j < tall; ++j)
      f.begin(my.row[j], my.o + j);
    runPhases<0>(f, my);
    if (!my.inside)
      return;
    if constexpr (F::storesElements && !StoresInLastPhase<F>)
      forEach(f, my, [&](const Element(&x)[tall], Index r) {
        storeElements(f, my, x, r);
      });
    if (split == 0 && my.member == 0)
#pragma unroll
      for (int j = 0; j < tall; ++j)
        f.storeRow(my.row[j], my.o + j);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_ROWS_TALL_CUH
