//===- PlanNames.cpp - the values of a planned function -------------------===//
//
// Arguments and results of steps are in the arena, constants in the constants;
// all have the model's names.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"

using namespace mlir;
using namespace mlir::mnistc;

std::string PlanNames::address(Value value) const {
  const Entry &entry = entries.at(value);
  Type element = getElementTypeOrSelf(value.getType());
  return ((entry.constant ? "ctx.constant<" : "ctx.at<") +
          elementTypeName(element) + ">(" + Twine(entry.offset) + ")")
      .str();
}

void PlanNames::add(Value value, StringRef name, int64_t offset,
                    bool constant) {
  entries[value] = {scope.add(name), offset, constant};
}

/// The parameters that results of steps are the new values of.
static DenseMap<Value, StringAttr> updatedBy(func::FuncOp function) {
  DenseMap<Value, StringAttr> updates;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    if (StringAttr name = parameterOf(function, operand.getOperandNumber()))
      if (operand.get().getDefiningOp<StepOp>())
        updates[operand.get()] = name;
  return updates;
}

/// The name of the tensor that a step's result number `number` holds.
static std::string resultName(StepOp step, unsigned number) {
  Value yielded = yieldsOf(step)[number];
  Operation *op = yielded.getDefiningOp();
  if (auto link = dyn_cast_or_null<StepOp>(op))
    return resultName(link, cast<OpResult>(yielded).getResultNumber());
  return op && number != 0 ? tensorName(op) : step.getName().str();
}

/// The values in a chain are those outside of it, or only its blocks hold them.
void PlanNames::addLinks(StepOp step) {
  SmallVector<StepOp> links = linksOf(step);
  if (links.empty())
    return;
  auto alias = [&](Value inside, Value outside) {
    Entry entry = entries.at(outside);
    entries[inside] = std::move(entry);
  };
  for (auto [argument, input] :
       llvm::zip_equal(step.getBody().getArguments(), step.getInputs()))
    alias(argument, input);
  for (auto [made, result] : llvm::zip_equal(yieldsOf(step), step.getResults()))
    alias(made, result);
  for (StepOp link : links)
    for (auto [number, made] : llvm::enumerate(link.getResults()))
      if (!entries.contains(made))
        add(made, resultName(link, number), -1 - int64_t(entries.size()),
            false);
}

void PlanNames::collect(func::FuncOp function) {
  planSpace = identifier(function.getName());
  // First what the model's users see, so that it keeps its names.
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, "mnist.name");
    if (StringAttr parameter = parameterOf(argument))
      name = parameter;
    auto offset = function.getArgAttrOfType<IntegerAttr>(number, "plan.offset");
    add(argument, name ? name.getValue() : "input", offset.getInt(), false);
  }
  DenseMap<Value, StringAttr> updates = updatedBy(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      add(constant, tensorName(constant),
          op.getAttrOfType<IntegerAttr>("plan.offset").getInt(), true);
      continue;
    }
    auto step = cast<StepOp>(op);
    for (auto [number, result] : llvm::enumerate(step.getResults())) {
      StringAttr parameter = updates.lookup(result);
      add(result,
          parameter ? (parameter.getValue() + "_new").str()
                    : resultName(step, number),
          (*step.getOffsets())[number], false);
    }
    addLinks(step);
    // Some kernels have a variable of this name.
    for (StringRef suffix : {"_parts", "_sums", "_filters"})
      scope.reserve((entries.at(step.getResult(0)).name + suffix).str());
  }
}
