//===- RowBody.h - steps that reduce rows several times ---------*- C++ -*-===//
//
// A row step has reductions as roots, all over the same dimensions of tensors
// of one shape: the elements that one result is made of are a row. Between and
// after them it has elementwise ops on elements, elementwise ops on what there
// is one of for each row, and broadcasts of the latter along the rows. So a row
// can stay where it is from the first to the last: batch and layer
// normalization and their gradients are such steps, and several sums over one
// tensor.
//
// It may also have totals: reductions, to one element, of what there is one of
// for each row. What is made of these, and other results of one element, are
// computed once, after the last row: a loss with its gradient and metrics is
// such a step.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_ROWBODY_H
#define MNISTC_IR_PLAN_ROWBODY_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"
#include <optional>

namespace mlir::mnistc {

/// Which dimensions of which shape are a row.
class RowSpace {
public:
  /// That of a reduction with a separate loop; none of other ops.
  static std::optional<RowSpace> of(Operation *op);
  /// That of a reduction with a separate loop or an inlined one, or of a
  /// softmax.
  static std::optional<RowSpace> ofAny(Operation *op);

  ArrayRef<int64_t> getShape() const { return shape; }
  ArrayRef<int64_t> getReducedDims() const { return dims; }
  /// Of a tensor with one element for each row.
  ArrayRef<int64_t> getRowShape() const { return rowShape; }
  int64_t rows() const { return ShapedType::getNumElements(rowShape); }
  int64_t size() const { return ShapedType::getNumElements(shape) / rows(); }

  /// Whether the elements of a row are adjacent in memory.
  bool isContiguous() const;
  /// Or else how many of them are, one at least.
  int64_t getRun() const;
  /// The last dimension of more than one element, or else the first.
  int64_t getLastDim() const;
  /// How far apart in memory these runs begin; 0 where that differs.
  int64_t getRunsApart() const;
  /// Whether element r of all rows is adjacent in memory.
  bool areRowsAdjacent() const;
  /// Whether element r of every four rows is, of number 4 n to 4 n + 3.
  bool areRowsInFours() const;

  /// Whether a tensor has this shape.
  bool hasElements(Value value) const;
  /// Whether it has one element for each row.
  bool hasRows(Value value) const;
  /// Whether `op` gives each element what there is one of for its row.
  bool isRepeat(Operation *op) const;
  /// Whether `op` is a reduction of these rows.
  bool isReduction(Operation *op) const;
  /// Whether it is an elementwise op on elements or on rows.
  bool isMap(Operation *op) const;
  /// Whether it reduces what there is one of for each row to one element.
  bool isTotal(Operation *op) const;
  /// Whether it reduces all elements to one.
  bool isWhole(Operation *op) const;

  bool operator==(const RowSpace &other) const {
    return shape == other.shape && dims == other.dims;
  }

private:
  SmallVector<int64_t> shape, dims, kept, rowShape;
};

/// Reductions that one loop over a row computes: of one kind, of one type, and
/// with the same loops before them.
struct RowPhase {
  SmallVector<ReductionOpInterface> reductions;
  std::string kind; ///< "mn::Sum"
  Type element;
  bool givesIndex; ///< int64_t, not elements
};

struct RowBody {
  RowSpace space;
  SmallVector<RowPhase> phases; ///< in their order
  SmallVector<RowPhase> totals;
  /// A phase of sums after which the next has only sums of squares: of how much
  /// what the first ones of this phase sum up differs from its mean over the
  /// row, in the same order.
  std::optional<unsigned> meanPhase;
  /// In which phase a value is first known: 0 before the first, and so on.
  /// Values that need no reduction are not there.
  DenseMap<Value, unsigned> knownAfter;
};

/// Whether a step has more than one root, or a root and results of which some
/// are not what a reduction makes of it.
bool isRowStep(StepOp step);

/// Whether results of one element may be computed in a step after its rows: it
/// has totals, or reduces all to one row.
bool takesNumbers(StepOp step);

/// Whether a row step reads an input only after its rows, for results of one
/// element.
bool readsAfterRows(StepOp step, unsigned input);

/// What a row step computes; an error where it is not as is said above.
FailureOr<RowBody> readRowBody(StepOp step);

/// canUpdateInPlace of a row step.
bool canUpdateRowsInPlace(StepOp step, unsigned input, unsigned result);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_ROWBODY_H
