//===- JoinBiases.cpp - gradients of biases with those of filters ---------===//
//
// Once it is known how each gradient of a filter is computed: the kernel of one
// with few weights reads each element of the output's gradient once, and can as
// well sum these for the bias.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/GradientBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINBIASES
#include "lib/Passes/Passes.h.inc"

/// The tensor in memory that a step's gradient of few weights reads, if that is
/// all the step computes but for what follows; or null.
static Value gradientOf(StepOp step) {
  auto gradient = dyn_cast_or_null<ConvFilterGradOp>(rootOf(step));
  if (!gradient || step.getImpl() != Impl::kernel ||
      step.getNumResults() != 1 ||
      !isa_and_nonnull<WeightsAttr>(step.getScheduleAttr()))
    return {};
  auto argument = dyn_cast<BlockArgument>(gradientReadBy(gradient));
  return argument ? step.getInputs()[argument.getArgNumber()] : Value();
}

/// Whether a step is the sum of a tensor over all but the channels, and what
/// follows from it.
static bool sumsBias(StepOp step, Value tensor, ConvFilterGradOp gradient) {
  if (step.getImpl() != Impl::kernel || step.getNumResults() != 1 ||
      rootsOf(step).size() != 1)
    return false;
  auto sum = dyn_cast<ReduceSumOp>(rootOf(step));
  auto argument =
      dyn_cast_or_null<BlockArgument>(sum ? sum.getInput() : Value());
  return argument && step.getInputs()[argument.getArgNumber()] == tensor &&
         sumsChannels(sum, gradient) && !firstOutOfOrder(sum) &&
         countOf(yieldsOf(step).front()) == countOf(sum.getOutput()) &&
         countOf(gradient.getFilterGrad()) != countOf(sum.getOutput());
}

/// Where both steps may be: in the place of one of them; or null.
static Operation *placeFor(StepOp a, StepOp b) {
  StepOp first = a->isBeforeInBlock(b) ? a : b, last = first == a ? b : a;
  bool isReady = llvm::all_of(last.getInputs(), [&](Value input) {
    Operation *maker = input.getDefiningOp();
    return !maker || maker->isBeforeInBlock(first);
  });
  if (isReady)
    return first;
  bool isEarly = llvm::none_of(first->getUsers(), [&](Operation *user) {
    return user->isBeforeInBlock(last);
  });
  return isEarly && !llvm::is_contained(last.getInputs(), first.getResult(0))
             ? last
             : StepOp();
}

namespace {
struct JoinBiases : impl::JoinBiasesBase<JoinBiases> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<StepOp> gradients(llvm::make_filter_range(
        getOperation().getOps<StepOp>(),
        [](StepOp step) { return gradientOf(step) != nullptr; }));
    for (StepOp gradient : gradients)
      joinFirst(gradient, gradientOf(gradient));
  }

  /// Joins the first sum that may.
  void joinFirst(StepOp gradient, Value read) {
    auto op = cast<ConvFilterGradOp>(rootOf(gradient));
    for (Operation *user : read.getUsers()) {
      auto sum = dyn_cast<StepOp>(user);
      if (!sum || sum == gradient || !sumsBias(sum, read, op))
        continue;
      if (Operation *place = placeFor(gradient, sum)) {
        joinTo(gradient, {gradient, sum},
               {gradient.getResult(0), sum.getResult(0)}, place);
        ++numJoined;
        return;
      }
    }
  }
};
} // namespace

} // namespace mlir::mnistc
