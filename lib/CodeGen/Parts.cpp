//===- Parts.cpp - what compilers may do at the same time -----------------===//

#include "lib/CodeGen/Parts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {
/// Steps that share functors, directly or through others.
struct Cluster {
  unsigned cost = 0;
  SmallVector<size_t> steps;
};
} // namespace

static std::vector<Cluster> clustersOf(ArrayRef<StepCost> steps) {
  llvm::EquivalenceClasses<std::string> related;
  for (const StepCost &step : steps)
    for (const std::string &functor : step.functors)
      related.unionSets(step.functors.front(), functor);
  std::vector<Cluster> clusters;
  llvm::StringMap<size_t> numbers;
  llvm::StringSet<> compiled;
  for (auto [number, step] : llvm::enumerate(steps)) {
    size_t at = clusters.size();
    if (!step.functors.empty())
      at =
          numbers.try_emplace(related.getLeaderValue(step.functors.front()), at)
              .first->second;
    if (at == clusters.size())
      clusters.emplace_back();
    bool isNew = step.functors.empty();
    for (const std::string &functor : step.functors)
      isNew |= compiled.insert(functor).second;
    if (isNew)
      clusters[at].cost += step.cost;
    clusters[at].steps.push_back(number);
  }
  return clusters;
}

Parts mlir::mnistc::divide(ArrayRef<StepCost> steps, unsigned most,
                           unsigned least) {
  std::vector<Cluster> clusters = clustersOf(steps);
  unsigned total = 0;
  for (const Cluster &cluster : clusters)
    total += cluster.cost;
  Parts parts;
  parts.count = std::max(1u, std::min(most, total / least));
  parts.ofStep.resize(steps.size(), 1);
  // The most expensive first, each to where there is least so far.
  llvm::sort(clusters, [](const Cluster &a, const Cluster &b) {
    return a.cost != b.cost ? a.cost > b.cost
                            : a.steps.front() < b.steps.front();
  });
  std::vector<unsigned> costs(parts.count);
  for (const Cluster &cluster : clusters) {
    size_t part = std::min_element(costs.begin(), costs.end()) - costs.begin();
    costs[part] += cluster.cost;
    for (size_t step : cluster.steps)
      parts.ofStep[step] = part + 1;
  }
  return parts;
}
