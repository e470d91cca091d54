//===- batch.cuh - copies the next batch of a data set ----------*- C++ -*-===//
//
// A few blocks a row, each of which finds out once which sample the row is. No
// step of a plan: the executor launches it before plans that train or test, or
// beside them.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_BATCH_CUH
#define MNISTRT_CUDA_KERNELS_BATCH_CUH

#include "mnistrt/batch.h"
#include "mnistrt/cuda/kernels/common.cuh"

namespace mn {

namespace shape {
/// Blocks that share a row of the data.
MN_SHAPE_FN unsigned blocksOfRow(int64_t elements) {
  return static_cast<unsigned>(
      max<int64_t>(min<int64_t>(ceilDiv<int64_t>(elements, 4096), 64), 1));
}
MN_SHAPE_FN LaunchShape nextBatch(int64_t rows, int64_t elements) {
  return {static_cast<unsigned>(max<int64_t>(rows, 1)) * blocksOfRow(elements),
          256};
}
} // namespace shape

#ifdef __CUDACC__

namespace device {

MN_DEVICE void load4(const uint8_t *from, float (&x)[4]) {
  const uchar4 four = *reinterpret_cast<const uchar4 *>(from);
  x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
}
MN_DEVICE void load4(const float *from, float (&x)[4]) {
  const float4 four = *reinterpret_cast<const float4 *>(from);
  x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
}

/// The inputs of row `row`, from a picture that is changed.
MN_DEVICE void augmentInputs(const Batch &b, const PictureMap &map, int64_t row,
                             int64_t sample, int64_t thread, int64_t threads) {
  float *to = b.toInputs + row * b.inputElements;
#pragma unroll 1
  for (int64_t i = thread; i < b.inputElements; i += threads)
    to[i] = b.augmented(map, sample, i);
}

/// The inputs of row `row`, by thread `thread` of the `threads` that share it.
/// One loop for both types of data: a division is more code than a loop.
MN_DEVICE void copyInputs(const Batch &b, int64_t row, int64_t sample,
                          int64_t thread, int64_t threads) {
  float *to = b.toInputs + row * b.inputElements;
  const int64_t first = (sample < 0 ? 0 : sample) * b.inputElements;
  const uint8_t *bytes = static_cast<const uint8_t *>(b.inputs) + first;
  const float *floats = static_cast<const float *>(b.inputs) + first;
  if (b.inputElements % 4 == 0) {
#pragma unroll 1
    for (int64_t i = 4 * thread; i < b.inputElements; i += 4 * threads) {
      float4 made = {0, 0, 0, 0};
      if (sample >= 0) {
        float x[4];
        if (b.bytes)
          load4(bytes + i, x);
        else
          load4(floats + i, x);
        made = {b.normalized(x[0]), b.normalized(x[1]), b.normalized(x[2]),
                b.normalized(x[3])};
      }
      *reinterpret_cast<float4 *>(to + i) = made;
    }
  } else {
#pragma unroll 1
    for (int64_t i = thread; i < b.inputElements; i += threads)
      to[i] = sample < 0 ? 0.0f
                         : b.normalized(b.bytes ? float(bytes[i]) : floats[i]);
  }
}

MN_DEVICE void copyTargets(const Batch &b, int64_t row, int64_t sample,
                           int64_t thread, int64_t threads) {
#pragma unroll 1
  for (int64_t i = thread; i < b.targetElements; i += threads)
    b.toTargets[row * b.targetElements + i] =
        sample < 0 ? 0u : b.targets[sample * b.targetElements + i];
}

/// Both types of data in one kernel: to find the sample is most of its code.
MN_DEVICE void nextBatch(const Batch &b) {
  gridDependencySync();
  const unsigned parts = shape::blocksOfRow(b.inputElements);
  const int64_t row = blockIdx.x / parts;
  __shared__ int64_t sample;
  __shared__ PictureMap map;
  if (threadIdx.x == 0) {
    sample = b.sampleOf(row);
    if (b.augment.on())
      map = b.mapOf(sample);
    if (blockIdx.x == 0) {
      *b.toValid = b.valid();
      if (b.toGlobalValid)
        *b.toGlobalValid = b.globalValid();
      if (b.toNumber)
        *b.toNumber = b.numberInEpoch();
    }
  }
  __syncthreads();
  if (row >= b.rows)
    return;
  const int64_t thread = int64_t(blockIdx.x % parts) * blockDim.x + threadIdx.x;
  const int64_t threads = int64_t(parts) * blockDim.x;
  if (b.augment.on() && sample >= 0)
    augmentInputs(b, map, row, sample, thread, threads);
  else
    copyInputs(b, row, sample, thread, threads);
  copyTargets(b, row, sample, thread, threads);
}

} // namespace device

#define MN_NEXT_BATCH_KERNEL                                                   \
  MN_GLOBAL(256)                                                               \
  mn_next_batch(const __grid_constant__ mn::Batch batch MN_TIMES_ARGUMENT) {   \
    MN_RECORD_TIMES                                                            \
    mn::device::nextBatch(batch);                                              \
  }

#else

#define MN_NEXT_BATCH_KERNEL

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_BATCH_CUH
