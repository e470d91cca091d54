//===- SplitAroundRoot.h - a step as several ------------------*- C++ -*-===//
//
// For what computes a root, but not all that is around it.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_SPLITAROUNDROOT_H
#define MNISTC_IR_PLAN_SPLITAROUNDROOT_H

#include "lib/IR/Plan/StepBuilder.h"

namespace mlir::mnistc {

/// Splits a step with one result around its root: a map for each operand that
/// the root cannot read from memory, the root with these parts of an epilogue,
/// and a map for the rest. Returns the step with the root, undecided.
StepOp splitAroundRoot(StepOp step, EpilogueParts parts, StepNames &names);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_SPLITAROUNDROOT_H
