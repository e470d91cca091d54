//===- proposals.h - the order of what heuristics propose -------*- C++ -*-===//

#ifndef MNISTRT_CUDA_PROPOSALS_H
#define MNISTRT_CUDA_PROPOSALS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mn::cuda {

/// What tells a configuration from others.
using Identity = std::vector<int64_t>;

/// Two heuristics propose configurations, best first: in which order to try
/// those of both, by the sum of their places in the two lists, of which the
/// first list's count half as much again; of equal sums the second list's
/// first. One that is not in a list has a late place there, as all from some
/// place on have. Numbers below first.size() are of the first list, the others,
/// less that, of the second; one that is in both is given once.
std::vector<size_t> orderByPlaces(const std::vector<Identity> &first,
                                  const std::vector<Identity> &second);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_PROPOSALS_H
