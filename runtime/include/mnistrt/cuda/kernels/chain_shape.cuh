//===- chain_shape.cuh - which rows a block of a chain has ------*- C++ -*-===//
//
// For the compiler, which decides what may be a chain, and for chain.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH

#include "mnistrt/cuda/launch.h"

namespace mn {

/// How blocks share the rows of a chain.
struct ChainBlocks {
  int64_t rows;      ///< of the chain
  int ofBlock;       ///< rows of a block; the last one may have fewer
  int threads;       ///< of a block
  unsigned held = 0; ///< bytes of tensors that a block has in shared memory
};

namespace shape {

/// A block for each multiprocessor of a large GPU, or fewer.
MN_SHAPE_FN ChainBlocks chainBlocks(int64_t rows) {
  return {rows, int(ceilDiv<int64_t>(rows, referenceSms)), 1024};
}

/// A block for each row, which holds so many bytes of tensors. Some share a
/// multiprocessor, so that one computes while others wait.
MN_SHAPE_FN ChainBlocks heldBlocks(int64_t rows, int64_t bytes) {
  const int64_t each = ceilDiv<int64_t>(rows, referenceSms);
  return {rows, 1, each > 2 ? 256 : each > 1 ? 512 : 1024, unsigned(bytes)};
}

/// Bytes of shared memory for the rows of a tensor: they begin where they would
/// in a tensor, counted in bytes after a multiple of 16.
MN_SHAPE_FN int64_t bytesHeld(int64_t bytesOfRow) {
  return ceilDiv<int64_t>(bytesOfRow, 16) * 16 + (bytesOfRow % 16 ? 16 : 0);
}

/// Bytes of shared memory for the matrices that a link holds.
inline constexpr int64_t chainMemory = 32 * 1024;
/// The most bytes of tensors that a block holds beside these: every GPU with
/// tensor cores for bf16 gives a block 99 KiB.
inline constexpr int64_t mostHeld = 99 * 1024 - chainMemory;

/// The most tensors that links read and write in all: a kernel's arguments have
/// at most 32,764 bytes, with the address of where times are written.
inline constexpr int64_t mostTensors = (32764 - 8) / 8;

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

MN_SHAPE_FN LaunchShape chain(const ChainBlocks &b) {
  return {.blocks = static_cast<unsigned>(ceilDiv<int64_t>(b.rows, b.ofBlock)),
          .threads = static_cast<unsigned>(b.threads),
          .shared = b.held,
          .resident = static_cast<unsigned>(1024 / b.threads)};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CHAIN_SHAPE_CUH
