//===- MaskByDropout.cpp - what a relu and a dropout leave of a gradient --===//
//
// Dropout multiplies what it keeps by 1 / (1 - ratio), so of a relu's result
// its own is above 0 where that was, and it was kept. One comparison of what
// the next layer reads anyway says both: the gradient draws no random numbers
// again, and the relu's result need not be kept for it.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_MASKBYDROPOUT
#include "lib/Passes/Passes.h.inc"

/// Of a smaller factor a product might be 0 where no operand is.
static bool isAtLeastOne(Value factor) {
  DenseFPElementsAttr splat;
  return matchPattern(factor, m_Constant(&splat)) && splat.isSplat() &&
         splat.getSplatValue<APFloat>().convertToDouble() >= 1;
}

/// Whether random numbers decide.
static bool isDrawn(Value condition) {
  auto compare = condition.getDefiningOp<CompareOp>();
  return compare && compare.getLhs().getDefiningOp<RandomUniformOp>();
}

namespace {
/// A dropout of a value, or of what is it in another shape.
struct Dropout {
  Value kept;   ///< what decides
  MulOp result; ///< select(kept, value, 0) * factor
};
} // namespace

/// That of `value` before `place`, if there is one.
static std::optional<Dropout> dropoutOf(Value value, Operation *place) {
  for (Operation *user : value.getUsers()) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      if (std::optional<Dropout> found = dropoutOf(reshape.getOutput(), place))
        return found;
    auto select = dyn_cast<SelectOp>(user);
    if (!select || select.getThen() != value ||
        !isZero(select.getOtherwise()) || !isDrawn(select.getCondition()))
      continue;
    for (Operation *next : select->getUsers())
      if (auto mul = dyn_cast<MulOp>(next);
          mul && isAtLeastOne(mul.getRhs()) && mul->isBeforeInBlock(place))
        return Dropout{select.getCondition(), mul};
  }
  return std::nullopt;
}

/// A gradient that select(keep, gradient, 0) is computed to, without that;
/// null where it is no such.
static Value withoutMask(Value value, Value keep, OpBuilder &builder) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<SelectOp>(op))
    return select.getCondition() == keep && isZero(select.getOtherwise())
               ? select.getThen()
               : Value();
  auto mul = dyn_cast_or_null<MulOp>(op);
  if (!isa_and_present<ReshapeOp>(op) && !(mul && isAtLeastOne(mul.getRhs())))
    return {};
  Value inner = withoutMask(op->getOperand(0), keep, builder);
  if (!inner)
    return {};
  Operation *copy = builder.clone(*op);
  copy->setOperand(0, inner);
  return copy->getResult(0);
}

static void eraseUnused(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isOpTriviallyDead(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  llvm::for_each(operands, eraseUnused);
}

/// value > 0 ? gradient : 0, where the gradient went through a dropout of the
/// value.
static bool maskByDropout(SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<CompareOp>();
  if (!compare || compare.getPredicate() != Predicate::gt ||
      !isZero(compare.getRhs()) || !isZero(op.getOtherwise()))
    return false;
  std::optional<Dropout> dropout = dropoutOf(compare.getLhs(), op);
  if (!dropout)
    return false;
  OpBuilder builder(op);
  Value gradient = withoutMask(op.getThen(), dropout->kept, builder);
  if (!gradient)
    return false;
  Value result = dropout->result.getOutput();
  if (result.getType() != compare.getLhs().getType())
    result = builder.create<ReshapeOp>(op.getLoc(), compare.getLhs().getType(),
                                       result);
  Value mask = builder.create<CompareOp>(compare.getLoc(), Predicate::gt,
                                         result, compare.getRhs());
  const Value before[] = {op.getCondition(), op.getThen()};
  op.getConditionMutable().assign(mask);
  op.getThenMutable().assign(gradient);
  llvm::for_each(before, eraseUnused);
  return true;
}

namespace {
struct MaskByDropout : impl::MaskByDropoutBase<MaskByDropout> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // What a gradient is made of is before it.
    Block &block = getOperation().getBody().front();
    for (SelectOp op : llvm::make_early_inc_range(block.getOps<SelectOp>()))
      numMasked += maskByDropout(op);
  }
};
} // namespace

} // namespace mlir::mnistc
