//===- MeetTransposes.h - transposes go on to where they meet ---*- C++ -*-===//
//
// A value may be another one with its elements in another order. Reshapes,
// slices, elementwise ops, and products with a matrix of weights compute the
// same from the one in its own order, as long as what they join or multiply
// stays together. So a transpose goes past them to those that follow, each of
// which then does what both did, or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_MEETTRANSPOSES_H
#define MNISTC_IR_MNIST_MEETTRANSPOSES_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// Lets each transpose in `block` for which that leaves fewer of them, and no
/// more bytes to move, go on to all that follow. Returns whether there was one;
/// what computed in its order is without users then, and to be erased.
bool meetTransposes(Block &block);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_MEETTRANSPOSES_H
