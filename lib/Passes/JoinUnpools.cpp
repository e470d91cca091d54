//===- JoinUnpools.cpp - gradients of pools where they are read -----------===//
//
// Once it is known how each gradient of a filter is computed: one of few
// weights reads every element of its operand once, and can as well read the
// windows.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINUNPOOLS
#include "lib/Passes/Passes.h.inc"

/// The step that places a pool's gradient, from memory, for `reader` alone; or
/// null.
static StepOp unpoolFor(StepOp reader) {
  auto gradient = dyn_cast_or_null<ConvFilterGradOp>(rootOf(reader));
  if (!gradient || reader.getImpl() != Impl::kernel)
    return {};
  auto argument = dyn_cast<BlockArgument>(gradient.getOutputGrad());
  if (!argument || !argument.hasOneUse())
    return {};
  Value input = reader.getInputs()[argument.getArgNumber()];
  auto step = input.getDefiningOp<StepOp>();
  if (!step || !input.hasOneUse() || step.getNumResults() != 1 ||
      step.getImpl() != Impl::kernel)
    return {};
  auto unpool = dyn_cast_or_null<MaxUnpoolOp>(rootOf(step));
  bool isAll = unpool && rootReadsMemory(step) &&
               yieldsOf(step).front() == unpool.getOutput();
  return isAll && readsWindows(reader, unpool) ? step : StepOp();
}

namespace {
struct JoinUnpools : impl::JoinUnpoolsBase<JoinUnpools> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    for (StepOp step : llvm::to_vector(getOperation().getOps<StepOp>()))
      if (StepOp unpool = unpoolFor(step)) {
        join(unpool, step);
        ++numJoined;
      }
  }

  void join(StepOp unpool, StepOp reader) {
    auto schedule = reader.getScheduleAttr();
    ImplAttr impl = reader.getImplAttr();
    Attribute tuned = reader->getAttr(tunedAttribute);
    std::string name = reader.getName().str();
    StepOp joined = mlir::mnistc::join({unpool, reader}, {reader.getResult(0)},
                                       name, reader);
    for (auto op : joined.getBody().getOps<MaxUnpoolOp>())
      op->setAttr("plan.inline", UnitAttr::get(&getContext()));
    joined.setImplAttr(impl);
    joined.setScheduleAttr(schedule);
    if (tuned)
      joined->setAttr(tunedAttribute, tuned);
  }
};
} // namespace

} // namespace mlir::mnistc
