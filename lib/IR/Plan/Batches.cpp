//===- Batches.cpp - plans on batches of a data set -----------------------===//

#include "lib/IR/Plan/Batches.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/Matchers.h"
#include "mnistrt/training.h"

using namespace mlir;
using namespace mlir::mnistc;

bool mlir::mnistc::takesBatches(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, "mnist.name");
        name && name == mn::names::labels)
      return true;
  return false;
}

/// Whether a value in a step is what the function has of a parameter.
static bool isParameter(Value value, StepOp step, StringRef name) {
  auto inside = dyn_cast<BlockArgument>(value);
  if (!inside || inside.getOwner() != &step.getBody().front())
    return false;
  auto argument =
      dyn_cast<BlockArgument>(step.getInputs()[inside.getArgNumber()]);
  StringAttr parameter = argument ? parameterOf(argument) : StringAttr();
  return parameter && parameter == name;
}

/// Whether a new value of a parameter is the old one plus 1.
static bool addsOne(Value value, StringRef name) {
  auto result = dyn_cast<OpResult>(value);
  auto step = result ? dyn_cast<StepOp>(result.getOwner()) : StepOp();
  auto sum =
      step ? yieldsOf(step)[result.getResultNumber()].getDefiningOp<AddOp>()
           : AddOp();
  if (!sum)
    return false;
  auto adds = [&](Value before, Value one) {
    return isParameter(before, step, name) && matchPattern(one, m_One());
  };
  return adds(sum.getLhs(), sum.getRhs()) || adds(sum.getRhs(), sum.getLhs());
}

bool mlir::mnistc::countsBatches(func::FuncOp function) {
  bool counts = false;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    StringAttr name = parameterOf(function, operand.getOperandNumber());
    if (!name)
      continue;
    if (name == mn::names::seed || name == mn::names::epoch)
      return false;
    if (name == mn::names::batch)
      counts = addsOne(operand.get(), name);
  }
  return counts;
}
