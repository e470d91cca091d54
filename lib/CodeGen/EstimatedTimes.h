//===- EstimatedTimes.h - when steps would run ------------------*- C++ -*-===//
//
// What a machine's model says of a plan that nobody has run: a number to look
// at, said to be an estimate wherever it is shown.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_ESTIMATEDTIMES_H
#define MNISTC_CODEGEN_ESTIMATEDTIMES_H

#include "lib/IR/Plan/PlanOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mnistc {

/// In microseconds since the plan began.
struct EstimatedTime {
  double start, length;
};

/// Of each step, as streams and waiting let them run.
SmallVector<EstimatedTime> estimateTimes(func::FuncOp function);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_ESTIMATEDTIMES_H
