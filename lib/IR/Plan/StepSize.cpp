//===- StepSize.cpp - how much text an element of a step takes ------------===//

#include "lib/IR/Plan/StepSize.h"
#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {
class Count {
public:
  explicit Count(llvm::function_ref<bool(Operation *)> inside)
      : inside(inside) {}

  /// `op` is read at the index that `place` stands for. False once there are
  /// too many; so the recursion is no deeper than that.
  bool add(Operation *op, size_t place) {
    if (!inside(op) || !seen.insert({op, place}).second)
      return true;
    if (seen.size() > maxFusedOps)
      return false;
    bool samePlace = op->hasTrait<Elementwise>();
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      Operation *producer = operand.getDefiningOp();
      size_t where = samePlace ? place : placeOf(op, number, place);
      if (producer && !add(producer, where))
        return false;
    }
    return true;
  }

private:
  /// Equal ops lead from one place to one place, unless it is not they who say
  /// to which.
  static size_t placeOf(Operation *op, size_t number, size_t place) {
    if (isa<GatherOp>(op) || isInlined(op))
      return llvm::hash_combine(op, number, place);
    return llvm::hash_combine(op->getName().getAsOpaquePointer(),
                              op->getAttrDictionary().getAsOpaquePointer(),
                              op->getOperand(number).getType(),
                              op->getResult(0).getType(), number, place);
  }

  llvm::function_ref<bool(Operation *)> inside;
  llvm::DenseSet<std::pair<Operation *, size_t>> seen;
};
} // namespace

bool mlir::mnistc::fitsStep(Operation *last,
                            llvm::function_ref<bool(Operation *)> inside) {
  return Count(inside).add(last, 0);
}
