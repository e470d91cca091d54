//===- reduce.cuh - sums, extremes and where they are -----------*- C++ -*-===//
//
// result o = load(o, 0) + ... + load(o, size - 1), with +, max, min, or the
// index of the maximum. A team of threads shares a result: neighbouring threads
// have neighbouring elements where these are adjacent in memory, else
// neighbouring results, of large tensors fours of them: 16 bytes a load. Few
// large results are shared by several blocks. The order of all sums is fixed.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_REDUCE_CUH
#define MNISTRT_CUDA_KERNELS_REDUCE_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/cuda/launches.h"
#include "mnistrt/reductions.h"

namespace mn {

namespace shape {

/// A block has `results` / `wide` x `team` threads; `splits` blocks share its
/// results.
struct ReduceTeams {
  bool alongElements = true; ///< neighbouring threads; else along results
  int wide = 1;              ///< results next to each other that a thread has
  int results = 1;
  int team = 1;
  int splits = 1;
  int64_t groups = 1; ///< of `results` results

  MN_SHAPE_FN int columns() const { return results / wide; }
  MN_SHAPE_FN int threads() const { return columns() * team; }
};

/// Elements of a result that a thread has on their way from memory at once.
inline constexpr int reduceDepth = 8;

MN_SHAPE_FN ReduceTeams reduceTeams(const Reduce &s) {
  // As many threads as run at once; neighbours of 32 bytes fill a sector.
  constexpr int64_t resident = 1024 * referenceSms, sector = 8;
  const int64_t outputs = max<int64_t>(s.outputs, 1);
  ReduceTeams t;
  t.alongElements = s.contiguous || s.run >= sector;
  if (s.size <= 4) {
    t.results = 256;
  } else if (t.alongElements) {
    t.team = threadsOfRow(s, 256);
    t.results = 256 / t.team;
  } else {
    t.wide = hasFoursOfResults(s) ? 4 : 1;
    t.results = t.wide == 1 && outputs < 32 * referenceSms ? int(sector) : 32;
    // As many threads as there are loads for.
    while (t.wide == 4 && t.results < 512 &&
           s.size * t.results <= int64_t(128) * t.wide * reduceDepth / 2)
      t.results *= 2;
    t.team = 128 / t.columns();
    const int most = t.wide == 1 ? 1024 : 512;
    while (t.threads() < most && int64_t(t.team) * reduceDepth < s.size)
      t.team *= 2;
  }
  t.groups = ceilDiv<int64_t>(outputs, t.results);
  // Putting parts together takes as long as a few turns of loads, and least
  // within a cluster.
  do {
    const int64_t turns = s.size / (int64_t(t.team) * reduceDepth);
    const int64_t blocks = resident / t.threads() / t.groups;
    t.splits = turns >= 3 ? int(max<int64_t>(1, min(turns, blocks))) : 1;
    if (t.splits <= largestCluster || t.threads() == 1024)
      return t;
    t.team *= 2;
  } while (true);
}

MN_SHAPE_FN LaunchShape reduce(const Reduce &s) {
  const ReduceTeams t = reduceTeams(s);
  return {static_cast<unsigned>(t.groups * t.splits),
          static_cast<unsigned>(t.threads()),
          t.splits <= largestCluster ? static_cast<unsigned>(t.splits) : 1u};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

template <typename R, typename T, Reduce S> struct ReduceKernel {
  static constexpr shape::ReduceTeams t = shape::reduceTeams(S);
  using State = typename R::template State<T>;
  static constexpr bool byCluster =
      hasClusters && t.splits > 1 && t.splits <= shape::largestCluster;
  static constexpr bool byTicket = t.splits > 1 && !byCluster;
  using Sent = SentStates<State, byCluster ? t.splits : 1, t.results>;
  using Parts = Scratch<State, byTicket ? t.groups * t.results * t.splits : 1,
                        byTicket ? int(t.groups) : 1>;

  static constexpr int wide = t.wide;
  using Lanes = TeamLanes<t.alongElements, t.team, t.columns()>;
  using Number = RowNumber<S>;

  /// Of the results that a thread has.
  struct States {
    State of[wide];
    MN_DEVICE States() {
#pragma unroll
      for (State &s : of)
        s = R::template none<T>();
    }
    /// use(state, which)
    template <typename Use> MN_DEVICE void each(const Use &use) {
#pragma unroll
      for (int w = 0; w < wide; ++w)
        use(of[w], w);
    }
  };

  /// The team's sums of results from number `result` of the block on, in its
  /// member 0.
  static MN_DEVICE void sumTeam(States &states, int member, int result) {
    states.each([](State &s, int) {
#pragma unroll
      for (int lanes = Lanes::widest; lanes >= Lanes::narrowest; lanes /= 2)
        s = R::join(s, shuffleState(s, lanes));
    });
    if constexpr (Lanes::warps > 1) {
      __shared__ char memory[Lanes::warps * t.results * sizeof(State)]
          __attribute__((aligned(16)));
      State *all = reinterpret_cast<State *>(memory);
      if (member % Lanes::members == 0)
        states.each([&](State &s, int w) {
          all[member / Lanes::members * t.results + result + w] = s;
        });
      __syncthreads();
      if (member == 0)
        states.each([&](State &s, int w) {
#pragma unroll
          for (int warp = 1; warp < Lanes::warps; ++warp)
            s = R::join(s, all[warp * t.results + result + w]);
        });
    }
  }

  /// The sum of every `stride`th element. Its loads are all on their way before
  /// the first is used, without branches: what is beyond the end is loaded from
  /// the beginning and not used.
  template <typename F>
  static MN_DEVICE States sumShare(const F &f, Index o, int first) {
    constexpr Number stride = Number(t.team) * t.splits;
    constexpr Number turns = shape::ceilDiv<Number>(S.size, stride);
    constexpr Number rounds = shape::ceilDiv<Number>(turns, shape::reduceDepth);
    constexpr int each =
        int(shape::ceilDiv<Number>(turns, shape::max<Number>(rounds, 1)));
    States states;
    if constexpr (S.size > 0) {
      for (Number start = first; start < rounds * each * stride;
           start += each * stride) {
        T v[each][wide];
#pragma unroll
        for (int i = 0; i < each; ++i) {
          const Number r = start + i * stride;
          const Index at = Index(r < S.size ? r : 0);
          __builtin_assume(at >= 0 && at < S.size);
#pragma unroll
          for (int w = 0; w < wide; ++w)
            v[i][w] = f.load(o + w, at);
        }
#pragma unroll
        for (int i = 0; i < each; ++i) {
          const Number r = start + i * stride;
          if (r < S.size)
            states.each([&](State &s, int w) {
              s = R::join(s, R::template of<T>(v[i][w], r));
            });
        }
      }
    }
    return states;
  }

  /// Of results from number `o` on, which is a multiple of `wide`.
  template <typename F>
  static MN_DEVICE States sumShareOf(const F &f, int64_t o, int first) {
    if constexpr (wide == 1) {
      return sumShare(f, Index(o), first);
    } else {
      // As in pointwise.cuh: the compiler sees that addresses are adjacent.
      const Index place = opaque(Index(o)) & Index(-wide);
      __builtin_assume(place >= 0);
      return sumShare(withAlignedTensors(f), place, first);
    }
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    const int64_t group = blockIdx.x / t.splits;
    const int split = int(blockIdx.x % t.splits);
    __shared__ Sent sent;
    if constexpr (byCluster) {
      if (split == 0 && threadIdx.x == 0)
        sent.expect();
      clusterStart();
    }
    gridDependencySync();
    const int column =
        t.alongElements ? threadIdx.x / t.team : threadIdx.x % t.columns();
    const int member =
        t.alongElements ? threadIdx.x % t.team : threadIdx.x / t.columns();
    const int result = column * wide;
    const int64_t o = group * t.results + result;
    States states;
    if (o < S.outputs)
      states = sumShareOf(f, o, split * t.team + member);
    sumTeam(states, member, result);
    if constexpr (byCluster) {
      clusterWait(); // until the others run
      if (member == 0)
        states.each(
            [&](State &s, int w) { sent.send(s, split, result + w, 0); });
      if (split != 0)
        return;
      sent.wait();
      states.each([&](State &s, int w) {
        s = sent.at(0, result + w);
#pragma unroll
        for (int i = 1; i < t.splits; ++i)
          s = R::join(s, sent.at(i, result + w));
      });
    }
    if constexpr (byTicket) {
      State *part = parts.part + group * t.splits * t.results + result;
      if (member == 0)
        states.each([&](State &s, int w) { part[split * t.results + w] = s; });
      if (!lastToArrive(&parts.ticket[group], t.splits))
        return;
      states = States();
      for (int i = member; i < t.splits; i += t.team)
        states.each(
            [&](State &s, int w) { s = R::join(s, part[i * t.results + w]); });
      sumTeam(states, member, result);
    }
    if (member == 0 && o < S.outputs)
      states.each(
          [&](State &s, int w) { f.store(Index(o) + w, R::result(s)); });
  }
};

} // namespace device

#define MN_REDUCE_KERNEL(NAME, R, T, F, ...)                                   \
  __device__ mn::device::ReduceKernel<R, T, __VA_ARGS__>::Parts NAME##_parts;  \
  MN_GLOBAL_CLUSTERS(mn::shape::reduce(__VA_ARGS__))                           \
  NAME(const __grid_constant__ F f MN_TIMES_ARGUMENT) {                        \
    MN_RECORD_TIMES                                                            \
    mn::device::ReduceKernel<R, T, __VA_ARGS__>::run(f, NAME##_parts);         \
  }

#else

#define MN_REDUCE_KERNEL(NAME, R, T, F, ...)

template <typename R, typename T, typename F>
void reduce(Context &ctx, const char *kernel, const Reduce &s,
            const F &functor) {
  if (s.outputs != 0)
    launch(ctx, kernel, reduceLaunch(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_REDUCE_CUH
