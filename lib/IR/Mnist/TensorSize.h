//===- TensorSize.h - the limits of a tensor --------------------*- C++ -*-===//
//
// One limit for files and texts alike, far above any memory, so that products
// and sums of sizes never overflow.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_TENSORSIZE_H
#define MNISTC_IR_MNIST_TENSORSIZE_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::mnistc {

inline constexpr int64_t maxTensorElements = int64_t(1) << 40;

/// Whether a tensor of these sizes, all known, is within the limit. A size of 0
/// must not hide one that is too large.
inline bool isCountable(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, std::max<int64_t>(size, 1), count) ||
        count > maxTensorElements)
      return false;
  return true;
}

/// Whether a step may have `type` in memory: Mnist_StoredTensor of
/// MnistTypes.td.
inline bool isStoredTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() ||
      !isCountable(tensor.getShape()))
    return false;
  Type element = tensor.getElementType();
  return element.isF32() || element.isF64() || element.isSignlessInteger(1) ||
         element.isSignlessInteger(32) || element.isSignlessInteger(64) ||
         element.isUnsignedInteger(8) || element.isBF16();
}

/// Whether `type` is what the model dialect calls a tensor: Mnist_Tensor of
/// MnistTypes.td.
inline bool isModelTensor(Type type) {
  return isStoredTensor(type) &&
         !cast<RankedTensorType>(type).getElementType().isBF16();
}

/// The maximum numbers of inputs and outputs: each is a table entry of the
/// program.
inline constexpr size_t maxInputs = 4096, maxOutputs = 4096;

/// The maximum number of a concat's operands: each is an argument of a kernel.
inline constexpr size_t maxConcatInputs = 256;

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_TENSORSIZE_H
