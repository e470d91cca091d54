//===- Operators.h - what --list-operators prints ---------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_OPERATORS_H
#define MNISTC_TOOLS_MNISTC_OPERATORS_H

#include "mlir/Support/LLVM.h"

namespace mlir::mnistc {

/// The ONNX operators that are imported with their opsets, and the ops that
/// they become: what computes them on each target, and whether they have a
/// derivative.
void printOperatorTables(raw_ostream &os);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_OPERATORS_H
