//===- RowParts.h - ops as reductions of rows and maps ----------*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_ROWPARTS_H
#define MNISTC_IR_PLAN_ROWPARTS_H

#include "lib/IR/Plan/RowBody.h"

namespace mlir::mnistc {

/// What could join a step that reduces rows if it were written otherwise: a
/// softmax as its maximum, its sum and maps; a reduction of all elements as one
/// of each row and one of all rows; a reduction that was to be computed where
/// it is read. All of these in a block, until they are put back.
class RowParts {
public:
  RowParts(Block &block, const RowSpace &space);
  RowParts(const RowParts &) = delete;
  /// What was not put back stays as it is.
  ~RowParts();

  bool empty() const { return rewritten.empty(); }
  /// The reduction that an op begins with now.
  Operation *firstOf(Operation *op) const;
  /// Puts back what is not all `inside`; whether there was any.
  bool putBackUnless(llvm::function_ref<bool(Operation *)> inside);
  void putBack() {
    putBackUnless([](Operation *) { return false; });
  }
  /// Whether an op takes no step even if it joins none: it was inlined, or is
  /// part of a softmax.
  bool takesNoStep(Operation *op) const;

private:
  struct Rewritten {
    Operation *op;                  ///< out of its block, if not inlined
    SmallVector<Operation *> parts; ///< in their order
    bool isInlined;                 ///< else; `op` is the only part
  };
  void rewrite(Operation *op);
  void splitSoftmax(Operation *op);
  void splitWhole(Operation *op);
  void takeOut(Operation *op, ArrayRef<Operation *> parts);
  void putBack(Rewritten &one);

  RowSpace space;
  SmallVector<Rewritten> rewritten;
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_ROWPARTS_H
