//===- Evaluate.h - shapes that a model computes ----------------*- C++ -*-===//
//
// Exporters compute shapes with nodes. With static shapes all of that is known
// at import: ops on small integer constants are evaluated as they are made.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_EVALUATE_H
#define MNISTC_IMPORT_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::mnistc::importer {

/// The result of an op of the mnist dialect whose operands are small constants
/// of integers or booleans; null for any other.
DenseElementsAttr evaluate(Operation *op);

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_EVALUATE_H
