//===- StepComparison.cpp - steps that compute the same -------------------===//

#include "lib/CodeGen/StepComparison.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::mnistc;

bool StepComparison::areEqual() {
  if (a.getScheduleAttr() != b.getScheduleAttr() ||
      a->getResultTypes() != b->getResultTypes() ||
      !haveEqualOperands(a.getBody().front().getTerminator(),
                         b.getBody().front().getTerminator(), false))
    return false;
  for (auto [result, other] : llvm::zip_equal(a.getResults(), b.getResults()))
    counterparts[result] = other;
  return true;
}

bool StepComparison::areEqual(const Segment &of, const Segment &other) {
  // The one element of a tensor has no index that others could share.
  if (of.elements > 1 && other.elements > 1) {
    elements = of.elements;
    otherElements = other.elements;
  }
  if (of.results.size() != other.results.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(of.results, other.results)) {
    if (!areEqual(yieldsOf(a)[x], yieldsOf(b)[y], true))
      return false;
    counterparts[a.getResult(x)] = b.getResult(y);
  }
  return true;
}

bool StepComparison::haveEqualOperands(Operation *x, Operation *y,
                                       bool byElement) {
  return x->getNumOperands() == y->getNumOperands() &&
         llvm::all_of_zip(
             x->getOperands(), y->getOperands(),
             [&](Value v, Value w) { return areEqual(v, w, byElement); });
}

/// Whether both are read at the element that is computed.
bool StepComparison::areElements(Value x, Value y) const {
  return elements > 1 && countOf(x) == elements &&
         countOf(y) == otherElements &&
         getElementTypeOrSelf(x) == getElementTypeOrSelf(y);
}

bool StepComparison::areEqual(Value x, Value y, bool byElement) {
  if (byElement) {
    x = skipReshapes(x);
    y = skipReshapes(y);
  }
  if (x.getType() != y.getType() && !(byElement && areElements(x, y)))
    return false;
  auto argument = dyn_cast<BlockArgument>(x);
  auto other = dyn_cast<BlockArgument>(y);
  if (argument && other)
    return matchInputs(a.getInputs()[argument.getArgNumber()],
                       b.getInputs()[other.getArgNumber()]);
  if (argument || other)
    return false;
  auto [known, isNew] = values.try_emplace(x, y);
  return isNew ? haveEqualOps(x, y) : known->second == y;
}

/// Whether every element of the op is the same.
static bool isSplat(Operation *op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return countOf(broadcast.getInput()) == 1;
  auto constant = dyn_cast<ConstantOp>(op);
  auto value =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return value && value.isSplat();
}

static Attribute splatOf(ConstantOp op) {
  return cast<DenseElementsAttr>(op.getValue()).getSplatValue<Attribute>();
}

bool StepComparison::haveEqualOps(Value x, Value y) {
  Operation *op = x.getDefiningOp(), *other = y.getDefiningOp();
  if (op->getName() != other->getName() || op->getNumRegions() != 0 ||
      cast<OpResult>(x).getResultNumber() !=
          cast<OpResult>(y).getResultNumber())
    return false;
  bool pointwise = isPointwise(op);
  if (x.getType() == y.getType() || pointwise)
    return op->getAttrDictionary() == other->getAttrDictionary() &&
           haveEqualOperands(op, other, pointwise);
  // As many elements as the segments have: only their values count.
  if (!isSplat(op) || !isSplat(other))
    return false;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return splatOf(constant) == splatOf(cast<ConstantOp>(other));
  return haveEqualOperands(op, other, false);
}

/// Each input has one counterpart, and is one's.
bool StepComparison::matchInputs(Value input, Value other) {
  return counterparts.try_emplace(input, other).first->second == other &&
         owners.try_emplace(other, input).first->second == input;
}
