//===- FuseHorizontally.cpp - pointwise steps in one launch ---------------===//
//
// Horizontal fusion, once implementations are chosen: a launch costs as much as
// many elements, and what one loop makes of an element is not loaded again.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/PlanTimes.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mnistrt/training.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FUSEHORIZONTALLY
#include "lib/Passes/Passes.h.inc"

namespace {
/// Pointwise steps that will be one, in order; or some with results of one
/// element, and a row step after whose rows they are computed.
struct StepGroup {
  SmallVector<StepOp> steps;
  StepOp rows; ///< the row step, or null
  llvm::SetVector<Value> inputs, results;
  size_t ops = 0;       ///< in their bodies
  int64_t operands = 0; ///< of each step, whatever they have in common
  bool numbers = true;  ///< all results have one element
  bool closed = false;  ///< a later step reads a result, or updates an input

  explicit StepGroup(SmallVector<StepOp> all) : steps(std::move(all)) {
    llvm::sort(steps, [](StepOp a, StepOp b) { return a->isBeforeInBlock(b); });
    for (StepOp step : steps) {
      if (rootOf(step))
        rows = step;
      inputs.insert(step.getInputs().begin(), step.getInputs().end());
      results.insert(step.getResults().begin(), step.getResults().end());
      if (step != rows)
        numbers &= llvm::all_of(step.getResults(), [](Value result) {
          return countOf(result) == 1;
        });
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
  bool canFuse(const StepGroup &some, const StepGroup &others) const;
  bool joinEarlier(StepOp step);
  bool canRunWith(const StepGroup &numbers, const StepGroup &others) const;
  void moveTo(StepGroup &group, StepGroup &&numbers);
  void joinNumbers(bool toRows);
  bool readInOrder(const StepGroup &readers, const StepGroup &written) const;
  bool joinRows(const StepGroup &some, const StepGroup &others) const;
  bool delays(const StepGroup &some, const StepGroup &others) const;
  llvm::BitVector sumsBefore(const StepGroup &group) const;
  bool waitsForMoreSums(const StepGroup &some, const StepGroup &others) const;
  void fuse(StepOp step);
  bool isUpdatedBy(Value parameter, ValueRange results) const;
  void closeGroupsBefore(StepOp step);
  StringRef wordFor(ValueRange results) const;
  void merge(const StepGroup &group, StepNames &names);

  /// The parameter, an argument, that a result is the new value of.
  DenseMap<Value, Value> updates;
  std::vector<StepGroup> open;
  bool keepsNumbers = false; ///< for row steps
  /// Where steps will run concurrently: the dependencies of each.
  std::optional<StepDependencies> dependencies;
  DenseMap<Operation *, unsigned> numberOf;
  llvm::BitVector collectives; ///< by the steps' numbers
  std::optional<PlanTimes> times;
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
  times.reset();
  numberOf.clear();
  if (!concurrent)
    return;
  dependencies.emplace(getOperation());
  if (const auto &known = machineFor(getOperation()).times)
    times.emplace(getOperation(), *known);
  for (StepOp step : getOperation().getOps<StepOp>())
    numberOf.try_emplace(step, numberOf.size());
  collectives.clear();
  collectives.resize(numberOf.size());
  for (StepOp step : getOperation().getOps<StepOp>())
    if (isCollectiveStep(step))
      collectives.set(numberOf.at(step));
}

/// Whether, if all these were one step, a step that reads a result would wait
/// for what it does not depend on: what one of them needs, or the row step.
bool FuseHorizontally::delays(const StepGroup &some,
                              const StepGroup &others) const {
  llvm::SmallSetVector<Operation *, 8> both(some.steps.begin(),
                                            some.steps.end());
  both.insert(others.steps.begin(), others.steps.end());
  llvm::BitVector needed(numberOf.size());
  for (Operation *step : both)
    needed |= dependencies->of(numberOf.at(step));
  for (Operation *step : both)
    needed.reset(numberOf.at(step));
  StepOp rows = some.rows ? some.rows : others.rows;
  if (rows)
    needed.set(numberOf.at(rows));
  return llvm::any_of(both, [&](Operation *step) {
    llvm::BitVector more = needed;
    more.reset(dependencies->of(numberOf.at(step)));
    more.reset(numberOf.at(step));
    return llvm::any_of(step->getUsers(), [&](Operation *user) {
      llvm::BitVector waits = more;
      return isa<StepOp>(user) && !both.contains(user) &&
             waits.reset(dependencies->of(numberOf.at(user))).any();
    });
  });
}

/// The sums over ranks that a group needs.
llvm::BitVector FuseHorizontally::sumsBefore(const StepGroup &group) const {
  llvm::BitVector before(numberOf.size());
  for (StepOp step : group.steps)
    before |= dependencies->of(numberOf.at(step));
  return before &= collectives;
}

/// Whether, if these were one step, some would wait for a sum that only others
/// need: what early sums are for would run when the last one has ended.
bool FuseHorizontally::waitsForMoreSums(const StepGroup &some,
                                        const StepGroup &others) const {
  llvm::BitVector one = sumsBefore(some), other = sumsBefore(others);
  return one.any() && other.any() && one != other;
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
static bool readsChosenInOrder(StepOp step,
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
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<YieldOp>(user))
        continue;
      if (!readsInOrder(user, use.get()))
        return false;
      if (seen.insert(user).second)
        values.push_back(user->getResult(0));
    }
  return true;
}

/// Whether a thread reads only those results and new values of `written` that
/// it computes itself.
bool FuseHorizontally::readInOrder(const StepGroup &readers,
                                   const StepGroup &written) const {
  return llvm::all_of(readers.steps, [&](StepOp step) {
    // Who updates a parameter and does not read it shares no loop with who
    // does.
    if (llvm::any_of(step.getInputs(), [&](Value input) {
          return isUpdatedBy(input, written.results.getArrayRef()) &&
                 !written.inputs.contains(input);
        }))
      return false;
    return readsChosenInOrder(step, [&](Value input) {
      return written.results.contains(input) ||
             isUpdatedBy(input, written.results.getArrayRef());
    });
  });
}

/// Whether numbers read what a row step makes of a single row, not of totals:
/// the row step would have to compute them there.
static bool readsRows(StepOp rows, const RowBody &body,
                      const StepGroup &numbers) {
  for (auto [result, value] :
       llvm::zip_equal(rows.getResults(), yieldsOf(rows)))
    if (numbers.inputs.contains(result) && body.knownAfter.contains(value))
      return true;
  return false;
}

/// Whether a row step may have the results of others: without totals, those of
/// its one row.
static bool mayYield(const RowBody &body, const StepGroup &numbers) {
  return !body.totals.empty() ||
         llvm::all_of(numbers.results,
                      [&](Value result) { return body.space.hasRows(result); });
}

static bool takesAfterRows(StepOp rows, const StepGroup &numbers) {
  FailureOr<RowBody> body = readRowBody(rows);
  return succeeded(body) && mayYield(*body, numbers) &&
         !readsRows(rows, *body, numbers);
}

/// Whether, if there is a row step among these, the others can be computed
/// after its last row: its rows need neither them nor what they update.
bool FuseHorizontally::joinRows(const StepGroup &some,
                                const StepGroup &others) const {
  if (!some.rows && !others.rows)
    return true;
  StepOp rows = some.rows ? some.rows : others.rows;
  auto isNeeded = [&](const StepGroup &group) {
    for (auto [i, input] : llvm::enumerate(rows.getInputs()))
      if ((group.results.contains(input) ||
           isUpdatedBy(input, group.results.getArrayRef())) &&
          !readsAfterRows(rows, i))
        return true;
    return false;
  };
  return !(some.rows && others.rows) && some.numbers && others.numbers &&
         !isNeeded(some) && !isNeeded(others) &&
         takesAfterRows(rows, some.rows ? others : some);
}

bool FuseHorizontally::canFuse(const StepGroup &some,
                               const StepGroup &others) const {
  return some.operands + others.operands <= maxOperands &&
         some.ops + others.ops <= maxFusedOps &&
         (some.numbers == others.numbers || !keepsNumbers) &&
         joinRows(some, others) && readInOrder(some, others) &&
         readInOrder(others, some) &&
         !(dependencies &&
           (delays(some, others) || waitsForMoreSums(some, others))) &&
         !(times && times->putsWorkOff(some.steps, others.steps));
}

/// Groups that `step` is not part of would move past it. They cannot if it
/// reads their results, or updates what they read.
void FuseHorizontally::closeGroupsBefore(StepOp step) {
  for (StepGroup &group : open) {
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

/// What others read; first that of the row step, which the whole is called
/// after.
static SmallVector<Value> resultsOf(const StepGroup &group) {
  SmallVector<Value> results;
  auto add = [&](StepOp step) {
    for (Value result : step.getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(group.steps, user);
          }))
        results.push_back(result);
  };
  if (group.rows)
    add(group.rows);
  for (StepOp step : group.steps)
    if (step != group.rows)
      add(step);
  return results;
}

/// The step that a group is called after: the last of those that make the most.
static StepOp namedAfter(const StepGroup &group) {
  if (group.rows)
    return group.rows;
  auto elementsOf = [](StepOp step) {
    int64_t most = 0;
    for (Value result : step.getResults())
      most = std::max(most, countOf(result));
    return most;
  };
  StepOp named = group.steps.front();
  for (StepOp step : group.steps)
    if (elementsOf(step) >= elementsOf(named))
      named = step;
  return named;
}

void FuseHorizontally::merge(const StepGroup &group, StepNames &names) {
  SmallVector<Value> results = resultsOf(group);
  StringRef what = group.rows ? "" : wordFor(results);
  for (Value old : results)
    updates.erase(old); // Another value may be where it was.
  std::string name = what.empty() ? namedAfter(group).getName().str()
                                  : names.take(what, "fused");
  StepOp last = group.steps.back();
  ImplAttr impl = last.getImplAttr(); // join erases the steps
  join(group.steps, results, name, last).setImplAttr(impl);
  numFused += group.steps.size() - 1;
}

/// Whether steps could run where others do, at no cost: all that they need is
/// there, who reads their results comes later, and who reads what they update
/// earlier; and the results take no memory to speak of.
bool FuseHorizontally::canRunWith(const StepGroup &numbers,
                                  const StepGroup &others) const {
  StepOp place = others.steps.back();
  auto isOneOfThem = [&](Operation *op) {
    return llvm::is_contained(numbers.steps, op) ||
           llvm::is_contained(others.steps, op);
  };
  auto isReady = [&](Value input) {
    Operation *maker = input.getDefiningOp();
    return !maker || isOneOfThem(maker) || maker->isBeforeInBlock(place);
  };
  auto mayMove = [&](Value result) {
    return countOf(result) == 1 &&
           llvm::all_of(result.getUsers(),
                        [&](Operation *user) {
                          return isOneOfThem(user) ||
                                 place->isBeforeInBlock(user);
                        }) &&
           (!updates.contains(result) ||
            llvm::all_of(
                updates.lookup(result).getUsers(), [&](Operation *user) {
                  return isOneOfThem(user) || user->isBeforeInBlock(place);
                }));
  };
  return llvm::all_of(numbers.inputs, isReady) &&
         llvm::all_of(numbers.results, mayMove);
}

/// Adds steps to a group, where that is.
void FuseHorizontally::moveTo(StepGroup &group, StepGroup &&numbers) {
  bool closed = group.closed;
  StepOp last = group.steps.back();
  for (StepOp step : numbers.steps) {
    if (last->isBeforeInBlock(step)) {
      step->moveAfter(last);
      last = step;
    }
    group.steps.push_back(step);
  }
  group = StepGroup(std::move(group.steps));
  group.closed = closed;
}

/// Fuses a step into a group that cannot move to where the step is.
bool FuseHorizontally::joinEarlier(StepOp step) {
  StepGroup one({step});
  auto group =
      std::find_if(open.rbegin(), open.rend(), [&](const StepGroup &some) {
        return some.closed && canRunWith(one, some) && canFuse(some, one);
      });
  if (group == open.rend())
    return false;
  moveTo(*group, std::move(one));
  return true;
}

/// Joins numbers to row steps, or to what else there is. A number that others
/// need early may come to be among such that they need anyway.
void FuseHorizontally::joinNumbers(bool toRows) {
  for (size_t to = 0; to < open.size(); ++to)
    for (size_t i = 0; bool(open[to].rows) == toRows && i < open.size(); ++i)
      if (i != to && !open[i].rows && canRunWith(open[i], open[to]) &&
          canFuse(open[to], open[i])) {
        moveTo(open[to], std::move(open[i]));
        open.erase(open.begin() + i);
        to -= i < to;
        i = -1;
      }
}

/// Fuses a step into earlier groups where it can: the latest first, because
/// what belongs together, such as the states of one parameter, is written
/// together.
void FuseHorizontally::fuse(StepOp step) {
  StepGroup fused({step});
  for (bool found = true; found;) {
    auto others =
        std::find_if(open.rbegin(), open.rend(), [&](const StepGroup &group) {
          return !group.closed && canFuse(group, fused);
        });
    found = others != open.rend();
    if (!found)
      break;
    llvm::append_range(others->steps, fused.steps);
    fused = StepGroup(std::move(others->steps));
    open.erase(std::next(others).base());
  }
  if (fused.steps.size() == 1 && joinEarlier(step))
    return;
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
  keepsNumbers = llvm::any_of(block.getOps<StepOp>(), takesNumbers);
  for (StepOp step : llvm::make_early_inc_range(block.getOps<StepOp>()))
    if (step.getImpl() == Impl::kernel && (!rootOf(step) || takesNumbers(step)))
      fuse(step);
    else
      closeGroupsBefore(step);
  joinNumbers(/*toRows=*/true);
  keepsNumbers = false;
  joinNumbers(/*toRows=*/false);
  StepNames names(block);
  for (const StepGroup &group : open)
    if (group.steps.size() > 1)
      merge(group, names);
}

} // namespace mlir::mnistc
