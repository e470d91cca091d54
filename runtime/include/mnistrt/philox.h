//===- philox.h - random numbers by counting --------------------*- C++ -*-===//
//
// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011). A number is a function of what it is for, so that
// a dropout mask, a shuffle or a weight is the same on the CPU and the GPU, in
// any order, and again in the backward pass. For g++, clang and NVRTC.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_PHILOX_H
#define MNISTRT_PHILOX_H

#include "mnistrt/shapes.h"

#ifndef MN_FN
#ifdef __CUDACC__
#define MN_FN __device__ __forceinline__
#else
#define MN_FN inline
#endif
#endif

namespace mn {

/// Four words: a counter, or the random bits that it gives.
struct Words4 {
  uint32_t word[4];

  /// Word number `i % 4`: selected rather than indexed, so that they stay in
  /// registers.
  MN_FN uint32_t select(uint32_t i) const {
    const uint32_t low = i & 1 ? word[1] : word[0];
    const uint32_t high = i & 1 ? word[3] : word[2];
    return i & 2 ? high : low;
  }
};

/// The bijection of the paper: ten rounds of `counter` under a key of 64 bits.
MN_FN Words4 philox(Words4 counter, uint32_t key0, uint32_t key1) {
  uint32_t a = counter.word[0], b = counter.word[1];
  uint32_t c = counter.word[2], d = counter.word[3];
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t(0xD2511F53u) * a;
    const uint64_t q = uint64_t(0xCD9E8D57u) * c;
    a = uint32_t(q >> 32) ^ b ^ key0;
    b = uint32_t(q);
    c = uint32_t(p >> 32) ^ d ^ key1;
    d = uint32_t(p);
    key0 += 0x9E3779B9u; // the golden ratio
    key1 += 0xBB67AE85u; // the square root of 3, less 1
  }
  return {{a, b, c, d}};
}

/// The upper 24 bits as a float in [0, 1), exactly: every value is a multiple
/// of 2^-24.
MN_FN float unitFloat(uint32_t bits) {
  return float(bits >> 8) * (1.0f / 16777216.0f);
}

/// One sequence of random numbers for each pair of a seed and a stream: the
/// number of a dropout op, of a parameter, of a data set's part. Elements are
/// numbered below 2^50, steps below 2^48, and no two (seed, stream, step,
/// element) share their bits: the key is the seed, and the counter is
///   [block 31..0] [block 47..32, step 47..32] [step 31..0] [stream]
/// where a block is four elements.
struct Random {
  uint64_t seed = 0;
  uint32_t stream = 0;

  /// The bits of elements 4 `block` to 4 `block` + 3.
  MN_FN Words4 block(uint64_t step, uint64_t block) const {
    const Words4 counter = {
        {uint32_t(block),
         (uint32_t(block >> 32) << 16) | (uint32_t(step >> 32) & 0xffffu),
         uint32_t(step), stream}};
    return philox(counter, uint32_t(seed), uint32_t(seed >> 32));
  }
  MN_FN uint32_t bits(uint64_t step, uint64_t element) const {
    return block(step, element >> 2).select(uint32_t(element));
  }
  /// In [0, 1).
  MN_FN float uniform(uint64_t step, uint64_t element) const {
    return unitFloat(bits(step, element));
  }
};

/// What generated code calls: numbers of a model are signed.
MN_FN float randomUniform(int64_t seed, uint32_t stream, int64_t step,
                          int64_t element) {
  const Random random = {uint64_t(seed), stream};
  return random.uniform(uint64_t(step), uint64_t(element));
}

/// What element `element` of a rank's rows, of `ofRow` elements each, is of all
/// ranks' rows: row r of a rank is row r ranks + rank of all.
MN_FN int64_t elementOfRank(int64_t element, int64_t ofRow, int64_t rank,
                            int64_t ranks) {
  return (element / ofRow * ranks + rank) * ofRow + element % ofRow;
}

} // namespace mn

#endif // MNISTRT_PHILOX_H
