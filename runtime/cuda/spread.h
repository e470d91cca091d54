//===- spread.h - blocks on multiprocessors ---------------------*- C++ -*-===//
//
// A block starts as soon as any multiprocessor has room for it. While the last
// blocks of the kernel before, or kernels of other streams, still run, few have
// room; these would take several blocks, and the whole kernel as long as they
// do, while others have none. Where blocks have much to do, each asks for so
// much shared memory that no multiprocessor takes more than its share.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_SPREAD_H
#define MNISTRT_CUDA_SPREAD_H

#include "cuda/device.h"
#include "mnistrt/cuda/launch.h"
#include "mnistrt/model.h"
#include <vector>

namespace mn::cuda {

struct Spread {
  unsigned shared = 0; ///< bytes of a block, beyond what the kernel declares
  bool isEven = false; ///< no multiprocessor has room for more than its share
};

/// Of the blocks of a kernel that declares `declared` bytes of shared memory.
/// Only those that say so are spread (LaunchShape::spread), neither a few,
/// which find room anyway, nor many, which go where others have ended.
Spread spreadBlocks(const Device &device, const LaunchShape &shape,
                    unsigned declared);

/// Whether a step is a sum over ranks.
bool isCollective(const Step &step);

/// Of each step of a plan, whether its blocks may be spread: all but those that
/// may run beside a sum over ranks. Its kernels keep multiprocessors for long,
/// and blocks that want one of these would wait for it.
std::vector<bool> stepsApartFromSums(const Plan &plan);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_SPREAD_H
