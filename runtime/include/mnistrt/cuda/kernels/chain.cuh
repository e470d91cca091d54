//===- chain.cuh - several steps in one launch ------------------*- C++ -*-===//
//
// Steps of which each computes a row of its results from the same row of what
// the ones before it made, where rows are along the first dimension: the last
// layers of a network with the loss and its gradient. A block has some rows and
// runs all links on them, one after another, or side by side where none waits
// for the other; no block waits for another. What a link makes is in memory, or
// in the block's shared memory (chain_tensors.cuh), where its threads find it
// after a barrier. A block reads the weights of products whole.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_CUH

#include "mnistrt/cuda/kernels/chain_fragments.cuh"
#include "mnistrt/cuda/kernels/chain_tensors.cuh"
#include "mnistrt/cuda/kernels/pointwise.cuh"
#include "mnistrt/cuda/kernels/reduce.cuh"
#include "mnistrt/cuda/kernels/rows.cuh"
#include "mnistrt/cuda/kernels/softmax.cuh"

namespace mn {

template <int... numbers> struct Numbers {};

template <typename Low, typename High> struct Joined;
template <int... low, int... high>
struct Joined<Numbers<low...>, Numbers<high...>> {
  using Result = Numbers<low..., int(sizeof...(low)) + high...>;
};

/// 0 to n - 1, in halves: templates contain each other seldom.
template <int n> struct Below {
  using Result = typename Joined<typename Below<n / 2>::Result,
                                 typename Below<n - n / 2>::Result>::Result;
};
template <> struct Below<0> {
  using Result = Numbers<>;
};
template <> struct Below<1> {
  using Result = Numbers<0>;
};
template <int n> using NumbersBelow = typename Below<n>::Result;

/// The functors of a chain's links, each with its number. A chain may have more
/// links than templates may contain each other.
template <int number, typename F> struct NumberedFunctor {
  F functor;
};
template <typename Numbers, typename... Fs> struct NumberedFunctors;
template <int... numbers, typename... Fs>
struct NumberedFunctors<Numbers<numbers...>, Fs...>
    : NumberedFunctor<numbers, Fs>... {};

/// A chain of steps: a kernel's argument.
template <ChainBlocks b, typename... Links> struct Chain {
  static constexpr ChainBlocks blocks = b;
  NumberedFunctors<NumbersBelow<sizeof...(Links)>, typename Links::Functor...>
      functors;
};

namespace shape {

/// For a link that reduces rows, in a chain over so many. Where a block has
/// fewer rows than warps, several share one that is long enough for it, so that
/// a thread has few elements.
MN_SHAPE_FN RowTeams chainTeams(const Reduce &s, const ChainBlocks &b) {
  constexpr int elements = 4;
  const int64_t most = b.ofBlock * ceilDiv(s.outputs, b.rows);
  RowTeams t = rowTeamsOfWarp(s, int(b.threads / most));
  if (!t.alongElements || t.team < 32)
    return t;
  while (2 * t.team * most <= b.threads && elements * t.team < s.size)
    t.team *= 2;
  if (t.team > 32)
    t.rows = b.threads / t.team;
  return t;
}

/// For a link that reduces rows several times, in a chain over so many. Where
/// rows lie side by side, and a block has few that are not short, several warps
/// share all of them, so that a thread has few elements.
MN_SHAPE_FN RowTeams chainRowTeams(const Reduce &s, const ChainBlocks &b) {
  RowTeams t = chainTeams(s, b);
  constexpr int elements = 4;
  const int64_t most = b.ofBlock * ceilDiv(s.outputs, b.rows);
  if (t.alongElements || most > 32 || t.team * elements >= s.size)
    return t;
  t.rows = powerFrom(int(most));
  t.team = max(t.team, 32 / t.rows);
  while (2 * t.rows * t.team <= b.threads && t.team * elements < s.size)
    t.team *= 2;
  return t;
}

/// Rows of a softmax that lanes have one after another, and how many lanes
/// share one.
struct SoftmaxTeams {
  int team, turns;
};

/// Of a softmax of which a block has at most `most` rows: those with the least
/// to do, for which an element counts as five times what lanes exchange. A lane
/// has few elements of a row.
MN_SHAPE_FN SoftmaxTeams chainTeams(const Softmax &s, int most, int threads) {
  constexpr int mostOfLane = 16;
  SoftmaxTeams best = {32, 0};
  int64_t least = 0;
  for (int team = 32, levels = 5; team >= 4; team /= 2, --levels) {
    const int64_t each = ceilDiv<int64_t>(s.size, team);
    const int turns = ceilDiv(most, threads / team);
    const int64_t work = turns * (5 * each + levels);
    if (best.turns > 0 && (work >= least || each > mostOfLane))
      continue;
    best = {team, turns};
    least = work;
  }
  return best;
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
template <int64_t outputs, ChainBlocks b, shape::RowTeams t, typename Use>
MN_DEVICE void eachOfRows(const ChainRows &here, const Use &use) {
  const ChainRows mine = here.known<b>().times(int(outputs / b.rows));
  if constexpr (isTeamOfWarps<t>) {
    const auto lane = LaneOfRow::of<t>(int(threadIdx.x));
    use(Index(mine.first + shape::min(lane.row, mine.count - 1)), lane,
        lane.row < mine.count);
  } else {
    const int warp = int(threadIdx.x) / 32;
    const auto lane = LaneOfRow::of<t>(int(threadIdx.x) % 32);
#pragma unroll 1
    for (int r = warp * t.rows; r < mine.count; r += b.threads / 32 * t.rows) {
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
  template <ChainBlocks b>
  static constexpr int each = int((ofMatrices ? S.batch : S.m) / b.rows);
  template <ChainBlocks b> static constexpr int most = b.ofBlock * each<b>;
  template <ChainBlocks b>
  static constexpr bool holds = shape::holdsRows(most<b>, S.k * sizeof(T));
  template <ChainBlocks b>
  static constexpr bool isOfFragments =
      S.schedule.mma != Mma::ffma && (ofMatrices || holds<b>);
  template <ChainBlocks b>
  using Fragments =
      device::MatmulFragments<F, S, ofMatrices, most<b>, b.threads>;
  template <ChainBlocks b> static MN_SHAPE_FN bool takesMemory() {
    return !isOfFragments<b>;
  }
  template <ChainBlocks b> static MN_SHAPE_FN int partsOf() {
    if constexpr (isOfFragments<b>)
      return Fragments<b>::parts;
    return 0;
  }

  template <ChainBlocks b, int firstWarp>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    const device::ChainRows mine = here.times(each<b>);
    if constexpr (isOfFragments<b>)
      Fragments<b>::template run<firstWarp>(f, mine);
    else if constexpr (ofMatrices)
      device::MatmulBatch<T, F, S, most<b>, b.threads>::run(f, mine);
    else if constexpr (holds<b>)
      device::MatmulTiles<T, F, S, most<b>, b.threads>::run(f, mine);
    else
      device::MatmulRows<T, F, S, most<b>, b.threads>::run(
          f, here.template known<b>().times(each<b>));
  }
#endif
};

/// A softmax of neighbours; of each row of the chain it has one or some.
template <typename T, typename F, Softmax S> struct SoftmaxLink : Link<F> {
#ifdef __CUDACC__
  template <ChainBlocks b, int>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr int each = int(S.outer / b.rows);
    constexpr int most = b.ofBlock * each;
    constexpr shape::SoftmaxTeams t = shape::chainTeams(S, most, b.threads);
    constexpr int team = t.team, teams = b.threads / team, ofWarp = 32 / team;
    constexpr int atOnce = S.size > 64 ? 1 : shape::min(4, t.turns);
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
  template <ChainBlocks b> static MN_SHAPE_FN bool takesMemory() {
    return device::isTeamOfWarps<shape::chainRowTeams(S, b)>;
  }
  template <ChainBlocks b, int>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr shape::RowTeams teams = shape::chainRowTeams(S, b);
    using Kernel =
        device::RowKernel<F, S, teams, b.threads, device::ChainJoins>;
    if constexpr (device::isTeamOfWarps<teams>)
      // The others wait as often as these do.
      if (int(threadIdx.x) >= teams.rows * teams.team) {
        for (int phase = 0; phase < F::Phases::count; ++phase)
          __syncthreads();
        return;
      }
    device::eachOfRows<S.outputs, b, teams>(
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
  template <ChainBlocks b> static MN_SHAPE_FN bool takesMemory() {
    return device::isTeamOfWarps<shape::chainTeams(S, b)>;
  }
  template <ChainBlocks b, int>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr shape::RowTeams teams = shape::chainTeams(S, b);
    device::eachOfRows<S.outputs, b, teams>(
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

  template <ChainBlocks b> static MN_SHAPE_FN int partsOf() {
    return int(shape::ceilDiv<int64_t>(b.ofBlock * each, 32 * wide));
  }

  template <ChainBlocks b, int firstWarp>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    constexpr int threads = b.threads;
    const int thread = (int(threadIdx.x) + threads - 32 * firstWarp) % threads;
    const int64_t first = here.first * each,
                  end = (here.first + here.count) * each;
    if constexpr (b.held > 0) {
      // What is held is in no memory that the next elements are loaded from:
      // without branches, those of several turns are on their way at once.
      // Threads that have none left compute the last ones again.
      constexpr int turns =
          int(shape::ceilDiv<int64_t>(b.ofBlock * each, wide * threads));
      constexpr int together = shape::ceilDiv(turns, shape::ceilDiv(turns, 4));
#pragma unroll 1
      for (int turn = 0; turn < turns; turn += together)
#pragma unroll
        for (int j = 0; j < together; ++j)
          device::elementsFrom(
              f, shape::min(first + wide * (thread + (turn + j) * threads),
                            end - wide));
    } else {
#pragma unroll 1
      for (int64_t i = first + wide * thread; i < end; i += wide * threads)
        device::elementsFrom(f, i);
    }
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

/// How a link begins.
struct LinkStart {
  bool waits = false; ///< threads wait for each other before it
  int warp = 0;       ///< that has its first part
};

/// Of all links: one beside others begins with the warps that those before it
/// leave, unless both need the memory that links share.
template <ChainBlocks b, typename... Links> struct LinkStarts {
  LinkStart of[sizeof...(Links)];

  constexpr LinkStarts() : of{} {
    constexpr bool beside[] = {isBeside<Links>...},
                   takesMemory[] = {Links::template takesMemory<b>()...};
    constexpr int parts[] = {Links::template partsOf<b>()...};
    bool isTaken = false;
    int warps = 0;
    for (int i = 0; i < int(sizeof...(Links)); ++i) {
      of[i].waits = i > 0 && (!beside[i] || (isTaken && takesMemory[i]));
      if (of[i].waits)
        isTaken = false, warps = 0;
      of[i].warp = warps % (b.threads / 32);
      isTaken |= takesMemory[i];
      warps += parts[i];
    }
  }
};

template <ChainBlocks b, typename L, LinkStart start, int number>
MN_DEVICE void
runLink(const NumberedFunctor<number, typename L::Functor> &numbered,
        const ChainRows &here) {
  if constexpr (start.waits) {
    if constexpr (b.held > 0)
      waitForCopies();
    __syncthreads();
  }
  L::template run<b, start.warp>(numbered.functor, here);
}

template <ChainBlocks b, typename... Links, int... numbers>
MN_DEVICE void runLinks(const Chain<b, Links...> &all, const ChainRows &here,
                        Numbers<numbers...>) {
  constexpr LinkStarts<b, Links...> starts;
  (runLink<b, Links, starts.of[numbers], numbers>(all.functors, here), ...);
}

template <ChainBlocks b, typename... Links>
MN_DEVICE void chain(const Chain<b, Links...> &all) {
  gridDependencySync();
  const int64_t first = int64_t(blockIdx.x) * b.ofBlock;
  runLinks(all, {first, int(shape::min<int64_t>(b.ofBlock, b.rows - first))},
           NumbersBelow<sizeof...(Links)>());
}

} // namespace device

#define MN_CHAIN_KERNEL(NAME, C)                                               \
  MN_GLOBAL_BLOCKS(mn::shape::chain(C::blocks))                                \
  NAME(const __grid_constant__ C all MN_TIMES_ARGUMENT) {                      \
    MN_RECORD_TIMES                                                            \
    mn::device::chain(all);                                                    \
  }

#else

#define MN_CHAIN_KERNEL(NAME, C)

/// A functor for each link.
template <typename C, typename... Fs>
void chain(Context &ctx, const char *kernel, const Fs &...functors) {
  C all{{{functors}...}};
  launch(ctx, kernel, shape::chain(C::blocks), all);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CHAIN_CUH
