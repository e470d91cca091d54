//===- JoinUpdates.cpp - updates of parameters with their gradients -------===//
//
// An optimizer's new values of a parameter and its moments follow element by
// element from its gradient, which need not be stored then. At the end of a
// plan, where nothing runs beside it, this saves a launch. But a new value
// takes the place of the old one, and a gradient should not wait for who still
// reads that: where it would, the update stays a step of its own.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/GradientBody.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINUPDATES
#include "lib/Passes/Passes.h.inc"

/// Whether a step's result follows from its root element by element.
static bool followsInOrder(StepOp step, Operation *root) {
  return !firstOutOfOrder(root) &&
         llvm::none_of(step.getBody().front().getOps<ReshapeOp>(),
                       [](ReshapeOp op) { return countOf(op) > 1; });
}

/// Whether our kernel computes a gradient with loops of its own, which sum, or
/// of a filter and a bias: several results may follow from that.
static bool mayBeGradient(StepOp step) {
  Operation *root = rootOf(step);
  if (!root || step.getImpl() != Impl::kernel)
    return false;
  if (isGradientStep(step))
    return true;
  auto sum = dyn_cast<ReduceSumOp>(root);
  return rootsOf(step).size() == 1 && step.getNumResults() == 1 &&
         (isContraction(root) || (sum && followsInOrder(step, root)));
}

/// Whether a step computes nothing but new values of parameters.
static bool isUpdate(StepOp step) {
  return isMapStep(step) && llvm::all_of(step.getResults(), oldValueOf);
}

/// Whether a step reads its input number `number` for nothing but filters that
/// are packed, which is done when a plan begins.
static bool packs(StepOp step, unsigned number) {
  return llvm::is_contained(filterInputs(step), number);
}

/// Whether all that a step makes of its input number `number` has the shape of
/// that, as a step that reduces rows demands of what follows from its sums.
static bool keepsShape(StepOp step, unsigned number) {
  llvm::SetVector<Operation *> after;
  getForwardSlice(step.getBody().getArgument(number), &after);
  return llvm::all_of(after, [](Operation *op) {
    return isa<YieldOp>(op) || op->hasTrait<Elementwise>();
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
  void grow(const StepDependencies &dependencies);
  bool isWhole() const;
  /// Joins them where the gradient is.
  void join();

private:
  bool isPart(StepOp step, const StepDependencies &dependencies) const;
  bool isReady(Value input);
  bool isReadBefore(OpOperand &use, StepOp update,
                    const StepDependencies &dependencies) const;

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
  if (steps.contains(maker) || !isMapStep(maker) ||
      !llvm::all_of(maker.getResults(),
                    [](Value result) { return countOf(result) == 1; }) ||
      !llvm::all_of(maker.getInputs(),
                    [&](Value other) { return isReady(other); }))
    return false;
  numbers.insert(maker); // after those that it reads
  return true;
}

/// Whether who reads an old value has done so when the gradient begins.
bool Family::isReadBefore(OpOperand &use, StepOp update,
                          const StepDependencies &dependencies) const {
  auto reader = dyn_cast<StepOp>(use.getOwner());
  return !reader || reader == update || steps.contains(reader) ||
         packs(reader, use.getOperandNumber()) ||
         dependencies.needs(gradient, reader);
}

bool Family::isPart(StepOp step, const StepDependencies &dependencies) const {
  if (!isMapStep(step))
    return false;
  for (Value result : step.getResults()) {
    Value old = oldValueOf(result);
    if (!old || !llvm::all_of(old.getUses(), [&](OpOperand &use) {
          return isReadBefore(use, step, dependencies);
        }))
      return false;
    for (Value input : step.getInputs())
      if (steps.contains(input.getDefiningOp<StepOp>()) &&
          countOf(input) != countOf(result))
        return false;
  }
  const bool isSum = isa<ReduceSumOp>(rootOf(gradient));
  for (auto [number, input] : llvm::enumerate(step.getInputs()))
    if (auto maker = input.getDefiningOp<StepOp>();
        maker && steps.contains(maker) &&
        !(keepsOrder(step, number) && (!isSum || keepsShape(step, number))))
      return false;
  return true;
}

void Family::grow(const StepDependencies &dependencies) {
  for (size_t i = 0; i < steps.size(); ++i)
    for (Operation *user : steps[i]->getUsers()) {
      auto step = dyn_cast<StepOp>(user);
      if (!step || steps.contains(step) || !isPart(step, dependencies))
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

/// Whether no update that needs the family's results is left outside.
bool Family::isWhole() const {
  return llvm::all_of(steps, [&](StepOp member) {
    return llvm::all_of(member->getUsers(), [&](Operation *user) {
      auto step = dyn_cast<StepOp>(user);
      return !step || steps.contains(step) || !isUpdate(step);
    });
  });
}

void Family::join() {
  for (StepOp number : numbers)
    if (gradient->isBeforeInBlock(number))
      number->moveBefore(gradient);
  SmallVector<StepOp> all = steps.takeVector();
  llvm::sort(all, [](StepOp a, StepOp b) { return a->isBeforeInBlock(b); });
  // Those that follow from one sum are next to each other. The step is called
  // after the parameter of the first one, which is computed last.
  SmallVector<Value> results, others;
  StringRef name;
  for (StepOp step : all)
    for (Value result : step.getResults()) {
      bool isFirst = countOf(result) == countOf(gradient.getResult(0));
      if (isFirst)
        name = step.getName();
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(all, dyn_cast<StepOp>(user));
          }))
        (isFirst ? results : others).push_back(result);
    }
  llvm::append_range(results, others);
  joinTo(gradient, all, results, gradient, name);
}

namespace {
/// When steps would run if each began as soon as it has its inputs.
class Times {
public:
  Times(func::FuncOp function, const StepTimes &times)
      : function(function), starts(startsOf(function, times)), times(times) {}

  double endOf(StepOp step) { return starts.at(step) + times.onCores(step); }
  /// What the others have still to do when `step` has ended, but for updates.
  double leftAfter(StepOp step) {
    double end = endOf(step), left = 0;
    for (StepOp other : function.getOps<StepOp>())
      if (other != step && !isUpdate(other))
        left += std::max(0.0, endOf(other) - std::max(starts.at(other), end));
    return left;
  }

private:
  func::FuncOp function;
  DenseMap<Operation *, double> starts;
  const StepTimes &times;
};

struct JoinUpdates : impl::JoinUpdatesBase<JoinUpdates> {
  void runOnOperation() override {
    if (!getOperation().isExternal() && machineFor(getOperation()).times)
      for (Family &family : familiesAtEnd()) {
        family.join();
        ++numJoined;
      }
  }
  std::vector<Family> familiesAtEnd();
};
} // namespace

/// Whether updates follow from a tensor that a step computes.
static bool hasUpdates(StepOp step) {
  return !isUpdate(step) && llvm::any_of(step.getResults(), [](Value result) {
    return countOf(result) > 1 &&
           llvm::any_of(result.getUsers(), [](Operation *user) {
             auto update = dyn_cast<StepOp>(user);
             return update && isUpdate(update);
           });
  });
}

/// Those of the last gradients, unless there would be an update at the end
/// anyway: what runs beside other steps costs nothing, and what is loaded and
/// stored in a gradient's kernel makes that longer. Up to three times as much
/// as an update is left to do: steps that run beside each other end later than
/// is thought here.
std::vector<Family> JoinUpdates::familiesAtEnd() {
  const Machine &machine = machineFor(getOperation());
  const double alone = machine.times->launch + machine.times->event;
  Times times(getOperation(), *machine.times);
  const StepDependencies dependencies(getOperation());
  std::vector<Family> families;
  for (StepOp step : getOperation().getOps<StepOp>()) {
    double left = hasUpdates(step) ? times.leftAfter(step) : HUGE_VAL;
    if (left > 3 * alone)
      continue;
    Family family(step);
    if (mayBeGradient(step) &&
        countOf(step.getResult(0)) <= machine.updatedWithGradient)
      family.grow(dependencies);
    if (family.isWhole())
      families.push_back(std::move(family));
    else if (left < alone)
      return {};
  }
  return families;
}

} // namespace mlir::mnistc
