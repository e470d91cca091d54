//===- ChainBody.cpp - several steps in one launch ------------------------===//

#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Mnist/RootAnswers.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/CheckBody.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "mnistrt/cuda/kernels/chain_shape.cuh"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// What may be a link
//===----------------------------------------------------------------------===//

/// The first dimension that has more than one element, or else the last one.
static int64_t firstDim(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  auto *first =
      llvm::find_if(shape, [](int64_t extent) { return extent != 1; });
  return std::min<int64_t>(first - shape.begin(), shape.size() - 1);
}

static int64_t firstOf(Value value) { return shapeOf(value)[firstDim(value)]; }

/// Whether a block can hold what it has to: the matrices of one of several
/// products, a row of a softmax. Kernels know no product without terms.
static bool fitsBlock(Operation *root) {
  if (isa<SoftmaxOp, LogSoftmaxOp>(root))
    return shapeOf(root->getResult(0)).back() <= mn::Softmax::ofWarp;
  auto product = dyn_cast<MatmulOp>(root);
  if (!product)
    return true;
  MultiplyAdds work = matmulMultiplyAdds(product);
  if (product.getType().getRank() == 2 || work.k == 0)
    return work.k != 0;
  int64_t bits = product.getType().getElementTypeBitWidth();
  return mn::shape::chainLines(work.m, work.n, work.k) * bits / 8 <=
         mn::shape::chainMemory;
}

/// How many rows a step without pools and collectives has a kernel for.
static std::optional<int64_t> rowsOfKernel(StepOp step) {
  Operation *root = rootOf(step);
  if (!root)
    return firstOf(step.getResult(0));
  if (isRowStep(step)) {
    RowSpace space = *RowSpace::of(root);
    if (takesNumbers(step) || llvm::is_contained(space.getReducedDims(), 0))
      return std::nullopt;
    return space.getShape().front();
  }
  auto withLoops = dyn_cast<RootOpInterface>(root);
  if (!withLoops)
    return std::nullopt;
  SmallVector<unsigned> operands = withLoops.getRowOperands();
  if (operands.empty() || !fitsBlock(root))
    return std::nullopt;
  return shapeOf(root->getOperand(operands.front())).front();
}

std::optional<int64_t> mlir::mnistc::rowsOfLink(StepOp step) {
  if (step.getImpl() != Impl::kernel || !linksOf(step).empty() ||
      isPoolStep(step) || llvm::any_of(step.getResults(), [](Value result) {
        return shapeOf(result).empty() || countOf(result) == 0;
      }))
    return std::nullopt;
  std::optional<int64_t> rows = rowsOfKernel(step);
  if (!rows)
    return std::nullopt;
  for (Value result : step.getResults())
    rows = std::gcd(*rows, firstOf(result));
  return rows;
}

int64_t mlir::mnistc::rowsOfChain(ArrayRef<StepOp> links) {
  int64_t rows = 0;
  for (StepOp link : links)
    rows = std::gcd(rows, rowsOfLink(link).value_or(1));
  return rows;
}

/// Whether an op that moves elements of `x` leaves them in their rows.
static bool movesWithinRows(Operation *op, Value x) {
  Value y = op->getResult(0);
  int64_t from = firstDim(x), to = firstDim(y);
  if (isa<TransposeOp>(op))
    return cast<TransposeOp>(op).getPerm()[to] == from;
  if (firstOf(x) != firstOf(y))
    return false;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](BroadcastOp op) { return op.getDims()[from] == to; })
      .Case([&](SliceOp op) {
        return from == to && op.getStarts()[to] == 0 && op.getSteps()[to] == 1;
      })
      .Case([&](PadOp op) { return from == to && op.getLow()[to] == 0; })
      .Case([&](ConcatOp op) { return static_cast<int64_t>(op.getDim()) > to; })
      .Default(false);
}

/// Whether row i of what is made of `operand`, of so many rows, is made of row
/// i.
static bool keepsRows(OpOperand &operand, int64_t rows) {
  Operation *user = operand.getOwner();
  // In any shape a row has the same elements.
  if (isa<ReshapeOp>(user) || user->hasTrait<Elementwise>())
    return true;
  Value x = operand.get();
  if (shapeOf(x).empty() || firstOf(x) % rows != 0)
    return false;
  if (user->hasTrait<Indexing>())
    return movesWithinRows(user, x);
  if (shapeOf(x).front() % rows != 0)
    return false;
  if (auto reduction = dyn_cast<ReductionOpInterface>(user))
    return !llvm::is_contained(reduction.getReducedDims(), 0);
  auto root = dyn_cast<RootOpInterface>(user);
  return root &&
         llvm::is_contained(root.getRowOperands(), operand.getOperandNumber());
}

bool mlir::mnistc::readsByRows(StepOp step, unsigned input, int64_t rows) {
  Value argument = step.getBody().getArgument(input);
  if (countOf(argument) % rows != 0)
    return false;
  SmallVector<Value> open = {argument};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<YieldOp>(user))
        continue;
      if (!keepsRows(use, rows))
        return false;
      if (seen.insert(user).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

/// Whether a block has few multiply-adds of a product, `ofBlock` of so many
/// rows.
static bool isSmallProduct(RootOpInterface root, const MultiplyAdds &work,
                           double ofBlock, const ChainLimits &limits) {
  double count = work.count() * ofBlock;
  if (work.batch > 1)
    return count <= double(limits.held);
  auto type = cast<RankedTensorType>(root->getOperand(0).getType());
  bool holds = mn::shape::holdsRows(int(std::ceil(double(work.m) * ofBlock)),
                                    work.k * type.getElementTypeBitWidth() / 8);
  return work.n * work.k <= limits.weights &&
         count <= double(holds ? limits.held : limits.multiplyAdds);
}

/// The limits of a chain of so many rows. It is wide if three of four
/// multiprocessors have a block.
static const std::optional<ChainLimits> &limitsOf(const Machine &machine,
                                                  int64_t rows) {
  int64_t blocks = mn::shape::chain(rows).blocks;
  return 4 * blocks >= 3 * mn::shape::referenceSms ? machine.wideChains
                                                   : machine.chains;
}

bool mlir::mnistc::isSmallLink(StepOp step, int64_t rows,
                               const Machine &machine) {
  if (!limitsOf(machine, rows))
    return false;
  const ChainLimits &limits = *limitsOf(machine, rows);
  int64_t inBlock = mn::shape::chainRows(rows);
  auto ofBlock = [&](int64_t count) {
    return int64_t(llvm::divideCeil(count, rows)) * inBlock;
  };
  for (Value result : step.getResults())
    if (ofBlock(countOf(result)) > limits.elements)
      return false;
  Operation *root = rootOf(step);
  if (!root)
    return true;
  if (std::optional<RowSpace> space = RowSpace::ofAny(root))
    return ofBlock(space->rows()) <= limits.sums &&
           ofBlock(countOf(root->getOperand(0))) <= limits.elements;
  auto withLoops = cast<RootOpInterface>(root);
  std::optional<MultiplyAdds> work = withLoops.getMultiplyAdds();
  return work && isSmallProduct(withLoops, *work,
                                double(inBlock) / double(rows), limits);
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
  if (!rowsOfLink(link))
    return wrong() << "to compute rows one by one, got otherwise at '"
                   << link.getName() << "'";
  for (auto [number, input] : llvm::enumerate(link.getInputs()))
    if (input.getDefiningOp() && !readsByRows(link, number, rows))
      return wrong() << "to read of a link before it the row that it computes, "
                        "of "
                     << rows << ", got otherwise at '" << link.getName() << "'";
  return success();
}

LogicalResult mlir::mnistc::checkChain(StepOp step) {
  SmallVector<StepOp> links = linksOf(step);
  if (links.size() + 1 != step.getBody().front().getOperations().size())
    return step.emitError("expected only steps in chain '")
           << step.getName() << "'";
  int64_t rows = rowsOfChain(links);
  for (StepOp link : links)
    if (failed(checkForm(link)) || failed(checkLink(step, link, rows)))
      return failure();
  return checkResults(step);
}
