//===- MovedElements.h - maps that only move elements -----------*- C++ -*-===//
//
// A map that reshapes, transposes and concatenates what it reads, and casts it:
// each element of each input becomes one of the result, and all of the result
// are made. It can be computed in the order of the inputs, too.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_MOVEDELEMENTS_H
#define MNISTC_IR_PLAN_MOVEDELEMENTS_H

#include "lib/IR/Plan/StepBody.h"

namespace mlir::mnistc {

bool movesElements(StepOp step);

/// Of such a step, the ops from an input to the result, in their order.
SmallVector<OpOperand *> movesOf(BlockArgument input);

/// Of such a step, how many neighbours of an input, from a multiple of that on,
/// are neighbours in the result, from a multiple of that on, too.
int64_t runOfMoved(BlockArgument input);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_MOVEDELEMENTS_H
