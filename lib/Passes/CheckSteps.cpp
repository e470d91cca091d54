//===- CheckSteps.cpp - prove that a plan may be run
//-----------------------===//
//
// Trusts no pass before it: reads the addresses as the runtime will.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Lifetimes.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_CHECKSTEPS
#include "lib/Passes/Passes.h.inc"

namespace {
/// A value in the arena, from step `first` to step `last`.
struct Range {
  Value value;
  int64_t begin, end, first, last;
};

/// Checks one function. Each check relies on those before it.
class Checker {
public:
  Checker(func::FuncOp function, int64_t alignment, int64_t constantBytes)
      : function(function), alignment(alignment), constantBytes(constantBytes) {
  }

  LogicalResult check() {
    return success(succeeded(checkOps()) && succeeded(checkBodies()) &&
                   succeeded(checkConstants()) && succeeded(checkReturn()) &&
                   succeeded(checkPlaces()) && succeeded(checkOverlaps()));
  }

private:
  LogicalResult checkOps();
  LogicalResult checkBodies();
  LogicalResult checkOrder(StepOp step, Operation *root);
  LogicalResult checkConstants();
  LogicalResult checkReturn();
  LogicalResult checkPlaces();
  LogicalResult checkOverlaps();
  LogicalResult checkPlace(Location loc, std::string what, int64_t begin,
                           int64_t bytes, StringRef block, int64_t blockBytes);
  bool mayShare(const Range &earlier, const Range &later) const;

  func::FuncOp function;
  int64_t alignment, constantBytes;
  SmallVector<Range> ranges;
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
      return step.emitError("expected each step to have a name of its own, but "
                            "there are two called '")
             << step.getName() << "'";
    if (step.getImpl() == Impl::undecided)
      return step.emitError("expected step '")
             << step.getName() << "' to have an implementation";
    Operation *root = nullptr;
    for (Operation &op : step.getBody().front().without_terminator()) {
      if (!isRoot(&op))
        continue;
      if (root)
        return step.emitError("expected at most one op with loops of its own "
                              "in step '")
               << step.getName() << "', but got '" << root->getName()
               << "' and '" << op.getName() << "'";
      root = &op;
    }
    if (root && step.getNumResults() != 1)
      return step.emitError("expected step '")
             << step.getName() << "' around '" << root->getName()
             << "' to have one result, but got " << step.getNumResults();
    if (step.getImpl() != Impl::kernel && !matchLibraryEpilogue(step))
      return step.emitError("expected step '")
             << step.getName() << "' to be what a library can do, but "
             << stringifyImpl(step.getImpl()) << " cannot";
    if (failed(checkOrder(step, root)))
      return failure();
  }
  return success();
}

/// One loop stores all results: what follows a root goes through the elements
/// as the root does, and the results of a map have equally many.
LogicalResult Checker::checkOrder(StepOp step, Operation *root) {
  int64_t count = 0;
  for (auto [i, result] : llvm::enumerate(step.getResults())) {
    int64_t elements = cast<ShapedType>(result.getType()).getNumElements();
    if (i != 0 && elements != count)
      return step.emitError("expected the results of step '")
             << step.getName() << "' to have the same number of elements, but "
             << "got " << count << " and " << elements;
    count = elements;
  }
  SmallVector<Operation *> open;
  if (root)
    open.push_back(root);
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (!keepsOrder(user))
        return step.emitError("expected what follows '")
               << root->getName() << "' in step '" << step.getName()
               << "' to keep the order of the elements, but got '"
               << user->getName() << "'";
      open.push_back(user);
    }
  return success();
}

/// What lies at `begin` in a block of memory must be aligned and inside.
LogicalResult Checker::checkPlace(Location loc, std::string what, int64_t begin,
                                  int64_t bytes, StringRef block,
                                  int64_t blockBytes) {
  if (begin % alignment != 0)
    return emitError(loc, "expected ") << what << " at a multiple of "
                                       << alignment << ", but got " << begin;
  if (begin < 0 || begin + bytes > blockBytes)
    return emitError(loc, "expected ")
           << what << " inside the " << block << " of " << blockBytes
           << " bytes, but got " << begin << " to " << begin + bytes;
  return success();
}

LogicalResult Checker::checkConstants() {
  for (ConstantOp constant : function.getOps<ConstantOp>()) {
    auto offset = constant->getAttrOfType<IntegerAttr>("plan.offset");
    if (!offset)
      return constant.emitOpError("expected a 'plan.offset'");
    if (failed(checkPlace(constant.getLoc(), "constant", offset.getInt(),
                          sizeInBytes(constant.getType()), "constants",
                          constantBytes)))
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
             << " to be the result of a step or an argument, but got a "
                "constant";
  return success();
}

LogicalResult Checker::checkPlaces() {
  auto arena = function->getAttrOfType<IntegerAttr>("plan.arena_bytes");
  auto workspace = function->getAttrOfType<IntegerAttr>("plan.workspace_bytes");
  if (!arena || !workspace)
    return function.emitError("expected 'plan.arena_bytes' and "
                              "'plan.workspace_bytes' on '")
           << function.getName() << "'";
  Lifetimes lifetimes(function);
  auto add = [&](Value value, int64_t begin) {
    auto [first, last] = lifetimes.of(value);
    int64_t bytes = sizeInBytes(value.getType());
    ranges.push_back({value, begin, begin + bytes, first, last});
    return checkPlace(value.getLoc(), nameOf(value), begin, bytes, "arena",
                      arena.getInt());
  };
  for (BlockArgument argument : function.getArguments()) {
    auto offset = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), "plan.offset");
    if (!offset)
      return function.emitError("expected a 'plan.offset' on ")
             << nameOf(argument);
    if (failed(add(argument, offset.getInt())))
      return failure();
  }
  for (StepOp step : function.getOps<StepOp>()) {
    if (!step.getOffsets())
      return step.emitError("expected step '")
             << step.getName() << "' to say where its results lie";
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
      return mayTakePlaceOf(step, i);
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

namespace {
struct CheckSteps : impl::CheckStepsBase<CheckSteps> {
  using CheckStepsBase::CheckStepsBase;

  void runOnOperation() override {
    auto bytes =
        getOperation()->getAttrOfType<IntegerAttr>("plan.constant_bytes");
    if (!bytes) {
      getOperation().emitError("expected 'plan.constant_bytes' on the module");
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          failed(Checker(function, alignment, bytes.getInt()).check()))
        signalPassFailure();
  }
};
} // namespace

} // namespace mlir::mnistc
