//===- Candidates.h - what a contraction may be computed by -----*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_CANDIDATES_H
#define MNISTC_IR_PLAN_CANDIDATES_H

#include "lib/IR/Plan/Target.h"
#include "lib/IR/Plan/TunedTable.h"

namespace mlir::mnistc {

/// What may be faster for a tunable step than `untuned`, which comes first: the
/// schedules that take at most twice the fewest cycles by the kernels' models,
/// one of each kind before others of it, and the libraries' calls. At most
/// `mostCandidates`.
std::vector<StepChoice> candidatesFor(StepOp step, const Target &target,
                                      Libraries libraries, Precision precision,
                                      StepChoice untuned);

inline constexpr int mostCandidates = 7;

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CANDIDATES_H
