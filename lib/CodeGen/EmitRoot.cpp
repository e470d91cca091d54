//===- EmitRoot.cpp - a step around an op with its own loops as text ------===//
//
// How the op's kernel loads its operands and stores its results, as functions
// of a functor.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/GradientBody.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

Value mlir::mnistc::computedBy(Operation *root) {
  return isContraction(root) ? root->getResult(0) : root->getOperand(0);
}

/// "MN_CONV_FILTER_GRAD_KERNEL" for convFilterGrad: what makes its functor a
/// kernel.
static std::string macroFor(StringRef function) {
  std::string name;
  for (char c : function)
    name += (llvm::isUpper(c) ? "_" : "") + std::string(1, llvm::toUpper(c));
  return "MN_" + name + "_KERNEL";
}

LogicalResult FunctorEmitter::emitStore(StringRef function, Value of,
                                        StringRef index, bool givesIndex,
                                        ArrayRef<unsigned> results) {
  StringRef type = givesIndex ? "int64_t" : elementName(of);
  // An index comes as int64_t for every type of the model.
  Expr stored{"v"};
  if (givesIndex && elementName(of) != type)
    stored =
        mlir::mnistc::call("static_cast<" + elementName(of) + ">", {stored});
  SmallVector<LoadedField> elements;
  const bool loadsFirst =
      isContraction(of.getDefiningOp()) && machineFor(step).loadsBeforeStores;
  if (loadsFirst)
    elements = elementsFor(of, results);
  if (failed(emitElements(elements, index)))
    return failure();
  body.begin(/*indent=*/4);
  Expr at = linearIndex(positionAt({index.str()}, shapeOf(of)), shapeOf(of));
  body.bind(of, stored, at);
  for (const LoadedField &element : elements)
    body.bind(element.tensor, {"e." + element.name}, at);
  unsigned usesBefore = uses;
  SmallVector<Parameter, 2> parameters = {{indexType, index}, {type, "v"}};
  SmallVector<StoredField> fields;
  for (unsigned result : results) {
    Value value = yieldsOf(step)[result];
    Position position = positionAt({index.str()}, shapeOf(value));
    // Of several, all are there before the first is stored.
    FailureOr<Expr> text = results.size() == 1
                               ? body.statementValue(value, position)
                               : body.namedValue(value, position);
    if (failed(text))
      return failure();
    fields.push_back({step.getResult(result), *text});
  }
  if (loadsFirst &&
      (uses != usesBefore || !elements.empty() || fields.size() > 1))
    emitResult(fields, parameters, !elements.empty());
  std::string stores;
  for (const StoredField &field : fields)
    stores += storeLine(names[field.result], index, field.value);
  finishFunction(("void " + function).str(), parameters, stores);
  if (loadsFirst && fields.size() > 1)
    emitStoreOfNeighbours(fields);
  return success();
}

SmallVector<LoadedField>
FunctorEmitter::elementsFor(Value of, ArrayRef<unsigned> results) {
  SmallVector<LoadedField> elements;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> open;
  for (unsigned result : results)
    open.push_back(yieldsOf(step)[result]);
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (value == of || countOf(value) != countOf(of))
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    Operation *op = value.getDefiningOp();
    if (op && isPointwise(op) && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
    else if (argument && llvm::none_of(elements, [&](const LoadedField &field) {
               return field.tensor == value;
             }))
      elements.push_back(
          {value, names[step.getInputs()[argument.getArgNumber()]].str()});
  }
  return elements;
}

LogicalResult FunctorEmitter::emitElements(ArrayRef<LoadedField> elements,
                                           StringRef index) {
  if (elements.empty())
    return success();
  functions += "  struct ElementValues {\n";
  for (const LoadedField &field : elements)
    functions +=
        ("    " + elementName(field.tensor) + " " + field.name + ";\n").str();
  functions += "  };\n";
  body.begin(/*indent=*/4);
  SmallVector<std::string> values;
  for (const LoadedField &field : elements) {
    FailureOr<Expr> text = body.statementValue(
        field.tensor, positionAt({index.str()}, shapeOf(field.tensor)));
    if (failed(text))
      return failure();
    values.push_back(text->text);
  }
  finishFunction("ElementValues elements", {{indexType, index}},
                 argumentLines("    return ", "{", values, "};", 0) + "\n");
  return success();
}

void FunctorEmitter::emitResult(SmallVectorImpl<StoredField> &fields,
                                SmallVectorImpl<Parameter> &parameters,
                                bool takesElements) {
  bool isOne = fields.size() == 1;
  std::string type = isOne ? elementName(fields.front().result).str()
                           : "StoredValues",
              index = parameters.front().name, returned;
  if (isOne)
    returned = line("return " + fields.front().value.text + ";", 4) + "\n";
  else
    returned = declareStored(fields);
  parameters.front() = {"auto", index}; // it may know its channel
  if (takesElements)
    parameters.push_back({"const ElementValues &", "e"});
  finishFunction(type + " result", parameters, returned);
  parameters.truncate(2);
  body.begin(/*indent=*/4);
  parameters.front() = {indexType, index};
  parameters.back() = {isOne ? type : "const " + type + " &", "v"};
  for (StoredField &field : fields)
    field.value = {isOne ? "v" : ("v." + names[field.result]).str()};
}

/// Of an inlined max_unpool the values of windows, and their places in these.
LogicalResult FunctorEmitter::emitElementLoads(StringRef name, Value operand) {
  auto load = [&](StringRef name, Value tensor) {
    return emitLoad(name, tensor, {{indexType, "i"}},
                    positionAt({"i"}, shapeOf(tensor)));
  };
  MaxUnpoolOp unpool = inlinedUnpoolOf(operand);
  if (!unpool)
    return load(name, operand);
  return success(succeeded(load(name, unpool.getInput())) &&
                 succeeded(load("loadIndex", unpool.getIndices())));
}

/// Element `r` of those that become element `o`: its neighbours in memory are
/// others of the same result, or belong to results next to each other.
LogicalResult FunctorEmitter::emitRowLoad(StringRef name, Value operand,
                                          ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  Divisors divisors, ofResult;
  body.begin(/*indent=*/4);
  FailureOr<Expr> text = body.statementValue(
      operand, rowPosition(shape, dims, &divisors, &ofResult));
  if (failed(text))
    return failure();
  int64_t elements = 1;
  for (int64_t dim : dims)
    elements *= shape[dim];
  StringRef type = indexType, resultType = indexType;
  if (areAdjacentInPart(shape, dims))
    type = takeRun(divisors, elements, indexType);
  else if (machineFor(step).countsInRuns && elements != 0 &&
           (resultRun = ofResult.runOf(countOf(operand) / elements)))
    resultType = "auto";
  finishFunction((elementName(operand) + " " + name).str(),
                 {{resultType, "o"}, {type, "r"}},
                 line("return " + text->text + ";", 4) + "\n");
  return success();
}

LogicalResult FunctorEmitter::emitLoads(RootOpInterface root) {
  auto reduction = dyn_cast<ReductionOpInterface>(*root);
  bool reduces = reduction && !reduction.keepsDims();
  for (auto [name, operand] :
       llvm::zip_equal(root.getKernelText().loads, root->getOperands())) {
    LogicalResult loaded =
        reduces ? emitRowLoad(name, operand, reduction.getReducedDims())
                : emitElementLoads(name, operand);
    if (failed(loaded))
      return failure();
  }
  return success();
}

void FunctorEmitter::callKernel(KernelText text, StringRef element,
                                const ShapeText &sizes) {
  shape = names.scope.add((names[step.getResult(0)] + "_shape").str());
  SmallVector<std::string> arguments = {name}, types;
  if (!text.kind.empty())
    types.push_back(text.kind.str());
  types.push_back(element.str());
  llvm::append_range(arguments, types);
  call = ("mn::" + text.function + "<" + llvm::join(types, ", ") + ">").str();
  arguments.append({takeFunctor(), shape});
  shapeText = declareShape(sizes, shape);
  macro = argumentLines(macroFor(text.function), "(", arguments, ")", 0) + "\n";
}

LogicalResult FunctorEmitter::emitRoot(RootOpInterface root) {
  GradientBody gradients;
  if (isGradientStep(step)) {
    FailureOr<GradientBody> read = readGradientBody(step);
    if (failed(read))
      return failure();
    gradients = *read;
  } else {
    llvm::append_range(gradients.filterResults,
                       llvm::seq(0u, step.getNumResults()));
  }
  KernelText text = root.getKernelText();
  auto reduction = dyn_cast<ReductionOpInterface>(*root);
  bool reduces = reduction && !reduction.keepsDims();
  if (failed(emitLoads(root)) ||
      failed(emitStore("store", root->getResult(0), reduces ? "o" : "i",
                       text.givesIndex, gradients.filterResults)))
    return failure();
  if (gradients.bias &&
      failed(emitStore("storeBias", gradients.bias.getOutput(), "o",
                       /*givesIndex=*/false, gradients.biasResults)))
    return failure();
  ShapeText sizes = shapeTextOf(step);
  auto addField = [&](std::string field) { // before the schedule
    sizes.fields.insert(sizes.fields.end() - 1, std::move(field));
  };
  for (Value operand : root->getOperands())
    if (MaxUnpoolOp unpool = inlinedUnpoolOf(operand))
      addField(poolField(unpool.getLayout(), unpool.getKernel(),
                         unpool.getInput(), /*isMaximum=*/true));
  if (gradients.bias)
    addField(".bias = true");
  callKernel(text, elementName(computedBy(root)), sizes);
  return success();
}
