//===- Lifetimes.h - from when to when a value is needed --------*- C++ -*-===//
//
// Steps are numbered from 0 in the order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_LIFETIMES_H
#define MNISTC_IR_PLAN_LIFETIMES_H

#include "lib/IR/Plan/PlanOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mnistc {

class Lifetimes {
public:
  explicit Lifetimes(func::FuncOp function) {
    for (StepOp step : function.getOps<StepOp>())
      numberOf[step] = numberOf.size();
  }

  /// The number after the last step's: what the function returns lives on.
  int64_t end() const { return numberOf.size(); }

  /// The first and the last step in which `value` must be in its place. An
  /// argument, alive from the beginning, is written before step 0: in step -1.
  std::pair<int64_t, int64_t> of(Value value) const {
    int64_t first = -1;
    if (Operation *step = value.getDefiningOp())
      first = numberOf.at(step);
    int64_t last = first;
    for (Operation *user : value.getUsers())
      last = std::max(last, isa<StepOp>(user) ? numberOf.at(user) : end());
    return {first, last};
  }

  /// The steps that write or read `value`: -1 and `end()` as above.
  SmallVector<int64_t> users(Value value) const {
    SmallVector<int64_t> steps = {of(value).first};
    for (Operation *user : value.getUsers())
      steps.push_back(isa<StepOp>(user) ? numberOf.at(user) : end());
    return steps;
  }

private:
  llvm::DenseMap<Operation *, int64_t> numberOf;
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_LIFETIMES_H
