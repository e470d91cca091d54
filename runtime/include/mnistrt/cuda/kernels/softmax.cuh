//===- softmax.cuh - softmax and its logarithm ------------------*- C++ -*-===//
//
// store(i, exp(x_i - max) / sum) along the middle of outer x size x inner. Rows
// of up to 1024 elements stay in the registers of a warp, which has several
// short ones; longer ones take a block that reads them three times; where rows
// are interleaved (inner > 1), each thread has one, so that a warp reads
// neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_SOFTMAX_CUH
#define MNISTRT_CUDA_KERNELS_SOFTMAX_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/cuda/launches.h"

namespace mn {

namespace shape {
enum class SoftmaxWay { warp, block, thread };

MN_SHAPE_FN SoftmaxWay softmaxWay(const Softmax &s) {
  if (s.inner > 1)
    return SoftmaxWay::thread;
  return s.size <= Softmax::ofWarp ? SoftmaxWay::warp : SoftmaxWay::block;
}

/// Lanes that share a row of a softmax: a few of a short one, each with a few
/// elements, so that a warp has several rows.
MN_SHAPE_FN int teamOfSoftmax(const Softmax &s) {
  int team = 8;
  while (team < 32 && 4 * team < s.size)
    team *= 2;
  return team;
}

/// Rows of a team, one after the other in a thread's registers: several of
/// short ones where all threads of a large GPU have one, so that more loads are
/// on their way.
MN_SHAPE_FN int rowsOfTeam(const Softmax &s) {
  constexpr int most = 4, shortest = 64, residentThreads = 2048;
  const int64_t threads = s.outer * teamOfSoftmax(s);
  int rows = 1;
  while (rows < most && s.size <= shortest &&
         2 * rows * int64_t(residentThreads) * referenceSms <= threads)
    rows *= 2;
  return rows;
}

MN_SHAPE_FN LaunchShape softmax(const Softmax &s) {
  const int64_t rows = s.outer * s.inner;
  const SoftmaxWay way = softmaxWay(s);
  if (way == SoftmaxWay::block)
    return {static_cast<unsigned>(rows), 256};
  const int64_t rowsInBlock =
      way == SoftmaxWay::warp ? 128 / teamOfSoftmax(s) * rowsOfTeam(s) : 128;
  return {static_cast<unsigned>(ceilDiv(rows, rowsInBlock)), 128};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

/// x / c of finite numbers, from 1 / c, as divideBy() of math.h.
MN_DEVICE double quotientOf(double x, double c, double) { return x / c; }
MN_DEVICE float quotientOf(float x, float c, float reciprocal) {
  const float quotient = x * reciprocal;
  return ::fmaf(::fmaf(-quotient, c, x), reciprocal, quotient);
}

template <typename T, Softmax S> struct SoftmaxKernel {
  static MN_DEVICE T finish(T x, T top, T sum) {
    return softmaxElement<S.log>(x, top, sum);
  }

  /// exp(x - top), which x becomes where that is what is divided.
  static MN_DEVICE T powerOf(T &x, T top) {
    const T power = mn::exp(x - top);
    if constexpr (!S.log)
      x = power;
    return power;
  }

  /// Some rows of neighbours that the registers of `team` lanes hold, `apart`
  /// from each other, of those before `end`: of the last one where there is no
  /// other, which then is not stored again. All lanes of a warp call this.
  template <int rows, int team, typename F>
  static MN_DEVICE void runRows(const F &f, Index first, int apart, Index end) {
    constexpr int each = int((S.size + team - 1) / team) + (S.size == 0);
    const int lane = int(threadIdx.x) % team;
    const auto at = [&](int row, int j) {
      return Index(shape::min<Index>(first + row * apart, end - 1) * S.size +
                   lane + team * j);
    };
    const auto has = [&](int j) {
      return S.size % team == 0 || lane + team * j < S.size;
    };
    T x[rows][each], top[rows], sum[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      top[row] = Limits<T>::lowest();
#pragma unroll
      for (int j = 0; j < each; ++j)
        x[row][j] = has(j) ? f.load(at(row, j)) : Limits<T>::lowest();
    }
#pragma unroll
    for (int row = 0; row < rows; ++row)
#pragma unroll
      for (int j = 0; j < each; ++j)
        top[row] = mn::max(top[row], x[row][j]);
#pragma unroll
    for (int lanes = team / 2; lanes > 0; lanes /= 2)
#pragma unroll
      for (int row = 0; row < rows; ++row)
        top[row] = mn::max(top[row], shuffleXor(top[row], lanes));
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      sum[row] = 0;
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (has(j))
          sum[row] += powerOf(x[row][j], top[row]);
    }
#pragma unroll
    for (int lanes = team / 2; lanes > 0; lanes /= 2)
#pragma unroll
      for (int row = 0; row < rows; ++row)
        sum[row] += shuffleXor(sum[row], lanes);
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const T reciprocal = mn::reciprocal(sum[row]);
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (first + row * apart < end && has(j))
          f.store(at(row, j),
                  S.log ? finish(x[row][j], top[row], sum[row])
                        : quotientOf(x[row][j], sum[row], reciprocal));
    }
  }

  template <typename F> static MN_DEVICE void runWarp(const F &f) {
    constexpr int team = shape::teamOfSoftmax(S), teams = 128 / team;
    constexpr int rows = shape::rowsOfTeam(S);
    const int64_t row =
        int64_t(blockIdx.x) * teams * rows + int(threadIdx.x) / team;
    runRows<rows, team>(f, Index(row), teams, Index(S.outer));
  }

  /// Every thread gets the result for its block of 256.
  template <bool isMax> static MN_DEVICE T overBlock(T v) {
    __shared__ T warps[8];
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      const T other = shuffleXor(v, lanes);
      v = isMax ? mn::max(v, other) : v + other;
    }
    if (threadIdx.x % 32 == 0)
      warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = warps[0];
    for (int w = 1; w < 8; ++w)
      v = isMax ? mn::max(v, warps[w]) : v + warps[w];
    __syncthreads();
    return v;
  }

  template <typename F> static MN_DEVICE void runBlock(const F &f) {
    const int64_t base = int64_t(blockIdx.x) * S.size;
    T top = Limits<T>::lowest();
    for (int64_t r = threadIdx.x; r < S.size; r += 256)
      top = mn::max(top, f.load(Index(base + r)));
    top = overBlock<true>(top);
    T sum = 0;
    for (int64_t r = threadIdx.x; r < S.size; r += 256)
      sum += mn::exp(f.load(Index(base + r)) - top);
    sum = overBlock<false>(sum);
    for (int64_t r = threadIdx.x; r < S.size; r += 256)
      f.store(Index(base + r), finish(f.load(Index(base + r)), top, sum));
  }

  template <typename F> static MN_DEVICE void runThread(const F &f) {
    const int64_t row = int64_t(blockIdx.x) * 128 + threadIdx.x;
    if (row >= S.outer * S.inner)
      return;
    const int64_t base = row / S.inner * S.size * S.inner + row % S.inner;
    T top = Limits<T>::lowest();
    for (int64_t r = 0; r < S.size; ++r)
      top = mn::max(top, f.load(Index(base + r * S.inner)));
    T sum = 0;
    for (int64_t r = 0; r < S.size; ++r)
      sum += mn::exp(f.load(Index(base + r * S.inner)) - top);
    for (int64_t r = 0; r < S.size; ++r) {
      const Index i = Index(base + r * S.inner);
      f.store(i, finish(f.load(i), top, sum));
    }
  }

  template <typename F> static MN_DEVICE void run(const F &f) {
    gridDependencySync();
    constexpr shape::SoftmaxWay way = shape::softmaxWay(S);
    if constexpr (way == shape::SoftmaxWay::warp)
      runWarp(f);
    else if constexpr (way == shape::SoftmaxWay::block)
      runBlock(f);
    else
      runThread(f);
  }
};

} // namespace device

#define MN_SOFTMAX_KERNEL(NAME, T, F, ...)                                     \
  MN_GLOBAL(mn::shape::softmax(__VA_ARGS__).threads)                           \
  NAME(const __grid_constant__ F f MN_TIMES_ARGUMENT) {                        \
    MN_RECORD_TIMES                                                            \
    mn::device::SoftmaxKernel<T, __VA_ARGS__>::run(f);                         \
  }

#else

#define MN_SOFTMAX_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void softmax(Context &ctx, const char *kernel, const Softmax &s,
             const F &functor) {
  if (s.outer * s.inner != 0)
    launch(ctx, kernel, softmaxLaunch(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_SOFTMAX_CUH
