//===- draws.h - random numbers of neighbours -------------------*- C++ -*-===//
//
// SIMD registers hold the numbers of blocks that follow one another, if nothing
// else is computed between them. So a map that reads random numbers, each for
// the element of its number, is given them: its functor has
//
//   draws()                    Draws<n>: which n sequences of numbers
//   operator()(i, numbers...)  what element i becomes of its n numbers
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_DRAWS_H
#define MNISTRT_CPU_DRAWS_H

#include "mnistrt/math.h"
#include "mnistrt/philox.h"

namespace mn {

/// A sequence of numbers, one for each element of a tensor; of a data-parallel
/// training, where a rank's rows are of `ofRow` elements, those that
/// elementOfRank() says.
struct Draw {
  int64_t seed;
  uint32_t stream;
  int64_t step;
  int64_t ofRow = 0, rank = 0, ranks = 1;

  /// Those of elements `first` to `first + count - 1`.
  void fill(int64_t first, int64_t count, float *numbers) const {
    if (ranks == 1) // rows that follow one another
      return fillRange(first + rank * ofRow, count, numbers);
    while (count > 0) {
      const int64_t some = min(count, ofRow - first % ofRow);
      fillRange(elementOfRank(first, ofRow, rank, ranks), some, numbers);
      first += some, numbers += some, count -= some;
    }
  }

private:
  static constexpr int64_t mostBlocks = 64;

  void fillRange(int64_t first, int64_t count, float *numbers) const {
    while (count > 0) {
      float drawn[4 * mostBlocks];
      const int64_t before = first % 4;
      const int64_t some = min(count, 4 * mostBlocks - before);
      drawBlocks(first / 4, (before + some + 3) / 4, drawn);
      for (int64_t i = 0; i < some; ++i)
        numbers[i] = drawn[before + i];
      first += some, numbers += some, count -= some;
    }
  }
  void drawBlocks(int64_t first, int64_t count, float *numbers) const {
    const Random random = {uint64_t(seed), stream};
    for (int64_t i = 0; i < count; ++i) {
      const Words4 words = random.block(uint64_t(step), uint64_t(first + i));
      for (int k = 0; k < 4; ++k)
        numbers[4 * i + k] = unitFloat(words.word[k]);
    }
  }
};

template <int n> struct Draws {
  Draw of[n];
  static constexpr int count = n;
};

template <typename F>
concept TakesDrawn = requires(const F &f) { f.draws(); };

} // namespace mn

#endif // MNISTRT_CPU_DRAWS_H
