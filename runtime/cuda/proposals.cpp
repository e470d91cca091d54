//===- proposals.cpp - the order of what heuristics propose ---------------===//

#include "cuda/proposals.h"
#include <algorithm>
#include <tuple>

namespace mn::cuda {

/// How much a place in a list counts; after so many its order says nothing.
struct Weight {
  size_t each, places;

  size_t of(size_t place) const { return std::min(place, places) * each; }
  size_t of(const Identity &identity, const std::vector<Identity> &list) const {
    const auto at = std::find(list.begin(), list.end(), identity);
    return at == list.end() ? of(places) : of(size_t(at - list.begin()));
  }
};
static constexpr Weight ofFirst = {3, 8}, ofSecond = {2, 20};

std::vector<size_t> orderByPlaces(const std::vector<Identity> &first,
                                  const std::vector<Identity> &second) {
  struct Proposal {
    size_t sum, number;
    bool isOfFirst;
  };
  std::vector<Proposal> all;
  for (size_t i = 0; i < second.size(); ++i)
    all.push_back({ofSecond.of(i) + ofFirst.of(second[i], first),
                   first.size() + i, false});
  for (size_t i = 0; i < first.size(); ++i)
    if (std::find(second.begin(), second.end(), first[i]) == second.end())
      all.push_back({ofFirst.of(i) + ofSecond.of(first[i], second), i, true});
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
