//===- ReduceGradients.cpp - sums of gradients over ranks -----------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Names.h"
#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_REDUCEGRADIENTS
#include "lib/Passes/Passes.h.inc"

/// Steps and profiles speak of "fc1.weight.grad.sum".
static Location locationOfSum(Value gradient) {
  SmallVector<OnnxName> names = namesIn(gradient.getLoc());
  OnnxName of = names.empty() ? OnnxName() : names.front();
  std::string name =
      gradient.getDefiningOp() ? tensorName(gradient.getDefiningOp()) : "grad";
  return nameLocation(gradient.getContext(), name + ".sum", of.node,
                      of.operatorName);
}

namespace {
struct ReduceGradients : impl::ReduceGradientsBase<ReduceGradients> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder builder(end);
    for (OpOperand &operand : end->getOpOperands()) {
      Value gradient = operand.get();
      if (!function.getResultAttr(operand.getOperandNumber(),
                                  "mnist.gradient") ||
          isZero(gradient))
        continue;
      // As soon as it is there, and not in the order of the parameters.
      builder.setInsertionPointAfterValue(gradient);
      operand.set(
          builder.create<AllReduceOp>(locationOfSum(gradient), gradient));
      ++numReduced;
    }
  }
};
} // namespace

} // namespace mlir::mnistc
