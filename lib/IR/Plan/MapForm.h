//===- MapForm.h - how a map goes through memory ----------------*- C++ -*-===//
//
// What a kernel loads and stores at once: of neighbours in the result, what is
// adjacent in what they are computed from.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_MAPFORM_H
#define MNISTC_IR_PLAN_MAPFORM_H

#include "lib/IR/Plan/StepBody.h"
#include <optional>

namespace mlir::mnistc {

enum class MapForm {
  each,       ///< an element is loaded and stored by itself
  neighbours, ///< neighbours are computed from neighbours, or from what all
              ///< share, but for constants and random numbers
  movedFours, ///< fours, from a multiple of 4 on, from such fours: of what
              ///< moves, the last dimension stays in fours
  drawn,      ///< from elements of the same number, or from what all share, and
              ///< some are random numbers of that number: drawsOf
  transposed, ///< what is adjacent in the result is not in what it is made of:
              ///< TransposedMap
};

/// The form in which a segment can go through memory, `each` if in no better
/// one.
MapForm formOf(StepOp step, const Segment &segment);

/// The random numbers of a segment that goes through memory in the form
/// `drawn`; none if it cannot.
SmallVector<RandomUniformOp> drawsOf(StepOp step, const Segment &segment);

/// The inputs of which a segment that reads neighbours reads for an element the
/// one of the same number.
SmallVector<BlockArgument> neighboursRead(StepOp step, const Segment &segment);

/// What such a segment repeats in fours, or for four neighbours: elements of
/// its results may have one of it in common.
SmallVector<BroadcastOp> broadcastsRead(StepOp step, const Segment &segment);

/// Matrices of `rows` times `columns`, one after the other.
struct MatrixSides {
  int64_t rows, columns;
  bool operator==(const MatrixSides &) const = default;
};

/// The dimensions of a result, from `first` to before `end`, that number the
/// rows of such matrices.
struct RowDims {
  size_t first, end;
};

/// Whether what is adjacent in the result of a transpose is not in its operand:
/// it makes such matrices, of which both sides are long.
bool turnsMatrices(TransposeOp op);

/// A segment whose results are such matrices, and that computes them from
/// transposes, of whose operands the elements of a column are adjacent.
struct TransposedMap {
  struct Transposed {
    TransposeOp op;
    RowDims rows;
  };
  MatrixSides sides;
  SmallVector<Transposed> transposed;
  SmallVector<BlockArgument> direct; ///< whose elements are read in order
};
std::optional<TransposedMap> transposedMap(StepOp step, const Segment &segment);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_MAPFORM_H
