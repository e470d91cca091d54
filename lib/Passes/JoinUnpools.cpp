//===- JoinUnpools.cpp - gradients of pools where they are read -----------===//
//
// Once it is known how each gradient of a convolution is computed: kernels that
// load an element for many products can as well load its window.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINUNPOOLS
#include "lib/Passes/Passes.h.inc"

/// What a step places from memory, and nothing else; or null.
static MaxUnpoolOp unpoolOf(StepOp step) {
  auto unpool = dyn_cast_or_null<MaxUnpoolOp>(rootOf(step));
  bool isAll = unpool && step.getNumResults() == 1 &&
               step.getImpl() == Impl::kernel && rootReadsMemory(step) &&
               yieldsOf(step).front() == unpool.getOutput();
  return isAll ? unpool : MaxUnpoolOp();
}

/// Whether `reader` is a gradient of a convolution that can read the windows
/// instead of the elements, and reads these but once.
static bool canRead(StepOp reader, Value elements, MaxUnpoolOp unpool) {
  Operation *root = reader ? rootOf(reader) : nullptr;
  auto argument =
      dyn_cast_or_null<BlockArgument>(root ? outputGradOf(root) : Value());
  return argument && argument.hasOneUse() && reader.getNumResults() == 1 &&
         reader.getImpl() == Impl::kernel &&
         llvm::count(reader.getInputs(), elements) == 1 &&
         reader.getInputs()[argument.getArgNumber()] == elements &&
         readsWindows(reader, unpool);
}

namespace {
struct JoinUnpools : impl::JoinUnpoolsBase<JoinUnpools> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<StepOp> steps(llvm::make_filter_range(
        getOperation().getOps<StepOp>(),
        [](StepOp step) { return unpoolOf(step) != nullptr; }));
    for (StepOp step : steps)
      joinAll(step, unpoolOf(step));
  }

  /// Where all can: else its result is there anyway.
  void joinAll(StepOp step, MaxUnpoolOp unpool) {
    Value elements = step.getResult(0);
    SmallVector<Operation *> users(elements.getUsers());
    bool canAll = llvm::all_of(users, [&](Operation *user) {
      return canRead(dyn_cast<StepOp>(user), elements, unpool);
    });
    if (!canAll || users.empty())
      return;
    for (Operation *reader : users) {
      auto copy = cast<StepOp>(OpBuilder(reader).clone(*step));
      elements.replaceUsesWithIf(copy.getResult(0), [&](OpOperand &use) {
        return use.getOwner() == reader;
      });
      join(copy, cast<StepOp>(reader));
      ++numJoined;
    }
    step.erase();
  }

  void join(StepOp unpool, StepOp reader) {
    StepOp joined =
        joinTo(reader, {unpool, reader}, {reader.getResult(0)}, reader);
    for (auto op : joined.getBody().getOps<MaxUnpoolOp>())
      op->setAttr("plan.inline", UnitAttr::get(&getContext()));
  }
};
} // namespace

} // namespace mlir::mnistc
