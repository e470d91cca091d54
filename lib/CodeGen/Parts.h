//===- Parts.h - what compilers may do at the same time ---------*- C++ -*-===//
//
// The steps of a large file are divided among parts, which are compiled side by
// side. How many parts there are depends on the steps only: the same plan gives
// the same bytes on any machine.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_PARTS_H
#define MNISTC_CODEGEN_PARTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace mlir::mnistc {

/// A step, as compilers see it.
struct StepCost {
  unsigned cost = 0; ///< in hundredths of a second
  /// Types that templates are instantiated with: that is its cost, once.
  SmallVector<std::string> functors;
};

struct Parts {
  unsigned count = 1;
  std::vector<unsigned> ofStep; ///< the part of each, from 1 on
};

/// Divides steps among at most `most` parts of about the same cost, `least` or
/// more: each reads all headers again. Steps that share a functor are in one
/// part: what is instantiated with it is compiled once.
Parts divide(ArrayRef<StepCost> steps, unsigned most, unsigned least);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_PARTS_H
