//===- EmitLibraryStep.cpp - one step that a library computes -------------===//
//
// A call, and no functor: the root reads memory, and what follows it is what
// the library can do.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/IR/Plan/Target.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// "mn::cudnn::conv": libraries are called as the kernels of the same roots.
static std::string functionFor(StepOp step, RootOpInterface root) {
  return ("mn::" + stringifyImpl(step.getImpl()) +
          "::" + root.getKernelText().function)
      .str();
}

/// One call for all that a step adds up over ranks: its tensors are adjacent.
static StepText emitCollective(StepOp step, PlanNames &names) {
  auto root = cast<RootOpInterface>(rootOf(step));
  OpResult first = step->getResults().front(), last = step->getResults().back();
  ArrayRef<int64_t> offsets = *step.getOffsets();
  int64_t bytes =
      offsets.back() + sizeInBytes(last.getType()) - offsets.front();
  int64_t element =
      getElementTypeOrSelf(first.getType()).getIntOrFloatBitWidth() / 8;
  StepText text;
  text.call = declarePointers({first}, {}, names) +
              argumentLines(
                  functionFor(step, root), "(",
                  {"ctx", names[first].str(), std::to_string(bytes / element)},
                  ");", 2) +
              "\n";
  return text;
}

FailureOr<StepText> mlir::mnistc::emitLibraryStep(StepOp step,
                                                  PlanNames &names) {
  if (isCollectiveStep(step))
    return emitCollective(step, names);
  auto root = dyn_cast_or_null<RootOpInterface>(rootOf(step));
  std::optional<LibraryEpilogue> epilogue =
      root ? matchLibraryEpilogue(step) : std::nullopt;
  if (!epilogue || !Target::anyCanCompute(step))
    return step.emitOpError("cannot run on '")
           << stringifyImpl(step.getImpl()) << "'";

  auto inputOf = [&](Value argument) {
    auto number = cast<BlockArgument>(skipReshapes(argument)).getArgNumber();
    return step.getInputs()[number];
  };
  llvm::SetVector<Value> inputs;
  SmallVector<std::string> arguments{"ctx", names[step.getResult(0)].str()};
  for (Value operand : root->getOperands()) {
    inputs.insert(inputOf(operand));
    arguments.push_back(names[inputOf(operand)].str());
  }
  SmallVector<std::string> parts;
  auto add = [&](StringRef field, Value value) {
    if (!value)
      return;
    inputs.insert(inputOf(value));
    parts.push_back(("." + field + " = " + names[inputOf(value)]).str());
  };
  add("bias", epilogue->bias);
  add("residual", epilogue->residual);
  if (epilogue->relu)
    parts.push_back(".relu = true");

  StepText text;
  std::string shapeName =
      names.scope.add((names[step.getResult(0)] + "_shape").str());
  text.shape = declareShape(shapeTextOf(step), shapeName);
  arguments.push_back(shapeName);
  if (!parts.empty())
    arguments.push_back("mn::Epilogue{" + llvm::join(parts, ", ") + "}");
  text.call =
      declarePointers({step.getResult(0)}, inputs.getArrayRef(), names) +
      argumentLines(functionFor(step, root), "(", arguments, ");", 2) + "\n";
  return text;
}
