//===- spread.cpp - blocks on multiprocessors -----------------------------===//

#include "cuda/spread.h"
#include <algorithm>
#include <cstring>
#include <map>

using namespace mn;
using namespace mn::cuda;

/// Blocks that run at once where each has a multiprocessor. Clusters are each
/// within a part of the GPU and leave some of it free.
static int64_t blocksAtOnce(const Device &device, unsigned cluster) {
  return int64_t(device.multiprocessors) * shape::clustersAtOnce(int(cluster)) *
         cluster / shape::referenceSms;
}

// Measured on an H100 (docs/results/2026-11-25-spread-blocks-h100.md).
static constexpr int64_t fewest = 3; ///< so many times fewer find room anyway
static constexpr int64_t most = 4;   ///< more of a multiprocessor are many

Spread mn::cuda::spreadBlocks(const Device &device, const LaunchShape &shape,
                              unsigned declared) {
  const Spread asItIs = {shape.shared, false};
  if (!shape.spread || shape.blocks * fewest < device.multiprocessors)
    return asItIs;
  const int64_t each = shape::ceilDiv<int64_t>(
      shape.blocks, blocksAtOnce(device, shape.cluster));
  if (each > most)
    return asItIs;
  // One more has no room.
  const int64_t own = int64_t(declared) + device.reservedShared;
  const int64_t enough = device.shared / (each + 1) + 1 - own;
  const int64_t bytes = std::max<int64_t>(
      shape.shared, shape::ceilDiv<int64_t>(enough, 128) * 128);
  if (each * (bytes + own) > device.shared)
    return asItIs;
  return {unsigned(bytes), true};
}

bool mn::cuda::isCollective(const Step &step) {
  return std::strcmp(step.implementation, "nccl") == 0;
}

/// For each step, which ones have ended when it begins.
static std::vector<std::vector<bool>> endedBefore(const Plan &plan) {
  const size_t count = size_t(plan.stepCount);
  std::vector<std::vector<bool>> ended(count, std::vector<bool>(count));
  std::map<int, size_t> lastOf; // of a stream
  for (size_t step = 0; step < count; ++step) {
    const auto waitFor = [&](size_t other) {
      ended[step][other] = true;
      for (size_t i = 0; i < other; ++i)
        ended[step][i] = ended[step][i] || ended[other][i];
    };
    const Step &s = plan.steps[step];
    if (const auto last = lastOf.find(s.stream); last != lastOf.end())
      waitFor(last->second);
    for (int i = 0; i < s.afterCount; ++i)
      waitFor(size_t(s.after[i]));
    lastOf[s.stream] = step;
  }
  return ended;
}

std::vector<bool> mn::cuda::stepsApartFromSums(const Plan &plan) {
  const auto ended = endedBefore(plan);
  std::vector<bool> apart(ended.size(), true);
  for (size_t sum = 0; sum < ended.size(); ++sum)
    if (isCollective(plan.steps[sum]))
      for (size_t step = 0; step < ended.size(); ++step)
        if (step != sum && !ended[sum][step] && !ended[step][sum])
          apart[step] = false;
  return apart;
}
