//===- Parameters.h - what outlives a run of a plan -------------*- C++ -*-===//
//
// A parameter is an `ml_program.global`; a planned function has its value as an
// argument and its new value as a result, both with the attribute
// `mnist.parameter`.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_PARAMETERS_H
#define MNISTC_IR_PLAN_PARAMETERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

namespace mlir::mnistc {

inline constexpr llvm::StringLiteral parameterAttribute = "mnist.parameter";

/// The parameter that an argument of a function is, or null.
inline StringAttr parameterOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                               parameterAttribute);
}

/// The parameter that result number `result` of a function updates, or null.
inline StringAttr parameterOf(func::FuncOp function, unsigned result) {
  return function.getResultAttrOfType<StringAttr>(result, parameterAttribute);
}

/// The old value of a parameter of which a value is the new one, or null.
Value oldValueOf(Value value);

/// Says what keeps a global from having a place: its type or its value.
LogicalResult checkParameter(ml_program::GlobalOp global);

/// Whether a global begins as zeros, which a program need not carry.
bool beginsAsZeros(ml_program::GlobalOp global);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_PARAMETERS_H
