//===- PushTransposes.h - the pass as a function ----------------*- C++ -*-===//
//
// For ChooseLayout, which tries layouts and counts the transposes that are
// left.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_PUSHTRANSPOSES_H
#define MNISTC_PASSES_PUSHTRANSPOSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mnistc {

/// Moves and cancels the transposes of `function`, without other passes.
void pushTransposes(func::FuncOp function);

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_PUSHTRANSPOSES_H
