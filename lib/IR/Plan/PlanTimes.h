//===- PlanTimes.h - when the steps of a plan could run ---------*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_PLANTIMES_H
#define MNISTC_IR_PLAN_PLANTIMES_H

#include "lib/IR/Plan/StepOrder.h"

namespace mlir::mnistc {

/// Of a function whose steps run concurrently, in microseconds, if each waits
/// only for those whose values it reads.
class PlanTimes {
public:
  PlanTimes(func::FuncOp function, const StepTimes &times);

  /// Whether, if some steps and others were one, the plan would end later by
  /// more than a launch: work that takes longer than that, and could have run
  /// before the others are ready, would come after all that computes gradients.
  bool putsWorkOff(ArrayRef<StepOp> some, ArrayRef<StepOp> others) const;

private:
  double readyAt(ArrayRef<StepOp> steps, ArrayRef<StepOp> others) const;
  double workOf(ArrayRef<StepOp> steps) const;

  const StepTimes &times;
  DenseMap<Operation *, double> ends;
  double lastRoot = 0; ///< when the last step with a root ends
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_PLANTIMES_H
