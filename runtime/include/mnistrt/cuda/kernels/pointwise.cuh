//===- pointwise.cuh - each element of a map --------------------*- C++ -*-===//
//
// Elements i in [0, count) of elementwise and indexing work of any shape.
// Neighbouring threads have neighbouring elements, or fours of them where the
// functor stores such at once (mnistrt/maps.h): 16 bytes a load. A functor that
// transposes has a tile in a block (transposed.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_POINTWISE_CUH
#define MNISTRT_CUDA_KERNELS_POINTWISE_CUH

#include "mnistrt/cuda/kernels/transposed.cuh"

namespace mn {

namespace shape {

/// Elements next to each other that a thread has.
template <typename F>
inline constexpr int elementsOfThread = StoresNeighbours<F> ? 4 : 1;

inline constexpr int mapThreads = 256;

/// Blocks that together have `count` elements.
template <typename F> MN_SHAPE_FN int64_t mapBlocks(int64_t count) {
  if constexpr (Transposes<F>)
    return count / (int64_t(F::matrices.rows) * F::matrices.columns) *
           transposedTiles<F>().count();
  else
    return ceilDiv(count, int64_t(elementsOfThread<F>) * mapThreads);
}

template <typename F> MN_SHAPE_FN LaunchShape pointwise(int64_t count) {
  if constexpr (Transposes<F>)
    return {unsigned(mapBlocks<F>(count)), mapThreads};
  else
    return each(ceilDiv<int64_t>(count, elementsOfThread<F>));
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// As many elements as a thread has, from number `first` on, a multiple of
/// that.
template <typename F>
MN_DEVICE void elementsFrom(const F &functor, int64_t first) {
  constexpr int wide = shape::elementsOfThread<F>;
  if constexpr (wide == 1) {
    functor(Index(first));
  } else {
    // Without its 64 bits, it has the form from which the compiler sees that
    // the addresses are adjacent.
    const Index place = opaque(Index(first)) & Index(-wide);
    __builtin_assume(place >= 0);
    computeElements<wide>(withAlignedTensors(functor), place);
  }
}

/// The elements of thread number `thread`, of `count`; fewer at the end.
template <typename F>
MN_DEVICE void elementsOf(const F &f, int64_t thread, int64_t count) {
  constexpr int wide = shape::elementsOfThread<F>;
  const int64_t first = thread * wide;
  __builtin_assume(first >= 0);
  if (first + wide <= count)
    elementsFrom(f, first);
  else if constexpr (wide > 1)
#pragma unroll 1
    for (int64_t i = first; i < count; ++i)
      computeElements<1>(f, Index(i));
}

template <typename F> MN_DEVICE void pointwise(const F &f, int64_t count) {
  alignas(16) __shared__ char memory[shape::transposedBytes<F>()];
  gridDependencySync();
  if constexpr (Transposes<F>) {
    transposeTile(f, blockIdx.x, memory);
  } else {
    const int64_t stride = int64_t(gridDim.x) * blockDim.x;
    for (int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
         thread * shape::elementsOfThread<F> < count; thread += stride)
      elementsOf(f, thread, count);
  }
}

} // namespace device

#define MN_POINTWISE_KERNEL(NAME, ...)                                         \
  MN_GLOBAL(mn::shape::mapThreads)                                             \
  NAME(const __grid_constant__ __VA_ARGS__ f,                                  \
       const int64_t count MN_TIMES_ARGUMENT) {                                \
    MN_RECORD_TIMES                                                            \
    mn::device::pointwise(f, count);                                           \
  }

#else

#define MN_POINTWISE_KERNEL(NAME, ...)

template <typename F>
void pointwise(Context &ctx, const char *kernel, int64_t count,
               const F &functor) {
  if (count == 0)
    return;
  void *arguments[] = {const_cast<F *>(&functor), &count};
  launch(ctx, kernel, shape::pointwise<F>(count), arguments);
}

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_POINTWISE_CUH
