//===- reduce.cuh - sums, extremes and where they are -----------*- C++ -*-===//
//
// result o = load(o, 0) + ... + load(o, size - 1), with +, max, min, or the
// index of the maximum. A team of threads shares a result: side by side in a
// warp where its elements are contiguous, else apart, so that neighbouring
// threads always read neighbouring memory. Few large results are shared by
// several blocks. The order of all sums is fixed.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_REDUCE_CUH
#define MNISTRT_CUDA_KERNELS_REDUCE_CUH

#include "mnistrt/cuda/kernels/common.cuh"

namespace mn {

namespace shape {

/// A block has `results` x `team` threads; `splits` blocks share its results.
struct ReduceTeams {
  int results = 1;
  int team = 1;
  int splits = 1;
  int64_t groups = 1; ///< of `results` results
};

MN_SHAPE_FN ReduceTeams reduceTeams(const Reduce &s) {
  ReduceTeams t;
  if (s.contiguous) {
    t.team = s.size <= 4 ? 1 : s.size <= 512 ? 32 : 256;
    t.results = 256 / t.team;
  } else {
    t.results = 32;
    t.team = s.size <= 4 ? 1 : s.size <= 64 ? 4 : s.size <= 512 ? 8 : 32;
    if (t.team == 1)
      t.results = 256;
  }
  t.groups = ceilDiv<int64_t>(most<int64_t>(s.outputs, 1), t.results);
  if (t.groups < manyBlocks) {
    // Each thread has at least 16 elements to itself.
    const int64_t useful = s.size / (int64_t(t.team) * 16);
    t.splits = int(
        most<int64_t>(1, least<int64_t>(useful, 2 * manyBlocks / t.groups)));
  }
  return t;
}

MN_SHAPE_FN LaunchShape reduce(const Reduce &s) {
  const ReduceTeams t = reduceTeams(s);
  return {static_cast<unsigned>(t.groups * t.splits),
          static_cast<unsigned>(t.results * t.team)};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

struct SumOf {
  template <typename T> struct State {
    T value;
  };
  template <typename T> static MN_DEVICE State<T> none() { return {T(0)}; }
  template <typename T> static MN_DEVICE void add(State<T> &s, State<T> v) {
    s.value += v.value;
  }
};
struct MaxOf {
  template <typename T> struct State {
    T value;
  };
  template <typename T> static MN_DEVICE State<T> none() {
    return {Limits<T>::lowest()};
  }
  template <typename T> static MN_DEVICE void add(State<T> &s, State<T> v) {
    if (larger(v.value, s.value))
      s.value = v.value;
  }
};
struct MinOf {
  template <typename T> struct State {
    T value;
  };
  template <typename T> static MN_DEVICE State<T> none() {
    return {Limits<T>::highest()};
  }
  template <typename T> static MN_DEVICE void add(State<T> &s, State<T> v) {
    if (smaller(v.value, s.value))
      s.value = v.value;
  }
};
/// An index of -1: nothing seen yet.
template <bool last> struct ArgMaxOf {
  template <typename T> struct State {
    T value;
    int64_t index;
  };
  template <typename T> static MN_DEVICE State<T> none() { return {T(0), -1}; }
  template <typename T> static MN_DEVICE void add(State<T> &s, State<T> v) {
    if (v.index < 0)
      return;
    const bool isLater = v.index > s.index;
    const bool equal = v.value == s.value || (isNan(v.value) && isNan(s.value));
    if (s.index < 0 || larger(v.value, s.value) || (equal && isLater == last))
      s = v;
  }
};

template <typename T, typename State>
MN_DEVICE void setState(State &s, T value, int64_t index) {
  s.value = value;
  if constexpr (requires { s.index; })
    s.index = index;
}

template <typename State> MN_DEVICE State shuffleState(State s, int lanes) {
  s.value = shuffleXor(s.value, lanes);
  if constexpr (requires { s.index; })
    s.index = shuffleXor(s.index, lanes);
  return s;
}

template <typename F, typename State>
MN_DEVICE void storeState(const F &f, Index o, const State &s) {
  if constexpr (requires { s.index; })
    f.store(o, s.index < 0 ? int64_t(0) : s.index);
  else
    f.store(o, s.value);
}

template <typename R, typename T, Reduce S> struct ReduceKernel {
  static constexpr shape::ReduceTeams t = shape::reduceTeams(S);
  using State = typename R::template State<T>;
  static constexpr bool sharesBlocks = t.splits > 1;
  using Parts =
      Scratch<State, sharesBlocks ? t.groups * t.results * t.splits : 1,
              sharesBlocks ? int(t.groups) : 1>;

  /// All threads of a team in one warp.
  static MN_DEVICE State sumWarp(State s) {
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2)
      R::add(s, shuffleState(s, lanes));
    return s;
  }

  /// The team's sum, in its member 0.
  static MN_DEVICE State sumTeam(State s, int member, int result) {
    if constexpr (t.team == 1)
      return s;
    if constexpr (S.contiguous) {
      s = sumWarp(s);
      if constexpr (t.team > 32) {
        __shared__ char memory[8 * sizeof(State)] __attribute__((aligned(16)));
        State *warps = reinterpret_cast<State *>(memory);
        if (threadIdx.x % 32 == 0)
          warps[threadIdx.x / 32] = s;
        __syncthreads();
        if (member == 0)
          for (int w = 1; w < t.team / 32; ++w)
            R::add(s, warps[w]);
      }
      return s;
    }
    __shared__ char memory[t.results * t.team * sizeof(State)]
        __attribute__((aligned(16)));
    State *all = reinterpret_cast<State *>(memory);
    all[threadIdx.x] = s;
    __syncthreads();
    if (member == 0)
      for (int m = 1; m < t.team; ++m)
        R::add(s, all[m * t.results + result]);
    return s;
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    begin();
    const int64_t group = blockIdx.x / t.splits;
    const int split = int(blockIdx.x % t.splits);
    const int result =
        S.contiguous ? threadIdx.x / t.team : threadIdx.x % t.results;
    const int member =
        S.contiguous ? threadIdx.x % t.team : threadIdx.x / t.results;
    const int64_t o = group * t.results + result;
    State s = R::template none<T>();
    if (o < S.outputs) {
      constexpr int64_t stride = int64_t(t.team) * t.splits;
#pragma unroll 4
      for (int64_t r = int64_t(split) * t.team + member; r < S.size;
           r += stride) {
        State v;
        setState<T>(v, f.load(Index(o), Index(r)), r);
        R::add(s, v);
      }
    }
    s = sumTeam(s, member, result);
    if constexpr (sharesBlocks) {
      if (member == 0)
        parts.part[(group * t.splits + split) * t.results + result] = s;
      if (!lastToArrive(&parts.ticket[group], t.splits) || member != 0)
        return;
      s = R::template none<T>();
      for (int i = 0; i < t.splits; ++i)
        R::add(s, parts.part[(group * t.splits + i) * t.results + result]);
    }
    if (member == 0 && o < S.outputs)
      storeState(f, Index(o), s);
  }
};

} // namespace device

using Sum = device::SumOf;
using Max = device::MaxOf;
using Min = device::MinOf;
using ArgMaxFirst = device::ArgMaxOf<false>;
using ArgMaxLast = device::ArgMaxOf<true>;

#define MN_REDUCE_KERNEL(NAME, R, T, F, ...)                                   \
  __device__ mn::device::ReduceKernel<R, T, __VA_ARGS__>::Parts NAME##_parts;  \
  MN_GLOBAL(mn::shape::reduce(__VA_ARGS__).threads)                            \
  NAME(const __grid_constant__ F f) {                                          \
    mn::device::ReduceKernel<R, T, __VA_ARGS__>::run(f, NAME##_parts);         \
  }

#else

struct Sum {};
struct Max {};
struct Min {};
struct ArgMaxFirst {};
struct ArgMaxLast {};

#define MN_REDUCE_KERNEL(NAME, R, T, F, ...)

template <typename R, typename T, typename F>
void reduce(Context &ctx, const char *kernel, const Reduce &s,
            const F &functor) {
  if (s.outputs != 0)
    launch(ctx, kernel, shape::reduce(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_REDUCE_CUH
