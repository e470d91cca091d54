//===- CheckBody.h - what a step may compute --------------------*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_CHECKBODY_H
#define MNISTC_IR_PLAN_CHECKBODY_H

#include "lib/IR/Plan/Target.h"

namespace mlir::mnistc {

/// Says what keeps a body from being one root with what may be around it, rows,
/// pools, collectives, or a chain.
LogicalResult checkForm(StepOp step);

/// Says what keeps a step from being computed as it says: by an implementation
/// of `target`, or where that is null, of any.
LogicalResult checkBody(StepOp step, const Target *target);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_CHECKBODY_H
