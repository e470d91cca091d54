//===- neighbour.h - elements that are next to each other -------*- C++ -*-===//

#ifndef MNISTRT_NEIGHBOUR_H
#define MNISTRT_NEIGHBOUR_H

#include "mnistrt/philox.h"

namespace mn {

/// The number of an element, from which a compiler sees what it has in common
/// with its neighbours.
template <typename T> struct NeighbourOf {
  T first;    ///< of the four: a multiple of 4
  int number; ///< 0 to 3
  MN_FN operator T() const { return first + number; }
};
using Neighbour = NeighbourOf<Element>;

/// Element `i + j` of elements `i` to `i + n - 1`, where n is 1, or 4 and i a
/// multiple of it.
template <int n, typename T> MN_FN NeighbourOf<T> neighbour(T i, int j) {
  static_assert(n == 1 || n == 4);
  if constexpr (n == 1)
    return {i & T(-4), int(i & 3)};
  return {i, j};
}

/// Four neighbours share the bits of one block.
template <typename T>
MN_FN float randomUniform(int64_t seed, uint32_t stream, int64_t step,
                          const NeighbourOf<T> &i) {
  const Random random = {uint64_t(seed), stream};
  return unitFloat(random.block(uint64_t(step), uint64_t(i.first) >> 2)
                       .select(uint32_t(i.number)));
}

/// Neighbours in a row of a rank are neighbours among all ranks' elements if
/// rows have fours of them.
MN_FN NeighbourOf<int64_t> elementOfRank(const Neighbour &i, int64_t ofRow,
                                         int64_t rank, int64_t ranks) {
  if (ofRow % 4 == 0)
    return {elementOfRank(int64_t(i.first), ofRow, rank, ranks), i.number};
  return neighbour<1>(elementOfRank(int64_t(Element(i)), ofRow, rank, ranks),
                      0);
}

} // namespace mn

#endif // MNISTRT_NEIGHBOUR_H
