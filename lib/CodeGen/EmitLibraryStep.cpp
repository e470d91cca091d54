//===- EmitLibraryStep.cpp - one step that a library computes -------------===//
//
// A call, and no functor: the root reads memory, and what follows it is what
// the library can do.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {
struct LibraryRow {
  Impl impl;
  StringLiteral op, function;
};
} // namespace

static const LibraryRow libraryCalls[] = {
    {Impl::cublas, "matmul", "mn::cublas::matmul"},
    {Impl::cudnn, "conv", "mn::cudnn::conv"},
    {Impl::cudnn, "conv_filter_grad", "mn::cudnn::convFilterGrad"},
    {Impl::cudnn, "conv_input_grad", "mn::cudnn::convInputGrad"},
    {Impl::onednn, "conv", "mn::onednn::conv"},
    {Impl::onednn, "conv_filter_grad", "mn::onednn::convFilterGrad"},
    {Impl::onednn, "conv_input_grad", "mn::onednn::convInputGrad"},
    {Impl::onednn, "matmul", "mn::onednn::matmul"},
    {Impl::openblas, "matmul", "mn::openblas::matmul"},
};

FailureOr<StepText> mlir::mnistc::emitLibraryStep(StepOp step,
                                                  PlanNames &names) {
  Operation *root = rootOf(step);
  const LibraryRow *row = nullptr;
  for (const LibraryRow &candidate : libraryCalls)
    if (root && candidate.impl == step.getImpl() &&
        candidate.op == root->getName().stripDialect())
      row = &candidate;
  std::optional<LibraryEpilogue> epilogue = matchLibraryEpilogue(step);
  if (!row || !epilogue)
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
  text.shape = declareShape(shapeOfRoot(root), shapeName);
  arguments.push_back(shapeName);
  if (!parts.empty())
    arguments.push_back("mn::Epilogue{" + llvm::join(parts, ", ") + "}");
  text.call =
      declarePointers({step.getResult(0)}, inputs.getArrayRef(), names) +
      argumentLines(row->function, "(", arguments, ");", 2) + "\n";
  return text;
}
