//===- RowBody.cpp - steps that reduce rows several times -----------------===//

#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// RowSpace
//===----------------------------------------------------------------------===//

std::optional<RowSpace> RowSpace::of(Operation *op) {
  auto reduction = dyn_cast<ReductionOpInterface>(op);
  if (!reduction || !isRoot(op) || reduction.keepsDims() ||
      reduction.getForm() != ReductionForm::fold)
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

bool RowSpace::isContiguous() const { return areAdjacent(shape, dims); }

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

/// The phase of a reduction that needs `before` phases.
static unsigned addToPhase(RowBody &body, ReductionOpInterface op,
                           unsigned before) {
  std::string kind = cast<RootOpInterface>(*op).getKernelText().kind.str();
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  for (unsigned i = before; i < body.phases.size(); ++i)
    if (body.phases[i].kind == kind && body.phases[i].element == element) {
      body.phases[i].reductions.push_back(op);
      return i;
    }
  RowPhase &phase = body.phases.emplace_back();
  phase.reductions.push_back(op);
  phase.kind = kind;
  phase.element = element;
  return body.phases.size() - 1;
}

static InFlightDiagnostic wrongOp(StepOp step, Operation *op, StringRef what) {
  return step.emitError("expected ")
         << what << " in step '" << step.getName() << "', which reduces rows, "
         << "got '" << op->getName() << "'";
}

FailureOr<RowBody> mlir::mnistc::readRowBody(StepOp step) {
  RowBody body;
  body.space = *RowSpace::of(rootOf(step));
  const RowSpace &space = body.space;
  for (Operation &op : step.getBody().front().without_terminator()) {
    unsigned before = 0;
    bool needsRows = false;
    for (Value operand : op.getOperands())
      if (auto it = body.knownAfter.find(operand);
          it != body.knownAfter.end()) {
        before = std::max(before, it->second);
        needsRows = true;
      }
    if (space.isReduction(&op)) {
      before = addToPhase(body, cast<ReductionOpInterface>(op), before) + 1;
    } else if (isRoot(&op)) {
      return wrongOp(step, &op, "sums of the same rows");
    } else if (!needsRows) {
      continue;
    } else if (!space.isMap(&op) && !space.isRepeat(&op)) {
      return wrongOp(step, &op,
                     "elementwise ops and broadcasts along the rows");
    }
    body.knownAfter[op.getResult(0)] = before;
  }
  for (Value value : yieldsOf(step))
    if (!space.hasElements(value) && !space.hasRows(value))
      return step.emitError("expected the results of step '")
             << step.getName() << "' to have an element for each row or for "
             << "each element of one, got " << value.getType();
  return body;
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

/// Whether `value`, an argument of the body, is read only where the result with
/// the same index is computed.
static bool readsItsOwn(const RowSpace &space, Value value) {
  bool isRow = space.hasRows(value);
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      // What comes after these no longer reads the argument.
      if (isa<YieldOp>(user) || space.isReduction(user) ||
          (isRow && space.isRepeat(user)))
        continue;
      if (!user->hasTrait<Elementwise>())
        return false;
      if (seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

bool mlir::mnistc::canUpdateRowsInPlace(StepOp step, unsigned input,
                                        unsigned result) {
  std::optional<RowSpace> space = RowSpace::of(rootOf(step));
  Value argument = step.getBody().getArgument(input);
  Value yielded = yieldsOf(step)[result];
  // A row of one element is both.
  if (!space || space->size() == 1 || argument.getType() != yielded.getType() ||
      (!space->hasElements(argument) && !space->hasRows(argument)))
    return false;
  for (auto [i, other] : llvm::enumerate(step.getInputs()))
    if (other == step.getInputs()[input] &&
        !readsItsOwn(*space, step.getBody().getArgument(i)))
      return false;
  return true;
}
