//===- EmitRoot.cpp - a step around an op with its own loops as text ------===//
//
// How the op's kernel loads its operands and stores its results, as functions
// of a functor.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/GradientBody.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// What has the type in which a root computes: its result, unless that is an
/// index, and its operands may be rounded.
static Value computedBy(Operation *root) {
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
