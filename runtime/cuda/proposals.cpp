//===- proposals.cpp - the order of what heuristics propose ---------------===//

#include "cuda/proposals.h"
#include <algorithm>
#include <tuple>

namespace mn::cuda {

/// After so many the order of a list says nothing.
static constexpr size_t places = 5;

static size_t placeOf(const Identity &identity,
                      const std::vector<Identity> &list) {
  const auto at = std::find(list.begin(), list.end(), identity);
  return at == list.end() ? places
                          : std::min(size_t(at - list.begin()), places);
}

std::vector<size_t> orderByPlaces(const std::vector<Identity> &first,
                                  const std::vector<Identity> &second) {
  struct Proposal {
    size_t sum, number;
    bool isOfFirst;
  };
  std::vector<Proposal> all;
  for (size_t i = 0; i < second.size(); ++i)
    all.push_back({std::min(i, places) + placeOf(second[i], first),
                   first.size() + i, false});
  for (size_t i = 0; i < first.size(); ++i)
    if (std::find(second.begin(), second.end(), first[i]) == second.end())
      all.push_back({std::min(i, places) + placeOf(first[i], second), i, true});
  std::sort(all.begin(), all.end(), [](const Proposal &a, const Proposal &b) {
    return std::tie(a.sum, a.isOfFirst, a.number) <
           std::tie(b.sum, b.isOfFirst, b.number);
  });
  std::vector<size_t> order;
  for (const Proposal &proposal : all)
    order.push_back(proposal.number);
  return order;
}

} // namespace mn::cuda
