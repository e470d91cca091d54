//===- ChainBody.cpp - several steps in one launch ------------------------===//

#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Mnist/RootAnswers.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/CheckBody.h"
#include "lib/IR/Plan/MovedElements.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// What may be a link
//===----------------------------------------------------------------------===//

/// The elements of the first dimension that has more than one.
static int64_t firstOf(Value value) {
  for (int64_t extent : shapeOf(value))
    if (extent != 1)
      return extent;
  return 1;
}

/// The first dimensions of a tensor in so many equal parts that the parts
/// divide, without those of size 1: the last one may be divided in several of
/// its elements each. None where parts begin elsewhere.
static std::optional<SmallVector<int64_t>> dividedDims(ArrayRef<int64_t> shape,
                                                       int64_t rows) {
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (rows == 1)
      break;
    if (extent == 1)
      continue;
    dims.push_back(static_cast<int64_t>(dim));
    if (rows % extent != 0 && extent % rows != 0)
      return std::nullopt;
    rows = std::max<int64_t>(rows / extent, 1);
  }
  return rows == 1 ? std::optional(dims) : std::nullopt;
}

/// How many rows there are before the first of some dimensions.
static int64_t rowsBefore(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t rows = 1;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (extent != 1 && llvm::is_contained(dims, static_cast<int64_t>(dim)))
      break;
    rows *= extent;
  }
  return rows;
}

/// What multiplies in a link, or would in a step that became one.
static Mma mmaOfProduct(StepOp step) {
  return isa<StepOp>(step->getParentOp()) ? mmaOf(step) : mmaOfLink(step);
}

/// Whether a link is several products.
static bool multipliesMatrices(StepOp link) {
  auto product = dyn_cast_or_null<MatmulOp>(rootOf(link));
  return product && product.getType().getRank() == 3;
}

/// Whether a block can hold what it has to: on FMA units the matrices of one of
/// several products, a row of a softmax. Kernels know no product without terms.
static bool fitsBlock(StepOp step, Operation *root) {
  if (isa<SoftmaxOp, LogSoftmaxOp>(root))
    return shapeOf(root->getResult(0)).back() <= mn::Softmax::ofWarp;
  auto product = dyn_cast<MatmulOp>(root);
  if (!product)
    return true;
  MultiplyAdds work = matmulMultiplyAdds(product);
  if (work.k == 0 || !multipliesMatrices(step) ||
      mmaOfProduct(step) != Mma::ffma)
    return work.k != 0;
  int64_t bits = product.getType().getElementTypeBitWidth();
  return mn::shape::chainLines(work.m, work.n, work.k) * bits / 8 <=
         mn::shape::chainMemory;
}

/// The most rows that a step without pools and collectives has a kernel for.
static std::optional<int64_t> rowsOfKernel(StepOp step) {
  Operation *root = rootOf(step);
  if (!root)
    return countOf(step.getResult(0));
  if (isRowStep(step)) {
    RowSpace space = *RowSpace::of(root);
    if (takesNumbers(step) || llvm::is_contained(space.getReducedDims(), 0))
      return std::nullopt;
    return rowsBefore(space.getShape(), space.getReducedDims());
  }
  auto withLoops = dyn_cast<RootOpInterface>(root);
  if (!withLoops)
    return std::nullopt;
  SmallVector<unsigned> operands = withLoops.getRowOperands();
  if (operands.empty() || !fitsBlock(step, root))
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(root->getOperand(operands.front()));
  if (auto reduction = dyn_cast<ReductionOpInterface>(root))
    return rowsBefore(shape, reduction.getReducedDims());
  return shape.front();
}

int64_t mlir::mnistc::mostRowsOfLink(StepOp step) {
  if (step.getImpl() != Impl::kernel || !linksOf(step).empty() ||
      isPoolStep(step) || llvm::any_of(step.getResults(), [](Value result) {
        return shapeOf(result).empty() || countOf(result) == 0;
      }))
    return 0;
  int64_t rows = rowsOfKernel(step).value_or(0);
  if (rows != 0)
    for (Value result : step.getResults())
      rows = std::gcd(rows, countOf(result));
  return rows;
}

int64_t mlir::mnistc::imagesOfLink(StepOp step) {
  int64_t rows = mostRowsOfLink(step);
  if (rows != 0)
    for (Value result : step.getResults())
      rows = std::gcd(rows, firstOf(result));
  return rows;
}

int64_t mlir::mnistc::matricesOfLink(StepOp step) {
  auto product = dyn_cast_or_null<MatmulOp>(rootOf(step));
  return product && product.getType().getRank() == 3 ? mostRowsOfLink(step) : 0;
}

static bool isMadeBy(ArrayRef<StepOp> links, Value value) {
  auto step = value.getDefiningOp<StepOp>();
  return step && llvm::is_contained(links, step);
}

/// Whether each link may have so many rows, and reads by rows what those before
/// it make.
static bool haveRows(ArrayRef<StepOp> links, int64_t rows) {
  return llvm::all_of(links, [&](StepOp link) {
    if (mostRowsOfLink(link) % rows != 0)
      return false;
    return llvm::all_of(llvm::enumerate(link.getInputs()), [&](auto input) {
      return !isMadeBy(links, input.value()) ||
             readsLink(link, input.index(), links, rows);
    });
  });
}

int64_t mlir::mnistc::rowsOfChain(ArrayRef<StepOp> links) {
  int64_t matrices = 0, images = 0;
  for (StepOp link : links) {
    images = std::gcd(images, imagesOfLink(link));
    if (int64_t rows = matricesOfLink(link);
        rows > matrices && haveRows(links, rows))
      matrices = rows;
  }
  return std::max({matrices, images, int64_t(1)});
}

/// Whether an op that moves elements of `x` leaves them in their rows.
static bool movesWithinRows(Operation *op, Value x, int64_t rows) {
  ArrayRef<int64_t> before = shapeOf(x), after = shapeOf(op->getResult(0));
  std::optional<SmallVector<int64_t>> from = dividedDims(before, rows),
                                      to = dividedDims(after, rows);
  if (!from || !to || from->size() != to->size())
    return false;
  return llvm::all_of(llvm::zip(*from, *to), [&](auto dims) {
    auto [i, j] = dims;
    if (before[i] != after[j])
      return false;
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](TransposeOp op) { return op.getPerm()[j] == i; })
        .Case([&](BroadcastOp op) { return op.getDims()[i] == j; })
        .Case([&](SliceOp op) {
          return i == j && op.getStarts()[j] == 0 && op.getSteps()[j] == 1;
        })
        .Case([&](PadOp op) { return i == j && op.getLow()[j] == 0; })
        .Case(
            [&](ConcatOp op) { return static_cast<int64_t>(op.getDim()) > j; })
        .Default(false);
  });
}

/// Whether row i of what is made of `operand`, of so many rows, is made of row
/// i.
static bool keepsRows(OpOperand &operand, int64_t rows) {
  Operation *user = operand.getOwner();
  // In any shape a row has the same elements.
  if (isa<ReshapeOp>(user) || user->hasTrait<Elementwise>())
    return true;
  Value x = operand.get();
  if (user->hasTrait<Indexing>())
    return movesWithinRows(user, x, rows);
  if (auto reduction = dyn_cast<ReductionOpInterface>(user))
    return rowsBefore(shapeOf(x), reduction.getReducedDims()) % rows == 0;
  auto root = dyn_cast<RootOpInterface>(user);
  return root && shapeOf(x).front() % rows == 0 &&
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

bool mlir::mnistc::scattersRows(StepOp step, ArrayRef<StepOp> links,
                                int64_t rows) {
  bool isScattered = false;
  for (auto [number, input] : llvm::enumerate(step.getInputs())) {
    if (countOf(input) % rows != 0)
      return false;
    isScattered |= isMadeBy(links, input) && !readsByRows(step, number, rows);
  }
  return isScattered && movesElements(step);
}

bool mlir::mnistc::readsLink(StepOp step, unsigned input,
                             ArrayRef<StepOp> links, int64_t rows) {
  auto producer = step.getInputs()[input].getDefiningOp<StepOp>();
  return !scattersRows(producer, links, rows) &&
         (readsByRows(step, input, rows) || scattersRows(step, links, rows));
}

/// What a step multiplies rows with, of those that it reads, or null.
static Value weightsOf(StepOp step) {
  auto product = dyn_cast_or_null<MatmulOp>(rootOf(step));
  auto weights = product ? dyn_cast<BlockArgument>(product.getRhs()) : nullptr;
  return weights ? step.getInputs()[weights.getArgNumber()] : Value();
}

/// Whether more steps multiply with the same weights than a layer has, one
/// forward and one back: links one after another may find them in the first
/// cache.
static bool hasRepeatedWeights(StepOp step) {
  Value weights = weightsOf(step);
  if (!weights)
    return false;
  int readers = 0;
  // Of many users the first few decide: this is asked for each pair of steps.
  for (Operation *user : weights.getUsers()) {
    auto reader = dyn_cast<StepOp>(user);
    if (reader && weightsOf(reader) == weights && ++readers > 2)
      return true;
  }
  return false;
}

/// Whether a block has few multiply-adds of a product, `ofBlock` of so many
/// rows, and reads few weights.
static bool isSmallProduct(StepOp step, RootOpInterface root,
                           const MultiplyAdds &work, double ofBlock,
                           const ChainLimits &limits) {
  double count = work.count() * ofBlock;
  if (work.batch > 1)
    return count <= double(limits.held);
  auto type = cast<RankedTensorType>(root->getOperand(0).getType());
  bool holds = mn::shape::holdsRows(int(std::ceil(double(work.m) * ofBlock)),
                                    work.k * type.getElementTypeBitWidth() / 8);
  int64_t weights =
      hasRepeatedWeights(step) ? limits.repeatedWeights : limits.weights;
  return work.n * work.k <= weights &&
         count <= double(holds ? limits.held : limits.multiplyAdds);
}

/// The limits of a chain of so many blocks. It is wide if three of four
/// multiprocessors have one.
static const std::optional<ChainLimits> &limitsOf(const Machine &machine,
                                                  int64_t blocks) {
  return 4 * blocks >= 3 * mn::shape::referenceSms ? machine.wideChains
                                                   : machine.chains;
}

bool mlir::mnistc::isSmallLink(StepOp step, const mn::ChainBlocks &blocks,
                               const Machine &machine) {
  int64_t rows = blocks.rows, inBlock = blocks.ofBlock;
  const std::optional<ChainLimits> &found =
      limitsOf(machine, mn::shape::chain(blocks).blocks);
  if (!found)
    return false;
  const ChainLimits &limits = *found;
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
  return work && isSmallProduct(step, withLoops, *work,
                                double(inBlock) / double(rows), limits);
}

static int64_t tensorsOf(ArrayRef<StepOp> links) {
  int64_t count = 0;
  for (StepOp link : links)
    count += link.getNumOperands() + link.getNumResults();
  return count;
}

bool mlir::mnistc::areArguments(ArrayRef<StepOp> links) {
  return tensorsOf(links) <= mn::shape::mostTensors;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Whether steps other than these links read what one of them makes.
static bool isReadBesides(Value made, ArrayRef<StepOp> links) {
  return llvm::any_of(made.getUsers(), [&](Operation *user) {
    return isa<YieldOp>(user) || !llvm::is_contained(links, user);
  });
}

/// Of the memory of a block that holds these one after another.
static int64_t memoryFor(ArrayRef<HeldTensor> held) {
  return held.empty() ? 0
                      : held.back().offset +
                            mn::shape::bytesHeld(held.back().bytesOfRow);
}

/// What links make for each other, and what products read by rows.
static SmallVector<HeldTensor> heldTensors(ArrayRef<StepOp> links,
                                           int64_t rows) {
  llvm::SetVector<Value> values;
  for (StepOp link : links)
    for (auto [number, input] : llvm::enumerate(link.getInputs()))
      if (isMadeBy(links, input) ||
          (multipliesMatrices(link) && readsByRows(link, number, rows)))
        values.insert(input);
  SmallVector<HeldTensor> held;
  for (Value value : values) {
    bool isMade = isMadeBy(links, value);
    held.push_back({value, sizeInBytes(value.getType()) / rows, memoryFor(held),
                    !isMade, isMade && isReadBesides(value, links)});
  }
  return held;
}

/// Whether a block has room for a row of what links make for each other and
/// what products read, and matrices are multiplied on tensor cores.
static bool canBeHeld(ArrayRef<StepOp> links, int64_t rows) {
  for (StepOp link : links)
    if (multipliesMatrices(link) &&
        (matricesOfLink(link) % rows != 0 || mmaOfProduct(link) == Mma::ffma))
      return false;
  return memoryFor(heldTensors(links, rows)) <= mn::shape::mostHeld;
}

ChainShape mlir::mnistc::shapeOfChain(ArrayRef<StepOp> links, int64_t rows) {
  if (!canBeHeld(links, rows))
    return {mn::shape::chainBlocks(rows), {}};
  SmallVector<HeldTensor> held = heldTensors(links, rows);
  return {mn::shape::heldBlocks(rows, memoryFor(held)), held};
}

ChainShape mlir::mnistc::shapeOfChain(ArrayRef<StepOp> links) {
  int64_t rows = rowsOfChain(links);
  if (llvm::any_of(links, multipliesMatrices))
    return shapeOfChain(links, rows);
  return {mn::shape::chainBlocks(rows), {}};
}

SmallVector<Value> mlir::mnistc::resultsOfChain(ArrayRef<StepOp> links) {
  llvm::SmallPtrSet<Value, 8> held;
  for (const HeldTensor &tensor : shapeOfChain(links).held)
    if (!tensor.isTaken)
      held.insert(tensor.value);
  SmallVector<Value> results;
  for (StepOp link : links)
    llvm::copy_if(link.getResults(), std::back_inserter(results),
                  [&](Value result) { return !held.contains(result); });
  return results;
}

const HeldTensor *ChainShape::heldBy(StepOp link, Value value) const {
  const HeldTensor *tensor = llvm::find_if(
      held, [&](const HeldTensor &other) { return other.value == value; });
  if (tensor == held.end())
    return nullptr;
  for (auto [number, input] : llvm::enumerate(link.getInputs()))
    if (input == value && tensor->isBrought &&
        !readsByRows(link, number, blocks.rows))
      return nullptr;
  return tensor;
}

MapForm mlir::mnistc::formOfLink(StepOp link, const Segment &segment,
                                 const mn::ChainBlocks &blocks) {
  int64_t beside = 0; // of loops that run side by side
  for (const Segment &other : segmentsOf(link))
    beside += other.elements / blocks.rows * blocks.ofBlock;
  if (segment.elements / blocks.rows % 4 != 0 || beside <= blocks.threads)
    return MapForm::each;
  MapForm form = formOf(link, segment);
  bool inFours = form == MapForm::neighbours || form == MapForm::movedFours;
  return inFours ? form : MapForm::each;
}

//===----------------------------------------------------------------------===//
// Proof
//===----------------------------------------------------------------------===//

/// A chain's results are those of its links, in their order, which memory has.
static LogicalResult checkResults(StepOp step) {
  if (llvm::equal(resultsOfChain(linksOf(step)), yieldsOf(step)))
    return success();
  return step.emitError("expected chain '")
         << step.getName()
         << "' to yield the results of its links in their order, but for those "
            "that blocks hold for other links, got otherwise";
}

static LogicalResult checkLink(StepOp chain, StepOp link,
                               ArrayRef<StepOp> links, int64_t rows) {
  auto wrong = [&] {
    return chain.emitError("expected each link of chain '")
           << chain.getName() << "' ";
  };
  if (link.getOffsets() || isScheduled(link))
    return wrong() << "to have neither address nor tiles, got one at '"
                   << link.getName() << "'";
  if (mostRowsOfLink(link) == 0)
    return wrong() << "to compute rows one by one, got otherwise at '"
                   << link.getName() << "'";
  for (auto [number, input] : llvm::enumerate(link.getInputs()))
    if (input.getDefiningOp() && !readsLink(link, number, links, rows))
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
  if (!areArguments(links))
    return step.emitError("expected the links of chain '")
           << step.getName() << "' to read and write at most "
           << mn::shape::mostTensors << " tensors, got " << tensorsOf(links);
  int64_t rows = rowsOfChain(links);
  for (StepOp link : links)
    if (failed(checkForm(link)) || failed(checkLink(step, link, links, rows)))
      return failure();
  return checkResults(step);
}
