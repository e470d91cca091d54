//===- ElementwiseOps.cpp - generated definitions -------------------------===//
//
// Split three ways to build faster; what is not generated is in
// MnistVerifiers.cpp, MnistFolds.cpp and MnistGradients.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/TensorSize.h"

using namespace mlir;
using namespace mlir::mnistc;

#define GET_OP_CLASSES
#include "lib/IR/Mnist/ElementwiseOps.cpp.inc"
