//===- Evaluate.h - ops on constants, computed by the compiler --*- C++ -*-===//
//
// Computes in the element type, as the run time does, but not always in its
// order: results agree within rounding.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_EVALUATE_H
#define MNISTC_IR_MNIST_EVALUATE_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// The result of `op` if its operands have the values `operands`. Null for ops
/// that are not computed here (windows, normalizations) and for values whose
/// elements are not available. Splats cost nothing.
ElementsAttr evaluate(Operation *op, ArrayRef<ElementsAttr> operands);

/// How many elements `op` reads or multiplies, at most.
double evaluationWork(Operation *op);

/// The value of a constant, or null.
ElementsAttr constantValue(Value value);

/// A constant that is computed from `sources`. It has the name (`mnist.name`)
/// of the first of them that has one; locations do not name constants, since
/// MLIR's folder drops them.
ConstantOp createConstant(OpBuilder &builder, Location loc, ElementsAttr value,
                          ValueRange sources);

/// Creates an `Op`; where all its operands are constants, its value instead.
template <typename Op, typename... Args>
Value createOrEvaluate(OpBuilder &builder, Location loc, Args &&...args) {
  // Created outside of any block: a rewriter must not be notified of an op that
  // is erased immediately.
  OpBuilder nowhere(builder.getContext());
  auto op = nowhere.create<Op>(loc, std::forward<Args>(args)...);
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands())
    operands.push_back(constantValue(operand));
  if (!llvm::is_contained(operands, ElementsAttr()))
    if (ElementsAttr value = evaluate(op, operands)) {
      Value constant = createConstant(builder, loc, value, op->getOperands());
      op->erase();
      return constant;
    }
  return builder.insert(op.getOperation())->getResult(0);
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_EVALUATE_H
