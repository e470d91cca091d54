//===- TensorShape.h - the shape of a value that is a tensor ----*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_TENSORSHAPE_H
#define MNISTC_IR_MNIST_TENSORSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::mnistc {

inline ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// The elements.
inline int64_t countOf(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_TENSORSHAPE_H
