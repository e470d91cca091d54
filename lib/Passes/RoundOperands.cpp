//===- RoundOperands.cpp - products that read bf16 from memory ------------===//

#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
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
    rounded.clear();
    for (auto op : getOperation().getOps<MatmulOp>())
      if (isRoundable(op) && pays(op, *(*found)->machine, *allowed)) {
        round(op);
        ++numRounded;
      }
  }

private:
  DenseMap<Value, Value> rounded;

  void fail(llvm::Error error) {
    getOperation().emitError(llvm::toString(std::move(error)));
    signalPassFailure();
  }

  /// Whether the machine prefers what is allowed for rounded operands.
  static bool pays(MatmulOp op, const Machine &machine, Libraries allowed) {
    return llvm::any_of(machine.preferences, [&](const Preference &preference) {
      return preference.rounded && allowed.allow(preference.impl) &&
             preference.objection(op).empty();
    });
  }

  static bool isRoundable(MatmulOp op) {
    return llvm::all_of(op->getOperands(), [](Value operand) {
      return getElementTypeOrSelf(operand).isF32() &&
             !constantValue(skipReshapes(operand));
    });
  }

  void round(MatmulOp op) {
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      operand.set(b.createOrFold<ReshapeOp>(operand.get().getLoc(),
                                            type.clone(b.getBF16Type()),
                                            castOf(operand.get())));
    }
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
