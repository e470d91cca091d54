//===- MapForm.cpp - how a map goes through memory ------------------------===//

#include "lib/IR/Plan/MapForm.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// What the elements of a segment are computed from, themselves among it, down
/// to what all share, constants and random numbers.
static llvm::SmallSetVector<Value, 16> sourcesOf(StepOp step,
                                                 const Segment &segment) {
  llvm::SmallSetVector<Value, 16> values;
  for (unsigned result : segment.results)
    values.insert(yieldsOf(step)[result]);
  for (size_t i = 0; i < values.size(); ++i) { // grows
    Operation *op = values[i].getDefiningOp();
    if (op && countOf(values[i]) != 1 &&
        !isa<ConstantOp, IotaOp, RandomUniformOp>(op))
      values.insert(op->operand_begin(), op->operand_end());
  }
  return values;
}

/// Whether it computes neighbours from neighbours, or from what all share.
static bool keepsNeighbours(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || countOf(value) == 1 || isPointwise(op) ||
         isa<BroadcastOp, ConstantOp, IotaOp, RandomUniformOp>(op);
}

/// Whether neighbouring elements of a segment are computed from neighbouring or
/// equal elements of what it reads, but for constants and random numbers.
static bool readsNeighbours(StepOp step, const Segment &segment) {
  return llvm::all_of(sourcesOf(step, segment), keepsNeighbours);
}

/// How many elements of a tensor follow one another from dimension `dim` on.
static int64_t elementsFrom(ArrayRef<int64_t> shape, size_t dim) {
  return std::accumulate(shape.begin() + dim, shape.end(), int64_t(1),
                         std::multiplies<>());
}

static bool isInFours(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return !shape.empty() && shape.back() % 4 == 0;
}

/// How many neighbours of its result an op leaves together as the last
/// dimensions, which it does nothing to.
static int64_t keptRun(Operation *op) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  size_t kept = shape.size(); // the first of the last dimensions that it keeps
  const auto keepWhile = [&](llvm::function_ref<bool(size_t)> keeps) {
    while (kept > 0 && keeps(kept - 1))
      --kept;
    return elementsFrom(shape, kept);
  };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](ConcatOp concat) {
        return elementsFrom(shape, concat.getDim() + 1);
      })
      .Case([&](GatherOp gather) {
        return elementsFrom(shapeOf(gather.getInput()), gather.getDim() + 1);
      })
      .Case([&](PadOp pad) {
        ArrayRef<int64_t> before = shapeOf(pad.getInput());
        return keepWhile([&](size_t dim) {
          return before[dim] == shape[dim] && pad.getLow()[dim] == 0;
        });
      })
      .Case([&](SliceOp slice) {
        ArrayRef<int64_t> before = shapeOf(slice.getInput());
        return keepWhile([&](size_t dim) {
          return before[dim] == shape[dim] && slice.getSteps()[dim] == 1;
        });
      })
      .Case([&](TransposeOp transpose) {
        return keepWhile([&](size_t dim) {
          return transpose.getPerm()[dim] == int64_t(dim);
        });
      })
      .Default(int64_t(1));
}

/// Whether four neighbours of the result, from a multiple of 4 on, are such of
/// an operand.
static bool movesFours(Operation *op) {
  if (keptRun(op) % 4 == 0)
    return true;
  auto isAll = [&](bool also) {
    return also && isInFours(op->getResult(0)) &&
           llvm::all_of(op->getOperands(), isInFours);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ConcatOp) { return isAll(true); })
      .Case([&](PadOp pad) {
        return isAll(pad.getMode() == PadMode::constant &&
                     pad.getLow().back() % 4 == 0);
      })
      .Case([&](SliceOp slice) {
        return isAll(slice.getSteps().back() == 1 &&
                     slice.getStarts().back() % 4 == 0);
      })
      .Default(false);
}

/// The same of all of a segment.
static bool movesFours(StepOp step, const Segment &segment) {
  return llvm::all_of(sourcesOf(step, segment), [](Value value) {
    return keepsNeighbours(value) || movesFours(value.getDefiningOp());
  });
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// Sides of a matrix from which on a tile of it has neighbours in both orders.
static constexpr int64_t shortestSide = 8;

/// Of the result of a transpose, the dimensions whose elements are adjacent in
/// its operand, but for dimensions of 1; none if these are the last ones.
static std::optional<RowDims> rowDimsOf(TransposeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getInput()), perm = op.getPerm();
  auto isOne = [&](size_t dim) { return from[perm[dim]] == 1; };
  SmallVector<size_t> dims; // of the result, that are not 1
  for (size_t dim = 0; dim < perm.size(); ++dim)
    if (!isOne(dim))
      dims.push_back(dim);
  if (dims.empty())
    return std::nullopt;
  auto last =
      std::max_element(dims.begin(), dims.end(),
                       [&](size_t a, size_t b) { return perm[a] < perm[b]; });
  auto areAdjacent = [&](size_t before, size_t after) {
    return perm[before] < perm[after] &&
           llvm::all_of(
               from.slice(perm[before] + 1, perm[after] - perm[before] - 1),
               [](int64_t size) { return size == 1; });
  };
  auto first = last;
  while (first != dims.begin() && areAdjacent(*(first - 1), *first))
    --first;
  if (*last == dims.back())
    return std::nullopt;
  return RowDims{*first, *last + 1};
}

/// The sides of the matrices that a transpose makes, if both are long.
static std::optional<MatrixSides> sidesOf(TransposeOp op) {
  std::optional<RowDims> rows = rowDimsOf(op);
  if (!rows)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op.getOutput());
  MatrixSides sides{elementsFrom(shape.take_front(rows->end), rows->first),
                    elementsFrom(shape, rows->end)};
  if (sides.rows < shortestSide || sides.columns < shortestSide)
    return std::nullopt;
  return sides;
}

bool mlir::mnistc::turnsMatrices(TransposeOp op) {
  return sidesOf(op).has_value();
}

std::optional<TransposedMap>
mlir::mnistc::transposedMap(StepOp step, const Segment &segment) {
  if (segment.elements > INT32_MAX)
    return std::nullopt;
  std::optional<MatrixSides> sides;
  TransposedMap map;
  llvm::SmallSetVector<Value, 16> values;
  for (unsigned result : segment.results)
    values.insert(yieldsOf(step)[result]);
  for (size_t i = 0; i < values.size(); ++i) { // grows
    Value value = values[i];
    Operation *op = value.getDefiningOp();
    if (auto transpose = dyn_cast_or_null<TransposeOp>(op);
        transpose && countOf(value) == segment.elements) {
      std::optional<MatrixSides> found = sidesOf(transpose);
      if (!found || (sides && *sides != *found))
        return std::nullopt;
      sides = found;
      map.transposed.push_back({transpose, *rowDimsOf(transpose)});
    } else if (!keepsNeighbours(value)) {
      return std::nullopt;
    } else if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (countOf(value) == segment.elements)
        map.direct.push_back(argument);
    } else if (op && isPointwise(op) && countOf(value) != 1) {
      values.insert(op->operand_begin(), op->operand_end());
    }
  }
  if (!sides)
    return std::nullopt;
  map.sides = *sides;
  return map;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

MapForm mlir::mnistc::formOf(StepOp step, const Segment &segment) {
  if (segment.elements < 4)
    return MapForm::each;
  if (readsNeighbours(step, segment))
    return MapForm::neighbours;
  if (movesFours(step, segment))
    return MapForm::movedFours;
  return transposedMap(step, segment) ? MapForm::transposed : MapForm::each;
}

SmallVector<RandomUniformOp> mlir::mnistc::drawsOf(StepOp step,
                                                   const Segment &segment) {
  SmallVector<RandomUniformOp> draws;
  for (Value value : sourcesOf(step, segment)) {
    Operation *op = value.getDefiningOp();
    auto draw = dyn_cast_or_null<RandomUniformOp>(op);
    if (draw && countOf(value) == segment.elements)
      draws.push_back(draw);
    else if (op && countOf(value) != 1 && !isPointwise(op) &&
             !isa<ConstantOp>(op))
      return {};
  }
  return draws;
}

SmallVector<BlockArgument>
mlir::mnistc::neighboursRead(StepOp step, const Segment &segment) {
  SmallVector<BlockArgument> arguments;
  for (Value value : sourcesOf(step, segment))
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && countOf(value) == segment.elements)
      arguments.push_back(argument);
  return arguments;
}

SmallVector<BroadcastOp> mlir::mnistc::broadcastsRead(StepOp step,
                                                      const Segment &segment) {
  SmallVector<BroadcastOp> broadcasts;
  for (Value value : sourcesOf(step, segment))
    if (auto broadcast = value.getDefiningOp<BroadcastOp>();
        broadcast && countOf(value) == segment.elements && isInFours(value) &&
        countOf(broadcast.getInput()) != 1)
      broadcasts.push_back(broadcast);
  return broadcasts;
}
