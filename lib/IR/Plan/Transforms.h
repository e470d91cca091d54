//===- Transforms.h - what a convolution by FFT needs -----------*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_TRANSFORMS_H
#define MNISTC_IR_PLAN_TRANSFORMS_H

#include "mlir/IR/Operation.h"

namespace mlir::mnistc {

/// The bytes that cuDNN's FFT makes of the three tensors of a two-dimensional
/// convolution, or of its gradient: of every channel tiles of 16 x 16 or of
/// 32 x 32 elements become half as many complex numbers. 0 for other roots, and
/// for windows that no tile holds. The engine asks for about as much scratch.
int64_t transformedBytes(Operation *root);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_TRANSFORMS_H
