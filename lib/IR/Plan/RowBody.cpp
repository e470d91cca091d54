//===- RowBody.cpp - steps that reduce rows several times -----------------===//

#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// RowSpace
//===----------------------------------------------------------------------===//

std::optional<RowSpace> RowSpace::ofAny(Operation *op) {
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  if (!reduction)
    return std::nullopt;
  RowSpace space;
  space.shape = llvm::to_vector(shapeOf(op->getOperand(0)));
  space.dims = reduction.getReducedDims();
  for (auto [dim, size] : llvm::enumerate(space.shape))
    if (!llvm::is_contained(space.dims, int64_t(dim))) {
      space.kept.push_back(dim);
      space.rowShape.push_back(size);
    }
  if (space.dims.empty() || ShapedType::getNumElements(space.shape) == 0)
    return std::nullopt;
  return space;
}

std::optional<RowSpace> RowSpace::of(Operation *op) {
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  if (!reduction || !isRoot(op) || reduction.keepsDims())
    return std::nullopt;
  return ofAny(op);
}

bool RowSpace::isContiguous() const { return areAdjacent(shape, dims); }

int64_t RowSpace::getRun() const {
  int64_t run = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1 && !llvm::is_contained(dims, int64_t(dim)))
      break;
    run *= shape[dim];
  }
  return run;
}

int64_t RowSpace::getLastDim() const {
  size_t dim = shape.size() - 1;
  while (dim > 0 && shape[dim] == 1)
    --dim;
  return int64_t(dim);
}

int64_t RowSpace::getRunsApart() const {
  ArrayRef<int64_t> before = shape;
  int64_t apart = 1;
  auto isReduced = [&] { return llvm::is_contained(dims, before.size() - 1); };
  for (; !before.empty() && (before.back() == 1 || isReduced());
       before = before.drop_back())
    apart *= before.back();
  for (; !before.empty() && !isReduced(); before = before.drop_back())
    apart *= before.back();
  return !before.empty() && areAdjacent(before, dims) ? apart : 0;
}

bool RowSpace::areRowsAdjacent() const {
  return areAdjacent(shape, kept) && areAdjacentInPart(shape, kept);
}

bool RowSpace::areRowsInFours() const {
  int64_t adjacent = 1;
  for (size_t dim = shape.size();
       dim-- > 0 && (shape[dim] == 1 || llvm::is_contained(kept, dim));)
    adjacent *= shape[dim];
  return adjacent % 4 == 0;
}

bool RowSpace::hasElements(Value value) const {
  return shapeOf(value) == ArrayRef(shape);
}

bool RowSpace::hasRows(Value value) const {
  return shapeOf(value) == ArrayRef(rowShape);
}

bool RowSpace::isRepeat(Operation *op) const {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  return broadcast && hasElements(broadcast.getOutput()) &&
         hasRows(broadcast.getInput()) &&
         ArrayRef(broadcast.getDims()) == ArrayRef(kept);
}

bool RowSpace::isReduction(Operation *op) const {
  std::optional<RowSpace> other = of(op);
  return other && *other == *this;
}

bool RowSpace::isMap(Operation *op) const {
  return op->hasTrait<Elementwise>() &&
         (hasElements(op->getResult(0)) || hasRows(op->getResult(0)));
}

bool RowSpace::isTotal(Operation *op) const {
  std::optional<RowSpace> other = of(op);
  return other && rows() > 1 && other->rows() == 1 && other->rowShape.empty() &&
         hasRows(op->getOperand(0)) &&
         cast<ReductionOpInterface>(op).getForm() == ReductionForm::fold;
}

bool RowSpace::isWhole(Operation *op) const {
  std::optional<RowSpace> other = of(op);
  return other && rows() > 1 && other->rowShape.empty() &&
         hasElements(op->getOperand(0)) &&
         cast<ReductionOpInterface>(op).getForm() == ReductionForm::fold;
}

//===----------------------------------------------------------------------===//
// RowBody
//===----------------------------------------------------------------------===//

bool mlir::mnistc::isRowStep(StepOp step) {
  Operation *root = rootOf(step);
  if (!root || !RowSpace::of(root))
    return false;
  if (step.getNumResults() != 1)
    return true;
  for (Operation &op : step.getBody().front().without_terminator())
    if (isRoot(&op) && &op != root)
      return true;
  return countOf(step.getResult(0)) != countOf(root->getResult(0));
}

bool mlir::mnistc::takesNumbers(StepOp step) {
  if (!isRowStep(step))
    return false;
  RowSpace space = *RowSpace::of(rootOf(step));
  return space.getRowShape().empty() ||
         llvm::any_of(step.getBody().front().without_terminator(),
                      [&](Operation &op) { return space.isTotal(&op); });
}

/// The phase of a reduction that needs `before` phases.
static unsigned addToPhase(SmallVectorImpl<RowPhase> &phases,
                           ReductionOpInterface op, unsigned before) {
  KernelText text = cast<RootOpInterface>(*op).getKernelText();
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  for (unsigned i = before; i < phases.size(); ++i)
    if (phases[i].kind == text.kind && phases[i].element == element) {
      phases[i].reductions.push_back(op);
      return i;
    }
  RowPhase &phase = phases.emplace_back();
  phase.reductions.push_back(op);
  phase.kind = text.kind.str();
  phase.element = element;
  phase.givesIndex = text.givesIndex;
  return phases.size() - 1;
}

static InFlightDiagnostic wrongOp(StepOp step, Operation *op, StringRef what) {
  return step.emitError("expected ")
         << what << " in step '" << step.getName() << "', which reduces rows, "
         << "got '" << op->getName() << "'";
}

namespace {
/// Reads a body, op by op.
class RowReader {
public:
  explicit RowReader(StepOp step) : step(step) {
    body.space = *RowSpace::of(rootOf(step));
  }
  FailureOr<RowBody> read();

private:
  LogicalResult addOp(Operation *op);
  /// An op that needs totals.
  LogicalResult addAfterTotals(Operation *op);
  bool isKnownLast(Value value) const { return afterTotals.contains(value); }

  StepOp step;
  RowBody body;
  llvm::SmallDenseSet<Value> afterTotals;
};
} // namespace

LogicalResult RowReader::addAfterTotals(Operation *op) {
  bool isNumber =
      !isRoot(op) && op->getNumResults() == 1 && countOf(op->getResult(0)) == 1;
  for (Value operand : op->getOperands())
    isNumber &= isKnownLast(operand) || !body.knownAfter.contains(operand);
  if (!isNumber)
    return wrongOp(step, op, "only numbers made of totals");
  afterTotals.insert(op->getResult(0));
  return success();
}

LogicalResult RowReader::addOp(Operation *op) {
  const RowSpace &space = body.space;
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return isKnownLast(operand); }))
    return addAfterTotals(op);
  unsigned before = 0;
  bool needsRows = false;
  for (Value operand : op->getOperands())
    if (auto it = body.knownAfter.find(operand); it != body.knownAfter.end()) {
      before = std::max(before, it->second);
      needsRows = true;
    }
  if (space.isReduction(op)) {
    before =
        addToPhase(body.phases, cast<ReductionOpInterface>(op), before) + 1;
  } else if (space.isTotal(op)) {
    addToPhase(body.totals, cast<ReductionOpInterface>(op), 0);
    afterTotals.insert(op->getResult(0));
    return success();
  } else if (isRoot(op)) {
    return wrongOp(step, op, "sums of the same rows");
  } else if (!needsRows) {
    return success();
  } else if (!space.isMap(op) && !space.isRepeat(op)) {
    return wrongOp(step, op, "elementwise ops and broadcasts along the rows");
  }
  body.knownAfter[op->getResult(0)] = before;
  return success();
}

/// Whether `value` is the mean over a row of what `sum` sums up, for every
/// element.
static bool isMeanOf(const RowSpace &space, Value value,
                     ReductionOpInterface sum) {
  Operation *repeat = value.getDefiningOp();
  if (!repeat || !space.isRepeat(repeat))
    return false;
  auto mean = repeat->getOperand(0).getDefiningOp<DivOp>();
  SplatElementsAttr size;
  return mean && mean.getLhs() == sum->getResult(0) &&
         matchPattern(mean.getRhs(), m_Constant(&size)) &&
         isa<FloatType>(size.getElementType()) &&
         size.getSplatValue<APFloat>().convertToDouble() ==
             double(space.size());
}

/// Whether `squares` sums up the squares of differences of what `sum` sums up
/// from their mean.
static bool isOfDifferences(const RowSpace &space, ReductionOpInterface squares,
                            ReductionOpInterface sum) {
  auto square = squares->getOperand(0).getDefiningOp<MulOp>();
  if (!square || square.getLhs() != square.getRhs())
    return false;
  auto difference = square.getLhs().getDefiningOp<SubOp>();
  return difference && difference.getLhs() == sum->getOperand(0) &&
         isMeanOf(space, difference.getRhs(), sum);
}

/// Whether all that `next` sums up are squares of differences from means of
/// what `phase` does; the sums that make these means become its first ones.
static bool takeAsMeans(const RowSpace &space, RowPhase &phase,
                        const RowPhase &next) {
  auto areSums = [](const RowPhase &phase) {
    return llvm::all_of(phase.reductions, llvm::IsaPred<ReduceSumOp>);
  };
  if (!areSums(phase) || !areSums(next) || phase.element != next.element)
    return false;
  SmallVector<ReductionOpInterface> means;
  for (ReductionOpInterface squares : next.reductions) {
    const auto *sum = llvm::find_if(phase.reductions, [&](auto each) {
      return isOfDifferences(space, squares, each);
    });
    if (sum == phase.reductions.end() || llvm::is_contained(means, *sum))
      return false;
    means.push_back(*sum);
  }
  for (ReductionOpInterface other : phase.reductions)
    if (!llvm::is_contained(means, other))
      means.push_back(other);
  phase.reductions = means;
  return true;
}

FailureOr<RowBody> RowReader::read() {
  const RowSpace &space = body.space;
  for (Operation &op : step.getBody().front().without_terminator())
    if (failed(addOp(&op)))
      return failure();
  for (unsigned i = 0; i + 1 < body.phases.size() && !body.meanPhase; ++i)
    if (takeAsMeans(space, body.phases[i], body.phases[i + 1]))
      body.meanPhase = i;
  for (Value value : yieldsOf(step)) {
    bool isNumber = !body.totals.empty() && countOf(value) == 1;
    if (!space.hasElements(value) && !space.hasRows(value) && !isNumber)
      return step.emitError("expected the results of step '")
             << step.getName() << "' to have an element for each row or for "
             << "each element of one"
             << (body.totals.empty() ? "" : ", or one element") << ", got "
             << value.getType();
  }
  return body;
}

FailureOr<RowBody> mlir::mnistc::readRowBody(StepOp step) {
  return RowReader(step).read();
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

/// Whether `value`, an argument of the body, is read only where the result with
/// the same index is computed, by the thread that stores it. What there is one
/// of for a row is stored by one of its threads; another one that needs it for
/// its elements may still wait for it then, though it began to load it long
/// before.
static bool readsItsOwn(const RowSpace &space, Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      // What comes after these no longer reads the argument.
      if (isa<YieldOp>(user) || space.isReduction(user))
        continue;
      if (!user->hasTrait<Elementwise>())
        return false;
      if (seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

/// Whether `value`, an argument of one element, is read only after the last
/// row, when all results of one element are computed before the first is
/// stored.
static bool isReadLast(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      if (isa<YieldOp>(user))
        continue;
      if (isRoot(user) || countOf(user->getResult(0)) != 1)
        return false;
      if (seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

bool mlir::mnistc::readsAfterRows(StepOp step, unsigned input) {
  Value argument = step.getBody().getArgument(input);
  return countOf(argument) == 1 && isReadLast(argument);
}

bool mlir::mnistc::canUpdateRowsInPlace(StepOp step, unsigned input,
                                        unsigned result) {
  std::optional<RowSpace> space = RowSpace::of(rootOf(step));
  Value argument = step.getBody().getArgument(input);
  Value yielded = yieldsOf(step)[result];
  // A row of one element is both.
  if (!space || space->size() == 1 || argument.getType() != yielded.getType())
    return false;
  if (countOf(argument) != 1 && !space->hasElements(argument) &&
      !space->hasRows(argument))
    return false;
  for (auto [i, other] : llvm::enumerate(step.getInputs()))
    if (Value read = step.getBody().getArgument(i);
        other == step.getInputs()[input] && !readsAfterRows(step, i) &&
        !((space->hasElements(read) || space->hasRows(read)) &&
          readsItsOwn(*space, read)))
      return false;
  return true;
}
