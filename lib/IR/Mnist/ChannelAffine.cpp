//===- ChannelAffine.cpp - x * scale + shift, by channel ------------------===//

#include "lib/IR/Mnist/ChannelAffine.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

static Value splat(OpBuilder &b, Location loc, RankedTensorType type,
                   double number) {
  return b.create<ConstantOp>(
      loc, DenseElementsAttr::get(
               type, Attribute(b.getFloatAttr(type.getElementType(), number))));
}

ChannelAffine mlir::mnistc::batchNormAffine(OpBuilder &b, BatchNormOp op) {
  Location loc = op.getLoc();
  Value epsilon =
      splat(b, loc, op.getScale().getType(), op.getEpsilon().convertToDouble());
  Value deviation = createOrEvaluate<SqrtOp>(
      b, loc, createOrEvaluate<AddOp>(b, loc, op.getVariance(), epsilon));
  Value scale = createOrEvaluate<DivOp>(b, loc, op.getScale(), deviation);
  Value moved = createOrEvaluate<MulOp>(b, loc, op.getMean(), scale);
  return {scale, createOrEvaluate<SubOp>(b, loc, op.getBias(), moved)};
}

/// The numbers of `value` along `dim`, if it is made of constants and depends
/// on no other index; else null.
static Value channelNumbers(OpBuilder &b, Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  auto channels =
      RankedTensorType::get({type.getDimSize(dim)}, type.getElementType());
  Location loc = value.getLoc();
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(constantValue(value)))
    if (dense.isSplat())
      return b.create<ConstantOp>(loc, dense.resizeSplat(channels));
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  Value source = broadcast ? broadcast.getInput() : value;
  if (!constantValue(source))
    return {};
  // The only dimension with more than one index must be the channels'.
  for (auto [i, size] :
       llvm::enumerate(cast<RankedTensorType>(source.getType()).getShape()))
    if (size != 1 && (broadcast ? broadcast.getDims()[i] : int64_t(i)) != dim)
      return {};
  int64_t count = cast<RankedTensorType>(source.getType()).getNumElements();
  auto vector = RankedTensorType::get({count}, type.getElementType());
  Value numbers = createOrEvaluate<ReshapeOp>(b, loc, vector, source);
  if (vector == channels)
    return numbers;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  numbers = createOrEvaluate<ReshapeOp>(b, loc, scalar, numbers);
  return createOrEvaluate<BroadcastOp>(b, loc, channels, numbers,
                                       ArrayRef<int64_t>());
}

std::optional<ChannelAffine> mlir::mnistc::matchChannelAffine(OpBuilder &b,
                                                              Operation *op,
                                                              Value input,
                                                              int64_t dim) {
  if (auto norm = dyn_cast<BatchNormOp>(op)) {
    bool constant = llvm::all_of(op->getOperands().drop_front(), constantValue);
    if (!constant || norm.getInput() != input || int64_t(norm.getDim()) != dim)
      return std::nullopt;
    return batchNormAffine(b, norm);
  }
  if (!isa<AddOp, SubOp, MulOp, DivOp>(op) ||
      op->getOperand(0) == op->getOperand(1))
    return std::nullopt;
  bool inputFirst = op->getOperand(0) == input;
  Value numbers = channelNumbers(b, op->getOperand(inputFirst ? 1 : 0), dim);
  if (!numbers)
    return std::nullopt;
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(numbers.getType());
  return llvm::TypeSwitch<Operation *, std::optional<ChannelAffine>>(op)
      .Case([&](AddOp) { return ChannelAffine{{}, numbers}; })
      .Case([&](MulOp) { return ChannelAffine{numbers, {}}; })
      .Case([&](SubOp) {
        if (!inputFirst)
          return ChannelAffine{splat(b, loc, type, -1), numbers};
        return ChannelAffine{{}, createOrEvaluate<NegOp>(b, loc, numbers)};
      })
      .Case([&](DivOp) -> std::optional<ChannelAffine> {
        if (!inputFirst)
          return std::nullopt;
        return ChannelAffine{
            createOrEvaluate<DivOp>(b, loc, splat(b, loc, type, 1), numbers),
            {}};
      })
      .Default(std::optional<ChannelAffine>());
}

ChannelAffine mlir::mnistc::compose(OpBuilder &b, Location loc,
                                    ChannelAffine first, ChannelAffine second) {
  auto mul = [&](Value x, Value y) {
    return x && y ? createOrEvaluate<MulOp>(b, loc, x, y) : x;
  };
  // (x s + t) s' + t' = x (s s') + (t s' + t')
  Value scale = first.scale ? mul(first.scale, second.scale) : second.scale;
  Value shift = mul(first.shift, second.scale);
  if (!shift)
    shift = second.shift;
  else if (second.shift)
    shift = createOrEvaluate<AddOp>(b, loc, shift, second.shift);
  return {scale, shift};
}
