//===- Operators.cpp - the operators that we import -----------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

static ArrayRef<ArrayRef<Operator>> tables() {
  static const std::array<ArrayRef<Operator>, 14> all = {
      activationOperators(),  constantOperators(),  einsumOperators(),
      elementwiseOperators(), indexingOperators(),  layerNormOperators(),
      lossOperators(),        matrixOperators(),    normalizationOperators(),
      optimizerOperators(),   reductionOperators(), resizeOperators(),
      shapeOperators(),       windowOperators()};
  return all;
}

const Operator *importer::findOperator(StringRef domain, StringRef name,
                                       int opset) {
  const Operator *best = nullptr;
  for (ArrayRef<Operator> table : tables())
    for (const Operator &row : table)
      if (row.name == name && row.domain == domain && row.since <= opset &&
          (!best || best->since < row.since))
        best = &row;
  return best;
}

bool importer::knowsOperator(StringRef domain, StringRef name) {
  return findOperator(domain, name, INT32_MAX) != nullptr;
}

std::vector<ImportedOperator> mlir::mnistc::importedOperators() {
  std::map<std::pair<StringRef, StringRef>, ImportedOperator> operators;
  for (ArrayRef<Operator> table : tables())
    for (const Operator &row : table) {
      ImportedOperator &op = operators[{row.domain, row.name}];
      op.domain = row.domain;
      op.name = row.name;
      op.sinceVersions.push_back(row.since);
      op.differentiable = row.differentiable;
    }
  std::vector<ImportedOperator> result;
  for (auto &[key, op] : operators) {
    llvm::sort(op.sinceVersions);
    result.push_back(std::move(op));
  }
  return result;
}
