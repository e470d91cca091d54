//===- OutputScores.h - what the numbers of an output are -------*- C++ -*-===//
//
// Logits, or probabilities that do not come from a softmax.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_OUTPUTSCORES_H
#define MNISTC_IR_MNIST_OUTPUTSCORES_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// Scores are [rows, classes, ...]: each row may have more dimensions, all of
/// whose places are classified. Labels have the same shape without the classes.
inline constexpr int64_t classDim = 1;

/// For an output of probabilities, such as 1 - s and s, or e divided
/// by its sum: scores whose softmax it is. Null for others.
Value scoresOfProbabilities(Value output, OpBuilder &builder);

/// Whether an output looks as scores do that no activation followed.
bool looksLikeLogits(Value output);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_OUTPUTSCORES_H
