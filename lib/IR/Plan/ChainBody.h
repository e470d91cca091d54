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
#include "lib/IR/Plan/Target.h"
#include "mnistrt/cuda/kernels/chain_shape.cuh"
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

/// Whether a step moves what links make, of so many rows, and not within their
/// rows: as a link it is computed in the order of what it reads, and no other
/// one can read its result.
bool scattersRows(StepOp step, ArrayRef<StepOp> links, int64_t rows);

/// Whether a link can read its input number `input`, which one of these links
/// makes: of it the row that it computes, or the row that it moves.
bool readsLink(StepOp step, unsigned input, ArrayRef<StepOp> links,
               int64_t rows);

/// A tensor of which a block of a chain holds its rows in shared memory.
struct HeldTensor {
  Value value;
  int64_t bytesOfRow, offset; ///< in bytes, the latter of the block's memory
  bool isBrought;             ///< from memory, before the first link
  bool isTaken;               ///< to memory, after the last one
};

/// How blocks run a chain.
struct ChainShape {
  mn::ChainBlocks blocks;
  SmallVector<HeldTensor> held;

  /// What is held of an input or a result of a link, or null.
  const HeldTensor *heldBy(StepOp link, Value value) const;
};

/// Of links with so many rows, which are matrices that are multiplied: a block
/// has one, and holds what links make for each other and what products read, if
/// there is room for it and tensor cores multiply.
ChainShape shapeOfChain(ArrayRef<StepOp> links, int64_t rows);
/// Of the links of a chain, or of steps that become one.
ChainShape shapeOfChain(ArrayRef<StepOp> links);

/// What links leave in memory: all but what blocks hold and only links read.
SmallVector<Value> resultsOfChain(ArrayRef<StepOp> links);

/// Whether a thread has four elements of a segment of a link: where more
/// elements than threads are computed side by side, and no four is in two rows.
MapForm formOfLink(StepOp link, const Segment &segment,
                   const mn::ChainBlocks &blocks);

/// Whether a link has so little to do in a block that a launch takes longer, or
/// what it makes in other memory; never on a machine without chains.
bool isSmallLink(StepOp step, const mn::ChainBlocks &blocks,
                 const Machine &machine);

/// Whether the tensors of links can be the arguments of one kernel.
bool areArguments(ArrayRef<StepOp> links);

/// That a chain is as is said above.
LogicalResult checkChain(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CHAINBODY_H
