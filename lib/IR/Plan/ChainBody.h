//===- ChainBody.h - several steps in one launch ----------------*- C++ -*-===//
//
// The body of a chain is steps, its links. A chain has a number of rows, and
// each tensor that a link makes is as many equal parts, one after another in
// memory: its own first dimension is a multiple of that number. A link computes
// a row of its results from the same row of what the links before it made, and
// from all of what else it reads: a block of a GPU can have some rows and run
// all links on them, and no block waits for another. The last layers of a
// network with the loss and its gradient are such a chain, and an attention:
// row i is all that is made of image i, whatever the heads.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_CHAINBODY_H
#define MNISTC_IR_PLAN_CHAINBODY_H

#include "lib/IR/Plan/Machine.h"
#include <optional>

namespace mlir::mnistc {

/// The most rows that a step has, if it may be a link: it may also have any
/// number that divides this one.
std::optional<int64_t> rowsOfLink(StepOp step);

/// The rows of a chain of these links: the most that all of them may have.
int64_t rowsOfChain(ArrayRef<StepOp> links);

/// Whether a link reads of input number `input` only the row that it computes,
/// of so many rows.
bool readsByRows(StepOp step, unsigned input, int64_t rows);

/// Whether a link of so many rows has so little to do that a launch takes
/// longer; never on a machine without chains.
bool isSmallLink(StepOp step, int64_t rows, const Machine &machine);

/// That a chain is as is said above.
LogicalResult checkChain(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CHAINBODY_H
