//===- CheckBody.cpp - what a step may compute ----------------------------===//

#include "lib/IR/Plan/CheckBody.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Plan/GradientBody.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/Schedule.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Only gradients of convolutions by some kernels read windows.
static LogicalResult checkUnpool(StepOp step, MaxUnpoolOp op) {
  Value made = op.getOutput();
  if (step.getImpl() == Impl::kernel && made.hasOneUse() &&
      outputGradOf(*made.user_begin()) == made && readsWindows(step, op))
    return success();
  return step.emitError("expected only a gradient of a convolution by weights, "
                        "bands or patches to read '")
         << op->getName() << "' where it is computed, got otherwise in step '"
         << step.getName() << "'";
}

/// Every op is one of the model's, and its constants are there.
static LogicalResult checkOps(StepOp step) {
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (!isa<MnistDialect>(op.getDialect()))
      return step.emitError("expected ops of the dialect 'mnist' in step '")
             << step.getName() << "', got '" << op.getName() << "'";
    auto unpool = dyn_cast<MaxUnpoolOp>(op);
    if (unpool && isInlined(unpool) && failed(checkUnpool(step, unpool)))
      return failure();
    auto constant = dyn_cast<ConstantOp>(op);
    if (constant && !HostTensor::read(constant.getValue()))
      return constant.emitOpError(
          "expected a constant with its elements, got none");
  }
  return success();
}

/// Whether a root's result is what all of the step are made of, element by
/// element.
static bool givesAll(Operation *root, StepOp step) {
  llvm::SmallDenseSet<Value> made = {root->getResult(0)};
  for (Operation &op : step.getBody().front().without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return made.contains(operand); }))
      made.insert(op.getResults().begin(), op.getResults().end());
  return llvm::all_of(yieldsOf(step), [&](Value value) {
    return made.contains(value) &&
           countOf(value) == countOf(root->getResult(0));
  });
}

/// At most one op is a root, which all results follow from.
static LogicalResult checkRoot(StepOp step) {
  Operation *root = rootOf(step);
  for (Operation &op : step.getBody().front().without_terminator())
    if (isRoot(&op) && &op != root)
      return step.emitError("expected at most one op with its own loops "
                            "in step '")
             << step.getName() << "', got '" << root->getName() << "' and '"
             << op.getName() << "'";
  if (step.getNumResults() == 0)
    return step.emitError("expected step '")
           << step.getName() << "' to have a result, got none";
  if (root && step.getNumResults() != 1 && !givesAll(root, step))
    return step.emitError("expected step '")
           << step.getName() << "' around '" << root->getName()
           << "' to have one result, or several that it makes element by "
              "element, got "
           << step.getNumResults();
  return success();
}

/// What follows a root goes through the elements as the root does.
static LogicalResult checkOrder(StepOp step) {
  Operation *root = rootOf(step);
  Operation *wrong = root ? firstOutOfOrder(root) : nullptr;
  if (!wrong)
    return success();
  return step.emitError("expected what follows '")
         << root->getName() << "' in step '" << step.getName()
         << "' to keep the order of the elements, got '" << wrong->getName()
         << "'";
}

static LogicalResult checkImplementation(StepOp step, const Target *target) {
  if (step.getImpl() == Impl::undecided)
    return step.emitError("expected step '")
           << step.getName() << "' to have an implementation, got '"
           << stringifyImpl(step.getImpl()) << "'";
  if (target ? target->canCompute(step) : Target::anyCanCompute(step))
    return success();
  return step.emitError("expected an implementation ")
         << (target ? "for " + target->name + " " : Twine())
         << "that can compute step '" << step.getName() << "' around '"
         << rowNameOf(step) << "', got '" << stringifyImpl(step.getImpl())
         << "'";
}

/// Each result is what a collective makes of the argument of its number, but
/// for reshapes.
static LogicalResult checkCollectives(StepOp step) {
  if (step.getNumResults() != step.getInputs().size())
    return step.emitError("expected step '")
           << step.getName() << "' to have as many results as inputs, got "
           << step.getNumResults() << " and " << step.getInputs().size();
  for (auto [argument, yielded] :
       llvm::zip_equal(step.getBody().getArguments(), yieldsOf(step))) {
    Operation *op = skipReshapes(yielded).getDefiningOp();
    if (!op || !op->hasTrait<Collective>() ||
        skipReshapes(op->getOperand(0)) != argument)
      return step.emitError("expected each result of step '")
             << step.getName()
             << "' to be a collective of the input of its number, got "
                "otherwise for input "
             << argument.getArgNumber();
  }
  return success();
}

LogicalResult mlir::mnistc::checkForm(StepOp step) {
  if (!linksOf(step).empty())
    return checkChain(step);
  if (failed(checkOps(step)))
    return failure();
  if (isCollectiveStep(step))
    return checkCollectives(step);
  if (isRowStep(step))
    return success(succeeded(readRowBody(step)));
  if (isPoolStep(step))
    return success(succeeded(readPoolBody(step)));
  if (isGradientStep(step))
    return success(succeeded(readGradientBody(step)));
  return success(succeeded(checkRoot(step)) && succeeded(checkOrder(step)));
}

LogicalResult mlir::mnistc::checkBody(StepOp step, const Target *target) {
  return success(succeeded(checkForm(step)) &&
                 succeeded(checkImplementation(step, target)));
}
