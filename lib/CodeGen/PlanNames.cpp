//===- PlanNames.cpp - the values of a planned function -------------------===//
//
// Arguments and results of steps lie in the arena, constants in the constants;
// all have the model's names.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/Parameters.h"

using namespace mlir;
using namespace mlir::mnistc;

std::string PlanNames::address(Value value) const {
  const Entry &entry = entries.at(value);
  Type element = getElementTypeOrSelf(value.getType());
  return ((entry.constant ? "ctx.constant<" : "ctx.at<") +
          elementTypeName(element) + ">(" + Twine(entry.offset) + ")")
      .str();
}

LogicalResult PlanNames::add(Value value, StringRef name, IntegerAttr offset,
                             bool constant) {
  if (!offset)
    return emitError(value.getLoc()) << "expected 'plan.offset' for '" << name
                                     << "'; run --plan-assign-memory first";
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return emitError(value.getLoc())
           << "expected a tensor, got " << value.getType();
  entries[value] = {scope.add(name), offset.getInt(), constant};
  return success();
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
  if (number == 0)
    return step.getName().str();
  Value yielded = step.getBody().front().getTerminator()->getOperand(number);
  Operation *op = yielded.getDefiningOp();
  return op ? tensorName(op) : step.getName().str();
}

LogicalResult PlanNames::collect(func::FuncOp function) {
  planSpace = identifier(function.getName());
  Builder builder(function.getContext());
  // First what the model's users see, so that it keeps its names.
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, "mnist.name");
    if (StringAttr parameter = parameterOf(argument))
      name = parameter;
    auto offset = function.getArgAttrOfType<IntegerAttr>(number, "plan.offset");
    if (failed(add(argument, name ? name.getValue() : "input", offset, false)))
      return failure();
  }
  DenseMap<Value, StringAttr> updates = updatedBy(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (failed(add(constant, tensorName(constant),
                     op.getAttrOfType<IntegerAttr>("plan.offset"), true)))
        return failure();
      continue;
    }
    auto step = dyn_cast<StepOp>(op);
    if (!step || step.getNumResults() == 0)
      return op.emitOpError("expected a step with a result or a constant");
    if (!step.getOffsets())
      return step.emitOpError("has no offsets; run --plan-assign-memory first");
    for (auto [number, result] : llvm::enumerate(step.getResults())) {
      StringAttr parameter = updates.lookup(result);
      if (failed(add(result,
                     parameter ? (parameter.getValue() + "_new").str()
                               : resultName(step, number),
                     builder.getI64IntegerAttr((*step.getOffsets())[number]),
                     false)))
        return failure();
    }
    // Some kernels have a variable of this name.
    scope.reserve((entries.at(step.getResult(0)).name + "_parts"));
  }
  return success();
}
