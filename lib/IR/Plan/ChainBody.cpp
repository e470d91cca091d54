//===- ChainBody.cpp - several steps in one launch ------------------------===//

#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/CheckBody.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "mnistrt/cuda/kernels/chain_shape.cuh"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// What may be a link
//===----------------------------------------------------------------------===//

/// Whether a step without pools and collectives has a kernel that computes some
/// of `rows`.
static bool computesRows(StepOp step, int64_t rows) {
  Operation *root = rootOf(step);
  if (!root)
    return segmentsOf(step).size() == 1;
  if (!isRowStep(step)) {
    auto withLoops = dyn_cast<RootOpInterface>(root);
    ArrayRef<int64_t> shape = shapeOf(root->getOperand(0));
    return withLoops && withLoops.mayBeLink() && !shape.empty() &&
           shape.front() == rows;
  }
  RowSpace space = *RowSpace::of(root);
  return !takesNumbers(step) && space.getShape().front() == rows &&
         !llvm::is_contained(space.getReducedDims(), 0);
}

std::optional<int64_t> mlir::mnistc::rowsOfLink(StepOp step) {
  if (step.getImpl() != Impl::kernel || !linksOf(step).empty() ||
      isPoolStep(step))
    return std::nullopt;
  std::optional<int64_t> rows;
  for (Value result : step.getResults()) {
    ArrayRef<int64_t> shape = shapeOf(result);
    if (shape.empty() || countOf(result) == 0 ||
        (rows && *rows != shape.front()))
      return std::nullopt;
    rows = shape.front();
  }
  return rows && computesRows(step, *rows) ? rows : std::nullopt;
}

/// Whether row i of what `user` makes of `operand`, which has so many rows, is
/// made of row i.
static bool keepsRows(Operation *user, OpOperand &operand, int64_t rows) {
  if (auto broadcast = dyn_cast<BroadcastOp>(user))
    return !broadcast.getDims().empty() && broadcast.getDims().front() == 0 &&
           shapeOf(broadcast.getOutput()).front() == rows;
  if (isa<ReshapeOp>(user)) {
    ArrayRef<int64_t> shape = shapeOf(user->getResult(0));
    return !shape.empty() && shape.front() == rows;
  }
  if (auto reduction = dyn_cast<ReductionOpInterface>(user))
    return !llvm::is_contained(reduction.getReducedDims(), 0);
  if (auto root = dyn_cast<RootOpInterface>(user))
    return root.mayBeLink() && operand.getOperandNumber() == 0;
  return user->hasTrait<Elementwise>();
}

bool mlir::mnistc::readsByRows(StepOp step, unsigned input) {
  Value argument = step.getBody().getArgument(input);
  ArrayRef<int64_t> shape = shapeOf(argument);
  std::optional<int64_t> rows = rowsOfLink(step);
  if (shape.empty() || !rows || shape.front() != *rows)
    return false;
  SmallVector<Value> open = {argument};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<YieldOp>(user))
        continue;
      if (!keepsRows(user, use, *rows))
        return false;
      if (seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

bool mlir::mnistc::isSmallLink(StepOp step, const ChainLimits &limits) {
  int64_t rows = *rowsOfLink(step), ofBlock = mn::shape::chainRows(rows);
  auto countOfBlock = [&](Value value) {
    return int64_t(llvm::divideCeil(countOf(value), rows)) * ofBlock;
  };
  for (Value result : step.getResults())
    if (countOfBlock(result) > limits.elements)
      return false;
  Operation *root = rootOf(step);
  auto withLoops = dyn_cast_or_null<RootOpInterface>(root);
  std::optional<MultiplyAdds> work =
      withLoops ? withLoops.getMultiplyAdds() : std::nullopt;
  if (!work)
    return !root || countOfBlock(root->getOperand(0)) <= limits.elements;
  int64_t weights = work->n * work->k;
  return weights <= limits.weights && weights * ofBlock <= limits.multiplyAdds;
}

//===----------------------------------------------------------------------===//
// Proof
//===----------------------------------------------------------------------===//

/// Each result of a link is the chain's result of its number.
static LogicalResult checkResults(StepOp step) {
  SmallVector<Value> made;
  for (StepOp link : linksOf(step))
    llvm::append_range(made, link.getResults());
  if (llvm::equal(made, yieldsOf(step)))
    return success();
  return step.emitError("expected chain '")
         << step.getName()
         << "' to yield the results of its links in their order, got "
            "otherwise";
}

static LogicalResult checkLink(StepOp chain, StepOp link, int64_t rows) {
  auto wrong = [&] {
    return chain.emitError("expected each link of chain '")
           << chain.getName() << "' ";
  };
  if (link.getOffsets() || link.getSchedule())
    return wrong() << "to have neither address nor schedule, got one at '"
                   << link.getName() << "'";
  if (std::optional<int64_t> own = rowsOfLink(link); own != rows)
    return wrong() << "to compute the same rows one by one, " << rows
                   << " of them, got otherwise at '" << link.getName() << "'";
  for (auto [number, input] : llvm::enumerate(link.getInputs()))
    if (input.getDefiningOp() && !readsByRows(link, number))
      return wrong() << "to read of a link before it the row that it computes, "
                        "got otherwise at '"
                     << link.getName() << "'";
  return success();
}

LogicalResult mlir::mnistc::checkChain(StepOp step) {
  SmallVector<StepOp> links = linksOf(step);
  if (links.size() + 1 != step.getBody().front().getOperations().size())
    return step.emitError("expected only steps in chain '")
           << step.getName() << "'";
  std::optional<int64_t> rows = rowsOfLink(links.front());
  if (!rows)
    return step.emitError("expected chain '")
           << step.getName() << "' to begin with a step that computes rows, "
           << "got '" << links.front().getName() << "'";
  for (StepOp link : links)
    if (failed(checkForm(link)) || failed(checkLink(step, link, *rows)))
      return failure();
  return checkResults(step);
}
