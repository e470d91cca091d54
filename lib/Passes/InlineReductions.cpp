//===- InlineReductions.cpp - small reductions where they are read --------===//
//
// The loss of a classifier is a chain of reductions of ten elements. As kernels
// they would take longer to launch than to compute.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_INLINEREDUCTIONS
#include "lib/Passes/Passes.h.inc"

/// How many elements become one, or nothing for other ops.
static std::optional<int64_t> turnsOf(Operation *op) {
  if (!mayBeInlined(op))
    return std::nullopt;
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  if (auto dim = op->getAttrOfType<IntegerAttr>("dim"))
    return shape[dim.getInt()];
  int64_t turns = 1;
  for (int64_t dim : op->getAttrOfType<DenseI64ArrayAttr>("dims").asArrayRef())
    turns *= shape[dim];
  return turns;
}

/// Whether `value` is computed from an inlined reduction, with nothing that
/// lies in memory between.
static bool readsInlined(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isRoot(op) || isa<ConstantOp>(op))
    return false;
  return isInlined(op) || llvm::any_of(op->getOperands(), readsInlined);
}

namespace {
struct InlineReductions : impl::InlineReductionsBase<InlineReductions> {
  using InlineReductionsBase::InlineReductionsBase;
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      std::optional<int64_t> turns = turnsOf(op);
      if (!turns || *turns > maxElements || readsInlined(op->getOperand(0)))
        return;
      auto result = cast<ShapedType>(op->getResult(0).getType());
      if (result.getNumElements() > maxResults)
        return;
      op->setAttr("plan.inline", UnitAttr::get(op->getContext()));
      ++numInlined;
    });
  }
};
} // namespace

} // namespace mlir::mnistc
