//===- spread.cpp - blocks on multiprocessors -----------------------------===//

#include "cuda/spread.h"
#include <algorithm>

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
