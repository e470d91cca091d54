//===- CheckSteps.cpp - prove that a plan may be run ----------------------===//
//
// Trusts no pass before it: reads the addresses as the runtime will.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/CheckModule.h"
#include "lib/IR/Plan/Batches.h"
#include "lib/IR/Plan/CheckBlocks.h"
#include "lib/IR/Plan/CheckBody.h"
#include "lib/IR/Plan/Lifetimes.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mnistrt/training.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

namespace mlir::mnistc {

#define GEN_PASS_DEF_CHECKSTEPS
#include "lib/Passes/Passes.h.inc"

namespace {
/// A value in the arena, from step `first` to step `last`.
struct Range {
  Value value;
  int64_t begin, end, first, last;
};

/// What a function does to one parameter.
struct Update {
  StringAttr parameter;
  Value before; ///< null where the function does not read it
  Value after;
};

/// Checks one function. Each check relies on those before it.
class Checker {
public:
  Checker(func::FuncOp function, const Target *target, const Blocks &blocks)
      : function(function), target(target), blocks(blocks) {}

  LogicalResult check() {
    return success(succeeded(checkOps()) && succeeded(checkBodies()) &&
                   succeeded(checkReturn()) && succeeded(findParameters()) &&
                   succeeded(checkPlaces()) && succeeded(checkOverlaps()) &&
                   succeeded(checkPrefetching()) && succeeded(checkBuckets()) &&
                   succeeded(checkUpdates()) && succeeded(checkStreams()) &&
                   succeeded(checkWaits()));
  }

private:
  LogicalResult checkOps();
  LogicalResult checkBodies();
  LogicalResult checkReturn();
  LogicalResult findParameters();
  LogicalResult findParameter(Value value, StringAttr name);
  LogicalResult checkPlaces();
  LogicalResult checkOverlaps();
  LogicalResult checkPrefetching();
  LogicalResult checkBuckets();
  LogicalResult checkUpdates();
  LogicalResult checkUpdate(const Update &update);
  LogicalResult checkStreams();
  LogicalResult checkWaits();
  bool mayShare(const Range &earlier, const Range &later) const;

  func::FuncOp function;
  const Target *target; ///< null: any
  const Blocks &blocks;
  SmallVector<Range> ranges;
  DenseMap<Value, int64_t> placeOf;    ///< the addresses in the arena
  DenseMap<Value, int64_t> parameters; ///< their required addresses
  SmallVector<Update> updates;
};
} // namespace

/// How messages call a value.
static std::string nameOf(Value value) {
  if (auto step = value.getDefiningOp<StepOp>()) {
    std::string name = "'" + step.getName().str() + "'";
    if (step.getNumResults() == 1)
      return name;
    return "result " + std::to_string(cast<OpResult>(value).getResultNumber()) +
           " of " + name;
  }
  return "argument " +
         std::to_string(cast<BlockArgument>(value).getArgNumber());
}

LogicalResult Checker::checkOps() {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<StepOp, ConstantOp>(op))
      return op.emitOpError("expected to be inside a step");
  return success();
}

LogicalResult Checker::checkBodies() {
  llvm::StringSet<> names;
  for (StepOp step : function.getOps<StepOp>()) {
    if (!names.insert(step.getName()).second)
      return step.emitError("expected each step to have a unique name, but "
                            "there are two called '")
             << step.getName() << "'";
    if (failed(checkBody(step, target)))
      return failure();
  }
  return success();
}

LogicalResult Checker::checkReturn() {
  Operation *ret = function.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands())
    if (operand.get().getDefiningOp<ConstantOp>())
      return ret->emitOpError("expected result ")
             << operand.getOperandNumber()
             << " to be the result of a step or an argument, got a "
                "constant";
  return success();
}

LogicalResult Checker::findParameter(Value value, StringAttr name) {
  auto global = SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(
      function, name);
  if (!global || global.getType() != value.getType()) {
    InFlightDiagnostic error = emitError(value.getLoc(), "expected ");
    error << nameOf(value) << ", parameter '" << name.getValue()
          << "', to have a global of type " << value.getType() << ", got ";
    return global ? error << global.getType() : error << "none";
  }
  int64_t offset = global->getAttrOfType<IntegerAttr>("plan.offset").getInt();
  auto [it, isNew] = parameters.try_emplace(value, offset);
  if (!isNew && it->second != offset)
    return emitError(value.getLoc(), "expected ")
           << nameOf(value) << " to be one parameter, but it is also '"
           << name.getValue() << "'";
  return success();
}

LogicalResult Checker::findParameters() {
  llvm::MapVector<StringAttr, Update> byName;
  for (BlockArgument argument : function.getArguments()) {
    StringAttr name = parameterOf(argument);
    if (!name)
      continue;
    if (failed(findParameter(argument, name)))
      return failure();
    if (!byName.insert({name, {name, argument, {}}}).second)
      return function.emitError("expected one argument for parameter '")
             << name.getValue() << "', got two";
  }
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    StringAttr name = parameterOf(function, operand.getOperandNumber());
    if (!name)
      continue;
    if (failed(findParameter(operand.get(), name)))
      return failure();
    Update &update = byName.insert({name, {name, {}, {}}}).first->second;
    if (update.after)
      return function.emitError("expected one result for parameter '")
             << name.getValue() << "', got two";
    update.after = operand.get();
    if (isa<BlockArgument>(update.after) && update.after != update.before)
      return function.emitError("expected a step to compute parameter '")
             << name.getValue() << "', got " << nameOf(update.after);
  }
  for (auto &[name, update] : byName)
    if (update.after && update.after != update.before)
      updates.push_back(update);
  return success();
}

/// An old value is read before the new one is written over it; by the step that
/// writes it, only at the elements that it writes.
LogicalResult Checker::checkUpdate(const Update &update) {
  auto result = cast<OpResult>(update.after);
  auto writer = cast<StepOp>(result.getOwner());
  for (OpOperand &use : update.before.getUses()) {
    auto reader = dyn_cast<StepOp>(use.getOwner());
    if (!reader)
      return function.emitError("expected result ")
             << use.getOperandNumber() << " not to be parameter '"
             << update.parameter.getValue() << "', which step '"
             << writer.getName() << "' updates";
    if (reader == writer) {
      if (canUpdateInPlace(writer, use.getOperandNumber(),
                           result.getResultNumber()))
        continue;
      return writer.emitError("expected step '")
             << writer.getName() << "', which updates parameter '"
             << update.parameter.getValue()
             << "', to read of it only the element that it writes";
    }
    if (writer->isBeforeInBlock(reader))
      return reader.emitError("expected step '")
             << reader.getName() << "' to read parameter '"
             << update.parameter.getValue() << "' before step '"
             << writer.getName() << "' updates it";
  }
  return success();
}

LogicalResult Checker::checkUpdates() {
  for (const Update &update : updates)
    if (update.before && failed(checkUpdate(update)))
      return failure();
  return success();
}

LogicalResult Checker::checkPlaces() {
  auto arena = function->getAttrOfType<IntegerAttr>("plan.arena_bytes");
  auto workspace = function->getAttrOfType<IntegerAttr>("plan.workspace_bytes");
  if (!arena || !workspace)
    return function.emitError("expected 'plan.arena_bytes' and "
                              "'plan.workspace_bytes' on '")
           << function.getName() << "', got "
           << (arena || workspace ? "one of them" : "neither");
  if (arena.getInt() < blocks.parameterBytes)
    return function.emitError("expected 'plan.arena_bytes' of at least ")
           << blocks.parameterBytes << ", which the parameters take, got "
           << arena.getInt();
  Lifetimes lifetimes(function);
  auto add = [&](Value value, int64_t begin) -> LogicalResult {
    placeOf[value] = begin;
    auto [first, last] = lifetimes.of(value);
    int64_t bytes = sizeInBytes(value.getType());
    if (failed(checkPlace(value.getLoc(), nameOf(value), begin, bytes,
                          blocks.alignment, "arena", arena.getInt())))
      return failure();
    if (auto it = parameters.find(value); it != parameters.end()) {
      if (begin == it->second)
        return success();
      return emitError(value.getLoc(), "expected ")
             << nameOf(value) << " at " << it->second
             << ", the address of its parameter, got " << begin;
    }
    if (begin < blocks.parameterBytes)
      return emitError(value.getLoc(), "expected ")
             << nameOf(value) << " after the parameters of "
             << blocks.parameterBytes << " bytes, got " << begin;
    ranges.push_back({value, begin, begin + bytes, first, last});
    return success();
  };
  for (BlockArgument argument : function.getArguments()) {
    auto offset = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), "plan.offset");
    if (!offset)
      return function.emitError("expected a 'plan.offset' on ")
             << nameOf(argument) << ", got none";
    if (failed(add(argument, offset.getInt())))
      return failure();
  }
  for (StepOp step : function.getOps<StepOp>()) {
    if (!step.getOffsets())
      return step.emitError("expected step '")
             << step.getName() << "' to have the addresses of its results, got "
             << "nothing";
    for (auto [result, offset] :
         llvm::zip_equal(step.getResults(), *step.getOffsets()))
      if (failed(add(result, offset)))
        return failure();
  }
  return success();
}

/// A map may write over an operand that nothing needs any more.
bool Checker::mayShare(const Range &earlier, const Range &later) const {
  auto step = later.value.getDefiningOp<StepOp>();
  if (!step || earlier.last != later.first || earlier.begin != later.begin)
    return false;
  for (auto [i, input] : llvm::enumerate(step.getInputs()))
    if (input == earlier.value)
      return canUpdateInPlace(step, i,
                              cast<OpResult>(later.value).getResultNumber());
  return false;
}

LogicalResult Checker::checkOverlaps() {
  for (auto [i, later] : llvm::enumerate(ranges))
    for (const Range &earlier : ArrayRef(ranges).take_front(i)) {
      if (later.begin >= earlier.end || earlier.begin >= later.end ||
          later.first > earlier.last || earlier.first > later.last ||
          mayShare(earlier, later))
        continue;
      InFlightDiagnostic error = emitError(later.value.getLoc(), "expected ");
      error << nameOf(later.value) << " (bytes " << later.begin << " to "
            << later.end << ") apart from " << nameOf(earlier.value)
            << " (bytes " << earlier.begin << " to " << earlier.end
            << "), which is alive";
      error.attachNote(earlier.value.getLoc()) << "defined here";
      return error;
    }
  return success();
}

/// Where the next batch is copied while a plan runs, it is known which one that
/// is. No step writes to the inputs' memory, nor between two of them, at any
/// time: for every other run the runtime moves all that is there.
LogicalResult Checker::checkPrefetching() {
  if (!function->hasAttr(prefetchesAttribute))
    return success();
  if (!countsBatches(function))
    return function.emitError("expected '")
           << function.getName() << "' with '" << prefetchesAttribute
           << "' to add 1 to '" << mn::names::batch << "' and to leave '"
           << mn::names::seed << "' and '" << mn::names::epoch
           << "', got otherwise";
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  for (const Range &range : ranges)
    if (isa<BlockArgument>(range.value))
      begin = std::min(begin, range.begin), end = std::max(end, range.end);
  for (const Range &range : ranges)
    if (!isa<BlockArgument>(range.value) && range.begin < end &&
        begin < range.end)
      return emitError(range.value.getLoc(), "expected ")
             << nameOf(range.value) << " outside of bytes " << begin << " to "
             << end << ", which the inputs have to themselves, got bytes "
             << range.begin << " to " << range.end;
  return success();
}

LogicalResult Checker::checkStreams() {
  SmallVector<int64_t> streams;
  for (StepOp step : function.getOps<StepOp>()) {
    int64_t previous = -1;
    for (int64_t awaited : stepsAwaitedBy(step)) {
      if (awaited <= previous || awaited >= int64_t(streams.size()) ||
          streams[awaited] == streamOf(step))
        return step.emitError("expected step '")
               << step.getName()
               << "' to wait for steps before it, on other streams and in "
                  "their order, got "
               << awaited;
      previous = awaited;
    }
    streams.push_back(streamOf(step));
  }
  return success();
}

/// Collectives work in place, on adjacent tensors in their order: the library
/// gets one address.
LogicalResult Checker::checkBuckets() {
  for (StepOp step : function.getOps<StepOp>()) {
    if (!isCollectiveStep(step))
      continue;
    std::optional<int64_t> next;
    Type element = getElementTypeOrSelf(step.getResult(0).getType());
    for (auto [input, result] :
         llvm::zip_equal(step.getInputs(), step.getResults())) {
      auto from = placeOf.find(input);
      int64_t to = placeOf.lookup(result);
      if (from == placeOf.end() || from->second != to || (next && to != *next))
        return step.emitError("expected the operands of step '")
               << step.getName()
               << "' next to each other, each in the place of its result, got "
               << "otherwise for result " << result.getResultNumber();
      if (getElementTypeOrSelf(result.getType()) != element)
        return step.emitError("expected the operands of step '")
               << step.getName() << "' to have one type, got " << element
               << " and " << getElementTypeOrSelf(result.getType());
      next =
          to + llvm::alignTo(sizeInBytes(result.getType()), blocks.alignment);
    }
  }
  return success();
}

/// Of two steps where one writes bytes that the other uses, one has ended when
/// the other begins. So it is with any two collectives.
LogicalResult Checker::checkWaits() {
  SmallVector<StepOp> steps(function.getOps<StepOp>());
  if (streamsOf(function) == 1)
    return success();
  SmallVector<SmallVector<unsigned>> conflicts = findConflicts(function);
  StepOrder order;
  for (auto [i, step] : llvm::enumerate(steps)) {
    for (unsigned earlier : conflicts[i])
      if (!order.hasEnded(earlier, streamOf(step), stepsAwaitedBy(step)))
        return step.emitError("expected step '")
               << step.getName() << "' of stream " << streamOf(step)
               << " to wait for step '" << steps[earlier].getName()
               << "' of stream " << streamOf(steps[earlier])
               << (isCollectiveStep(step) && isCollectiveStep(steps[earlier])
                       ? ", since ranks run collectives in one order"
                       : ", with which it shares bytes");
    order.add(streamOf(step), stepsAwaitedBy(step));
  }
  return success();
}

namespace {
struct CheckSteps : impl::CheckStepsBase<CheckSteps> {
  using CheckStepsBase::CheckStepsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Blocks blocks = {alignment};
    if (failed(checkModule(module)) || failed(checkBlocks(module, blocks)))
      return signalPassFailure();
    const Target *target = nullptr;
    if (auto name = module->getAttrOfType<StringAttr>("plan.target"))
      target = *Target::get(name); // The dialect knows it.
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(Checker(function, target, blocks).check()))
        signalPassFailure();
  }
};
} // namespace

} // namespace mlir::mnistc
