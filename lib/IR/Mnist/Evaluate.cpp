//===- Evaluate.cpp - ops on constants, computed by the compiler ----------===//

#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/Evaluators.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mnistc;

ElementsAttr mlir::mnistc::constantValue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? constant.getValue() : ElementsAttr();
}

/// The name of the first named constant that `value` repeats, or null.
static Attribute nameOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return nameOf(broadcast.getInput());
  return isa_and_nonnull<ConstantOp>(op) ? op->getDiscardableAttr("mnist.name")
                                         : Attribute();
}

ConstantOp mlir::mnistc::createConstant(OpBuilder &builder, Location loc,
                                        ElementsAttr value,
                                        ValueRange sources) {
  auto constant = builder.create<ConstantOp>(loc, value);
  for (Value source : sources)
    if (Attribute name = nameOf(source)) {
      constant->setDiscardableAttr("mnist.name", name);
      break;
    }
  return constant;
}

ElementsAttr mlir::mnistc::evaluate(Operation *op,
                                    ArrayRef<ElementsAttr> values) {
  if (op->getNumResults() != 1 || resultType(op).getElementType().isBF16())
    return {};
  SmallVector<HostTensor> operands;
  for (ElementsAttr value : values) {
    std::optional<HostTensor> operand = HostTensor::read(value);
    if (!operand)
      return {};
    operands.push_back(*operand);
  }
  for (auto *part : {evaluateElementwise, evaluateIndexing, evaluateReduction})
    if (MaybeTensor result = part(op, operands))
      return result->write();
  return {};
}

double mlir::mnistc::evaluationWork(Operation *op) {
  if (auto root = dyn_cast<RootOpInterface>(op))
    if (std::optional<MultiplyAdds> work = root.getMultiplyAdds())
      return work->count();
  int64_t work = resultType(op).getNumElements();
  for (Value operand : op->getOperands())
    work = std::max(work,
                    cast<RankedTensorType>(operand.getType()).getNumElements());
  return work;
}
