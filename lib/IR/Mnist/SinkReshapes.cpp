//===- SinkReshapes.cpp - arithmetic without dimensions of size 1 ---------===//
//
// Exporters keep the reduced dimensions of a mean, with size 1, for the
// arithmetic that follows. Here they are added after it: what is computed of
// rows has the shape that a reduction of rows has, and joins its step.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Whether `after` is `before`, of as many elements, with more dimensions:
/// these have size 1.
static bool onlyAddsOnes(ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
  for (int64_t size : after)
    if (!before.empty() && before.front() == size)
      before = before.drop_front();
  return before.empty();
}

/// What `value` is without the dimensions of size 1 that a reshape adds, or
/// null.
static Value withoutOnes(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return Value();
  ArrayRef<int64_t> before = shapeOf(reshape.getInput()),
                    after = shapeOf(reshape.getOutput());
  return before.size() < after.size() && onlyAddsOnes(before, after)
             ? reshape.getInput()
             : Value();
}

/// The shape that an op has without ones, in which all of its operands are
/// known; none where there is no such shape.
static std::optional<ArrayRef<int64_t>> shapeWithoutOnes(Operation *op) {
  std::optional<ArrayRef<int64_t>> shape;
  for (Value operand : op->getOperands()) {
    if (SplatElementsAttr splat; matchPattern(operand, m_Constant(&splat)))
      continue;
    Value before = withoutOnes(operand);
    if (!before || (shape && *shape != shapeOf(before)))
      return std::nullopt;
    shape = shapeOf(before);
  }
  return shape;
}

namespace {
/// map(reshape(x)) = reshape(map(x)) where the reshape adds ones.
struct SinkReshape : OpTraitRewritePattern<Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<ArrayRef<int64_t>> shape = shapeWithoutOnes(op);
    if (!shape)
      return rewriter.notifyMatchFailure(op, "no reshapes that only add ones");
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(inShape(operand, *shape, rewriter));
    Operation *map =
        rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands,
                        type.clone(*shape), op->getAttrs());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, map->getResult(0));
    return success();
  }

private:
  static Value inShape(Value value, ArrayRef<int64_t> shape,
                       PatternRewriter &rewriter) {
    if (Value before = withoutOnes(value))
      return before;
    auto type = cast<RankedTensorType>(value.getType()).clone(shape);
    SplatElementsAttr splat;
    matchPattern(value, m_Constant(&splat));
    return rewriter.create<ConstantOp>(value.getLoc(), splat.resizeSplat(type));
  }
};
} // namespace

void MnistDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<SinkReshape>(getContext());
}
