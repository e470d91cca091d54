//===- EmitRowTotals.cpp - what is summed over all rows, as text ----------===//

#include "lib/CodeGen/RowEmitter.h"

using namespace mlir;
using namespace mlir::mnistc;

/// The one element of a tensor.
static Position onlyElement(Value value) {
  return positionAt({"0"}, shapeOf(value));
}
static Expr onlyIndex(Value value) {
  return linearIndex(onlyElement(value), shapeOf(value));
}

LogicalResult RowEmitter::emitTotal(unsigned number,
                                    ArrayRef<std::string> fields) {
  const RowPhase &phase = rows.totals[number];
  std::string tag = "mn::Total<" + std::to_string(number) + ">";
  beginBody(rows.phases.size() + 1, /*hasElement=*/false);
  SmallVector<std::string> values;
  for (ReductionOpInterface reduction : phase.reductions) {
    FailureOr<Expr> value = body.value(reduction->getOperand(0), row);
    if (failed(value))
      return failure();
    values.push_back(value->text);
  }
  out.finishFunction(
      givenText(phase) + " values",
      {{tag, "phase"}, {"const RowValues &", "row"}, {indexType, "o"}},
      argumentLines("    return {", "{", values, "}};", 0) + "\n");
  body.begin(/*indent=*/4);
  std::string stores;
  for (auto [i, field] : llvm::enumerate(fields))
    stores +=
        line("totals." + field + " = " + resultOf(phase, i).text + ";", 4) +
        "\n";
  out.finishFunction("void take",
                     {{tag, "phase"},
                      {"const " + resultText(phase) + " &", "v"},
                      {"TotalValues &", "totals"}},
                     stores);
  return success();
}

/// All results of one element: those that need no row are computed here too.
LogicalResult RowEmitter::emitStoreTotals(ArrayRef<std::string> fields) {
  body.begin(/*indent=*/4);
  size_t number = 0;
  for (const RowPhase &phase : rows.totals)
    for (ReductionOpInterface reduction : phase.reductions) {
      Value total = reduction->getResult(0);
      body.bind(total, {"totals." + fields[number++]}, onlyIndex(total));
    }
  std::string stores;
  for (auto [i, yielded] : llvm::enumerate(yieldsOf(out.step))) {
    if (space.hasElements(yielded) || space.hasRows(yielded))
      continue;
    // All are computed before the first is stored.
    FailureOr<Expr> value = body.namedValue(yielded, onlyElement(yielded));
    if (failed(value))
      return failure();
    stores += storeLine(out.names[out.step.getResult(i)],
                        onlyIndex(yielded).text, *value);
  }
  out.finishFunction("void storeTotals", {{"const TotalValues &", "totals"}},
                     stores);
  return success();
}

LogicalResult RowEmitter::emitTotals() {
  if (rows.totals.empty())
    return success();
  NameScope totalNames;
  SmallVector<std::string> fields;
  std::string members;
  for (const RowPhase &phase : rows.totals)
    for (ReductionOpInterface reduction : phase.reductions) {
      fields.push_back(totalNames.add(nameOf(reduction, totalNames)));
      members += ("    " + elementName(reduction->getResult(0)) + " " +
                  fields.back() + ";\n")
                     .str();
    }
  out.functions += "  struct TotalValues {\n" + members + "  };\n" +
                   phasesText("Totals", rows.totals);
  ArrayRef<std::string> left = fields;
  for (auto [number, phase] : llvm::enumerate(rows.totals)) {
    size_t count = phase.reductions.size();
    if (failed(emitTotal(number, left.take_front(count))))
      return failure();
    left = left.drop_front(count);
  }
  return emitStoreTotals(fields);
}
