//===- SelectImplementations.cpp - decide what computes each step ---------===//
//
// Goes through what the target's machine prefers and the precision allows. What
// the chosen library does not fuse is split off; kernels fuse everything.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/Candidates.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/SplitAroundRoot.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_SELECTIMPLEMENTATIONS
#include "lib/Passes/Passes.h.inc"

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

    if (!tuned.empty()) {
      llvm::Expected<TunedTable> read = TunedTable::read(tuned, &getContext());
      if (!read)
        return fail(read.takeError());
      table = std::move(*read);
    }

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
    if (isTuned)
      getOperation()->setAttr("plan.tuned_on",
                              builder.getStringAttr(table->gpu));
  }

private:
  std::optional<Precision> wanted;
  std::optional<Way> way;
  std::optional<TunedTable> table;
  bool isTuned = false; ///< by a table

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }

  LogicalResult select(StepOp step, const Target &target, Libraries allowed,
                       StepNames &names) {
    if (candidate >= 0 && target.schedules && isTunable(step))
      return tryCandidate(step, target, allowed, names);
    if (const TunedTable::Entry *entry = measured(step, target, allowed)) {
      if (failed(apply(entry->choice, step, target, names)))
        return failure();
      step->setAttr(tunedAttribute, UnitAttr::get(&getContext()));
      ++numTuned;
      isTuned = true;
      return success();
    }
    return selectUntuned(step, target, allowed, names);
  }

  LogicalResult selectUntuned(StepOp &step, const Target &target,
                              Libraries allowed, StepNames &names) {
    if (const Preference *preference = preferred(step, target, allowed)) {
      take({preference->impl, mmaOnly(&getContext(), preference->mma)},
           preference->epilogue, step, names);
      numTensorCores += preference->mma != Mma::ffma;
      return success();
    }
    if (canGenerate(step)) {
      step.setImpl(Impl::kernel);
      return success();
    }
    return step.emitError("target '")
           << target.name << "' has nothing that computes '"
           << rootOf(step)->getName() << "' of "
           << rootOf(step)->getOperandTypes();
  }

  /// The first preference that applies: of the kind that is preferred, whether
  /// it pays or not, then one that pays. Null: the kernel, on FMA units.
  const Preference *preferred(StepOp step, const Target &target,
                              Libraries allowed) {
    if (way == Way::fma)
      return nullptr;
    const Preference *found =
        way ? first(step, target, allowed, true) : nullptr;
    return found ? found : first(step, target, allowed, false);
  }

  const Preference *first(StepOp step, const Target &target, Libraries allowed,
                          bool ofWay) {
    for (const Preference &preference : target.machine->preferences) {
      if (preference.op != rowNameOf(step) || !allowed.allow(preference.impl) ||
          !allows(*wanted, preference.mma))
        continue;
      Operation *root = rootOf(step);
      if (ofWay ? preference.way() != *way ||
                      !target.inability(preference, root).empty()
                : !target.objection(preference, root).empty())
        continue;
      if (canTake(step, preference.impl, preference.epilogue))
        return &preference;
    }
    return nullptr;
  }

  /// Whether a step can be computed by `impl`, split if need be.
  static bool canTake(StepOp step, Impl impl, EpilogueParts parts) {
    return takesWhole(impl, parts, step) || step.getNumResults() == 1;
  }

  /// Makes it so.
  void take(const StepChoice &choice, EpilogueParts parts, StepOp &step,
            StepNames &names) {
    if (!takesWhole(choice.impl, parts, step)) {
      step = splitAroundRoot(step, parts, names);
      ++numSplit;
    }
    step.setImpl(choice.impl);
    if (choice.schedule)
      step.setScheduleAttr(choice.schedule);
    numLibrary += choice.impl != Impl::kernel;
  }

  //===--------------------------------------------------------------------===//
  // Measured choices
  //===--------------------------------------------------------------------===//

  /// The parts of an epilogue that a library's calls take.
  static EpilogueParts epilogueOf(StepOp step, Impl impl,
                                  const Target &target) {
    for (const Preference &preference : target.machine->preferences)
      if (preference.impl == impl && preference.op == rowNameOf(step))
        return preference.epilogue;
    return {false, false, false};
  }

  /// Whether a pool may join a convolution, which is another one with it: what
  /// was measured is one without.
  static bool isPooledNext(StepOp step, const Target &target) {
    return target.machine->joinsPools && isa<ConvOp>(rootOf(step)) &&
           llvm::any_of(step->getUsers(), [](Operation *user) {
             auto reader = dyn_cast<StepOp>(user);
             return reader && rootOf(reader) && isJoinablePool(rootOf(reader));
           });
  }

  /// What a table says of a step, where the options allow it.
  const TunedTable::Entry *measured(StepOp step, const Target &target,
                                    Libraries allowed) {
    if (!table || way || !target.schedules || !isTunable(step) ||
        isPooledNext(step, target))
      return nullptr;
    const TunedTable::Entry *entry = table->find(precision, tuningKey(step));
    return entry && allowed.allow(entry->choice.impl) &&
                   canTake(step, entry->choice.impl,
                           epilogueOf(step, entry->choice.impl, target))
               ? entry
               : nullptr;
  }

  /// Has a step computed as a table says, which may be wrong.
  LogicalResult apply(const StepChoice &choice, StepOp &step,
                      const Target &target, StepNames &names) {
    std::string key = tuningKey(step);
    take(choice, epilogueOf(step, choice.impl, target), step, names);
    std::string problem = choice.schedule ? whyUnfit(step) : "";
    if (problem.empty() && target.canCompute(step))
      return success();
    return getOperation().emitError(tuned)
           << ": expected a choice that can compute '" << key << "', got '"
           << stringifyImpl(choice.impl) << "'" << (problem.empty() ? "" : "; ")
           << problem;
  }

  /// Takes candidate number `candidate` of a step, or the untuned choice where
  /// there are fewer. The steps that it becomes say so.
  LogicalResult tryCandidate(StepOp step, const Target &target,
                             Libraries allowed, StepNames &names) {
    const Preference *preference = preferred(step, target, allowed);
    Mma mma = preference ? preference->mma : Mma::ffma;
    StepChoice untuned;
    untuned.impl = preference ? preference->impl : Impl::kernel;
    untuned.schedule =
        untuned.impl != Impl::kernel
            ? mmaOnly(&getContext(), mma)
            : scheduleAttribute(&getContext(), chooseSchedule(step, mma));
    std::vector<StepChoice> choices =
        candidatesFor(step, target, allowed, *wanted, untuned);
    int64_t number = candidate < int64_t(choices.size()) ? candidate : 0;
    if (!canTake(step, choices[number].impl,
                 epilogueOf(step, choices[number].impl, target)))
      number = 0;
    Builder builder(&getContext());
    auto mark = builder.getDictionaryAttr(
        {builder.getNamedAttr("key", builder.getStringAttr(tuningKey(step))),
         builder.getNamedAttr("number", builder.getI64IntegerAttr(number)),
         builder.getNamedAttr("whole", step.getNameAttr())});
    Operation *before = step->getPrevNode(), *after = step->getNextNode();
    Block *block = step->getBlock();
    if (failed(apply(choices[number], step, target, names)))
      return failure();
    for (Operation *op = before ? before->getNextNode() : &block->front();
         op != after; op = op->getNextNode())
      if (isa<StepOp>(op))
        op->setAttr(candidateAttribute, mark);
    return success();
  }
};
} // namespace

} // namespace mlir::mnistc
