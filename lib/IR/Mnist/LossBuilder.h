//===- LossBuilder.h - losses over the rows of a batch ----------*- C++ -*-===//
//
// The formulas are in TrainPasses.td.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_LOSSBUILDER_H
#define MNISTC_IR_MNIST_LOSSBUILDER_H

#include "lib/IR/Mnist/Arithmetic.h"

namespace mlir::mnistc {

/// What a function is trained for.
struct LossChoice {
  std::string kind;
  Value scores;     ///< what the loss is computed on
  bool classes;     ///< targets are classes; else values
  std::string text; ///< for --explain
};

/// Whether there is a score for each class, not one for the second of two.
bool hasScorePerClass(RankedTensorType scores);

/// The rows of a batch that count: the first ones, and how many the mean of the
/// loss is over, which are those of all ranks where there are several.
struct RowCounts {
  Value valid, total;
};

/// Builds the ops of a loss over rows.
class LossBuilder {
public:
  LossBuilder(OpBuilder &b, Location loc, Value labels, RowCounts rows)
      : a{b, loc}, labels(labels), rows(rows) {}

  /// From now on a label counts as often as the weight of its class says.
  /// `addsUp`: several ranks have a share of the labels each.
  void weigh(Value classWeights, bool addsUp);

  Value build(const LossChoice &choice, double smoothing);
  /// How many classes are right, as i64.
  Value correct(const LossChoice &choice);

private:
  Value isUsed(RankedTensorType type);
  Value isLabel(RankedTensorType type);
  Value target(const LossChoice &choice);
  Value meanOf(Value errors, double perLabel);
  Value likelihood(Value logProbabilities, double smoothing);
  Value binary(Value p, Value target);

  Arithmetic a;
  Value labels;
  RowCounts rows;
  Value classWeights; ///< null: labels count once
  Value labelWeights; ///< those of the classes of the labels
  Value weightSum;    ///< of all labels that count
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_LOSSBUILDER_H
