//===- FoldConstants.cpp - what depends only on constants -----------------===//
//
// The folds of the ops handle identities and splats; whole tensors are computed
// here, once, within limits.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluate.h"
#include "lib/Passes/EraseDead.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "lib/Passes/Passes.h.inc"

/// A result larger than all constants that it is made of must be this small.
static constexpr int64_t smallSize = 4096;

/// Elements that it would take only space to write down: computing their index
/// is free at run time.
static bool isFree(Operation *op) { return isa<IotaOp, BroadcastOp>(op); }

/// How many elements are written down in the constants that `value` is made of.
static int64_t sourceSize(Value value) {
  if (isa_and_nonnull<SplatElementsAttr>(constantValue(value)))
    return 1;
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op))
    return cast<ShapedType>(value.getType()).getNumElements();
  int64_t size = 0;
  for (Value operand : op->getOperands())
    size += sourceSize(operand);
  return size;
}

namespace {
struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  void runOnOperation() override;

private:
  ElementsAttr valueOf(Value value);
  bool isWorthwhile(Operation *op);
  bool foldBeforeBroadcast(Operation *op);
  bool foldWhole(Operation *op);
};
} // namespace

/// A constant's value, also that of one repeated or counted; else null.
ElementsAttr FoldConstants::valueOf(Value value) {
  if (ElementsAttr constant = constantValue(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || !isFree(op) || evaluationWork(op) > maxElements)
    return {};
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valueOf(operand));
  if (llvm::is_contained(operands, ElementsAttr()))
    return {};
  return evaluate(op, operands);
}

/// Whether the limits allow to compute `op`, should it be constant.
bool FoldConstants::isWorthwhile(Operation *op) {
  int64_t source = 0;
  bool splats = op->hasTrait<Elementwise>();
  for (Value operand : op->getOperands()) {
    source += sourceSize(operand);
    splats &= isa_and_nonnull<SplatElementsAttr>(constantValue(operand));
  }
  if (splats)
    return true; // of any size
  int64_t size = cast<ShapedType>(op->getResult(0).getType()).getNumElements();
  return size <= maxElements && evaluationWork(op) <= 64 * maxElements &&
         size <= std::max(source, smallSize);
}

/// f(broadcast(x), broadcast(y), splat) = broadcast(f(x, y, splat)), where that
/// is constant.
bool FoldConstants::foldBeforeBroadcast(Operation *op) {
  if (!op->hasTrait<Elementwise>())
    return false;
  BroadcastOp first;
  for (Value operand : op->getOperands())
    if (auto broadcast = operand.getDefiningOp<BroadcastOp>())
      first = broadcast;
  if (!first)
    return false;
  ArrayRef<int64_t> shape = first.getInput().getType().getShape();
  SmallVector<Value> operands;
  OpBuilder builder(op);
  for (Value operand : op->getOperands()) {
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    auto value = dyn_cast_or_null<DenseElementsAttr>(
        constantValue(broadcast ? broadcast.getInput() : operand));
    if (!value)
      return false;
    auto type = RankedTensorType::get(shape, value.getElementType());
    if (broadcast && broadcast.getDims() == first.getDims())
      operands.push_back(broadcast.getInput());
    else if (value.isSplat())
      operands.push_back(builder.create<ConstantOp>(operand.getLoc(),
                                                    value.resizeSplat(type)));
    else
      return false;
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Operation *before = builder.clone(*op);
  before->setOperands(operands);
  before->getResult(0).setType(type.clone(shape));
  auto broadcast = builder.create<BroadcastOp>(
      op->getLoc(), type, before->getResult(0), first.getDims());
  op->replaceAllUsesWith(broadcast);
  op->erase();
  foldWhole(before);
  return true;
}

bool FoldConstants::foldWhole(Operation *op) {
  if (!isWorthwhile(op))
    return false;
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(valueOf(operand));
    if (!operands.back())
      return false;
  }
  ElementsAttr value = evaluate(op, operands);
  if (!value)
    return false;
  OpBuilder builder(op);
  auto constant =
      createConstant(builder, op->getLoc(), value, op->getOperands());
  op->replaceAllUsesWith(constant);
  op->erase();
  ++numFolded;
  return true;
}

void FoldConstants::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (isa_and_nonnull<MnistDialect>(op->getDialect()) &&
        op->getNumResults() == 1 && !isa<ConstantOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (!isFree(op) && !op->use_empty() && !foldBeforeBroadcast(op))
      foldWhole(op);
  // What the folded ops were made of.
  if (!getOperation().isExternal())
    eraseDead(getOperation().getBody().front());
}

} // namespace mlir::mnistc
