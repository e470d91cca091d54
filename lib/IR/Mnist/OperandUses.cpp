//===- OperandUses.cpp - what ops do with tensors of the model's file -----===//
//
// What is learned and what is a number of a formula looks the same in a file:
// the op that reads it decides. Ops that are not here pass one operand on, or
// take a number (MnistInterfaces.td).
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/MnistOps.h"

using namespace mlir;
using namespace mlir::mnistc;

OperandUse mlir::mnistc::usualOperandUse(Operation *op) {
  bool handsOn = op->hasTrait<Indexing>() || op->getNumOperands() == 1;
  return handsOn ? OperandUse::value : OperandUse::number;
}

//===----------------------------------------------------------------------===//
// Contractions and normalization
//===----------------------------------------------------------------------===//

OperandUse MatmulOp::getOperandUse(unsigned) { return OperandUse::weight; }

OperandUse ConvOp::getOperandUse(unsigned) { return OperandUse::weight; }

OperandUse ConvInputGradOp::getOperandUse(unsigned) {
  return OperandUse::weight;
}

OperandUse BatchNormOp::getOperandUse(unsigned operand) {
  return operand < 3 ? OperandUse::weight : OperandUse::statistic;
}

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

/// A table from which the data choose; else a part of a tensor.
OperandUse GatherOp::getOperandUse(unsigned operand) {
  if (operand != 0)
    return OperandUse::number;
  return getIndices().getDefiningOp<ConstantOp>() ? OperandUse::value
                                                  : OperandUse::weight;
}

/// A learned token is joined to the data.
OperandUse ConcatOp::getOperandUse(unsigned) { return OperandUse::shift; }

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

OperandUse AddOp::getOperandUse(unsigned) { return OperandUse::shift; }

/// What is taken from a value is a mean.
OperandUse SubOp::getOperandUse(unsigned operand) {
  return operand == 0 ? OperandUse::shift : OperandUse::statistic;
}

OperandUse MulOp::getOperandUse(unsigned) { return OperandUse::scale; }

/// What a value is divided by is a deviation.
OperandUse DivOp::getOperandUse(unsigned operand) {
  return operand == 0 ? OperandUse::dividend : OperandUse::statistic;
}

/// Of a variance.
OperandUse SqrtOp::getOperandUse(unsigned) { return OperandUse::statistic; }
