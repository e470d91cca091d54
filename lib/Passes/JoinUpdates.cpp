//===- JoinUpdates.cpp - updates of parameters with their gradients -------===//
//
// Once it is known which gradients our kernels compute: an optimizer's new
// values of a parameter and its moments follow element by element from its
// gradient, which need not be stored then.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINUPDATES
#include "lib/Passes/Passes.h.inc"

/// Whether our kernel computes the step around one op with loops of its own,
/// which sums: several results may follow from that.
static bool mayBeGradient(StepOp step) {
  SmallVector<Operation *> roots = rootsOf(step);
  if (step.getImpl() != Impl::kernel || roots.size() != 1 ||
      step.getNumResults() != 1)
    return false;
  auto reduction = dyn_cast<ReductionOpInterface>(roots.front());
  return isContraction(roots.front()) || (reduction && !reduction.keepsDims() &&
                                          roots.front()->getNumResults() == 1);
}

static bool isMap(StepOp step) {
  return step.getImpl() == Impl::kernel && !rootOf(step) &&
         linksOf(step).empty();
}

/// Whether a value is the new one of a parameter.
static bool isUpdate(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    auto end = dyn_cast<func::ReturnOp>(use.getOwner());
    return end && parameterOf(end->getParentOfType<func::FuncOp>(),
                              use.getOperandNumber());
  });
}

/// Whether all that a step makes of its input number `number` is in the order
/// of its elements.
static bool keepsOrder(StepOp step, unsigned number) {
  BlockArgument argument = step.getBody().getArgument(number);
  return llvm::all_of(argument.getUsers(), [](Operation *user) {
    return isa<YieldOp>(user) || (isPointwise(user) && !firstOutOfOrder(user));
  });
}

namespace {
/// A gradient and the updates that follow from it.
class Family {
public:
  explicit Family(StepOp gradient) : gradient(gradient) {
    steps.insert(gradient);
  }
  /// Adds all updates that may be.
  void grow();
  /// Joins them where the gradient is. Whether there are any.
  bool join();

private:
  bool isPart(StepOp step);
  bool isReady(Value input);

  StepOp gradient;
  llvm::SetVector<StepOp> steps;
  /// Steps of single numbers, which move before the gradient.
  llvm::SetVector<StepOp> numbers;
};
} // namespace

/// Whether `input` is there before the gradient, or may be: a number that takes
/// none of its results, as the learning rate does.
bool Family::isReady(Value input) {
  auto maker = input.getDefiningOp<StepOp>();
  if (!maker || maker->isBeforeInBlock(gradient) || numbers.contains(maker))
    return true;
  if (steps.contains(maker) || !isMap(maker) ||
      !llvm::all_of(maker.getResults(),
                    [](Value result) { return countOf(result) == 1; }) ||
      !llvm::all_of(maker.getInputs(),
                    [&](Value other) { return isReady(other); }))
    return false;
  numbers.insert(maker); // after those that it reads
  return true;
}

bool Family::isPart(StepOp step) {
  if (!isMap(step) || !llvm::all_of(step.getResults(), [&](Value result) {
        return isUpdate(result) &&
               countOf(result) == countOf(gradient.getResult(0));
      }))
    return false;
  for (auto [number, input] : llvm::enumerate(step.getInputs()))
    if (auto maker = input.getDefiningOp<StepOp>();
        maker && steps.contains(maker) && !keepsOrder(step, number))
      return false;
  return true;
}

void Family::grow() {
  for (size_t i = 0; i < steps.size(); ++i)
    for (Operation *user : steps[i]->getUsers()) {
      auto step = dyn_cast<StepOp>(user);
      if (!step || steps.contains(step) || !isPart(step))
        continue;
      auto numbersBefore = numbers;
      if (llvm::all_of(step.getInputs(), [&](Value input) {
            auto maker = input.getDefiningOp<StepOp>();
            return steps.contains(maker) || isReady(input);
          }))
        steps.insert(step);
      else
        numbers = std::move(numbersBefore);
    }
}

bool Family::join() {
  if (steps.size() == 1)
    return false;
  for (StepOp number : numbers)
    number->moveBefore(gradient);
  SmallVector<StepOp> all = steps.takeVector();
  llvm::sort(all, [](StepOp a, StepOp b) { return a->isBeforeInBlock(b); });
  SmallVector<Value> results;
  for (StepOp step : all)
    for (Value result : step.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(all, dyn_cast<StepOp>(user));
          }))
        results.push_back(result);
  // Called after the parameter, which is computed last.
  joinTo(gradient, all, results, gradient, all.back().getName());
  return true;
}

namespace {
struct JoinUpdates : impl::JoinUpdatesBase<JoinUpdates> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    const int64_t most = machineFor(getOperation()).updatedWithGradient;
    SmallVector<StepOp> gradients(llvm::make_filter_range(
        getOperation().getOps<StepOp>(), [&](StepOp step) {
          return mayBeGradient(step) && countOf(step.getResult(0)) <= most;
        }));
    for (StepOp gradient : gradients) {
      Family family(gradient);
      family.grow();
      numJoined += family.join();
    }
  }
};
} // namespace

} // namespace mlir::mnistc
