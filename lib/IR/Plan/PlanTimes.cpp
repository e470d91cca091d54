//===- PlanTimes.cpp - when the steps of a plan could run -----------------===//

#include "lib/IR/Plan/PlanTimes.h"

using namespace mlir;
using namespace mlir::mnistc;

PlanTimes::PlanTimes(func::FuncOp function, const StepTimes &times)
    : times(times), ends(startsOf(function, times)) {
  for (StepOp step : function.getOps<StepOp>()) {
    double &end = ends[step];
    end += times.onCores(step);
    if (rootOf(step))
      lastRoot = std::max(lastRoot, end);
  }
}

/// The step that makes an input, if it is one of these.
static StepOp makerAmong(ArrayRef<StepOp> steps, Value input) {
  auto maker = input.getDefiningOp<StepOp>();
  return llvm::is_contained(steps, maker) ? maker : StepOp();
}

/// When all is there that the steps read, but for what they or the others make.
double PlanTimes::readyAt(ArrayRef<StepOp> steps,
                          ArrayRef<StepOp> others) const {
  double ready = 0;
  for (StepOp step : steps)
    for (Value input : step.getInputs())
      if (auto maker = input.getDefiningOp<StepOp>();
          maker && !makerAmong(steps, input) && !makerAmong(others, input))
        ready = std::max(ready, ends.lookup(maker));
  return ready;
}

/// What the steps take beyond a launch.
double PlanTimes::workOf(ArrayRef<StepOp> steps) const {
  double work = 0;
  for (StepOp step : steps)
    work += times.of(step) - times.launch;
  return work;
}

bool PlanTimes::putsWorkOff(ArrayRef<StepOp> some,
                            ArrayRef<StepOp> others) const {
  const double ready = readyAt(some, others),
               othersReady = readyAt(others, some);
  ArrayRef<StepOp> first = ready < othersReady ? some : others,
                   second = ready < othersReady ? others : some;
  // What reads what the others make is not ready before them.
  for (StepOp step : first)
    for (Value input : step.getInputs())
      if (makerAmong(second, input))
        return false;
  const double work = workOf(first), gap = std::abs(ready - othersReady);
  const double end = std::max(ready, othersReady) + work + workOf(second);
  return std::min({work, gap, end - lastRoot}) > times.launch;
}
