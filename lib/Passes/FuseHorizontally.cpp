//===- FuseHorizontally.cpp - pointwise steps in one launch ---------------===//
//
// Horizontal fusion, once implementations are chosen: a launch costs as much as
// many elements.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mnistrt/training.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FUSEHORIZONTALLY
#include "lib/Passes/Passes.h.inc"

namespace {
/// Pointwise steps that will be one, in order.
struct Group {
  SmallVector<StepOp> steps;
  llvm::SetVector<Value> inputs, results;
  size_t ops = 0;       ///< in their bodies
  int64_t operands = 0; ///< of each step, whatever they have in common
  bool closed = false;  ///< a later step reads a result, or updates an input

  explicit Group(SmallVector<StepOp> all) : steps(std::move(all)) {
    llvm::sort(steps, [](StepOp a, StepOp b) { return a->isBeforeInBlock(b); });
    for (StepOp step : steps) {
      inputs.insert(step.getInputs().begin(), step.getInputs().end());
      results.insert(step.getResults().begin(), step.getResults().end());
      ops += step.getBody().front().getOperations().size();
      operands += step->getNumOperands() + step->getNumResults();
    }
  }
};

/// More are text that takes compilers too long.
constexpr size_t maxFusedOps = 4096;

struct FuseHorizontally : impl::FuseHorizontallyBase<FuseHorizontally> {
  using FuseHorizontallyBase::FuseHorizontallyBase;
  void runOnOperation() override;

private:
  void findUpdates();
  void findDependencies();
  bool canFuse(const Group &some, const Group &others) const;
  bool readInOrder(const Group &readers, const Group &written) const;
  bool delays(const Group &some, const Group &others) const;
  void fuse(StepOp step);
  bool isUpdatedBy(Value parameter, ValueRange results) const;
  void closeGroupsBefore(StepOp step);
  StringRef wordFor(ValueRange results) const;
  void merge(const Group &group, StepNames &names);

  /// The parameter, an argument, that a result is the new value of.
  DenseMap<Value, Value> updates;
  std::vector<Group> open;
  /// Where steps will run concurrently: the dependencies of each.
  std::optional<StepDependencies> dependencies;
  DenseMap<Operation *, unsigned> numberOf;
};
} // namespace

void FuseHorizontally::findUpdates() {
  func::FuncOp function = getOperation();
  DenseMap<Attribute, Value> argumentOf;
  for (BlockArgument argument : function.getArguments())
    if (Attribute name =
            function.getArgAttr(argument.getArgNumber(), "mnist.parameter"))
      argumentOf[name] = argument;
  updates.clear();
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    if (Attribute name = function.getResultAttr(operand.getOperandNumber(),
                                                "mnist.parameter"))
      if (Value argument = argumentOf.lookup(name))
        updates[operand.get()] = argument;
}

void FuseHorizontally::findDependencies() {
  dependencies.reset();
  numberOf.clear();
  if (!concurrent)
    return;
  dependencies.emplace(getOperation());
  for (StepOp step : getOperation().getOps<StepOp>())
    numberOf.try_emplace(step, numberOf.size());
}

/// Whether, if all these were one step, a step that later ones depend on would
/// wait for what it does not depend on.
bool FuseHorizontally::delays(const Group &some, const Group &others) const {
  llvm::SmallSetVector<Operation *, 8> both(some.steps.begin(),
                                            some.steps.end());
  both.insert(others.steps.begin(), others.steps.end());
  llvm::BitVector needed(numberOf.size());
  for (Operation *step : both)
    needed |= dependencies->of(numberOf.at(step));
  for (Operation *step : both)
    needed.reset(numberOf.at(step));
  return llvm::any_of(both, [&](Operation *step) {
    bool isNeeded = llvm::any_of(step->getUsers(), [&](Operation *user) {
      return isa<StepOp>(user) && !both.contains(user);
    });
    llvm::BitVector more = needed;
    return isNeeded && more.reset(dependencies->of(numberOf.at(step))).any();
  });
}

/// Whether one of `results` is the new value of `parameter`.
bool FuseHorizontally::isUpdatedBy(Value parameter, ValueRange results) const {
  return llvm::any_of(results, [&](Value result) {
    return updates.lookup(result) == parameter;
  });
}

/// Whether `step` reads these inputs element for element and its results have
/// as many elements: the thread that computes an element of the input computes
/// that of each result.
static bool readsInOrder(StepOp step,
                         llvm::function_ref<bool(Value)> isChosen) {
  SmallVector<Value> values;
  for (auto [input, argument] :
       llvm::zip_equal(step.getInputs(), step.getBody().getArguments())) {
    if (!isChosen(input))
      continue;
    for (Value result : step.getResults())
      if (countOf(result) != countOf(input))
        return false;
    values.push_back(argument);
  }
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (!isPointwise(user))
        return false;
      values.push_back(user->getResult(0));
    }
  return true;
}

/// Whether a thread reads only those results and new values of `written` that
/// it computes itself.
bool FuseHorizontally::readInOrder(const Group &readers,
                                   const Group &written) const {
  return llvm::all_of(readers.steps, [&](StepOp step) {
    // Who updates a parameter and does not read it shares no loop with who
    // does.
    if (llvm::any_of(step.getInputs(), [&](Value input) {
          return isUpdatedBy(input, written.results.getArrayRef()) &&
                 !written.inputs.contains(input);
        }))
      return false;
    return readsInOrder(step, [&](Value input) {
      return written.results.contains(input) ||
             isUpdatedBy(input, written.results.getArrayRef());
    });
  });
}

bool FuseHorizontally::canFuse(const Group &some, const Group &others) const {
  return !some.closed && some.operands + others.operands <= maxOperands &&
         some.ops + others.ops <= maxFusedOps && readInOrder(some, others) &&
         readInOrder(others, some) && !(dependencies && delays(some, others));
}

/// Groups that `step` is not part of would move past it. They cannot if it
/// reads their results, or updates what they read.
void FuseHorizontally::closeGroupsBefore(StepOp step) {
  for (Group &group : open) {
    group.closed |= llvm::any_of(step.getInputs(), [&](Value input) {
      return group.results.contains(input);
    });
    group.closed |= llvm::any_of(group.inputs, [&](Value input) {
      return isUpdatedBy(input, step.getResults());
    });
  }
}

/// A name for results that are all new values of parameters, "metrics" if all
/// of these are the trainer's; else nothing.
StringRef FuseHorizontally::wordFor(ValueRange results) const {
  bool all = true, others = false;
  for (Value result : results) {
    Value parameter = updates.lookup(result);
    all &= bool(parameter);
    others |= parameter && !parameterOf(cast<BlockArgument>(parameter))
                                .getValue()
                                .starts_with(mn::names::prefix);
  }
  return !all ? "" : others ? "updates" : "metrics";
}

void FuseHorizontally::merge(const Group &group, StepNames &names) {
  StepOp last = group.steps.back();
  OpBuilder builder(last);
  // As they are now: other groups were merged since.
  llvm::SetVector<Value> inputs;
  SmallVector<Value> results(group.results.begin(), group.results.end());
  for (StepOp step : group.steps)
    for (Value input : step.getInputs())
      if (!group.results.contains(input))
        inputs.insert(input);
  SmallVector<Location> locations = llvm::map_to_vector(
      group.steps, [](StepOp step) { return step.getLoc(); });
  StringRef what = wordFor(results);
  std::string name =
      what.empty() ? last.getName().str() : names.take(what, "fused");
  auto fused = builder.create<StepOp>(
      FusedLoc::get(&getContext(), locations), ValueRange(results).getTypes(),
      builder.getStringAttr(name), last.getImplAttr(), DenseI64ArrayAttr(),
      /*schedule=*/Attribute(), inputs.getArrayRef());
  Block &body = fused.getBody().emplaceBlock();
  IRMapping mapping; // from values outside and in the steps' bodies
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (StepOp step : group.steps) {
    for (auto [argument, input] :
         llvm::zip_equal(step.getBody().getArguments(), step.getInputs()))
      mapping.map(argument, mapping.lookup(input));
    for (Operation &op : step.getBody().front().without_terminator())
      builder.clone(op, mapping);
    for (auto [value, result] :
         llvm::zip_equal(yieldsOf(step), step.getResults())) {
      mapping.map(result, mapping.lookup(value));
    }
  }
  builder.create<YieldOp>(last.getLoc(),
                          llvm::map_to_vector(results, [&](Value result) {
                            return mapping.lookup(result);
                          }));
  for (auto [old, result] : llvm::zip_equal(results, fused.getResults())) {
    updates.erase(old); // Another value may be where it was.
    old.replaceAllUsesWith(result);
  }
  for (StepOp step : llvm::reverse(group.steps))
    step.erase();
  numFused += group.steps.size() - 1;
}

/// Fuses a step into earlier groups where it can: the latest first, because
/// what belongs together, such as the states of one parameter, is written
/// together.
void FuseHorizontally::fuse(StepOp step) {
  Group fused({step});
  for (bool found = true; found;) {
    auto others =
        std::find_if(open.rbegin(), open.rend(),
                     [&](const Group &group) { return canFuse(group, fused); });
    found = others != open.rend();
    if (!found)
      break;
    llvm::append_range(others->steps, fused.steps);
    fused = Group(std::move(others->steps));
    open.erase(std::next(others).base());
  }
  // It closes groups that it is not fused into.
  closeGroupsBefore(step);
  open.push_back(std::move(fused));
}

void FuseHorizontally::runOnOperation() {
  if (getOperation().isExternal())
    return;
  findUpdates();
  findDependencies();
  open.clear();
  Block &block = getOperation().getBody().front();
  for (StepOp step : block.getOps<StepOp>())
    if (step.getImpl() == Impl::kernel && !rootOf(step))
      fuse(step);
    else
      closeGroupsBefore(step);
  StepNames names(block);
  for (const Group &group : open)
    if (group.steps.size() > 1)
      merge(group, names);
}

} // namespace mlir::mnistc
