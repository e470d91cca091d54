//===- chain.cuh - several steps in one launch ------------------*- C++ -*-===//
//
// Steps of which each computes a row of its results from the same row of what
// the ones before it made, where rows are along the first dimension: the last
// layers of a network with the loss and its gradient. A block has some rows and
// runs all links on them, one after another, or side by side where none waits
// for the other; no block waits for another. What a link makes is in memory,
// where the threads of its block find it after a barrier. A block reads the
// weights of products whole.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_CUH

#include "mnistrt/cuda/kernels/chain_held.cuh"
#include "mnistrt/cuda/kernels/pointwise.cuh"
#include "mnistrt/cuda/kernels/reduce.cuh"
#include "mnistrt/cuda/kernels/rows.cuh"
#include "mnistrt/cuda/kernels/softmax.cuh"

namespace mn {

/// The functors of a chain's links, in their order.
template <typename... Fs> struct Functors {};
template <typename F, typename... Others> struct Functors<F, Others...> {
  F first;
  Functors<Others...> others;
};

/// A chain of steps over so many rows: a kernel's argument.
template <int64_t rows_, typename... Links> struct Chain {
  static constexpr int64_t rows = rows_;
  Functors<typename Links::Functor...> functors;
};

template <typename F> struct Link {
  using Functor = F;
#ifdef __CUDACC__
  /// Whether it leaves something in chainMemory(), in a chain over so many
  /// rows.
  template <int64_t rows> static MN_SHAPE_FN bool takesMemory() {
    return false;
  }
  /// How many parts it has that a warp computes each; 0: all warps share it.
  template <int64_t rows> static MN_SHAPE_FN int partsOf() { return 0; }
#endif
};

namespace shape {

/// For a link that reduces rows, in a chain over so many. Where a block has
/// fewer rows than warps, several share one that is long enough for it, so that
/// a thread has few elements.
MN_SHAPE_FN RowTeams chainTeams(const Reduce &s, int64_t rows) {
  constexpr int elements = 4;
  const int64_t most = chainRows(rows) * ceilDiv(s.outputs, rows);
  RowTeams t = rowTeamsOfWarp(s, int(chainThreads / most));
  if (!t.alongElements || t.team < 32)
    return t;
  while (2 * t.team * most <= chainThreads && elements * t.team < s.size)
    t.team *= 2;
  if (t.team > 32)
    t.rows = chainThreads / t.team;
  return t;
}

/// For a link that reduces rows several times, in a chain over so many. Where
/// rows lie side by side, and a block has few that are not short, several warps
/// share all of them, so that a thread has few elements.
MN_SHAPE_FN RowTeams chainRowTeams(const Reduce &s, int64_t rows) {
  RowTeams t = chainTeams(s, rows);
  constexpr int elements = 4;
  const int64_t most = chainRows(rows) * ceilDiv(s.outputs, rows);
  if (t.alongElements || most > 32 || t.team * elements >= s.size)
    return t;
  t.rows = powerFrom(int(most));
  t.team = max(t.team, 32 / t.rows);
  while (2 * t.rows * t.team <= chainThreads && t.team * elements < s.size)
    t.team *= 2;
  return t;
}

/// Lanes that share a row of a softmax, of which a block has at most `most`:
/// as many as there are threads for.
MN_SHAPE_FN int chainTeam(const Softmax &s, int64_t most) {
  int team = teamOfSoftmax(s);
  while (team < 32 && team < s.size && 2 * team * most <= chainThreads)
    team *= 2;
  return team;
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// Which of some rows a thread has, and which member of the row's team it is.
struct LaneOfRow {
  int row, member;

  template <shape::RowTeams t> static MN_DEVICE LaneOfRow of(int thread) {
    if constexpr (t.alongElements)
      return {thread / t.team, thread % t.team};
    else
      return {thread % t.rows, thread / t.rows};
  }
};

/// Of several warps that share rows: all rows of a block are done at once.
template <shape::RowTeams t>
inline constexpr bool isTeamOfWarps = t.rows * t.team > 32;

/// use(o, lane, inside) for those of `outputs` that belong to the block's rows:
/// a warp has as many at once as `t` has rows, or some warps have one. Where
/// there are fewer, lanes have the last one again, and are not inside.
template <int64_t outputs, int64_t rows, shape::RowTeams t, typename Use>
MN_DEVICE void eachOfRows(const ChainRows &here, const Use &use) {
  const ChainRows mine = here.known<rows>().times(int(outputs / rows));
  if constexpr (isTeamOfWarps<t>) {
    const auto lane = LaneOfRow::of<t>(int(threadIdx.x));
    use(Index(mine.first + shape::min(lane.row, mine.count - 1)), lane,
        lane.row < mine.count);
  } else {
    const int warp = int(threadIdx.x) / 32;
    const auto lane = LaneOfRow::of<t>(int(threadIdx.x) % 32);
#pragma unroll 1
    for (int r = warp * t.rows; r < mine.count;
         r += shape::chainThreads / 32 * t.rows) {
      const int row = shape::min(r + lane.row, mine.count - 1);
      use(Index(mine.first + row), lane, r + lane.row < mine.count);
    }
  }
}

} // namespace device

#endif // __CUDACC__

/// A matrix product whose first operand has the rows, as it is in memory, or
/// several products; of each row of the chain it has one row or matrix, or
/// some.
template <typename T, typename F, Matmul S> struct MatmulLink : Link<F> {
#ifdef __CUDACC__
  // A single one of several is a matrix, too, if its lines are columns.
  static constexpr bool ofMatrices = S.batch > 1 || S.transposedA;
  template <int64_t rows>
  static constexpr int each = int((ofMatrices ? S.batch : S.m) / rows);
  template <int64_t rows>
  static constexpr int most = shape::chainRows(rows) * each<rows>;
  template <int64_t rows>
  static constexpr bool holds = shape::holdsRows(most<rows>, S.k * sizeof(T));
  template <int64_t rows>
  static constexpr bool isOfFragments =
      S.schedule.mma != Mma::ffma && (ofMatrices || holds<rows>);
  template <int64_t rows>
  using Fragments = device::MatmulFragments<F, S, ofMatrices, most<rows>>;
  template <int64_t rows>
  using HeldFragments = device::HeldFragments<F, S, most<rows>>;
  template <int64_t rows> static MN_SHAPE_FN bool isHeld() {
    if constexpr (ofMatrices && isOfFragments<rows>)
      return HeldFragments<rows>::isBetter;
    return false;
  }

  template <int64_t rows> static MN_SHAPE_FN bool takesMemory() {
    return !isOfFragments<rows> || isHeld<rows>();
  }
  template <int64_t rows> static MN_SHAPE_FN int partsOf() {
    if constexpr (isOfFragments<rows> && !isHeld<rows>())
      return Fragments<rows>::parts;
    return 0;
  }

  template <int64_t rows, int firstWarp>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    const device::ChainRows mine = here.times(each<rows>);
    if constexpr (isHeld<rows>())
      HeldFragments<rows>::run(f, mine);
    else if constexpr (isOfFragments<rows>)
      Fragments<rows>::template run<firstWarp>(f, mine);
    else if constexpr (ofMatrices)
      device::MatmulBatch<T, F, S, most<rows>>::run(f, mine);
    else if constexpr (holds<rows>)
      device::MatmulTiles<T, F, S, most<rows>>::run(f, mine);
    else
      device::MatmulRows<T, F, S, most<rows>>::run(
          f, here.template known<rows>().times(each<rows>));
  }
#endif
};

/// A softmax of neighbours; of each row of the chain it has one or some.
template <typename T, typename F, Softmax S> struct SoftmaxLink : Link<F> {
#ifdef __CUDACC__
  template <int64_t rows, int>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr int each = int(S.outer / rows);
    constexpr int most = shape::chainRows(rows) * each;
    constexpr int team = shape::chainTeam(S, most);
    constexpr int teams = shape::chainThreads / team, ofWarp = 32 / team;
    constexpr int atOnce =
        S.size > 64 ? 1 : shape::min(4, shape::ceilDiv(most, teams));
    const device::ChainRows mine = here.times(each);
    const int mate = int(threadIdx.x) % 32 / team;
#pragma unroll 1
    for (int r = int(threadIdx.x) / 32 * ofWarp; r < mine.count;
         r += atOnce * teams)
      device::SoftmaxKernel<T, S>::template runRows<atOnce, team>(
          f, Index(mine.first + r + mate), teams,
          Index(mine.first + mine.count));
  }
#endif
};

/// A step that reduces rows several times (rows.cuh); of each row of the chain
/// it has one or some.
template <typename F, Reduce S> struct RowsLink : Link<F> {
#ifdef __CUDACC__
  template <int64_t rows> static MN_SHAPE_FN bool takesMemory() {
    return device::isTeamOfWarps<shape::chainRowTeams(S, rows)>;
  }
  template <int64_t rows, int>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr shape::RowTeams teams = shape::chainRowTeams(S, rows);
    using Kernel =
        device::RowKernel<F, S, teams, shape::chainThreads, device::ChainJoins>;
    if constexpr (device::isTeamOfWarps<teams>)
      // The others wait as often as these do.
      if (int(threadIdx.x) >= teams.rows * teams.team) {
        for (int phase = 0; phase < F::Phases::count; ++phase)
          __syncthreads();
        return;
      }
    device::eachOfRows<S.outputs, rows, teams>(
        here, [&](Index o, device::LaneOfRow lane, bool inside) {
          typename Kernel::Row row{};
          typename Kernel::Held e;
          const auto at = Kernel::Elements::template find</*isEarly=*/false>(
              e, f, o, 0, lane.member);
          Kernel::runRow(e, f, row, at, 0, lane.member, lane.row, inside);
        });
  }
#endif
};

/// A reduction; of each row of the chain it has one result or some.
template <typename R, typename T, typename F, Reduce S>
struct ReduceLink : Link<F> {
#ifdef __CUDACC__
  template <int64_t rows> static MN_SHAPE_FN bool takesMemory() {
    return device::isTeamOfWarps<shape::chainTeams(S, rows)>;
  }
  template <int64_t rows, int>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr shape::RowTeams teams = shape::chainTeams(S, rows);
    device::eachOfRows<S.outputs, rows, teams>(
        here, [&](Index o, device::LaneOfRow lane, bool inside) {
          auto s = R::template none<T>();
          if constexpr (S.size > 0)
            s = sumOf<teams>(f, o, lane.member);
          constexpr int apart = teams.alongElements ? 1 : teams.rows;
#pragma unroll
          for (int lanes = shape::min(teams.team, 32) / 2 * apart;
               lanes >= apart; lanes /= 2)
            s = R::join(s, device::shuffleState(s, lanes));
          if constexpr (device::isTeamOfWarps<teams>)
            s = sumOfWarps<teams>(s, lane);
          if (inside && lane.member == 0)
            f.store(o, R::result(s));
        });
  }

private:
  /// The sum over a team's warps, in its first lane.
  template <shape::RowTeams t, typename State>
  static MN_DEVICE State sumOfWarps(State s, const device::LaneOfRow &lane) {
    constexpr int warps = t.team / 32;
    State *all = device::ChainJoins::memory<State, warps * t.rows, 0>();
    if (lane.member % 32 == 0)
      all[lane.row * warps + lane.member / 32] = s;
    __syncthreads();
    if (lane.member == 0)
#pragma unroll
      for (int warp = 1; warp < warps; ++warp)
        s = R::join(s, all[lane.row * warps + warp]);
    return s;
  }

  /// The sum of a thread's elements. The compiler knows how many there are, so
  /// that the loads of many are on their way at once.
  template <shape::RowTeams teams>
  static MN_DEVICE auto sumOf(const F &f, Index o, int member) {
    constexpr int each = int(shape::ceilDiv<int64_t>(S.size, teams.team));
    constexpr int atOnce = shape::min(each, 8);
    auto s = R::template none<T>();
#pragma unroll 1
    for (int start = 0; start < each; start += atOnce) {
      const int first = member + start * teams.team;
      T v[atOnce];
#pragma unroll
      for (int i = 0; i < atOnce; ++i)
        v[i] = f.load(
            o, Index(shape::min<int64_t>(first + i * teams.team, S.size - 1)));
#pragma unroll
      for (int i = 0; i < atOnce; ++i)
        if (const int r = first + i * teams.team; r < S.size)
          s = R::join(s, R::template of<T>(v[i], r));
    }
    return s;
  }
#endif
};

/// A map; of each row it has so many elements, in fours where the functor
/// stores neighbours.
template <typename F, int64_t each> struct MapLink : Link<F> {
#ifdef __CUDACC__
  static constexpr int wide = shape::elementsOfThread<F>;
  static_assert(each % wide == 0, "rows begin with a four");

  template <int64_t rows> static MN_SHAPE_FN int partsOf() {
    return int(
        shape::ceilDiv<int64_t>(shape::chainRows(rows) * each, 32 * wide));
  }

  template <int64_t rows, int firstWarp>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr int threads = shape::chainThreads;
    const int thread = (int(threadIdx.x) + threads - 32 * firstWarp) % threads;
    const int64_t first = here.first * each,
                  end = (here.first + here.count) * each;
#pragma unroll 1
    for (int64_t i = first + wide * thread; i < end; i += wide * threads)
      device::elementsFrom(f, i);
  }
#endif
};

/// A link that reads nothing of what those before it make, back to the last one
/// that is not beside others.
template <typename L> struct Beside : L {};

#ifdef __CUDACC__

namespace device {

template <typename L> inline constexpr bool isBeside = false;
template <typename L> inline constexpr bool isBeside<Beside<L>> = true;

/// What links do since threads waited for each other.
struct Begun {
  bool takesMemory = false;
  int parts = 0; ///< of warps: those of the next link begin with other warps
};

/// Whether threads wait for each other before the first of some links.
template <int64_t rows, Begun begun, typename First, typename... Others>
inline constexpr bool waits =
    !isBeside<First> ||
    (begun.takesMemory && First::template takesMemory<rows>());

template <int64_t rows, Begun begun, typename First, typename... Others,
          typename... Fs>
MN_DEVICE void runLinks(const Functors<Fs...> &functors,
                        const ChainRows &here) {
  constexpr int warps = shape::chainThreads / 32;
  First::template run<rows, begun.parts % warps>(functors.first, here);
  if constexpr (sizeof...(Others) > 0) {
    constexpr Begun now = {begun.takesMemory ||
                               First::template takesMemory<rows>(),
                           begun.parts + First::template partsOf<rows>()};
    constexpr bool isAwaited = waits<rows, now, Others...>;
    if constexpr (isAwaited)
      __syncthreads();
    runLinks<rows, isAwaited ? Begun{} : now, Others...>(functors.others, here);
  }
}

template <int64_t rows, typename... Links>
MN_DEVICE void chain(const Chain<rows, Links...> &all) {
  constexpr int most = shape::chainRows(rows);
  gridDependencySync();
  const int64_t first = int64_t(blockIdx.x) * most;
  runLinks<rows, Begun{}, Links...>(
      all.functors, {first, int(shape::min<int64_t>(most, rows - first))});
}

} // namespace device

#define MN_CHAIN_KERNEL(NAME, C)                                               \
  MN_GLOBAL(mn::shape::chainThreads)                                           \
  NAME(const __grid_constant__ C all MN_TIMES_ARGUMENT) {                      \
    MN_RECORD_TIMES                                                            \
    mn::device::chain(all);                                                    \
  }

#else

#define MN_CHAIN_KERNEL(NAME, C)

namespace detail {
inline void fill(Functors<> &) {}
template <typename F, typename... Others>
void fill(Functors<F, Others...> &all, const F &first,
          const Others &...others) {
  all.first = first;
  fill(all.others, others...);
}
} // namespace detail

/// A functor for each link.
template <typename C, typename... Fs>
void chain(Context &ctx, const char *kernel, const Fs &...functors) {
  C all;
  detail::fill(all.functors, functors...);
  launch(ctx, kernel, shape::chain(C::rows), all);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CHAIN_CUH
