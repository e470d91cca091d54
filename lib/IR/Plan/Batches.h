//===- Batches.h - plans on batches of a data set ---------------*- C++ -*-===//
//
// A plan that trains or tests takes labels, and counts batches: the state
// `mn.batch` says which one is next.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_BATCHES_H
#define MNISTC_IR_PLAN_BATCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mnistc {

/// On a function that takes batches: while it runs, the next one may be copied
/// to its inputs, of which there are two copies.
inline constexpr llvm::StringLiteral prefetchesAttribute = "plan.prefetches";

/// Whether a function takes labels.
bool takesBatches(func::FuncOp function);

/// Whether it is known before a planned function has run which batch is next:
/// it adds 1 to `mn.batch`, and leaves the other states that say so.
bool countsBatches(func::FuncOp function);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_BATCHES_H
