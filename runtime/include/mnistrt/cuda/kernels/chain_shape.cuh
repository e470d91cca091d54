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

/// Bytes of shared memory for the matrices that a link holds.
inline constexpr int64_t chainMemory = 32 * 1024;
/// The same of several products on tensor cores.
inline constexpr int64_t chainMemoryOfMma = 44 * 1024;

/// Elements from one line of k elements to the next: an odd number of fours, so
/// that those of eight lines are in different banks.
MN_SHAPE_FN int64_t chainPitch(int64_t k) {
  return (ceilDiv<int64_t>(k, 4) | 1) * 4;
}

/// Elements of two matrices of m and n lines.
MN_SHAPE_FN int64_t chainLines(int64_t m, int64_t n, int64_t k) {
  return (m + n) * chainPitch(k);
}

/// Whether a block holds many rows of a product, and weights, of lines of so
/// many bytes; else it reads the weights again for every four rows.
MN_SHAPE_FN bool holdsRows(int rows, int64_t lineBytes) {
  return rows > 4 && lineBytes <= chainMemory / 32;
}

MN_SHAPE_FN LaunchShape chain(int64_t rows) {
  return {static_cast<unsigned>(ceilDiv<int64_t>(rows, chainRows(rows))),
          chainThreads};
}

} // namespace mn::shape

#endif // MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH
