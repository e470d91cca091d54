//===- timestamps.cuh - kernels that say when their blocks run --*- C++ -*-===//
//
// In a program that was compiled with --timestamps (MN_TIMESTAMPS) each kernel
// has one more argument: where its blocks write their times, or null. Without
// it kernels are what they are without this file. Device only.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_TIMESTAMPS_CUH
#define MNISTRT_CUDA_KERNELS_TIMESTAMPS_CUH

#include "mnistrt/cuda/kernels/instructions.cuh"
#include "mnistrt/timestamps.h"

/// MN_TIMES_ARGUMENT ends the parameters of every kernel, MN_RECORD_TIMES
/// begins its body.
#ifdef MN_TIMESTAMPS
#define MN_TIMES_ARGUMENT , mn::BlockTimes *const times
#define MN_RECORD_TIMES const mn::device::TimedBlock timed(times);
#else
#define MN_TIMES_ARGUMENT
#define MN_RECORD_TIMES
#endif

#ifdef __CUDACC__

namespace mn::device {

#ifdef MN_TIMESTAMPS

/// What a block keeps until it has ended. Its first thread reads and writes it.
struct RunningBlock {
  uint64_t start, ready;
};
MN_DEVICE RunningBlock &runningBlock() {
  __shared__ RunningBlock block;
  return block;
}

/// Records a block from here to the end of its last thread: one write of 32
/// bytes, to a place that no other block has. Where nothing is recorded, no
/// thread waits for the others.
class TimedBlock {
public:
  explicit MN_DEVICE TimedBlock(BlockTimes *all) : all(all) {
    if (threadIdx.x == 0)
      runningBlock().start = runningBlock().ready = globalTime();
  }
  MN_DEVICE ~TimedBlock() {
    if (!all)
      return;
    __syncthreads();
    if (threadIdx.x != 0)
      return;
    const RunningBlock block = runningBlock();
    all[blockIdx.x] = {block.start, block.ready, globalTime(),
                       multiprocessor()};
  }

private:
  BlockTimes *const all; ///< of the launch
};

#endif // MN_TIMESTAMPS

/// Waits for the kernel before this one: this one may have been started before
/// that one ended.
MN_DEVICE void gridDependencyWait() {
  waitForEarlierKernel();
#ifdef MN_TIMESTAMPS
  if (threadIdx.x == 0)
    runningBlock().ready = globalTime();
#endif
}

/// And lets the next one be started in the same way.
MN_DEVICE void gridDependencySync() {
  gridDependencyWait();
  startNextKernel();
}

/// As gridDependencySync; but blocks of the next kernel, which wait, have
/// registers and shared memory that steps of other streams could have. Where
/// there are such steps, the next kernel is started by afterLastLoads().
template <typename F> MN_DEVICE void gridDependencySyncOf() {
  gridDependencyWait();
  if constexpr (!RunsBeside<F>)
    startNextKernel();
}
/// When all that a block reads is on its way, or nearly so; more than once does
/// no harm.
template <typename F> MN_DEVICE void afterLastLoads() {
  if constexpr (RunsBeside<F>)
    startNextKernel();
}

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_TIMESTAMPS_CUH
