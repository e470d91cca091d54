//===- InlineReductions.cpp - small reductions where they are read --------===//
//
// The loss of a classifier is a chain of reductions of ten elements. As kernels
// they would take longer to launch than to compute.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_INLINEREDUCTIONS
#include "lib/Passes/Passes.h.inc"

/// How many elements become one.
static int64_t turnsOf(ReductionOpInterface op) {
  auto shape = cast<ShapedType>(op->getOperand(0).getType()).getShape();
  int64_t turns = 1;
  for (int64_t dim : op.getReducedDims())
    turns *= shape[dim];
  return turns;
}

namespace {
struct InlineReductions : impl::InlineReductionsBase<InlineReductions> {
  using InlineReductionsBase::InlineReductionsBase;
  void runOnOperation() override {
    const Machine &machine = machineFor(getOperation());
    if (maxElements < 0)
      maxElements = machine.inlineElements;
    if (maxResults < 0)
      maxResults = machine.inlineResults;
    // Computed from an inlined reduction, with nothing in memory between.
    llvm::DenseSet<Operation *> reads;
    getOperation().walk([&](Operation *op) {
      auto readsInlined = [&](Value value) {
        return reads.contains(value.getDefiningOp());
      };
      if (mayInline(op) && !readsInlined(op->getOperand(0))) {
        op->setAttr("plan.inline", UnitAttr::get(op->getContext()));
        ++numInlined;
      }
      if (isInlined(op) || (op->getNumResults() == 1 && !isRoot(op) &&
                            llvm::any_of(op->getOperands(), readsInlined)))
        reads.insert(op);
    });
  }

private:
  bool mayInline(Operation *op) const {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    return reduction && turnsOf(reduction) <= maxElements &&
           cast<ShapedType>(op->getResult(0).getType()).getNumElements() <=
               maxResults;
  }
};
} // namespace

} // namespace mlir::mnistc
