//===- SameBits.h - numbers that are asked to be equal ----------*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_SAMEBITS_H
#define MNISTC_IR_MNIST_SAMEBITS_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// The values of a block of which an op asks whether they equal others, as the
/// gradient of a maximum looks for it; also those that are only moved before.
/// If one were computed again, perhaps in another order, it might not.
llvm::DenseSet<Value> valuesAskedToBeEqual(Block &block);

/// These, and what they are computed from, one element by one. If some read one
/// in fewer bits than others, they would not be equal.
llvm::DenseSet<Value> elementsAskedToBeEqual(Block &block);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_SAMEBITS_H
