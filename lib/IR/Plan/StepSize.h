//===- StepSize.h - how much text an element of a step takes ----*- C++ -*-===//
//
// An op that reads its operand at another index than its own, or at several, is
// printed with the operand once for each index: a body of a few ops may be text
// without end. What fuses asks here first.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_STEPSIZE_H
#define MNISTC_IR_PLAN_STEPSIZE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::mnistc {

/// Ops are fused into one step as long as an element takes at most this many,
/// each counted once for each index at which it is read. A kernel of so many
/// has less than 4 KiB of arguments, which every GPU takes.
constexpr int64_t maxFusedOps = 256;

/// Whether an element of `last` takes at most maxFusedOps ops, of those that
/// are `inside`.
bool fitsStep(Operation *last, llvm::function_ref<bool(Operation *)> inside);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_STEPSIZE_H
