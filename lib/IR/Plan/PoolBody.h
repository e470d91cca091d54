//===- PoolBody.h - steps that pool what they compute -----------*- C++ -*-===//
//
// A pool step has several roots. Its pools are of one value, all with the same
// windows, which are next to each other: a maximum, the indices of the maxima
// in their windows, or a mean. The value is in memory, or follows element by
// element from a convolution in the same step. Then a block of a GPU has whole
// windows of it in registers or shared memory, and it goes to memory only if
// others read it too.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_POOLBODY_H
#define MNISTC_IR_PLAN_POOLBODY_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"

namespace mlir::mnistc {

/// Whether an op can be one of several pools of a value.
bool isJoinablePool(Operation *op);

/// Of a pool: whether it gives the indices of the maxima, or the maxima.
bool givesIndices(Operation *pool);
bool givesMaximum(Operation *pool);

/// Whether both have the same windows.
bool haveSameWindows(Operation *pool, Operation *other);

/// Whether a step has several roots of which the last is a pool.
bool isPoolStep(StepOp step);

struct PoolBody {
  ConvOp conv;             ///< null: the value is in memory
  Value pooled;            ///< what the windows consist of
  Operation *pool = {};    ///< the maximum or the mean
  Operation *indices = {}; ///< of the maximum, or null
  /// Results, by number: those that are elements of what is pooled or of what
  /// it is computed from, of the pool, and of the indices.
  SmallVector<unsigned> elements, pools, places;
};

/// What a pool step computes; an error where it is not as is said above.
FailureOr<PoolBody> readPoolBody(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_POOLBODY_H
