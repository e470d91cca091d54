//===- TensorShape.h - the shape of a value that is a tensor ----*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_TENSORSHAPE_H
#define MNISTC_IR_MNIST_TENSORSHAPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::mnistc {

inline ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// The elements.
inline int64_t countOf(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}

/// Whether at least some of the elements along `dims` of a tensor are adjacent
/// in memory: those along the last dimension.
inline bool areAdjacentInPart(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t last = int64_t(shape.size()) - 1;
  while (last > 0 && shape[last] == 1)
    --last;
  return llvm::is_contained(dims, last);
}

/// Whether the elements along `dims` of a tensor are adjacent in memory.
inline bool areAdjacent(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  bool begun = false;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool along = llvm::is_contained(dims, static_cast<int64_t>(dim));
    if (begun && !along && size != 1)
      return false;
    begun |= along && size != 1;
  }
  return true;
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_TENSORSHAPE_H
