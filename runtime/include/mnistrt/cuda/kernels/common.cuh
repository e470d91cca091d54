//===- common.cuh - what all kernels use ------------------------*- C++ -*-===//
//
// NaN-aware comparison, warp shuffles of any type, and how blocks share one
// result: each writes its part to scratch memory, the last to arrive sums them
// in a fixed order. Results do not depend on which one that is. Device only.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_COMMON_CUH
#define MNISTRT_CUDA_KERNELS_COMMON_CUH

#include "mnistrt/cuda/launch.h"
#include "mnistrt/math.h"

#ifdef __CUDACC__

#define MN_DEVICE __device__ __forceinline__
#define MN_GLOBAL(threads) extern "C" __global__ void __launch_bounds__(threads)

namespace mn::device {

/// Waits for the kernel before this one, which may have been started before
/// that one ended, and lets the next one be started in the same way.
MN_DEVICE void begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

template <typename T> MN_DEVICE bool isNan(T v) { return v != v; }

/// Is `v` a larger maximum than `best`? NaN is the largest, so it propagates;
/// of equal ones the first stays.
template <typename T> MN_DEVICE bool larger(T v, T best) {
  return v > best || (isNan(v) && !isNan(best));
}
template <typename T> MN_DEVICE bool smaller(T v, T best) {
  return v < best || (isNan(v) && !isNan(best));
}

template <typename T> MN_DEVICE T shuffleXor(T v, int lanes) {
  if constexpr (sizeof(T) < 4)
    return T(__shfl_xor_sync(0xffffffffu, int(v), lanes));
  else
    return __shfl_xor_sync(0xffffffffu, v, lanes);
}

/// Whether this block is the last of `blocks` that share a result, all of
/// which have written their parts.
MN_DEVICE bool lastToArrive(unsigned *ticket, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(ticket, 1u) == blocks - 1;
    if (last)
      *ticket = 0; // for the next launch
  }
  __syncthreads();
  if (last)
    __threadfence();
  return last;
}

/// Scratch memory of one kernel: `parts` numbers and a ticket for each of
/// `results` groups of blocks. Tickets start as 0 and are left so.
template <typename T, long long parts, int results> struct Scratch {
  T part[parts];
  unsigned ticket[results];
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_COMMON_CUH
