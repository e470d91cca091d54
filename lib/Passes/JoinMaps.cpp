//===- JoinMaps.cpp - launch maps together --------------------------------===//
//
// Horizontal fusion, once implementations are chosen: a launch costs as much as
// many elements.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINMAPS
#include "lib/Passes/Passes.h.inc"

namespace {
/// Maps that will be one step, in order.
struct Members {
  SmallVector<StepOp> steps;
  llvm::SetVector<Value> inputs, results;
  bool closed = false; ///< a step behind needs a result, or writes an input

  explicit Members(SmallVector<StepOp> all) : steps(std::move(all)) {
    llvm::sort(steps, [](StepOp a, StepOp b) { return a->isBeforeInBlock(b); });
    for (StepOp step : steps) {
      inputs.insert(step.getInputs().begin(), step.getInputs().end());
      results.insert(step.getResults().begin(), step.getResults().end());
    }
  }
};

struct JoinMaps : impl::JoinMapsBase<JoinMaps> {
  using JoinMapsBase::JoinMapsBase;
  void runOnOperation() override;

private:
  void findUpdates();
  void findNeeds();
  bool mayJoin(const Members &some, const Members &others) const;
  bool readInOrder(const Members &readers, const Members &written) const;
  bool delays(const Members &some, const Members &others) const;
  void join(StepOp step);
  bool isUpdatedBy(Value parameter, ValueRange results) const;
  void closeThoseBefore(StepOp step);
  StringRef wordFor(ValueRange results) const;
  void merge(const Members &members, StepNames &names);

  /// The parameter, an argument, that a result is the new value of.
  DenseMap<Value, Value> updates;
  std::vector<Members> open;
  /// Where steps will run side by side: what each needs.
  std::optional<StepNeeds> needs;
  DenseMap<Operation *, unsigned> numberOf;
};
} // namespace

void JoinMaps::findUpdates() {
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

void JoinMaps::findNeeds() {
  needs.reset();
  numberOf.clear();
  if (!sideBySide)
    return;
  needs.emplace(getOperation());
  for (StepOp step : getOperation().getOps<StepOp>())
    numberOf.try_emplace(step, numberOf.size());
}

/// Whether some step would wait for more than it needs, if all these were one:
/// a member that others need gets to wait for what only another member needs.
bool JoinMaps::delays(const Members &some, const Members &others) const {
  llvm::SmallSetVector<Operation *, 8> group(some.steps.begin(),
                                             some.steps.end());
  group.insert(others.steps.begin(), others.steps.end());
  llvm::BitVector needed(numberOf.size());
  for (Operation *member : group)
    needed |= needs->of(numberOf.at(member));
  for (Operation *member : group)
    needed.reset(numberOf.at(member));
  return llvm::any_of(group, [&](Operation *member) {
    bool isNeeded = llvm::any_of(member->getUsers(), [&](Operation *user) {
      return isa<StepOp>(user) && !group.contains(user);
    });
    llvm::BitVector more = needed;
    return isNeeded && more.reset(needs->of(numberOf.at(member))).any();
  });
}

/// Whether one of `results` is the new value of `parameter`.
bool JoinMaps::isUpdatedBy(Value parameter, ValueRange results) const {
  return llvm::any_of(results, [&](Value result) {
    return updates.lookup(result) == parameter;
  });
}

static int64_t countOf(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}

/// Whether `step` reads these inputs element for element, for as many elements
/// of its own: whoever computes an element of the input computes that of each
/// result.
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
      if (!keepsOrder(user))
        return false;
      values.push_back(user->getResult(0));
    }
  return true;
}

/// Whether what one thread makes and updates is all that it reads of results
/// and new values of `written`.
bool JoinMaps::readInOrder(const Members &readers,
                           const Members &written) const {
  return llvm::all_of(readers.steps, [&](StepOp step) {
    return readsInOrder(step, [&](Value input) {
      return written.results.contains(input) ||
             isUpdatedBy(input, written.results.getArrayRef());
    });
  });
}

bool JoinMaps::mayJoin(const Members &some, const Members &others) const {
  auto size = [](const Members &members) {
    return int64_t(members.inputs.size() + members.results.size());
  };
  return !some.closed && size(some) + size(others) <= most &&
         readInOrder(some, others) && readInOrder(others, some) &&
         !(needs && delays(some, others));
}

/// Members move behind `step`, which does not join them. Not where it needs
/// them, or updates what they read.
void JoinMaps::closeThoseBefore(StepOp step) {
  for (Members &members : open) {
    members.closed |= llvm::any_of(step.getInputs(), [&](Value input) {
      return members.results.contains(input);
    });
    members.closed |= llvm::any_of(members.inputs, [&](Value input) {
      return isUpdatedBy(input, step.getResults());
    });
  }
}

/// What results are that are all new values of parameters: of the trainer's own
/// or of others too; else nothing.
StringRef JoinMaps::wordFor(ValueRange results) const {
  bool all = true, others = false;
  for (Value result : results) {
    Value parameter = updates.lookup(result);
    all &= bool(parameter);
    others |= parameter && !parameterOf(cast<BlockArgument>(parameter))
                                .getValue()
                                .starts_with("mn.");
  }
  return !all ? "" : others ? "updates" : "metrics";
}

void JoinMaps::merge(const Members &members, StepNames &names) {
  StepOp last = members.steps.back();
  OpBuilder builder(last);
  // As they are now: other members were merged since.
  llvm::SetVector<Value> inputs;
  // Equally many elements next to each other: they share a loop.
  llvm::MapVector<int64_t, SmallVector<Value>> resultsOf;
  for (Value result : members.results)
    resultsOf[countOf(result)].push_back(result);
  SmallVector<Value> results;
  for (auto &[count, group] : resultsOf)
    llvm::append_range(results, group);
  for (StepOp step : members.steps)
    for (Value input : step.getInputs())
      if (!members.results.contains(input))
        inputs.insert(input);
  SmallVector<Location> locations = llvm::map_to_vector(
      members.steps, [](StepOp step) { return step.getLoc(); });
  StringRef what = wordFor(results);
  std::string name =
      what.empty() ? last.getName().str() : names.take(what, "joined");
  auto joined = builder.create<StepOp>(
      FusedLoc::get(&getContext(), locations), ValueRange(results).getTypes(),
      builder.getStringAttr(name), last.getImplAttr(), DenseI64ArrayAttr(),
      inputs.getArrayRef());
  Block &body = joined.getBody().emplaceBlock();
  IRMapping mapping; // from values outside and in the members' bodies
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (StepOp step : members.steps) {
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
  for (auto [old, result] : llvm::zip_equal(results, joined.getResults())) {
    updates.erase(old); // Another value may be where it was.
    old.replaceAllUsesWith(result);
  }
  for (StepOp step : llvm::reverse(members.steps))
    step.erase();
  numJoined += members.steps.size() - 1;
}

/// Joins a map to those before it that may: the latest first, for what belongs
/// together, such as the states of one parameter, is written together.
void JoinMaps::join(StepOp step) {
  Members joined({step});
  for (bool found = true; found;) {
    auto others =
        std::find_if(open.rbegin(), open.rend(), [&](const Members &members) {
          return mayJoin(members, joined);
        });
    found = others != open.rend();
    if (!found)
      break;
    llvm::append_range(others->steps, joined.steps);
    joined = Members(std::move(others->steps));
    open.erase(std::next(others).base());
  }
  // Those that it does not join, it may close.
  closeThoseBefore(step);
  open.push_back(std::move(joined));
}

void JoinMaps::runOnOperation() {
  if (getOperation().isExternal())
    return;
  findUpdates();
  findNeeds();
  open.clear();
  Block &block = getOperation().getBody().front();
  for (StepOp step : block.getOps<StepOp>())
    if (step.getImpl() == Impl::kernel && !rootOf(step))
      join(step);
    else
      closeThoseBefore(step);
  StepNames names(block);
  for (const Members &members : open)
    if (members.steps.size() > 1)
      merge(members, names);
}

} // namespace mlir::mnistc
