//===- transfer.cuh - copies inputs and outputs of a plan -------*- C++ -*-===//
//
// No step of a plan: the executor launches it before and after the steps. Small
// inputs and outputs go from and to the host's memory in less time than a copy
// engine needs to begin; bytes become floats on the way.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_TRANSFER_CUH
#define MNISTRT_CUDA_KERNELS_TRANSFER_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/pixels.h"

namespace mn {

/// Both addresses are multiples of 16; either may be the host's.
struct Transfer {
  void *to = nullptr;
  const void *from = nullptr;
  int64_t bytes = 0;     ///< to read
  bool isPixels = false; ///< writes a float for each byte
  Pixels pixels = {};
  uint32_t *done = nullptr; ///< the host's: each block writes a 1 at the end
};

namespace shape {
MN_SHAPE_FN LaunchShape transfer(int64_t bytes) {
  return {static_cast<unsigned>(max<int64_t>(
              min<int64_t>(ceilDiv<int64_t>(bytes, 4096), 4096), 1)),
          256};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

MN_DEVICE void copyBytes(const Transfer &t, int64_t thread, int64_t threads) {
  const int64_t vectors = t.bytes / 16;
  const uint4 *from = static_cast<const uint4 *>(t.from);
  uint4 *to = static_cast<uint4 *>(t.to);
  for (int64_t i = thread; i < vectors; i += threads)
    to[i] = from[i];
  const int64_t byte = vectors * 16 + thread;
  if (byte < t.bytes)
    static_cast<uint8_t *>(t.to)[byte] =
        static_cast<const uint8_t *>(t.from)[byte];
}

MN_DEVICE void copyPixels(const Transfer &t, int64_t thread, int64_t threads) {
  __shared__ float made[256];
  made[threadIdx.x] = t.pixels(int(threadIdx.x));
  __syncthreads();
  const int64_t vectors = t.bytes / 4;
  const uchar4 *from = static_cast<const uchar4 *>(t.from);
  float4 *to = static_cast<float4 *>(t.to);
  for (int64_t i = thread; i < vectors; i += threads) {
    const uchar4 p = from[i];
    to[i] = {made[p.x], made[p.y], made[p.z], made[p.w]};
  }
  const int64_t byte = vectors * 4 + thread;
  if (byte < t.bytes)
    static_cast<float *>(t.to)[byte] =
        made[static_cast<const uint8_t *>(t.from)[byte]];
}

MN_DEVICE void transfer(const Transfer &t) {
  gridDependencySync();
  const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t threads = int64_t(gridDim.x) * blockDim.x;
  if (t.isPixels)
    copyPixels(t, thread, threads);
  else
    copyBytes(t, thread, threads);
  if (!t.done)
    return;
  // What all threads of the block wrote is visible to the host before the word.
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *static_cast<volatile uint32_t *>(t.done + blockIdx.x) = 1;
  }
}

} // namespace device

#define MN_TRANSFER_KERNEL                                                     \
  MN_GLOBAL(256)                                                               \
  mn_transfer(                                                                 \
      const __grid_constant__ mn::Transfer transfer MN_TIMES_ARGUMENT) {       \
    MN_RECORD_TIMES                                                            \
    mn::device::transfer(transfer);                                            \
  }

#else

#define MN_TRANSFER_KERNEL

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_TRANSFER_CUH
