//===- EmitRows.cpp - a step that reduces rows as text --------------------===//
//
// A functor of an element's inputs, of what is known of a row, and of what each
// phase adds to it; mnistrt/rows.h says who calls what.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/RowBody.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace mlir::mnistc {

class RowEmitter {
public:
  RowEmitter(FunctorEmitter &functor, const RowBody &rows)
      : out(functor), body(functor.body), rows(rows), space(rows.space),
        element(rowPosition(space.getShape(), space.getReducedDims())),
        row(positionAt({"o"}, space.getRowShape())),
        elementIndex(linearIndex(element, space.getShape())),
        rowIndex(linearIndex(row, space.getRowShape())) {}

  LogicalResult emit();

private:
  /// A member of ElementValues or RowValues.
  struct Field {
    Value value;
    std::string name;
    unsigned known; ///< after so many phases
  };

  void findFields();
  void addElementField(Value value);
  void addRowField(Value value);
  std::string structText(StringRef name, ArrayRef<Field> fields);
  std::string phasesText();
  /// Begins a function that knows the elements, where it `hasElement`, and the
  /// row after so many phases.
  void beginBody(unsigned known, bool hasElement);
  void emitLoad();
  LogicalResult emitPhase(unsigned number);
  LogicalResult emitUpdate(StringRef head, ArrayRef<Parameter> parameters,
                           unsigned known);
  LogicalResult emitStores(bool ofElements);

  FunctorEmitter &out;
  BodyEmitter &body;
  const RowBody &rows;
  const RowSpace &space;
  Position element, row;
  Expr elementIndex, rowIndex;
  SmallVector<Field> elementFields, rowFields;
  NameScope elementNames, rowNames;
  llvm::SetVector<Value> seen;
};

} // namespace mlir::mnistc

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

/// The model's name of a result, or what its kind is called.
static std::string nameOf(Operation *op) {
  if (SmallVector<OnnxName> names = namesIn(op->getLoc()); !names.empty())
    return names.back().tensor.str();
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  return (reduction ? reduction.getNoun() : resultNoun(op)).str();
}

void RowEmitter::addElementField(Value value) {
  auto argument = dyn_cast<BlockArgument>(skipReshapes(value));
  if (argument && space.hasElements(value) && seen.insert(value))
    elementFields.push_back(
        {value, elementNames.add(out.use(argument)), /*known=*/0});
}

void RowEmitter::addRowField(Value value) {
  if (!space.hasRows(value) || !seen.insert(value))
    return;
  auto argument = dyn_cast<BlockArgument>(skipReshapes(value));
  rowFields.push_back({value,
                       rowNames.add(argument ? out.use(argument)
                                             : nameOf(value.getDefiningOp())),
                       rows.knownAfter.lookup(value)});
}

/// Inputs of elementwise ops, reductions, and what is repeated along the rows.
void RowEmitter::findFields() {
  for (Operation &op : out.step.getBody().front()) {
    for (Value operand : op.getOperands()) {
      bool reads =
          isa<YieldOp>(op) || space.isMap(&op) || space.isReduction(&op);
      if (reads)
        addElementField(operand);
      if (space.isRepeat(&op) ||
          (reads && isa<BlockArgument>(skipReshapes(operand))))
        addRowField(operand);
    }
    if (space.isReduction(&op))
      addRowField(op.getResult(0));
  }
}

std::string RowEmitter::structText(StringRef name, ArrayRef<Field> fields) {
  std::string text = ("  struct " + name + " {\n").str();
  for (const Field &field : fields)
    text +=
        ("    " + elementName(field.value) + " " + field.name + ";\n").str();
  return text + "  };\n";
}

std::string RowEmitter::phasesText() {
  SmallVector<std::string> phases;
  for (const RowPhase &phase : rows.phases)
    phases.push_back("mn::RowPhase<" + phase.kind + ", " +
                     elementTypeName(phase.element).str() + ", " +
                     std::to_string(phase.reductions.size()) + ">");
  return argumentLines("  using Phases = mn::Phases", "<", phases, ">;", 0) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void RowEmitter::beginBody(unsigned known, bool hasElement) {
  body.begin(/*indent=*/4);
  if (hasElement)
    for (const Field &field : elementFields)
      body.bind(field.value, {"e." + field.name}, elementIndex);
  for (const Field &field : rowFields)
    if (field.known < known)
      body.bind(field.value, {"row." + field.name}, rowIndex);
}

void RowEmitter::emitLoad() {
  body.begin(/*indent=*/4);
  SmallVector<std::string> values;
  if (!elementFields.empty()) {
    Expr at = body.nameIndex(elementIndex);
    for (const Field &field : elementFields)
      values.push_back(out.use(cast<BlockArgument>(skipReshapes(field.value))) +
                       "[" + at.text + "]");
  }
  out.finishFunction("ElementValues load", {{indexType, "o"}, {indexType, "r"}},
                     argumentLines("    return ", "{", values, "};", 0) + "\n");
}

/// What becomes known of a row after `known` phases.
LogicalResult RowEmitter::emitUpdate(StringRef head,
                                     ArrayRef<Parameter> parameters,
                                     unsigned known) {
  beginBody(known, /*hasElement=*/false);
  std::string stores;
  if (known > 0)
    for (auto [i, reduction] :
         llvm::enumerate(rows.phases[known - 1].reductions))
      body.bind(reduction->getResult(0), {"v.v[" + std::to_string(i) + "]"},
                rowIndex);
  for (const Field &field : rowFields) {
    if (field.known != known)
      continue;
    FailureOr<Expr> value = body.value(field.value, row);
    if (failed(value))
      return failure();
    body.bind(field.value, *value, rowIndex);
    stores += line("row." + field.name + " = " + value->text + ";", 4) + "\n";
  }
  out.finishFunction(head, parameters, stores);
  return success();
}

LogicalResult RowEmitter::emitPhase(unsigned number) {
  const RowPhase &phase = rows.phases[number];
  std::string tag = "mn::Phase<" + std::to_string(number) + ">";
  std::string type = "mn::Values<" + elementTypeName(phase.element).str() +
                     ", " + std::to_string(phase.reductions.size()) + ">";
  beginBody(number + 1, /*hasElement=*/true);
  SmallVector<std::string> values;
  for (ReductionOpInterface reduction : phase.reductions) {
    FailureOr<Expr> value = body.value(reduction->getOperand(0), element);
    if (failed(value))
      return failure();
    values.push_back(value->text);
  }
  out.finishFunction(type + " values",
                     {{tag, "phase"},
                      {"const RowValues &", "row"},
                      {"const ElementValues &", "e"},
                      {indexType, "o"},
                      {indexType, "r"}},
                     argumentLines("    return {", "{", values, "}};", 0) +
                         "\n");
  return emitUpdate("void take",
                    {{tag, "phase"},
                     {"const " + type + " &", "v"},
                     {"RowValues &", "row"},
                     {indexType, "o"}},
                    number + 1);
}

LogicalResult RowEmitter::emitStores(bool ofElements) {
  beginBody(rows.phases.size() + 1, ofElements);
  std::string stores;
  std::optional<Expr> at;
  for (auto [number, yielded] : llvm::enumerate(yieldsOf(out.step))) {
    if (space.hasElements(yielded) != ofElements)
      continue;
    if (!at)
      at = ofElements ? body.nameIndex(elementIndex) : rowIndex;
    // All are computed before the first is stored.
    FailureOr<Expr> value =
        body.namedValue(yielded, ofElements ? element : row);
    if (failed(value))
      return failure();
    stores +=
        storeLine(out.names[out.step.getResult(number)], at->text, *value);
  }
  if (ofElements)
    out.finishFunction("void store",
                       {{"const RowValues &", "row"},
                        {"const ElementValues &", "e"},
                        {indexType, "o"},
                        {indexType, "r"}},
                       stores);
  else
    out.finishFunction("void storeRow",
                       {{"const RowValues &", "row"}, {indexType, "o"}},
                       stores);
  return success();
}

LogicalResult RowEmitter::emit() {
  findFields();
  out.functions += structText("ElementValues", elementFields) +
                   structText("RowValues", rowFields);
  out.functions += phasesText();
  bool storesElements = llvm::any_of(yieldsOf(out.step), [&](Value value) {
    return space.hasElements(value);
  });
  out.functions += ("  static constexpr bool storesElements = " +
                    Twine(storesElements ? "true" : "false") + ";\n")
                       .str();
  emitLoad();
  if (failed(emitUpdate("void begin",
                        {{"RowValues &", "row"}, {indexType, "o"}}, 0)))
    return failure();
  for (unsigned i = 0; i < rows.phases.size(); ++i)
    if (failed(emitPhase(i)))
      return failure();
  return success(succeeded(emitStores(/*ofElements=*/true)) &&
                 succeeded(emitStores(/*ofElements=*/false)));
}

LogicalResult FunctorEmitter::emitRows() {
  FailureOr<RowBody> rows = readRowBody(step);
  if (failed(rows) || failed(RowEmitter(*this, *rows).emit()))
    return failure();
  shape = names.scope.add((names[step.getResult(0)] + "_shape").str());
  shapeText = declareShape(cast<RootOpInterface>(root).getShapeText(), shape);
  call = "mn::rows";
  macro = argumentLines("MN_ROWS_KERNEL", "(", {name, takeFunctor(), shape},
                        ")", 0) +
          "\n";
  return success();
}
