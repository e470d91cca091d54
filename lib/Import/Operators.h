//===- Operators.h - the operators that we import ---------------*- C++ -*-===//
//
// A row for every definition of an operator that differs from the one before
// it. A definition that only adds types, inputs or attributes needs no row: a
// node that has them says so.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_OPERATORS_H
#define MNISTC_IMPORT_OPERATORS_H

#include "lib/Import/Node.h"

namespace mlir::mnistc::importer {

struct Operator {
  StringRef name;
  int since; ///< the first opset of the row
  /// Returns the first output and sets the others.
  Value (*import)(Node &);
  StringRef domain = "";
  /// Whether what it becomes has a derivative; test/gradcheck checks it.
  bool differentiable = true;
};

/// For what counts, compares or picks, and for what trains by itself.
inline Operator withoutGradient(Operator row) {
  row.differentiable = false;
  return row;
}

// One table for each file, in alphabetical order.
ArrayRef<Operator> activationOperators();
ArrayRef<Operator> constantOperators();
ArrayRef<Operator> einsumOperators();
ArrayRef<Operator> elementwiseOperators();
ArrayRef<Operator> indexingOperators();
ArrayRef<Operator> layerNormOperators();
ArrayRef<Operator> lossOperators();
ArrayRef<Operator> matrixOperators();
ArrayRef<Operator> normalizationOperators();
ArrayRef<Operator> optimizerOperators();
ArrayRef<Operator> reductionOperators();
ArrayRef<Operator> resizeOperators();
ArrayRef<Operator> shapeOperators();
ArrayRef<Operator> windowOperators();

/// The row of an operator in an opset; null where there is none.
const Operator *findOperator(StringRef domain, StringRef name, int opset);

/// Whether an operator has a row for some opset.
bool knowsOperator(StringRef domain, StringRef name);

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_OPERATORS_H
