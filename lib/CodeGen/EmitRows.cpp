//===- EmitRows.cpp - a step that reduces rows as text --------------------===//
//
// A functor of an element's inputs, of what is known of a row, and of what each
// phase adds to it; mnistrt/rows.h says who calls what.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/RowEmitter.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/Target.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

std::string mlir::mnistc::nameOf(Operation *op, const NameScope &scope) {
  if (SmallVector<OnnxName> names = namesIn(op->getLoc()); !names.empty())
    if (std::string name = names.back().tensor.str();
        !scope.contains(identifier(name)))
      return name;
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  return (reduction ? reduction.getNoun() : resultNoun(op)).str();
}

/// The argument that an input of an element is, or is repeated from; or null.
static BlockArgument argumentOf(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  return dyn_cast<BlockArgument>(skipReshapes(value));
}

void RowEmitter::addElementField(Value value) {
  if (!seen.insert(value))
    return;
  BlockArgument argument = argumentOf(value);
  elementFields.push_back(
      {value,
       elementNames.add(argument ? out.use(argument)
                                 : nameOf(value.getDefiningOp(), elementNames)),
       /*known=*/0});
}

/// Whether `operand` of `op` is loaded with the elements: what is repeated
/// along some dimensions of them, and would be loaded where it is needed, which
/// threads wait for each time. Not what differs from element to element of a
/// run, and would take as many registers; but for choices, which would load it
/// only where they take it, each by a branch.
bool RowEmitter::isLoadedEarly(Operation &op, Value operand) const {
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  if (!broadcast || space.isRepeat(broadcast) || !space.hasElements(operand) ||
      countOf(broadcast.getInput()) == 1 || !argumentOf(operand) ||
      machineFor(out.step).countsInRuns)
    return false;
  return isa<SelectOp>(op) || space.getRun() == 1 ||
         !llvm::is_contained(broadcast.getDims(), space.getLastDim());
}

/// An element's inputs, or what is made of them alone where that is less and a
/// thread keeps it, since it reads it again.
void RowEmitter::findElementFields() {
  llvm::SetVector<Value> last; ///< that others than those made of them read
  for (Operation &op : out.step.getBody().front()) {
    if (!readsElements(op))
      continue;
    bool isMade =
        op.hasTrait<Elementwise>() &&
        !rows.knownAfter.contains(op.getResult(0)) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          return operand.getDefiningOp<ConstantOp>() || isOfElement(operand);
        });
    if (isMade)
      made.insert(op.getResult(0));
    for (Value operand : op.getOperands()) {
      if (isLoadedEarly(op, operand)) {
        elementInputs.insert(operand);
        last.insert(operand);
      }
      if (!isOfElement(operand))
        continue;
      if (!made.contains(operand))
        elementInputs.insert(operand);
      if (!isMade)
        last.insert(operand);
    }
  }
  bool readsAgain = rows.phases.size() > 1 || !storesInLastPhase();
  keepsMade = readsAgain && last.size() < elementInputs.size();
  for (Value value : keepsMade ? last : elementInputs)
    addElementField(value);
}

void RowEmitter::addRowField(Value value) {
  if ((!space.hasRows(value) && countOf(value) != 1) || !seen.insert(value))
    return;
  auto argument = dyn_cast<BlockArgument>(skipReshapes(value));
  rowFields.push_back(
      {value,
       rowNames.add(argument ? out.use(argument)
                             : nameOf(value.getDefiningOp(), rowNames)),
       rows.knownAfter.lookup(value)});
}

/// Inputs of elementwise ops, reductions, and what is repeated along the rows.
/// A GPU also loads and computes a number once for a row, at its beginning: in
/// a phase its threads would wait for it once more.
void RowEmitter::findFields() {
  findElementFields();
  for (Operation &op : out.step.getBody().front()) {
    if (auto broadcast = dyn_cast<BroadcastOp>(op);
        broadcast && space.hasElements(broadcast) &&
        countOf(broadcast.getInput()) == 1 &&
        !broadcast.getInput().getDefiningOp<ConstantOp>() &&
        !machineFor(out.step).countsInRuns)
      addRowField(broadcast.getInput());
    for (Value operand : op.getOperands())
      if (space.isRepeat(&op) ||
          (readsElements(op) && isa<BlockArgument>(skipReshapes(operand))))
        addRowField(operand);
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

/// RowArrays, for rows of which neighbours are adjacent (mnistrt/cpu/rows.h).
std::string RowEmitter::arraysText() const {
  std::string members, sets;
  SmallVector<std::string> values;
  for (const Field &field : rowFields) {
    members +=
        ("    " + elementName(field.value) + " " + field.name + "[n];\n").str();
    values.push_back(field.name + "[i]");
    sets += "      " + field.name + "[i] = row." + field.name + ";\n";
  }
  std::string i = rowFields.empty() ? "mn::Index" : "mn::Index i";
  return "  template <int n> struct RowArrays {\n" + members +
         "    RowValues at(" + i + ") const {\n" +
         argumentLines("      return ", "{", values, "};", 0) +
         "\n    }\n    void set(" + i + ", const RowValues &" +
         (rowFields.empty() ? "" : "row") + ") {\n" + sets + "    }\n  };\n";
}

std::string RowEmitter::phasesText(StringRef name, ArrayRef<RowPhase> phases) {
  SmallVector<std::string> texts;
  for (const RowPhase &phase : phases)
    texts.push_back("mn::RowPhase<" + phase.kind + ", " +
                    elementTypeName(phase.element).str() + ", " +
                    std::to_string(phase.reductions.size()) + ">");
  return argumentLines(("  using " + name + " = mn::Phases").str(), "<", texts,
                       ">;", 0) +
         "\n";
}

std::string mlir::mnistc::givenText(const RowPhase &phase) {
  return "mn::Values<" + elementTypeName(phase.element).str() + ", " +
         std::to_string(phase.reductions.size()) + ">";
}

std::string mlir::mnistc::resultText(const RowPhase &phase) {
  return phase.givesIndex ? "mn::Values<int64_t, " +
                                std::to_string(phase.reductions.size()) + ">"
                          : givenText(phase);
}

Expr mlir::mnistc::resultOf(const RowPhase &phase, unsigned i) {
  Expr value{"v.v[" + std::to_string(i) + "]"};
  StringRef type = elementName(phase.reductions[i]->getResult(0));
  if (!phase.givesIndex || type == "int64_t")
    return value;
  return call("static_cast<" + type + ">", {value});
}

/// "static constexpr bool storesElements = true;"
static std::string flagText(StringRef name, bool value) {
  return ("  static constexpr bool " + name + " = " +
          (value ? "true" : "false") + ";\n")
      .str();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

SmallVector<Parameter> RowEmitter::elementParameters() const {
  return {{"const RowValues &", "row"},
          {"const ElementValues &", "e"},
          {indexType, "o"},
          {numberType, "r"},
          {"const mn::Neighbour &", "place"}};
}

void RowEmitter::beginBody(unsigned known, bool hasElement) {
  body.begin(/*indent=*/4);
  if (hasElement) {
    for (const Field &field : elementFields)
      body.bind(field.value, {"e." + field.name}, elementIndex);
    // A mn::Neighbour: next to each other they share random bits.
    body.bindIndex(elementIndex, {"place"});
  }
  for (const Field &field : rowFields)
    if (field.known < known)
      body.bind(field.value, {"row." + field.name}, rowIndexOf(field.value));
}

/// What is known of where elements are, and which phases are together; on a CPU
/// nobody asks.
std::string RowEmitter::factsText() const {
  if (machineFor(out.step).countsInRuns)
    return "";
  std::string mean = rows.meanPhase
                         ? "  static constexpr int meanPhase = " +
                               std::to_string(*rows.meanPhase) + ";\n"
                         : "";
  int64_t apart = space.getRun() > 1 ? space.getRunsApart() : 0;
  return mean + (space.areRowsInFours() ? flagText("rowsInFours", true) : "") +
         (apart != 0 ? "  static constexpr mn::Index runsApart = " +
                           std::to_string(apart) + ";\n"
                     : "");
}

FailureOr<Expr> RowEmitter::loadedInput(Value input) {
  auto argument = dyn_cast<BlockArgument>(skipReshapes(input));
  if (!argument)
    return body.value(input, out.placeInFour(space.getShape()));
  std::string name = out.use(argument);
  Expr loaded{name + "[place]"};
  return keepsMade ? body.declare(elementName(input), name, loaded) : loaded;
}

LogicalResult RowEmitter::emitLoad() {
  body.begin(/*indent=*/4);
  out.finishFunction((indexType + " placeOf").str(),
                     {{indexType, "o"}, {numberType, "r"}},
                     line("return " + elementIndex.text + ";", 4) + "\n");
  body.begin(/*indent=*/4);
  // All are loaded, also what a condition leaves out: loads wait for nothing.
  for (Value input : elementInputs) {
    FailureOr<Expr> loaded = loadedInput(input);
    if (failed(loaded))
      return failure();
    body.bind(input, *loaded, elementIndex);
  }
  // So that the compiler sees no branches, nor puts a load off to one.
  if (keepsMade)
    for (Value value : made)
      if (auto cast = value.getDefiningOp<CastOp>();
          cast && elementInputs.contains(cast.getInput())) {
        FailureOr<Expr> text = body.namedValue(value, element);
        if (failed(text))
          return failure();
        body.bind(value, *text, elementIndex);
      }
  SmallVector<std::string> values;
  for (const Field &field : elementFields) {
    FailureOr<Expr> value = body.value(field.value, element);
    if (failed(value))
      return failure();
    values.push_back(value->text);
  }
  if (llvm::any_of(elementInputs, [](Value input) {
        return input.getDefiningOp<BroadcastOp>() != nullptr;
      }))
    out.finishFourLoad(values);
  else
    out.finishElementLoad(values);
  return success();
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
      body.bind(reduction->getResult(0), resultOf(rows.phases[known - 1], i),
                rowIndex);
  for (const Field &field : rowFields) {
    if (field.known != known)
      continue;
    FailureOr<Expr> value = body.value(field.value, rowPlaceOf(field.value));
    if (failed(value))
      return failure();
    body.bind(field.value, *value, rowIndexOf(field.value));
    stores += line("row." + field.name + " = " + value->text + ";", 4) + "\n";
  }
  out.finishFunction(head, parameters, stores);
  return success();
}

LogicalResult RowEmitter::emitPhase(unsigned number) {
  const RowPhase &phase = rows.phases[number];
  std::string tag = "mn::Phase<" + std::to_string(number) + ">";
  beginBody(number + 1, /*hasElement=*/true);
  SmallVector<std::string> values;
  for (ReductionOpInterface reduction : phase.reductions) {
    FailureOr<Expr> value = body.value(reduction->getOperand(0), element);
    if (failed(value))
      return failure();
    values.push_back(value->text);
  }
  SmallVector<Parameter> parameters = {{tag, "phase"}};
  llvm::append_range(parameters, elementParameters());
  std::string stores;
  if (number + 1 == rows.phases.size() && storesInLastPhase()) {
    FailureOr<SmallVector<StoredField>> fields = storedFields();
    if (failed(fields))
      return failure();
    if (!fields->empty()) {
      stores = out.declareStored(*fields, "stored = ");
      parameters.push_back({"StoredValues &", "stored"});
    }
  }
  out.finishFunction(
      givenText(phase) + " values", parameters,
      stores + argumentLines("    return {", "{", values, "}};", 0) + "\n");
  return emitUpdate("void take",
                    {{tag, "phase"},
                     {"const " + resultText(phase) + " &", "v"},
                     {"RowValues &", "row"},
                     {indexType, "o"}},
                    number + 1);
}

/// Whether the results of elements are known before the last phase ends.
bool RowEmitter::storesInLastPhase() const {
  return llvm::all_of(yieldsOf(out.step), [&](Value yielded) {
    return !space.hasElements(yielded) ||
           rows.knownAfter.lookup(yielded) < rows.phases.size();
  });
}

FailureOr<SmallVector<StoredField>> RowEmitter::storedFields() {
  SmallVector<StoredField> fields;
  for (auto [number, yielded] : llvm::enumerate(yieldsOf(out.step))) {
    if (!space.hasElements(yielded))
      continue;
    FailureOr<Expr> value = body.value(yielded, element);
    if (failed(value))
      return failure();
    fields.push_back({out.step.getResult(number), *value});
  }
  return fields;
}

LogicalResult RowEmitter::emitStores() {
  bool early = storesInLastPhase();
  beginBody(rows.phases.size() + !early, /*hasElement=*/true);
  FailureOr<SmallVector<StoredField>> fields = storedFields();
  if (failed(fields))
    return failure();
  bool any = !fields->empty();
  if (llvm::any_of(opsIn(out.step), [&](Operation *op) {
        return isa<RandomUniformOp>(op) &&
               countOf(op->getResult(0)) == space.rows() * space.size();
      }))
    out.functions += flagText("drawsNumbers", true);
  out.functions += flagText("storesElements", any);
  if (any)
    out.functions += flagText("storesInLastPhase", early);
  if (any && early)
    out.emitStoreOfNeighbours(*fields);
  else if (any)
    out.emitResults(*fields, elementParameters());
  return success();
}

LogicalResult RowEmitter::emitRowStores() {
  beginBody(rows.phases.size() + 1, /*hasElement=*/false);
  std::string stores;
  for (auto [number, yielded] : llvm::enumerate(yieldsOf(out.step))) {
    if (!space.hasRows(yielded))
      continue;
    // All are computed before the first is stored.
    FailureOr<Expr> value = body.namedValue(yielded, row);
    if (failed(value))
      return failure();
    stores +=
        storeLine(out.names[out.step.getResult(number)], rowIndex.text, *value);
  }
  out.finishFunction("void storeRow",
                     {{"const RowValues &", "row"}, {indexType, "o"}}, stores);
  return success();
}

//===----------------------------------------------------------------------===//
// The functor
//===----------------------------------------------------------------------===//

LogicalResult RowEmitter::emit() {
  findFields();
  out.functions += structText("ElementValues", elementFields) +
                   structText("RowValues", rowFields);
  if (machineFor(out.step).countsInRuns && space.areRowsAdjacent())
    out.functions += arraysText();
  out.functions += phasesText("Phases", rows.phases);
  out.functions += factsText();
  if (failed(emitLoad()))
    return failure();
  if (failed(emitUpdate("void begin",
                        {{"RowValues &", "row"}, {indexType, "o"}}, 0)))
    return failure();
  for (unsigned i = 0; i < rows.phases.size(); ++i)
    if (failed(emitPhase(i)))
      return failure();
  return success(succeeded(emitStores()) && succeeded(emitRowStores()) &&
                 succeeded(emitTotals()));
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
