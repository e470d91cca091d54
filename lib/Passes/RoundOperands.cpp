//===- RoundOperands.cpp - what reads bf16 from memory --------------------===//

#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/FlipLayout.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/PushTransposes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ROUNDOPERANDS
#include "lib/Passes/Passes.h.inc"

namespace {
struct RoundOperands : impl::RoundOperandsBase<RoundOperands> {
  using RoundOperandsBase::RoundOperandsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    llvm::Expected<const Target *> found = Target::get(target);
    if (!found)
      return fail(found.takeError());
    llvm::Expected<Libraries> allowed = Libraries::parse(libraries);
    if (!allowed)
      return fail(allowed.takeError());
    rounded.clear(), transposed.clear();
    bool turned = false;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getOps()))
      if (isContraction(&op) && isRoundable(&op) &&
          pays(&op, **found, *allowed)) {
        round(&op);
        ++numRounded;
        turned |= isa<LayoutOpInterface>(op);
      }
    // What is between two convolutions may stay in their layout.
    if (turned && push)
      pushTransposes(getOperation());
  }

private:
  DenseMap<Value, Value> rounded, transposed; ///< what each value is made

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }

  /// Whether the machine prefers what is allowed for rounded operands.
  static bool pays(Operation *op, const Target &target, Libraries allowed) {
    return llvm::any_of(target.machine->preferences,
                        [&](const Preference &preference) {
                          return allowed.allow(preference.impl) &&
                                 target.prefersRounded(preference, op);
                        });
  }

  static bool isRoundable(Operation *op) {
    return llvm::all_of(op->getOperands(), [](Value operand) {
      return getElementTypeOrSelf(operand).isF32() &&
             !constantValue(skipReshapes(operand));
    });
  }

  /// A product as it is; a convolution in the layout that libraries are made
  /// for, and its result, too.
  void round(Operation *op) {
    auto image = dyn_cast<LayoutOpInterface>(op);
    if (image && image.getLayout() != Layout::nhwc) {
      flipLayout(image, Layout::nhwc);
      for (OpOperand &operand : op->getOpOperands())
        shareTranspose(operand);
    }
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      operand.set(b.createOrFold<ReshapeOp>(operand.get().getLoc(),
                                            type.clone(b.getBF16Type()),
                                            castOf(operand.get())));
    }
    if (image)
      roundResult(op);
  }

  /// Transposes once, whoever reads it, and where the operand is made: the step
  /// that makes it may do both.
  void shareTranspose(OpOperand &operand) {
    auto transpose = operand.get().getDefiningOp<TransposeOp>();
    if (!transpose)
      return;
    Value whole = transpose.getInput();
    auto [known, isNew] = transposed.try_emplace(whole, transpose);
    if (!isNew) {
      operand.set(known->second);
      transpose->erase();
    } else if (Operation *maker = whole.getDefiningOp()) {
      transpose->moveAfter(maker);
    } else {
      transpose->moveBefore(&transpose->getBlock()->front());
    }
  }

  /// Has `op` give bf16, which is cast for those that read it.
  void roundResult(Operation *op) {
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    result.setType(type.clone(b.getBF16Type()));
    auto wide = b.create<CastOp>(op->getLoc(), type, result);
    result.replaceAllUsesExcept(wide, wide);
  }

  /// What is under the reshapes of `value`, rounded where it is made.
  Value castOf(Value value) {
    Value whole = skipReshapes(value);
    Value &cast = rounded[whole];
    if (!cast) {
      OpBuilder b(getOperation().getContext());
      b.setInsertionPointAfterValue(whole);
      auto type = mlir::cast<RankedTensorType>(whole.getType());
      cast =
          b.create<CastOp>(whole.getLoc(), type.clone(b.getBF16Type()), whole);
    }
    return cast;
  }
};
} // namespace

} // namespace mlir::mnistc
