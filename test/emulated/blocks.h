//===- blocks.h - runs the blocks of a launch -------------------*- C++ -*-===//

#ifndef MNISTC_TEST_EMULATED_BLOCKS_H
#define MNISTC_TEST_EMULATED_BLOCKS_H

#include "gpu.h"
#include <string>

namespace emulated {

struct Launch {
  const Kernels *module;
  const Kernel *kernel;
  unsigned blocks, threads, shared; ///< dynamic shared memory of a block
  void **arguments;
};

/// In which order the threads of a block run between two barriers. Results may
/// not depend on it.
enum class Order { forward, backward };

/// Runs all blocks, one cluster after the other: empty, or what is wrong.
std::string run(const Launch &launch, Order order, bool isLate);

} // namespace emulated

#endif // MNISTC_TEST_EMULATED_BLOCKS_H
