//===- Evaluators.h - the parts of the evaluator ----------------*- C++ -*-===//
//
// Private to the Evaluate*.cpp files. Each returns none for other ops.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_EVALUATORS_H
#define MNISTC_IR_MNIST_EVALUATORS_H

#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "mnistrt/reductions.h"

namespace mlir::mnistc {

using MaybeTensor = std::optional<HostTensor>;

inline RankedTensorType resultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

MaybeTensor evaluateElementwise(Operation *op, ArrayRef<HostTensor> operands);
MaybeTensor evaluateIndexing(Operation *op, ArrayRef<HostTensor> operands);
MaybeTensor evaluateReduction(Operation *op, ArrayRef<HostTensor> operands);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_EVALUATORS_H
