//===- neighbour.h - elements that are next to each other -------*- C++ -*-===//

#ifndef MNISTRT_NEIGHBOUR_H
#define MNISTRT_NEIGHBOUR_H

#include "mnistrt/philox.h"

namespace mn {

/// The number of an element, from which a compiler sees what it has in common
/// with its neighbours.
struct Neighbour {
  Element first; ///< of the four: a multiple of 4
  int number;    ///< 0 to 3
  MN_FN operator Element() const { return first + number; }
};

/// Element `i + j` of elements `i` to `i + n - 1`, where n is 1, or 4 and i a
/// multiple of it.
template <int n> MN_FN Neighbour neighbour(Element i, int j) {
  static_assert(n == 1 || n == 4);
  return n == 1 ? Neighbour{i & Element(-4), int(i & 3)} : Neighbour{i, j};
}

/// Four neighbours share the bits of one block.
MN_FN float randomUniform(int64_t seed, uint32_t stream, int64_t step,
                          const Neighbour &i) {
  const Random random = {uint64_t(seed), stream};
  return unitFloat(random.block(uint64_t(step), uint64_t(i.first) >> 2)
                       .select(uint32_t(i.number)));
}

} // namespace mn

#endif // MNISTRT_NEIGHBOUR_H
