//===- StepComparison.h - steps that compute the same -----------*- C++ -*-===//
//
// Two steps, or segments of maps, that do the same to other tensors: they can
// have one text.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_STEPCOMPARISON_H
#define MNISTC_CODEGEN_STEPCOMPARISON_H

#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mnistc {

class StepComparison {
public:
  StepComparison(StepOp a, StepOp b) : a(a), b(b) {}

  /// Whether all results are equal functions of the inputs.
  bool areEqual();
  /// Whether element i of the results is the same function of the inputs,
  /// whatever the number of elements.
  bool areEqual(const Segment &of, const Segment &other);

  /// What of `b` takes the place of an input or result of `a`.
  Value counterpart(Value value) const { return counterparts.lookup(value); }

private:
  /// `byElement`: at equal positions, of what may differ in size.
  bool haveEqualOperands(Operation *x, Operation *y, bool byElement);
  bool areEqual(Value x, Value y, bool byElement);
  bool haveEqualOps(Value x, Value y);
  bool areElements(Value x, Value y) const;
  bool matchInputs(Value input, Value other);

  StepOp a, b;
  /// Elements of segments that may differ in number.
  int64_t elements = 1, otherElements = 1;
  DenseMap<Value, Value> values; ///< of `b` that were found equal
  DenseMap<Value, Value> counterparts, owners;
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_STEPCOMPARISON_H
