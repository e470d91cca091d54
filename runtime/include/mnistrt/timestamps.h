//===- timestamps.h - when a block of a kernel runs -------------*- C++ -*-===//
//
// What kernels of a program that was compiled with --timestamps write down, and
// what the runtime reads.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TIMESTAMPS_H
#define MNISTRT_TIMESTAMPS_H

#include "mnistrt/shapes.h"

namespace mn {

/// Times are nanoseconds of a clock that all multiprocessors read.
struct alignas(32) BlockTimes {
  uint64_t start;          ///< it is on a multiprocessor
  uint64_t ready;          ///< what it waits for is there
  uint64_t end;            ///< all its threads have ended; never 0
  uint32_t multiprocessor; ///< its number
};

} // namespace mn

#endif // MNISTRT_TIMESTAMPS_H
