//===- EstimatedTimes.cpp - when steps would run --------------------------===//

#include "lib/CodeGen/EstimatedTimes.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"

using namespace mlir;
using namespace mlir::mnistc;

SmallVector<EstimatedTime> mlir::mnistc::estimateTimes(func::FuncOp function) {
  const Machine &machine = machineFor(function);
  double event = machine.times ? machine.times->event : 0;
  SmallVector<double> free(streamsOf(function), 0);
  SmallVector<EstimatedTime> times;
  for (StepOp step : function.getOps<StepOp>()) {
    double &stream = free[streamOf(step)];
    double start = stream;
    for (int64_t awaited : stepsAwaitedBy(step))
      start =
          std::max(start, times[awaited].start + times[awaited].length + event);
    times.push_back({start, machine.estimate(step)});
    stream = start + times.back().length;
  }
  return times;
}
