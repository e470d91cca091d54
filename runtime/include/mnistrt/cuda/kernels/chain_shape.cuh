//===- chain_shape.cuh - which rows a block of a chain has ------*- C++ -*-===//
//
// For the compiler, which decides what may be a chain, and for chain.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH

#include "mnistrt/cuda/launch.h"

namespace mn::shape {

inline constexpr int chainThreads = 1024;

/// Rows of a block: as few as keep all multiprocessors of a large GPU busy.
MN_SHAPE_FN int chainRows(int64_t rows) {
  return int(ceilDiv<int64_t>(rows, referenceSms));
}

MN_SHAPE_FN LaunchShape chain(int64_t rows) {
  return {static_cast<unsigned>(ceilDiv<int64_t>(rows, chainRows(rows))),
          chainThreads};
}

} // namespace mn::shape

#endif // MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH
