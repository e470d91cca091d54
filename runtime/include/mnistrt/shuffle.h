//===- shuffle.h - a permutation that takes no memory -----------*- C++ -*-===//
//
// Where index i of an epoch is in the data: a keyed Feistel network permutes
// the next power of four, and what falls outside of the data is permuted again
// until it falls inside (cycle walking: Black and Rogaway, "Ciphers with
// arbitrary finite domains", CT-RSA 2002). For g++, clang and NVRTC.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_SHUFFLE_H
#define MNISTRT_SHUFFLE_H

#include "mnistrt/philox.h"

namespace mn {

/// The stream of random numbers that is kept for shuffling; see Random.
constexpr uint32_t shuffleStream = 0x53485546u; // "SHUF"

/// A permutation of 0 to n - 1, one for each seed and epoch; 1 <= n <= 2^62.
class Shuffle {
public:
  MN_FN Shuffle(uint64_t n, uint64_t seed, uint64_t epoch) : n(n) {
    while (halfBits < 31 && (uint64_t(1) << (2 * halfBits)) < n)
      ++halfBits;
    const Random random = {seed, shuffleStream};
    for (int i = 0; i < rounds / 4; ++i) {
      const Words4 words = random.block(epoch, uint64_t(i));
      for (int j = 0; j < 4; ++j)
        keys[4 * i + j] = words.word[j];
    }
  }

  /// What comes at place `index` of the epoch. The domain is less than four
  /// times n (or 256), so that few steps are walked.
  MN_FN uint64_t operator()(uint64_t index) const {
    do {
      index = permute(index);
    } while (index >= n);
    return index;
  }

private:
  static constexpr int rounds = 8;

  /// MurmurHash3's finalizer: every bit of the result depends on every bit.
  MN_FN static uint32_t mix(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return x ^ (x >> 16);
  }

  MN_FN uint64_t permute(uint64_t index) const {
    const uint32_t mask = uint32_t((uint64_t(1) << halfBits) - 1);
    uint32_t left = uint32_t(index >> halfBits), right = uint32_t(index) & mask;
    for (int i = 0; i < rounds; ++i) {
      const uint32_t next = left ^ (mix(right ^ keys[i]) & mask);
      left = right;
      right = next;
    }
    return (uint64_t(left) << halfBits) | right;
  }

  uint64_t n;
  // A network of fewer bits reaches too few permutations.
  int halfBits = 4;
  uint32_t keys[rounds];
};

/// Place `index` of epoch `epoch`, for code that needs only one place.
MN_FN uint64_t shuffled(uint64_t index, uint64_t n, uint64_t seed,
                        uint64_t epoch) {
  return Shuffle(n, seed, epoch)(index);
}

} // namespace mn

#endif // MNISTRT_SHUFFLE_H
