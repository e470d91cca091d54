//===- LossBuilder.cpp - losses over the rows of a batch ------------------===//

#include "lib/IR/Mnist/LossBuilder.h"
#include "lib/IR/Mnist/OutputScores.h"
#include <limits>

using namespace mlir;
using namespace mlir::mnistc;

bool mlir::mnistc::hasScorePerClass(RankedTensorType scores) {
  return scores.getRank() > 1 && scores.getDimSize(classDim) > 1;
}

/// Whether the row of each element of `type` counts.
Value LossBuilder::isUsed(RankedTensorType type) {
  auto index = type.clone(typeOf(rows.valid).getElementType());
  Value row = a.b.create<IotaOp>(a.loc, index, 0);
  return a.compare(Predicate::lt, row, a.spread(rows.valid, index));
}

/// Whether the class of each element of `type` is the label.
Value LossBuilder::isLabel(RankedTensorType type) {
  auto index = type.clone(typeOf(labels).getElementType());
  SmallVector<int64_t> places;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != classDim)
      places.push_back(dim);
  Value number = a.b.create<IotaOp>(a.loc, index, classDim);
  return a.compare(Predicate::eq, number, a.broadcast(labels, places, index));
}

/// The targets as values: classes are one in their place.
Value LossBuilder::target(const LossChoice &choice) {
  RankedTensorType type = typeOf(choice.scores);
  if (!choice.classes)
    return labels;
  if (!hasScorePerClass(type))
    return a.reshape(a.cast(labels, type.getElementType()), type);
  return a.cast(isLabel(type), type.getElementType());
}

/// The sum of the weights is that of all ranks. Where it is zero all errors
/// are, and so is their mean.
void LossBuilder::weigh(Value weights, bool addsUp) {
  classWeights = weights;
  auto type = typeOf(labels).clone(typeOf(weights).getElementType());
  labelWeights = a.b.create<GatherOp>(a.loc, type, weights, labels, 0);
  Value sum = a.sumOfAll(a.where(isUsed(type), labelWeights));
  if (addsUp)
    sum = a.b.create<AllReduceOp>(a.loc, sum);
  weightSum = a.max(sum, a.number(sum, std::numeric_limits<float>::min()));
}

/// The mean over the labels that count, of `perLabel` errors each, which are
/// multiplied by the weights already.
Value LossBuilder::meanOf(Value errors, double perLabel) {
  Value sum = a.sumOfAll(a.where(isUsed(typeOf(errors)), errors));
  if (classWeights)
    return a.div(sum, a.mul(weightSum, a.number(weightSum, perLabel)));
  RankedTensorType type = typeOf(labels);
  double perRow = perLabel * double(type.getNumElements()) / type.getDimSize(0);
  Value count = a.cast(rows.total, typeOf(sum).getElementType());
  return a.div(sum, a.mul(count, a.number(count, perRow)));
}

/// -log p of the label.
Value LossBuilder::likelihood(Value logP, double smoothing) {
  RankedTensorType type = typeOf(logP);
  Value cost = a.neg(logP);
  if (classWeights)
    cost = a.mul(cost, a.broadcast(classWeights, classDim, type));
  Value loss = meanOf(a.where(isLabel(type), cost), 1);
  if (smoothing == 0)
    return loss;
  Value all = meanOf(cost, type.getDimSize(classDim));
  return a.add(a.mul(loss, a.number(loss, 1 - smoothing)),
               a.mul(all, a.number(all, smoothing)));
}

/// Logarithms are clamped as PyTorch does: 0 costs 100, not infinity.
Value LossBuilder::binary(Value p, Value t) {
  auto logarithm = [&](Value x) { return a.max(a.log(x), a.number(x, -100)); };
  return a.neg(a.add(a.mul(t, logarithm(p)),
                     a.mul(a.oneMinus(t), logarithm(a.oneMinus(p)))));
}

Value LossBuilder::build(const LossChoice &choice, double smoothing) {
  Value z = choice.scores;
  if (choice.kind == "own")
    return a.reshape(z, RankedTensorType::get({}, typeOf(z).getElementType()));
  if (choice.kind == "cross-entropy")
    return likelihood(a.b.create<LogSoftmaxOp>(a.loc, z, classDim), smoothing);
  if (choice.kind == "nll")
    return likelihood(z, smoothing);
  Value t = target(choice), errors;
  if (choice.kind == "mse") {
    Value difference = a.sub(z, t);
    errors = a.mul(difference, difference);
  } else if (choice.kind == "l1") {
    errors = a.abs(a.sub(z, t));
  } else if (choice.kind == "bce") {
    errors = binary(z, t);
  } else {
    errors = a.sub(a.softplus(z), a.mul(t, z));
  }
  if (classWeights)
    errors = a.mul(errors, a.reshape(labelWeights, errors.getType()));
  return meanOf(errors, double(typeOf(z).getNumElements()) /
                            typeOf(labels).getNumElements());
}

Value LossBuilder::correct(const LossChoice &choice) {
  Type i64 = a.b.getI64Type();
  RankedTensorType type = typeOf(choice.scores);
  if (choice.kind == "own" || !choice.classes)
    return a.number(RankedTensorType::get({}, i64), 0);
  Value best;
  if (!hasScorePerClass(type)) {
    double half = choice.kind == "bce" ? 0.5 : 0;
    Value yes =
        a.compare(Predicate::gt, choice.scores, a.number(choice.scores, half));
    best = a.reshape(a.cast(yes, typeOf(labels).getElementType()),
                     labels.getType());
  } else {
    best = a.b.create<ArgMaxOp>(a.loc, typeOf(labels), choice.scores, classDim,
                                /*last=*/false);
  }
  Value right = a.logicalAnd(a.compare(Predicate::eq, best, labels),
                             isUsed(typeOf(labels)));
  return a.sumOfAll(a.cast(right, i64));
}
