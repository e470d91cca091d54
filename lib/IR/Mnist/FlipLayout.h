//===- FlipLayout.h - an op in the other layout -----------------*- C++ -*-===//

#ifndef MNISTC_IR_MNIST_FLIPLAYOUT_H
#define MNISTC_IR_MNIST_FLIPLAYOUT_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// Has `op` read and write images and filters in the layout `layout`, between
/// transposes; those of constants are constants.
void flipLayout(LayoutOpInterface op, Layout layout);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_FLIPLAYOUT_H
