//===- SelectImplementations.cpp - decide what computes each step ---------===//
//
// Goes through what the target's machine prefers and the precision allows. What
// the chosen library does not fuse is split off; kernels fuse everything.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Names.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_SELECTIMPLEMENTATIONS
#include "lib/Passes/Passes.h.inc"

/// `value` and what it is computed from, within `ops`, in their order.
static SmallVector<Operation *> sliceOf(Value value,
                                        ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 16> within(ops.begin(), ops.end()), slice;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && within.contains(op) && slice.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> result;
  llvm::copy_if(ops, std::back_inserter(result),
                [&](Operation *op) { return slice.contains(op); });
  return result;
}

namespace {
/// Splits a step around its root: a map for each operand that the root cannot
/// read from memory, the root with those parts of an epilogue that the call
/// takes, and a map for the rest.
class Splitter {
public:
  Splitter(StepOp step, EpilogueParts parts, StepNames &names)
      : step(step), parts(parts), names(names) {}

  /// Returns the step with the root.
  StepOp split() {
    std::string name = step.getName().str();
    auto numberOf = [&](Operation *wanted) {
      Block &body = step.getBody().front();
      return std::distance(body.begin(), wanted->getIterator());
    };
    Operation *root = rootOf(step);
    Operation *end = matchEpiloguePrefix(step, parts).end.getDefiningOp();
    Operation *last = yieldsOf(step).front().getDefiningOp();
    auto rootAt = numberOf(root), endAt = numberOf(end),
         lastAt = numberOf(last);
    ops = dissolve(step);
    root = ops[rootAt], end = ops[endAt], last = ops[lastAt];

    for (unsigned i = 0; i < root->getNumOperands(); ++i) {
      Operation *producer = skipReshapes(root->getOperand(i)).getDefiningOp();
      if (llvm::is_contained(ops, producer) && !isa<ConstantOp>(producer))
        outlineMap(producer, nameFor(producer));
    }
    bool whole = end == last;
    StepOp result = outlinePart(end, whole ? name : nameFor(end));
    if (!whole)
      outlineMap(last, name);
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    return result;
  }

private:
  std::string nameFor(Operation *op) {
    return names.take(tensorName(op), op->getName().stripDialect());
  }

  void outlineMap(Operation *last, StringRef name) {
    outlinePart(last, name).setImpl(Impl::kernel);
  }

  /// Makes a step of `last` and all that it needs. What others need too is
  /// copied.
  StepOp outlinePart(Operation *last, StringRef name) {
    SmallVector<Operation *> slice = sliceOf(last->getResult(0), ops);
    llvm::SmallPtrSet<Operation *, 16> copied;
    for (Operation *op : llvm::reverse(slice))
      if (op != last && llvm::any_of(op->getUsers(), [&](Operation *user) {
            return !llvm::is_contained(slice, user) || copied.contains(user);
          }))
        copied.insert(op);
    SmallVector<Operation *> group;
    for (Operation *op : slice)
      if (!copied.contains(op) && !isa<ConstantOp>(op))
        group.push_back(op);
    llvm::erase_if(
        ops, [&](Operation *op) { return llvm::is_contained(group, op); });
    return outline(group, name,
                   [&](Operation *op) { return copied.contains(op); });
  }

  StepOp step;
  EpilogueParts parts;
  StepNames &names;
  SmallVector<Operation *> ops;
};
} // namespace

namespace {
struct SelectImplementations
    : impl::SelectImplementationsBase<SelectImplementations> {
  using SelectImplementationsBase::SelectImplementationsBase;

  void runOnOperation() override {
    llvm::Expected<const Target *> found = Target::get(target);
    if (!found)
      return fail(found.takeError());
    llvm::Expected<Libraries> allowed = Libraries::parse(libraries);
    if (!allowed)
      return fail(allowed.takeError());
    wanted = symbolizePrecision(precision);
    if (!wanted)
      return fail(llvm::createStringError(
          "expected a precision of strict, fp32, tf32 or bf16, got '" +
          precision + "'"));

    if (!prefer.empty() && !(way = symbolizeWay(prefer)))
      return fail(llvm::createStringError(
          "expected to prefer libraries, tensor-cores or fma, got '" + prefer +
          "'"));

    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      StepNames names(function.getBody().front());
      for (StepOp step : llvm::to_vector(function.getOps<StepOp>()))
        if (step.getImpl() == Impl::undecided &&
            failed(select(step, **found, *allowed, names)))
          signalPassFailure();
    }
    Builder builder(&getContext());
    getOperation()->setAttr("plan.precision", builder.getStringAttr(precision));
    getOperation()->setAttr("plan.target", builder.getStringAttr(target));
    getOperation()->setAttr("plan.libraries", builder.getStringAttr(libraries));
    if (way)
      getOperation()->setAttr("plan.prefer", builder.getStringAttr(prefer));
  }

private:
  std::optional<Precision> wanted;
  std::optional<Way> way;

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }

  LogicalResult select(StepOp step, const Target &target, Libraries allowed,
                       StepNames &names) {
    if (way && *way != Way::fma && choose(step, target, allowed, names, true))
      return success();
    if (way != Way::fma && choose(step, target, allowed, names, false))
      return success();
    if (canGenerate(step)) {
      step.setImpl(Impl::kernel);
      return success();
    }
    return step.emitError("target '")
           << target.name << "' has nothing that computes '"
           << rootOf(step)->getName() << "' of "
           << rootOf(step)->getOperandTypes();
  }

  /// The first preference that applies; `ofWay`: the first of the kind that is
  /// preferred, whether it pays or not.
  bool choose(StepOp &step, const Target &target, Libraries allowed,
              StepNames &names, bool ofWay) {
    for (const Preference &preference : target.machine->preferences) {
      if (preference.op != rowNameOf(step) || !allowed.allow(preference.impl) ||
          !allows(*wanted, preference.mma))
        continue;
      Operation *root = rootOf(step);
      if (ofWay ? preference.way() != *way || !target.canRead(root)
                : !target.objection(preference, root).empty())
        continue;
      if (!preference.takesWhole(step)) {
        if (step.getNumResults() != 1)
          continue;
        step = Splitter(step, preference.epilogue, names).split();
        ++numSplit;
      }
      step.setImpl(preference.impl);
      if (preference.mma != Mma::ffma) {
        step.setScheduleAttr(ProductAttr::get(&getContext(), preference.mma));
        ++numTensorCores;
      }
      numLibrary += preference.impl != Impl::kernel;
      return true;
    }
    return false;
  }
};
} // namespace

} // namespace mlir::mnistc
