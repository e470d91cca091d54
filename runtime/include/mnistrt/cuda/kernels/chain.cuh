//===- chain.cuh - several steps in one launch ------------------*- C++ -*-===//
//
// Steps of which each computes a row of its results from the same row of what
// the ones before it made, where rows are along the first dimension: the last
// layers of a network with the loss and its gradient. A block has some rows and
// runs all links on them, one after another; no block waits for another. What a
// link makes is in memory, where the threads of its block find it after a
// barrier. Products are on the FMA units; a block reads their weights whole.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_CUH

#include "mnistrt/cuda/kernels/chain_shape.cuh"
#include "mnistrt/cuda/kernels/reduce.cuh"
#include "mnistrt/cuda/kernels/results.cuh"
#include "mnistrt/cuda/kernels/rows.cuh"

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
};

#ifdef __CUDACC__

namespace device {

/// The rows that a block has.
struct ChainRows {
  int64_t first;
  int count;
};

/// A product whose first operand has the rows.
template <typename T, typename F, Matmul S, int most> struct MatmulRows {
  static constexpr int threads = shape::chainThreads, warps = threads / 32;
  static constexpr int atOnce = shape::min(most, 4);
  // A warp has so many columns at once; fewer where each warp has some then.
  static constexpr int each =
      shape::max(1, shape::min(8, shape::ceilDiv(S.n, warps)));
  // So many threads have a column each, and there are as many teams of these as
  // share the sums.
  static constexpr int wide =
      shape::min(threads, shape::ceilDiv(shape::max(S.n, 1), 32) * 32);
  static constexpr int teams =
      shape::max(1, shape::min(threads / wide, S.k / 8));
  static constexpr int share = shape::ceilDiv(S.k, teams);

  /// Element k of row number `r` of those of the block; of the last one where
  /// there are fewer.
  static MN_DEVICE T left(const F &f, const ChainRows &here, int r, int k) {
    return f.loadA(Index(here.first + shape::min(r, here.count - 1)) * S.k + k);
  }
  static MN_DEVICE void store(const F &f, const ChainRows &here, int r,
                              int column, T v) {
    if (r < here.count && column < S.n)
      storeResult(f, Index(here.first + r) * S.n + column, v);
  }

  /// Where the weights of a column are adjacent: the lanes of a warp share a
  /// sum.
  static MN_DEVICE void alongSums(const F &f, const ChainRows &here, int r0,
                                  int c0) {
    const int lane = int(threadIdx.x) % 32;
    T sum[atOnce][each] = {};
#pragma unroll(each > 4 ? 4 : 8)
    for (int k = lane; k < S.k; k += 32) {
      T b[each];
#pragma unroll
      for (int c = 0; c < each; ++c)
        b[c] = f.loadB(Index(shape::min(c0 + c, S.n - 1)) * S.k + k);
#pragma unroll
      for (int r = 0; r < atOnce; ++r) {
        const T a = left(f, here, r0 + r, k);
#pragma unroll
        for (int c = 0; c < each; ++c)
          sum[r][c] += a * b[c];
      }
    }
#pragma unroll
    for (int r = 0; r < atOnce; ++r)
#pragma unroll
      for (int c = 0; c < each; ++c) {
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
          sum[r][c] += shuffleXor(sum[r][c], lanes);
        if (lane == r * each + c)
          store(f, here, r0 + r, c0 + c, sum[r][c]);
      }
  }

  /// Where those of a row of weights are: neighbouring threads have
  /// neighbouring columns.
  static MN_DEVICE void alongColumns(const F &f, const ChainRows &here, int r0,
                                     int c0) {
    __shared__ T parts[atOnce][teams > 1 ? threads : 1];
    const int team = int(threadIdx.x) / wide;
    const int column = c0 + int(threadIdx.x) % wide;
    const int from = team * share, to = shape::min(S.k, from + share);
    T sum[atOnce] = {};
    if (team < teams && column < S.n)
#pragma unroll 16
      for (int k = from; k < to; ++k) {
        const T b = f.loadB(Index(k) * S.n + column);
#pragma unroll
        for (int r = 0; r < atOnce; ++r)
          sum[r] += left(f, here, r0 + r, k) * b;
      }
    if constexpr (teams > 1) {
#pragma unroll
      for (int r = 0; r < atOnce; ++r)
        parts[r][threadIdx.x] = sum[r];
      __syncthreads();
      if (team == 0)
#pragma unroll
        for (int r = 0; r < atOnce; ++r)
          for (int other = 1; other < teams; ++other)
            sum[r] += parts[r][other * wide + threadIdx.x];
      __syncthreads(); // before the next ones are written
    }
    if (team == 0)
#pragma unroll
      for (int r = 0; r < atOnce; ++r)
        store(f, here, r0 + r, column, sum[r]);
  }

  static MN_DEVICE void run(const F &f, const ChainRows &here) {
    for (int r0 = 0; r0 < here.count; r0 += atOnce)
      if constexpr (S.transposedB)
        for (int c0 = int(threadIdx.x) / 32 * each; c0 < S.n;
             c0 += warps * each)
          alongSums(f, here, r0, c0);
      else
        for (int c0 = 0; c0 < S.n; c0 += wide)
          alongColumns(f, here, r0, c0);
  }
};

/// use(o) for those of `outputs` that belong to the block's rows; a warp each.
template <int64_t outputs, int64_t rows, typename Use>
MN_DEVICE void eachOfRows(const ChainRows &here, const Use &use) {
  constexpr int64_t each = outputs / rows;
  for (int64_t o = here.first * each + threadIdx.x / 32;
       o < (here.first + here.count) * each; o += shape::chainThreads / 32)
    use(Index(o));
}

} // namespace device

#endif // __CUDACC__

/// A matrix product whose first operand has the rows, as it is in memory.
template <typename T, typename F, Matmul S> struct MatmulLink : Link<F> {
#ifdef __CUDACC__
  template <int64_t rows>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    device::MatmulRows<T, F, S, shape::chainRows(rows)>::run(f, here);
  }
#endif
};

/// A step that reduces rows several times (rows.cuh); of each row of the chain
/// it has one or some.
template <typename F, Reduce S> struct RowsLink : Link<F> {
#ifdef __CUDACC__
  static constexpr int warps = shape::chainThreads / 32;
  using Kernel =
      device::RowKernel<F, S, shape::RowTeams{.rows = warps, .team = 32}>;
  template <int64_t rows>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
    device::eachOfRows<S.outputs, rows>(here, [&](Index o) {
      typename Kernel::Row row{};
      Kernel::runRow(f, row, {o, lane}, lane, warp, true, true);
    });
  }
#endif
};

/// A reduction; of each row of the chain it has one result or some.
template <typename R, typename T, typename F, Reduce S>
struct ReduceLink : Link<F> {
#ifdef __CUDACC__
  template <int64_t rows>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    const int lane = int(threadIdx.x) % 32;
    device::eachOfRows<S.outputs, rows>(here, [&](Index o) {
      auto s = R::template none<T>();
#pragma unroll 8
      for (int r = lane; r < S.size; r += 32)
        s = R::join(s, R::template of<T>(f.load(o, Index(r)), r));
#pragma unroll
      for (int lanes = 16; lanes > 0; lanes /= 2)
        s = R::join(s, device::shuffleState(s, lanes));
      if (lane == 0)
        f.store(o, R::result(s));
    });
  }
#endif
};

/// A map; of each row it has so many elements.
template <typename F, int64_t each> struct MapLink : Link<F> {
#ifdef __CUDACC__
  template <int64_t rows>
  static MN_DEVICE void run(const F &f, const device::ChainRows &here) {
    for (int64_t i = here.first * each + threadIdx.x;
         i < (here.first + here.count) * each; i += shape::chainThreads)
      f(Index(i));
  }
#endif
};

#ifdef __CUDACC__

namespace device {

template <int64_t rows, typename First, typename... Others, typename... Fs>
MN_DEVICE void runLinks(const Functors<Fs...> &functors,
                        const ChainRows &here) {
  First::template run<rows>(functors.first, here);
  if constexpr (sizeof...(Others) > 0) {
    __syncthreads();
    runLinks<rows, Others...>(functors.others, here);
  }
}

template <int64_t rows, typename... Links>
MN_DEVICE void chain(const Chain<rows, Links...> &all) {
  constexpr int most = shape::chainRows(rows);
  gridDependencySync();
  const int64_t first = int64_t(blockIdx.x) * most;
  runLinks<rows, Links...>(
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
