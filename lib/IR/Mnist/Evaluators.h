//===- Evaluators.h - the parts of the evaluator ----------------*- C++ -*-===//
//
// Private to the Evaluate*.cpp files. Each returns none for ops not its own.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_EVALUATORS_H
#define MNISTC_IR_MNIST_EVALUATORS_H

#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/MnistOps.h"
#include <cmath>
#include <limits>

namespace mlir::mnistc {

using MaybeTensor = std::optional<HostTensor>;

inline RankedTensorType resultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

/// C++ leaves the conversion of too large a number open: here the nearest one.
template <typename R, typename T> R convertNumber(T x) {
  if constexpr (std::is_same_v<R, bool>) {
    return x != T(0);
  } else if constexpr (std::is_integral_v<R> && std::is_floating_point_v<T>) {
    if (std::isnan(x))
      return R(0);
    // Rounded to T, the highest number may be one above it.
    if (x >= T(std::numeric_limits<R>::max()))
      return std::numeric_limits<R>::max();
    if (x <= T(std::numeric_limits<R>::min()))
      return std::numeric_limits<R>::min();
    return R(x);
  } else {
    return R(x);
  }
}

MaybeTensor evaluateElementwise(Operation *op, ArrayRef<HostTensor> operands);
MaybeTensor evaluateIndexing(Operation *op, ArrayRef<HostTensor> operands);
MaybeTensor evaluateReduction(Operation *op, ArrayRef<HostTensor> operands);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_EVALUATORS_H
