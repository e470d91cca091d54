//===- NetworkOps.cpp - generated definitions, in a unit of their own -----===//
//
// Split three ways for the build's sake; what is written by hand is in
// MnistVerifiers.cpp, MnistFolds.cpp and MnistGradients.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/RootAnswers.h"
#include "lib/IR/Mnist/TensorSize.h"

using namespace mlir;
using namespace mlir::mnistc;

#define GET_OP_CLASSES
#include "lib/IR/Mnist/NetworkOps.cpp.inc"
