//===- PlanKind.h - what a function is for, by its name ---------*- C++ -*-===//

#ifndef MNISTC_IR_PLANKIND_H
#define MNISTC_IR_PLANKIND_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mnistrt/training.h"

namespace mlir::mnistc {

inline bool isOfKind(func::FuncOp function, const char *kind) {
  return mn::isOfKind(function.getName().str().c_str(), kind);
}

/// "train_64" of "infer_64".
inline std::string nameOfKind(func::FuncOp infer, const char *kind) {
  return (kind + infer.getName().drop_front(StringRef(mn::kinds::infer).size()))
      .str();
}

/// Whether `function` computes a loss, to be differentiated.
inline bool trains(func::FuncOp function) {
  return !function.isExternal() && isOfKind(function, mn::kinds::train) &&
         function.getNumResults() != 0 &&
         function.getResultAttr(0, "mnist.loss");
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLANKIND_H
