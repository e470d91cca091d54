//===- RoundResults.cpp - large results take two bytes --------------------===//

#include "lib/IR/Mnist/SameBits.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/SplitAroundRoot.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ROUNDRESULTS
#include "lib/Passes/Passes.h.inc"

/// Whether our text loads and stores its elements one by one, as they are.
static bool isGenerated(StepOp step) {
  return step.getImpl() == Impl::kernel && linksOf(step).empty();
}

/// Whether the step loops over elements of any type.
static bool isLoop(StepOp step) {
  Operation *root = rootOf(step);
  return !root || isRowStep(step) ||
         isa<ReductionOpInterface, PoolOpInterface>(root);
}

/// Whether an op moves the elements of this operand and does nothing else.
static bool moves(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto unpool = dyn_cast<MaxUnpoolOp>(op))
    return isInlined(op) && operand.get() == unpool.getInput();
  return isa<ReshapeOp, TransposeOp, SliceOp>(op);
}

/// Whether an op takes this operand in bf16 as well. What moves elements then
/// gives them so to those that take them.
static bool takesRounded(OpOperand &operand) {
  return moves(operand)
             ? llvm::all_of(operand.getOwner()->getUses(), takesRounded)
             : mayBeRounded(operand);
}

/// Whether `root` is computed from `value`, other than as what it takes
/// rounded.
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

/// Whether a step asks what it reads here to equal something.
static bool needsSameBits(OpOperand &use) {
  auto step = cast<StepOp>(use.getOwner());
  return elementsAskedToBeEqual(step.getBody().front())
      .contains(step.getBody().getArgument(use.getOperandNumber()));
}

/// Whether a step may load what it reads here in bf16. What a root other than
/// a reduction or a pool reads, its kernel copies, unless it takes that
/// rounded.
static bool mayLoadRounded(OpOperand &use) {
  auto step = dyn_cast<StepOp>(use.getOwner());
  return step && isGenerated(step) &&
         (isLoop(step) ||
          !feeds(step.getBody().getArgument(use.getOperandNumber()),
                 rootOf(step)));
}

/// Whether a step may load something computed of what it reads here instead.
static bool mayComputeRounded(OpOperand &use) {
  auto step = dyn_cast<StepOp>(use.getOwner());
  return step && mayLoadRounded(use) &&
         llvm::none_of(
             step.getBody().getArgument(use.getOperandNumber()).getUses(),
             takesRounded);
}

/// Whether a library multiplies rounded operands, and what it computes of their
/// product may be computed by those who read it.
static bool isRoundableProduct(StepOp step) {
  if (step.getImpl() == Impl::kernel ||
      !isa_and_nonnull<MatmulOp>(rootOf(step)) || !readsRounded(rootOf(step)))
    return false;
  std::optional<LibraryEpilogue> epilogue = matchLibraryEpilogue(step);
  // Of as many elements each would have to load more.
  return epilogue && !epilogue->residual &&
         ((!epilogue->bias && !epilogue->relu) ||
          llvm::all_of(step.getResult(0).getUses(), mayComputeRounded));
}

/// Whether a step may store this result in bf16. Sums are stored as they are.
static bool mayStoreRounded(StepOp step, OpResult result) {
  if (!isGenerated(step) ||
      !yieldsOf(step)[result.getResultNumber()].getDefiningOp())
    return isRoundableProduct(step);
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
    moveEpilogues();
    ofUpdates.clear();
    for (StepOp step : getOperation().getOps<StepOp>())
      for (OpResult result : step->getResults())
        if (isRoundable(step, result)) {
          round(step, result);
          ++numRounded;
        }
    for (StepOp step :
         llvm::make_early_inc_range(getOperation().getOps<StepOp>()))
      if (onlyPassesOn(step))
        forward(step);
      else
        giveOnce(step);
  }

private:
  DenseMap<Value, bool> ofUpdates;

  bool isRoundable(StepOp step, OpResult result) {
    return getElementTypeOrSelf(result).isF32() && countOf(result) >= from &&
           !result.use_empty() && mayStoreRounded(step, result) &&
           llvm::all_of(result.getUses(), mayLoadRounded) &&
           llvm::none_of(result.getUses(), needsSameBits) &&
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

  /// A library does not round a sum after it has added a bias: all that read it
  /// do that.
  void moveEpilogues() {
    ofUpdates.clear();
    SmallVector<StepOp> products;
    for (StepOp step : getOperation().getOps<StepOp>())
      if (isRoundableProduct(step) && isRoundable(step, step->getResult(0)) &&
          !endsInRoot(step))
        products.push_back(step);
    StepNames names(getOperation().getBody().front());
    for (StepOp product : products)
      moveEpilogue(product, names);
  }

  static bool endsInRoot(StepOp step) {
    return skipReshapes(yieldsOf(step).front()) == rootOf(step)->getResult(0);
  }

  static void moveEpilogue(StepOp product, StepNames &names) {
    ImplAttr impl = product.getImplAttr();
    Attribute schedule = product.getScheduleAttr();
    StepOp root = splitAroundRoot(product, {false, false, false}, names);
    root.setImplAttr(impl);
    root.setScheduleAttr(schedule);
    auto rest = cast<StepOp>(*root->user_begin());
    while (!rest->use_empty()) {
      auto reader = cast<StepOp>(*rest->user_begin());
      auto copy = cast<StepOp>(OpBuilder(reader).clone(*rest));
      reader->replaceUsesOfWith(rest.getResult(0), copy.getResult(0));
      joinTo(reader, {copy, reader}, SmallVector<Value>(reader.getResults()),
             reader);
    }
    rest.erase();
  }

  /// `value` with elements of another type.
  static Value castTo(Type element, Value value, OpBuilder &b) {
    auto type = cast<RankedTensorType>(value.getType());
    return b.create<CastOp>(value.getLoc(), type.clone(element), value);
  }

  /// A library's product gives bf16 itself.
  static void roundProduct(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(type.clone(element));
    if (auto reshape = value.getDefiningOp<ReshapeOp>())
      roundProduct(reshape.getInput(), element);
  }

  /// The same in bf16: what is rounded for a library already, or anew.
  static Value rounded(Value exact, OpBuilder &b) {
    for (Operation *user : exact.getUsers())
      if (isa<CastOp>(user) &&
          getElementTypeOrSelf(user->getResult(0)).isBF16())
        return user->getResult(0);
    return castTo(b.getBF16Type(), exact, b);
  }

  static void roundYield(StepOp step, OpResult result) {
    Operation *yield = step.getBody().front().getTerminator();
    OpOperand &exact = yield->getOpOperand(result.getResultNumber());
    OpBuilder b(yield);
    auto wide = exact.get().getDefiningOp<CastOp>();
    if (isRoundableProduct(step))
      roundProduct(exact.get(), b.getBF16Type());
    else if (wide && getElementTypeOrSelf(wide.getInput()).isBF16())
      exact.set(wide.getInput());
    else
      exact.set(rounded(exact.get(), b));
    result.setType(exact.get().getType());
    if (wide && wide.use_empty())
      wide.erase();
  }

  /// Casts what is rounded for those that do not take it so: behind what moves
  /// it, where rows and maps see that they load it as it is.
  static void widen(Value rounded) {
    OpBuilder b(rounded.getContext());
    b.setInsertionPointAfterValue(rounded);
    Value wide = castTo(b.getF32Type(), rounded, b);
    for (OpOperand &use : llvm::make_early_inc_range(rounded.getUses())) {
      Operation *user = use.getOwner();
      const bool takes = takesRounded(use);
      if (user == wide.getDefiningOp())
        continue;
      if (moves(use) && (takes || !isa<MaxUnpoolOp>(user))) {
        Value moved = user->getResult(0);
        auto type = cast<RankedTensorType>(moved.getType());
        moved.setType(type.clone(getElementTypeOrSelf(rounded)));
        widen(moved);
      } else if (!takes) {
        use.set(wide);
      }
    }
    for (Operation *user : llvm::make_early_inc_range(wide.getUsers()))
      if (isa<CastOp>(user) &&
          user->getResult(0).getType() == rounded.getType()) {
        user->getResult(0).replaceAllUsesWith(rounded);
        user->erase();
      }
    if (wide.use_empty())
      wide.getDefiningOp()->erase();
  }

  /// Whether a step stores what it reads as it is: it had rounded for a library
  /// what is rounded now, or cast what a library gives in bf16.
  static bool onlyPassesOn(StepOp step) {
    return step.getNumResults() == 1 && step.getNumOperands() == 1 &&
           step.getImpl() == Impl::kernel &&
           step.getOperand(0).getDefiningOp<StepOp>() &&
           getElementTypeOrSelf(step.getResult(0)).isBF16() &&
           step.getOperand(0).getType() == step.getResult(0).getType() &&
           skipReshapes(yieldsOf(step)[0]) == step.getBody().getArgument(0);
  }

  /// Has others read it where it comes from: the step that makes only it has
  /// the name.
  static void forward(StepOp step) {
    auto maker = step.getOperand(0).getDefiningOp<StepOp>();
    if (maker->getNumResults() == 1)
      maker.setName(step.getName());
    step.getResult(0).replaceAllUsesWith(step.getOperand(0));
    step.erase();
  }

  /// What is rounded for a library and for others is stored once.
  static void giveOnce(StepOp step) {
    SmallVector<Value> given;
    for (OpResult result : step->getResults())
      if (Value same = sameRounded(result, given))
        result.replaceAllUsesWith(same);
      else
        given.push_back(result);
    if (given.size() != step.getNumResults())
      joinTo(step, {step}, given, step);
  }
  /// Of some results of a step the one that is this one, in bf16, for steps.
  static Value sameRounded(OpResult result, ArrayRef<Value> given) {
    auto step = cast<StepOp>(result.getOwner());
    auto yielded = [&](Value value) {
      return yieldsOf(step)[cast<OpResult>(value).getResultNumber()];
    };
    if (getElementTypeOrSelf(result).isBF16() &&
        llvm::all_of(result.getUsers(), llvm::IsaPred<StepOp>))
      for (Value other : given)
        if (yielded(other) == yielded(result))
          return other;
    return nullptr;
  }

  /// Stores bf16, which all who read it cast.
  static void round(StepOp step, OpResult result) {
    roundYield(step, result);
    for (OpOperand &use : result.getUses()) {
      Block &body = cast<StepOp>(use.getOwner()).getBody().front();
      BlockArgument loaded = body.getArgument(use.getOperandNumber());
      loaded.setType(result.getType());
      widen(loaded);
    }
  }
};
} // namespace

} // namespace mlir::mnistc
