//===- pointwise.cuh - one call of a functor for each element ---*- C++ -*-===//
//
// f(i) for i in [0, count): elementwise and indexing work of any shape. One
// thread an element, so that neighbours in memory are neighbours in a warp.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_POINTWISE_CUH
#define MNISTRT_CUDA_KERNELS_POINTWISE_CUH

#include "mnistrt/cuda/kernels/common.cuh"

#ifdef __CUDACC__

namespace mn::device {
template <typename F> MN_DEVICE void pointwise(const F &f, int64_t count) {
  gridDependencySync();
  const int64_t stride = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    f(Index(i));
}
} // namespace mn::device

#define MN_POINTWISE_KERNEL(NAME, ...)                                         \
  MN_GLOBAL(256)                                                               \
  NAME(const __grid_constant__ __VA_ARGS__ f, const int64_t count) {           \
    mn::device::pointwise(f, count);                                           \
  }

#else

#define MN_POINTWISE_KERNEL(NAME, ...)

namespace mn {
template <typename F>
void pointwise(Context &ctx, const char *kernel, int64_t count,
               const F &functor) {
  if (count == 0)
    return;
  void *arguments[] = {const_cast<F *>(&functor), &count};
  launch(ctx, kernel, shape::each(count), arguments);
}
} // namespace mn

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_POINTWISE_CUH
