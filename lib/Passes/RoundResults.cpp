//===- RoundResults.cpp - large results take two bytes --------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ROUNDRESULTS
#include "lib/Passes/Passes.h.inc"

/// Whether our text loads and stores its elements one by one, as they are.
static bool isGenerated(StepOp step) {
  return step.getImpl() == Impl::kernel && linksOf(step).empty() &&
         (!isPoolStep(step) || isContraction(rootOf(step)));
}

/// Whether the step loops over elements of any type.
static bool isLoop(StepOp step) {
  Operation *root = rootOf(step);
  return !root || isRowStep(step) || isa<ReductionOpInterface>(root);
}

/// Whether an op takes this operand in bf16 as well. What moves elements then
/// gives them so to those that take them.
static bool takesRounded(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto unpool = dyn_cast<MaxUnpoolOp>(op))
    return isInlined(op) && operand.get() == unpool.getInput() &&
           llvm::all_of(op->getUses(), takesRounded);
  return isImageOfConv(operand);
}

/// Whether `root` is computed from `value`, but not as an image.
static bool feeds(Value value, Operation *root) {
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(value.getUses()));
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!uses.empty()) {
    OpOperand *use = uses.pop_back_val();
    Operation *user = use->getOwner();
    if (use->get() == value && takesRounded(*use))
      continue;
    if (user == root)
      return true;
    if (seen.insert(user).second)
      llvm::append_range(uses, llvm::make_pointer_range(user->getUses()));
  }
  return false;
}

/// Whether a step may load what it reads here in bf16. What a root other than
/// a reduction reads, its kernel copies, but for images of convolutions.
static bool mayLoadRounded(OpOperand &use) {
  auto step = dyn_cast<StepOp>(use.getOwner());
  return step && isGenerated(step) &&
         (isLoop(step) ||
          !feeds(step.getBody().getArgument(use.getOperandNumber()),
                 rootOf(step)));
}

/// Whether a step may store this result in bf16. Sums are stored as they are.
static bool mayStoreRounded(StepOp step, OpResult result) {
  if (!isGenerated(step) ||
      !yieldsOf(step)[result.getResultNumber()].getDefiningOp())
    return false;
  Operation *root = rootOf(step);
  if (isRowStep(step))
    return countOf(root->getOperand(0)) == countOf(result);
  return !root || isContraction(root);
}

namespace {
struct RoundResults : impl::RoundResultsBase<RoundResults> {
  using RoundResultsBase::RoundResultsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    ofUpdates.clear();
    for (StepOp step : getOperation().getOps<StepOp>())
      for (OpResult result : step->getResults())
        if (isRoundable(step, result)) {
          round(step, result);
          readOnce(step, result);
          ++numRounded;
        }
  }

private:
  DenseMap<Value, bool> ofUpdates;

  bool isRoundable(StepOp step, OpResult result) {
    return getElementTypeOrSelf(result).isF32() && countOf(result) >= from &&
           !result.use_empty() && mayStoreRounded(step, result) &&
           llvm::all_of(result.getUses(), mayLoadRounded) &&
           !isOfUpdate(result);
  }

  /// Whether the function returns as many elements that are made of it: then it
  /// may be the gradient of a parameter, or what that is made.
  bool isOfUpdate(Value value) {
    if (auto known = ofUpdates.find(value); known != ofUpdates.end())
      return known->second;
    bool isSo = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->hasTrait<OpTrait::IsTerminator>() ||
             llvm::any_of(user->getResults(), [&](Value next) {
               return countOf(next) == countOf(value) && isOfUpdate(next);
             });
    });
    return ofUpdates[value] = isSo;
  }

  /// `value` with elements of another type.
  static Value castTo(Type element, Value value, OpBuilder &b) {
    auto type = cast<RankedTensorType>(value.getType());
    return b.create<CastOp>(value.getLoc(), type.clone(element), value);
  }

  /// Whether all that a step does is to round what is rounded already.
  static bool onlyRounds(StepOp step, OpResult rounded) {
    Block &body = step.getBody().front();
    if (step.getNumOperands() != 1 || step.getNumResults() != 1 ||
        step.getOperand(0) != rounded ||
        step.getResultTypes().front() != rounded.getType())
      return false;
    auto narrow = yieldsOf(step)[0].getDefiningOp<CastOp>();
    auto wide = narrow ? narrow.getInput().getDefiningOp<CastOp>() : CastOp();
    return wide && wide.getInput() == body.getArgument(0);
  }

  /// A library may read rounded operands, which a step has made of the result:
  /// these are the result now, and the step that makes only it has the name.
  static void readOnce(StepOp step, OpResult result) {
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto rounding = cast<StepOp>(user); onlyRounds(rounding, result)) {
        if (step->getNumResults() == 1)
          step.setName(rounding.getName());
        rounding.getResult(0).replaceAllUsesWith(result);
        rounding.erase();
      }
  }

  /// Stores bf16, which all who read it cast.
  static void round(StepOp step, OpResult result) {
    Operation *yield = step.getBody().front().getTerminator();
    OpOperand &exact = yield->getOpOperand(result.getResultNumber());
    OpBuilder b(yield);
    exact.set(castTo(b.getBF16Type(), exact.get(), b));
    result.setType(exact.get().getType());
    for (OpOperand &use : result.getUses()) {
      Block &body = cast<StepOp>(use.getOwner()).getBody().front();
      BlockArgument loaded = body.getArgument(use.getOperandNumber());
      loaded.setType(result.getType());
      for (OpOperand &inner : loaded.getUses())
        if (auto unpool = dyn_cast<MaxUnpoolOp>(inner.getOwner());
            unpool && takesRounded(inner))
          unpool.getOutput().setType(
              unpool.getOutput().getType().clone(b.getBF16Type()));
      b.setInsertionPointToStart(&body);
      Value wide = castTo(b.getF32Type(), loaded, b);
      loaded.replaceUsesWithIf(wide, [&](OpOperand &inner) {
        return inner.getOwner() != wide.getDefiningOp() && !takesRounded(inner);
      });
      if (wide.use_empty())
        wide.getDefiningOp()->erase();
    }
  }
};
} // namespace

} // namespace mlir::mnistc
