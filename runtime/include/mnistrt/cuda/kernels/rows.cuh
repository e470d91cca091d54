//===- rows.cuh - steps that reduce rows ------------------------*- C++ -*-===//
//
// A team of threads has a row (mnistrt/rows.h), from its first phase to its
// results: what a thread loads it keeps in registers where they suffice, else
// it loads it again in each phase. Neighbouring threads have neighbouring
// elements where these are adjacent in memory, else neighbouring rows. A large
// row has the blocks of a cluster, which read each other's sums in shared
// memory. The order of all sums is fixed.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_ROWS_CUH
#define MNISTRT_CUDA_KERNELS_ROWS_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/rows.h"

namespace mn {

namespace shape {

/// A block has `rows` x `team` threads; `splits` blocks share its rows.
struct RowTeams {
  bool alongElements = true; ///< neighbouring threads; else along rows
  int rows = 1;
  int team = 1;
  int splits = 1;
  int64_t groups = 1; ///< of `rows` rows

  MN_SHAPE_FN int threads() const { return rows * team; }
};

/// Elements that a thread has of a row, while there may be more threads.
inline constexpr int rowDepth = 8;

MN_SHAPE_FN RowTeams rowTeams(const Reduce &s) {
  constexpr int sector = 8, most = 512;
  RowTeams t;
  t.alongElements = s.contiguous || s.run >= sector;
  if (s.size <= 4) {
    t.rows = 128;
  } else if (t.alongElements) {
    t.team = 32;
    while (t.team < most && int64_t(t.team) * rowDepth < s.size)
      t.team *= 2;
    t.rows = max(256 / t.team, 1);
  } else {
    t.rows = s.outputs < 32 * referenceSms ? sector : 32;
    t.team = 128 / t.rows;
    while (t.threads() < most && int64_t(t.team) * rowDepth < s.size)
      t.team *= 2;
  }
  t.groups = ceilDiv<int64_t>(max<int64_t>(s.outputs, 1), t.rows);
  // More blocks than run at once wait for a whole row each.
  const int64_t turns = ceilDiv<int64_t>(s.size, int64_t(t.team) * rowDepth);
  const int64_t blocks = 2 * referenceSms / t.groups;
  t.splits = int(max<int64_t>(
      1, min<int64_t>(min<int64_t>(turns, blocks), largestCluster)));
  return t;
}

MN_SHAPE_FN LaunchShape rows(const Reduce &s) {
  const RowTeams t = rowTeams(s);
  return {static_cast<unsigned>(t.groups * t.splits),
          static_cast<unsigned>(t.threads()),
          static_cast<unsigned>(clusterOf(t.splits))};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

template <typename F, Reduce S> struct RowKernel {
  static constexpr shape::RowTeams t = shape::rowTeams(S);
  using Element = typename F::ElementValues;
  using Row = typename F::RowValues;

  // Without clusters one block of those that share a row does all of it.
  static constexpr int splits = hasClusters ? t.splits : 1;
  static constexpr int phases = F::Phases::count;

  // Of a team, `laneTeam` members are in one warp, which has `laneRows`.
  static constexpr int laneRows =
      t.alongElements ? (t.team == 1 ? 32 : 1) : shape::min(t.rows, 32);
  static constexpr int laneTeam = 32 / laneRows;
  static constexpr int warpsApart = t.team / laneTeam;

  // What a thread has of a row, in registers if it fits.
  static constexpr int64_t stride = int64_t(t.team) * splits;
  static constexpr int64_t each = shape::ceilDiv<int64_t>(S.size, stride);
  static constexpr bool keeps = each * int64_t(sizeof(Element)) <= 4 * 56;
  static constexpr int atOnce =
      keeps ? int(each) : int(shape::min<int64_t>(each, shape::rowDepth));

  struct Place {
    Index o;
    int64_t first;
  };

  /// Loads up to `atOnce` elements, from number `start` of the thread on;
  /// without branches: beyond the end it is the first one.
  static MN_DEVICE void load(Element (&e)[atOnce], const F &f, Place at,
                             int64_t start) {
#pragma unroll
    for (int i = 0; i < atOnce; ++i) {
      const int64_t r = at.first + (start + i) * stride;
      const Index inside = Index(r < S.size ? r : 0);
      __builtin_assume(inside >= 0 && inside < S.size);
      e[i] = f.load(at.o, inside);
    }
  }

  /// Calls use(e, r) for each element of the thread.
  template <typename Use>
  static MN_DEVICE void forEach(Element (&e)[atOnce], const F &f, Place at,
                                const Use &use) {
    for (int64_t start = 0; start < each; start += atOnce) {
      if constexpr (!keeps)
        load(e, f, at, start);
#pragma unroll
      for (int i = 0; i < atOnce; ++i) {
        const int64_t r = at.first + (start + i) * stride;
        if (r < S.size) {
          __builtin_assume(r >= 0);
          use(e[i], Index(r));
        }
      }
    }
  }

  /// The sum over the team, in all of its threads.
  template <int p, typename Kind, typename State>
  static MN_DEVICE State joinTeam(State s, int member, int row) {
#pragma unroll
    for (int lanes = 16; lanes >= laneRows; lanes /= 2) {
      State other;
#pragma unroll
      for (int i = 0; i < Kind::count; ++i)
        other.v[i] = shuffleXor(s.v[i], lanes);
      s = Kind::join(s, other);
    }
    if constexpr (warpsApart > 1) {
      __shared__ State ofWarps[warpsApart * t.rows];
      if (member % laneTeam == 0)
        ofWarps[member / laneTeam * t.rows + row] = s;
      __syncthreads();
      s = ofWarps[row];
#pragma unroll
      for (int warp = 1; warp < warpsApart; ++warp)
        s = Kind::join(s, ofWarps[warp * t.rows + row]);
    }
    if constexpr (splits > 1) {
      __shared__ State ofBlock[t.rows];
      if (member == 0)
        ofBlock[row] = s;
      clusterSync();
      s = *inBlock(&ofBlock[row], 0);
#pragma unroll
      for (int block = 1; block < splits; ++block)
        s = Kind::join(s, *inBlock(&ofBlock[row], block));
    }
    return s;
  }

  template <int p>
  static MN_DEVICE void runPhases(Element (&e)[atOnce], const F &f, Row &row,
                                  Place at, int member, int number) {
    if constexpr (p < phases) {
      using Kind = typename F::Phases::template At<p>;
      auto s = Kind::none();
      forEach(e, f, at, [&](const Element &x, Index r) {
        s = Kind::join(s, f.values(Phase<p>{}, row, x, at.o, r));
      });
      s = joinTeam<p, Kind>(s, member, number);
      f.take(Phase<p>{}, s, row, at.o);
      runPhases<p + 1>(e, f, row, at, member, number);
    }
  }

  static MN_DEVICE void run(const F &f) {
    gridDependencySync();
    const int64_t group = blockIdx.x / t.splits;
    const int split = int(blockIdx.x % t.splits);
    if (split >= splits)
      return;
    const int number =
        t.alongElements ? threadIdx.x / t.team : threadIdx.x % t.rows;
    const int member =
        t.alongElements ? threadIdx.x % t.team : threadIdx.x / t.rows;
    const int64_t o = group * t.rows + number;
    const bool inside = o < S.outputs;
    // Threads without a row go with the last one: all meet at barriers.
    const Place at{Index(inside ? o : S.outputs - 1),
                   int64_t(split) * t.team + member};
    Row row{};
    f.begin(row, at.o);
    Element e[atOnce];
    if constexpr (keeps)
      load(e, f, at, 0);
    runPhases<0>(e, f, row, at, member, number);
    if constexpr (splits > 1)
      clusterArrive();
    if (inside) {
      if constexpr (F::storesElements)
        forEach(e, f, at,
                [&](const Element &x, Index r) { f.store(row, x, at.o, r); });
      if (split == 0 && member == 0)
        f.storeRow(row, at.o);
    }
    // Others may still read this block's sums.
    if constexpr (splits > 1)
      clusterWait();
  }
};

} // namespace device

#define MN_ROWS_KERNEL(NAME, F, ...)                                           \
  MN_GLOBAL_CLUSTERS(mn::shape::rows(__VA_ARGS__))                             \
  NAME(const __grid_constant__ F f) {                                          \
    mn::device::RowKernel<F, __VA_ARGS__>::run(f);                             \
  }

#else

#define MN_ROWS_KERNEL(NAME, F, ...)

template <typename F>
void rows(Context &ctx, const char *kernel, const Reduce &s, const F &functor) {
  if (s.outputs != 0)
    launch(ctx, kernel, shape::rows(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_ROWS_CUH
