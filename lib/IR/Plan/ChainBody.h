//===- ChainBody.h - several steps in one launch ----------------*- C++ -*-===//
//
// The body of a chain is steps, its links. Each computes a row of its results,
// along their first dimension, from the same row of what the links before it
// made, and from all of what else it reads: a block of a GPU can have some rows
// and run all links on them, and no block waits for another. The last layers
// of a network with the loss and its gradient are such a chain.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_CHAINBODY_H
#define MNISTC_IR_PLAN_CHAINBODY_H

#include "lib/IR/Plan/Machine.h"
#include <optional>

namespace mlir::mnistc {

/// How many rows a step's results have, if it may be a link: all have equally
/// many, and a kernel can compute some of them.
std::optional<int64_t> rowsOfLink(StepOp step);

/// Whether a link reads of input number `input` only the row that it computes.
bool readsByRows(StepOp step, unsigned input);

/// Whether a link has so little to do that a launch takes longer.
bool isSmallLink(StepOp step, const ChainLimits &limits);

/// That a chain is as is said above.
LogicalResult checkChain(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CHAINBODY_H
