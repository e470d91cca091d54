//===- ChainBody.h - several steps in one launch ----------------*- C++ -*-===//
//
// The body of a chain is steps, its links. A chain has a number of rows, and
// each tensor that a link makes is as many equal parts, one after another in
// memory: images, or the heads of all images. A link computes a row of its
// results from the same row of what the links before it made, and from all of
// what else it reads: a block of a GPU can have some rows and run all links on
// them, and no block waits for another. The last layers of a network with the
// loss and its gradient are such a chain, and an attention: row i is all that
// is made of image i, whatever the heads.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_CHAINBODY_H
#define MNISTC_IR_PLAN_CHAINBODY_H

#include "lib/IR/Plan/Machine.h"
#include <optional>

namespace mlir::mnistc {

/// The most rows that a step may have as a link, which has a kernel for any
/// number that divides it; 0 for a step that cannot be one.
int64_t mostRowsOfLink(StepOp step);

/// Those along the first dimension of its results, or as many of these as it
/// may have.
int64_t imagesOfLink(StepOp step);

/// The products of which a step consists, as of the heads of all images; 0 if
/// it is not several.
int64_t matricesOfLink(StepOp step);

/// The rows of a chain of these links: the matrices of one of them where all
/// links may have as many, else what all have along their first dimensions.
/// More, such as all tokens, would have blocks read weights for few of them: a
/// small ViT took 143 us instead of 118.
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
