//===- ImportLoss.cpp - losses that a model computes itself ---------------===//
//
// The place of a label among the scores is a comparison with an iota, as in the
// losses that training adds: it fuses into the sum, and has a gradient.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

/// Scores are [rows, classes, ...]; labels have that shape without classes.
static constexpr int64_t classDim = 1;

static Value checkedScores(Node &n) {
  Value scores = n.floatInput(0);
  if (rankOf(scores) < 2)
    fail("expected scores of rows and classes, got the shape " +
         shapeText(shapeOf(scores)));
  return scores;
}

static Value checkedLabels(Node &n, RankedTensorType scores) {
  Value labels = n.input(1);
  if (!elementOf(labels).isInteger(32) && !elementOf(labels).isInteger(64))
    fail("expected labels of int32 or int64, got " +
         typeName(elementOf(labels)));
  Shape shape(scores.getShape());
  shape.erase(shape.begin() + classDim);
  if (shapeOf(labels) != ArrayRef(shape))
    fail("expected labels of the shape " + shapeText(shape) + ", got " +
         shapeText(shapeOf(labels)));
  return labels;
}

/// The weights of the classes, repeated for each score, or null. Those of the
/// file are not parameters: training would make the loss small by shrinking
/// them.
static Value checkedWeights(Node &n, RankedTensorType scores) {
  if (!n.hasInput(2))
    return {};
  DenseElementsAttr known = n.knownConstant(2);
  if (n.inputType(2).getElementType() != scores.getElementType())
    n.floatInput(2);
  Value weights = known ? n.constantOf(known) : n.input(2);
  int64_t classes = scores.getDimSize(classDim);
  if (shapeOf(weights) != ArrayRef(classes))
    fail("expected " + Twine(classes) +
         " weights, one for each class, got the shape " +
         shapeText(shapeOf(weights)));
  return n.arithmetic().broadcast(weights, classDim, scores);
}

/// Whether each label counts; null where all do.
static Value isCounted(Node &n, Value labels) {
  if (!n.hasAttribute("ignore_index"))
    return {};
  int64_t ignored = n.attribute("ignore_index", 0);
  auto type = typeOf(labels);
  if (type.getElementType().isInteger(32) && !llvm::isInt<32>(ignored))
    return {};
  auto number = IntegerAttr::get(type.getElementType(), ignored);
  return n.arithmetic().compare(
      Predicate::ne, labels,
      n.constantOf(DenseElementsAttr::get(type, Attribute(number))));
}

/// Whether the class of each score is the label, and counts.
static Value isLabel(Node &n, Value labels, Value counted,
                     RankedTensorType scores) {
  Arithmetic a = n.arithmetic();
  Shape places = llvm::to_vector(llvm::seq<int64_t>(scores.getRank()));
  places.erase(places.begin() + classDim);
  auto index = scores.clone(elementOf(labels));
  Value number = n.create<IotaOp>(index, classDim);
  Value found =
      a.compare(Predicate::eq, number, a.broadcast(labels, places, index));
  if (!counted)
    return found;
  return a.logicalAnd(found, a.broadcast(counted, places, found.getType()));
}

/// Labels are classes, or the one that is ignored; those of the file and those
/// of a graph input are checked.
static void limitLabels(Node &n, Value labels, int64_t classes) {
  std::optional<int64_t> ignored;
  if (n.hasAttribute("ignore_index"))
    ignored = n.attribute("ignore_index", 0);
  n.limitInput(labels, 0, classes - 1, ignored);
  if (DenseElementsAttr known = n.knownConstant(1))
    for (int64_t label : integersOf(known))
      if ((label < 0 || label >= classes) && label != ignored)
        fail("expected labels from 0 to " + Twine(classes - 1) + ", got " +
             Twine(label));
}

// For each place -weight[label] log p[label]; the mean is one of weights.
static Value likelihoodLoss(Node &n, Value logP) {
  StringRef reduction = n.attribute("reduction", "mean");
  if (!llvm::is_contained({"none", "mean", "sum"}, reduction))
    fail("expected a reduction of none, mean or sum, got " + quoted(reduction));
  Arithmetic a = n.arithmetic();
  RankedTensorType type = typeOf(logP);
  Value labels = checkedLabels(n, type);
  limitLabels(n, labels, type.getDimSize(classDim));
  Value weights = checkedWeights(n, type);
  Value counted = isCounted(n, labels);
  Value found = isLabel(n, labels, counted, type);
  Value cost = a.neg(logP);
  if (weights)
    cost = a.mul(weights, cost);
  cost = a.where(found, cost);
  if (reduction == "none")
    return a.sum(cost, classDim);
  Value sum = a.sumOfAll(cost);
  if (reduction == "sum")
    return sum;
  if (weights)
    return a.div(sum, a.sumOfAll(a.where(found, weights)));
  if (counted)
    return a.div(sum, a.sumOfAll(a.cast(counted, type.getElementType())));
  return a.div(sum, a.number(sum, double(product(shapeOf(labels)))));
}

static Value negativeLogLikelihoodLoss(Node &n) {
  return likelihoodLoss(n, checkedScores(n));
}

static Value softmaxCrossEntropyLoss(Node &n) {
  Value scores = checkedScores(n);
  Value logP = n.create<LogSoftmaxOp>(scores.getType(), scores, classDim);
  if (n.isUsed(1))
    n.setOutput(1, logP);
  return likelihoodLoss(n, logP);
}

ArrayRef<Operator> importer::lossOperators() {
  static const Operator rows[] = {
      {"NegativeLogLikelihoodLoss", 12, negativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", 12, softmaxCrossEntropyLoss},
  };
  return rows;
}
