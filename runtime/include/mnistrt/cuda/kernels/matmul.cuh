//===- matmul.cuh - matrix products -----------------------------*- C++ -*-===//
//
// out[b] (m x n) = a[b] (m x k) b[b] (k x n); see product.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_MATMUL_CUH
#define MNISTRT_CUDA_KERNELS_MATMUL_CUH

#include "mnistrt/cuda/kernels/product.cuh"
#include "mnistrt/cuda/launches.h"

namespace mn {

namespace shape {
MN_SHAPE_FN Product productOf(const Matmul &s) {
  return {s.batch, s.m, s.n, s.k, s.schedule};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {
template <typename T, Matmul S> struct MatmulKernel {
  static constexpr int adjacent = adjacentOf<T>(S.n);
  using Product = ProductKernel<T, shape::productOf(S), !S.transposedA,
                                S.transposedB, adjacent>;
  using Parts = typename Product::Parts;

  /// Of an operand whose lines in memory have so many elements.
  static MN_SHAPE_FN OperandFacts factsOf(int pitch) {
    return {
        .cheapRows = true, .cheapAlong = true, .together = togetherIn(pitch)};
  }
  template <typename F> static MN_DEVICE auto resultsOf(const F &f) {
    return resultsAt(f, [](int batch, int row, int column) {
      return ChannelIndex<1, S.n>{(Index(batch) * S.m + row) * S.n + column,
                                  column};
    });
  }
  template <typename F>
  static MN_DEVICE void addParts(const F &f, const Parts &parts) {
    Product::addParts(resultsOf(f), parts);
  }
  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    const auto a = operandOf<factsOf(S.transposedA ? S.m : S.k)>(
        [](int batch, int row) {
          return Index(batch) * S.m * S.k +
                 (S.transposedA ? Index(row) : Index(row) * S.k);
        },
        [](int k) { return S.transposedA ? Index(k) * S.m : Index(k); },
        [&](Index row, Index k) -> decltype(auto) { return f.loadA(row + k); });
    const auto b = operandOf<factsOf(S.transposedB ? S.k : S.n)>(
        [](int batch, int column) {
          return Index(batch) * S.n * S.k +
                 (S.transposedB ? Index(column) * S.k : Index(column));
        },
        [](int k) { return S.transposedB ? Index(k) : Index(k) * S.n; },
        [&](Index column, Index k) -> decltype(auto) {
          return f.loadB(column + k);
        });
    Product::run(a, b, resultsOf(f), parts);
  }
};
} // namespace device

#define MN_MATMUL_KERNEL(NAME, T, F, ...)                                      \
  MN_PARTS_KERNELS(NAME, F,                                                    \
                   mn::shape::product(mn::shape::productOf(__VA_ARGS__)),      \
                   mn::device::MatmulKernel<T, __VA_ARGS__>)

#else

#define MN_MATMUL_KERNEL(NAME, T, F, ...)

template <typename T, typename F>
void matmul(Context &ctx, const char *kernel, const Matmul &s,
            const F &functor) {
  if (int64_t(s.batch) * s.m * s.n != 0)
    launch(ctx, kernel, matmulLaunches(s), functor);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_MATMUL_CUH
