//===- TransposeRegions.cpp - values that are transposed together ---------===//

#include "lib/IR/Mnist/TransposeRegions.h"
#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <functional>

using namespace mlir;
using namespace mlir::mnistc;

int64_t mlir::mnistc::byteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

static void add(TransposeCost &cost, Value moved) {
  cost.bytes += byteSize(moved.getType());
  ++cost.count;
}

TransposeCost mlir::mnistc::transposeCost(Block &block) {
  TransposeCost cost;
  for (auto op : block.getOps<TransposeOp>())
    if (!constantValue(op.getInput()) &&
        !preservesMemoryOrder(op.getPerm(), op.getInput().getType().getShape()))
      add(cost, op);
  return cost;
}

bool mlir::mnistc::keepsMatrices(ReshapeOp reshape) {
  ArrayRef<int64_t> from = reshape.getInput().getType().getShape();
  ArrayRef<int64_t> to = reshape.getType().getShape();
  return from.size() >= 2 && to.size() >= 2 &&
         from.take_back(2) == to.take_back(2);
}

std::optional<unsigned> mlir::mnistc::rowDimensions(ReshapeOp reshape,
                                                    ArrayRef<int64_t> perm,
                                                    ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> matrix = reshape.getType().getShape();
  if (matrix.size() != 2)
    return std::nullopt;
  int64_t columns = 1;
  for (unsigned kept = 0; kept <= perm.size(); ++kept) {
    int64_t rows = 1;
    for (int64_t dim : perm.drop_front(kept))
      rows *= shape[dim];
    if (columns == matrix[0] && rows == matrix[1])
      return kept;
    if (kept == perm.size() || perm[kept] != int64_t(kept))
      return std::nullopt;
    columns *= shape[perm[kept]];
  }
  return std::nullopt;
}

bool mlir::mnistc::isNumber(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return dyn_cast_or_null<SplatElementsAttr>(constantValue(value)) ||
         (broadcast && broadcast.getDims().empty());
}

Value mlir::mnistc::onlyTensor(Operation *op) {
  SmallVector<Value> others(
      llvm::make_filter_range(op->getOperands(), std::not_fn(isNumber)));
  return op->hasTrait<Elementwise>() && others.size() == 1 ? others[0]
                                                           : Value();
}

bool mlir::mnistc::isOfProduct(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return keepsMatrices(reshape) && isOfProduct(reshape.getInput());
  Value tensor = onlyTensor(op);
  return isa<MatmulOp>(op) || (tensor && isOfProduct(tensor));
}

bool mlir::mnistc::mayPermuteRows(Value right) {
  return constantValue(right) ||
         right.getDefiningOp<ml_program::GlobalLoadOp>();
}

std::optional<FlattenedProduct> mlir::mnistc::flattenedProduct(MatmulOp op) {
  auto reshape = op.getLhs().getDefiningOp<ReshapeOp>();
  auto transpose =
      reshape ? reshape.getInput().getDefiningOp<TransposeOp>() : nullptr;
  if (!transpose || op.getTransposed()[0] ||
      op.getRhs().getType().getRank() != 2)
    return std::nullopt;
  std::optional<unsigned> kept = rowDimensions(
      reshape, transpose.getPerm(), transpose.getInput().getType().getShape());
  if (!kept)
    return std::nullopt;
  // The rows of the right operand, one dimension for each of the transpose's.
  ElementOrder order;
  llvm::append_range(order.shape,
                     transpose.getType().getShape().drop_front(*kept));
  for (int64_t dim : transpose.getPerm().drop_front(*kept))
    order.perm.push_back(dim - *kept);
  order.perm = inverse(order.perm);
  RankedTensorType right = op.getRhs().getType();
  if (op.getTransposed()[1]) {
    order.shape.insert(order.shape.begin(), right.getDimSize(0));
    for (int64_t &dim : order.perm)
      ++dim;
    order.perm.insert(order.perm.begin(), 0);
  } else {
    order.shape.push_back(right.getDimSize(1));
    order.perm.push_back(order.perm.size());
  }
  return FlattenedProduct{reshape, transpose, order};
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The operands of `op` that must have their dimensions in the order of the
/// result; none for ops that care about the order.
static OperandRange tiedOperands(Operation *op) {
  if (op->hasTrait<Elementwise>() ||
      isa<ConcatOp, PadOp, SliceOp, SoftmaxOp, LogSoftmaxOp, DropoutOp>(op))
    return op->getOperands();
  return op->getOperands().take_front(isa<BatchNormOp>(op) ? 1 : 0);
}

/// Values that come in any order at no cost, or nearly so: they belong to no
/// region.
static bool isAnyOrder(Value value) {
  return isa_and_nonnull<ConstantOp, BroadcastOp, IotaOp>(
      value.getDefiningOp());
}

namespace {
struct OpRegion {
  llvm::SmallSetVector<Operation *, 8> ops; ///< in their order
  llvm::SmallSetVector<Value, 8> inputs;    ///< from other ops

  bool contains(Operation *op) const { return ops.contains(op); }
  SmallVector<Permutation> candidates() const;
  /// Of the border: what transposing the region changes outside of it.
  SmallVector<Operation *> borderTransposes() const;
  TransposeCost cost(ArrayRef<int64_t> perm) const;
  void turn(ArrayRef<int64_t> perm) const;

private:
  TransposeCost inputCost(Value input, ArrayRef<int64_t> perm) const;
  TransposeCost outputCost(Value output, ArrayRef<int64_t> perm) const;
};
} // namespace

static SmallVector<OpRegion> findRegions(Block &block) {
  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> numbers;
  for (Operation &op : block)
    if (!tiedOperands(&op).empty() && typeOf(op.getResult(0)).getRank() > 1) {
      numbers[&op] = ops.size();
      ops.push_back(&op);
    }
  llvm::IntEqClasses classes(ops.size());
  // Two ops are in one region if one uses the other, or both the same value.
  DenseMap<Value, unsigned> firstUser;
  for (auto [number, op] : llvm::enumerate(ops))
    for (Value operand : tiedOperands(op)) {
      if (isAnyOrder(operand))
        continue;
      auto producer = numbers.find(operand.getDefiningOp());
      unsigned other =
          producer != numbers.end()
              ? producer->second
              : firstUser.try_emplace(operand, number).first->second;
      classes.join(number, other);
    }
  classes.compress();
  SmallVector<OpRegion> regions(classes.getNumClasses());
  for (auto [number, op] : llvm::enumerate(ops))
    regions[classes[number]].ops.insert(op);
  for (OpRegion &region : regions)
    for (Operation *op : region.ops)
      for (Value operand : tiedOperands(op))
        if (!region.contains(operand.getDefiningOp()))
          region.inputs.insert(operand);
  return regions;
}

/// The orders in which a transpose at the border has nothing left to do.
SmallVector<Permutation> OpRegion::candidates() const {
  SmallVector<Permutation> perms;
  auto consider = [&](Permutation perm) {
    if (!isIdentity(perm) && !llvm::is_contained(perms, perm))
      perms.push_back(perm);
  };
  for (Value input : inputs)
    if (auto transpose = input.getDefiningOp<TransposeOp>())
      consider(inverse(transpose.getPerm()));
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (auto transpose = dyn_cast<TransposeOp>(user))
        consider(Permutation(transpose.getPerm()));
  return perms;
}

SmallVector<Operation *> OpRegion::borderTransposes() const {
  SmallVector<Operation *> border;
  for (Value input : inputs)
    if (auto transpose = input.getDefiningOp<TransposeOp>())
      border.push_back(transpose);
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (isa<TransposeOp>(user))
        border.push_back(user);
  return border;
}

/// Whether only products read it, of which a transpose is but flags.
static bool isForProducts(ReshapeOp reshape) {
  return keepsMatrices(reshape) &&
         llvm::all_of(reshape->getUsers(), llvm::IsaPred<MatmulOp>);
}

/// What it costs to have `input` in the order `perm`.
TransposeCost OpRegion::inputCost(Value input, ArrayRef<int64_t> perm) const {
  TransposeCost cost;
  ArrayRef<int64_t> shape = typeOf(input).getShape();
  if (auto transpose = input.getDefiningOp<TransposeOp>()) {
    ArrayRef<int64_t> from = transpose.getInput().getType().getShape();
    // From inside the region, what it reads is transposed too.
    bool isInner = contains(transpose.getInput().getDefiningOp());
    Permutation before = isInner ? permute(inverse(perm), transpose.getPerm())
                                 : Permutation(transpose.getPerm());
    SmallVector<int64_t> shape =
        isInner ? permute(from, perm) : SmallVector<int64_t>(from);
    if (!preservesMemoryOrder(permute(before, perm), shape))
      add(cost, input);
    bool stays = llvm::any_of(input.getUsers(), [&](Operation *user) {
      return !contains(user) && !isa<TransposeOp>(user);
    });
    if (stays && !isIdentity(perm) &&
        !preservesMemoryOrder(transpose.getPerm(), from))
      add(cost, input);
    return cost;
  }
  if (auto broadcast = input.getDefiningOp<BroadcastOp>()) {
    Permutation order = inverse(perm), moved;
    for (int64_t dim : broadcast.getDims())
      moved.push_back(order[dim]);
    if (!llvm::is_sorted(moved) && !constantValue(broadcast.getInput()))
      add(cost, broadcast.getInput());
    return cost;
  }
  bool isFree = preservesMemoryOrder(perm, shape) || isAnyOrder(input) ||
                (swapsMatrix(perm) && isOfProduct(input));
  if (!isFree)
    add(cost, input);
  return cost;
}

/// What it costs that `output` has the order `perm`.
TransposeCost OpRegion::outputCost(Value output, ArrayRef<int64_t> perm) const {
  TransposeCost cost;
  Permutation back = inverse(perm);
  ArrayRef<int64_t> before = typeOf(output).getShape();
  SmallVector<int64_t> shape = permute(before, perm);
  SmallVector<ArrayRef<int64_t>> seen;
  bool whole = false; // some user needs it in the original order
  for (Operation *user : output.getUsers()) {
    if (contains(user))
      continue;
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      // Counted as an input, if it is nothing else.
      if (inputs.contains(transpose) &&
          llvm::all_of(transpose->getUsers(),
                       [&](Operation *next) { return contains(next); }))
        continue;
      if (!llvm::is_contained(seen, transpose.getPerm()) &&
          !preservesMemoryOrder(permute(back, transpose.getPerm()), shape))
        add(cost, output);
      seen.push_back(transpose.getPerm());
    } else if (auto reduction = dyn_cast<ReductionOpInterface>(user);
               reduction && !reduction.keepsDims()) {
      SmallVector<int64_t> gone = reduction.getReducedDims();
      for (int64_t &dim : gone)
        dim = back[dim];
      SmallVector<int64_t> kept;
      for (auto [dim, size] : llvm::enumerate(shape))
        if (!llvm::is_contained(gone, int64_t(dim)))
          kept.push_back(size);
      if (!preservesMemoryOrder(without(back, gone), kept))
        add(cost, user->getResult(0));
    } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      bool absorbs = llvm::all_of(reshape->getUsers(), [](Operation *next) {
        auto matmul = dyn_cast<MatmulOp>(next);
        return matmul && !matmul.getTransposed()[0] &&
               mayPermuteRows(matmul.getRhs());
      });
      whole |= (!absorbs || !rowDimensions(reshape, back, shape)) &&
               (!swapsMatrix(back) || !isForProducts(reshape));
    } else {
      whole |= !isa<MatmulOp>(user) || !swapsMatrix(back);
    }
  }
  if (whole && !preservesMemoryOrder(back, shape))
    add(cost, output);
  return cost;
}

TransposeCost OpRegion::cost(ArrayRef<int64_t> perm) const {
  TransposeCost total;
  auto include = [&](TransposeCost cost) {
    total.bytes += cost.bytes;
    total.count += cost.count;
  };
  for (Value input : inputs)
    include(inputCost(input, perm));
  for (Operation *op : ops)
    include(outputCost(op->getResult(0), perm));
  return total;
}

/// Renumbers the dimensions in the attributes of `op`.
static void permuteAttributes(Operation *op, ArrayRef<int64_t> perm) {
  Permutation order = inverse(perm);
  OpBuilder b(op->getContext());
  llvm::TypeSwitch<Operation *>(op)
      .Case<ConcatOp, SoftmaxOp, LogSoftmaxOp, BatchNormOp>(
          [&](auto along) { along.setDim(order[along.getDim()]); })
      .Case([&](PadOp pad) { pad.setLow(permute(pad.getLow(), perm)); })
      .Case([&](SliceOp slice) {
        slice.setStarts(permute(slice.getStarts(), perm));
        slice.setSteps(permute(slice.getSteps(), perm));
      });
}

void OpRegion::turn(ArrayRef<int64_t> perm) const {
  IRMapping turned;
  for (Value input : inputs) {
    OpBuilder b(input.getContext());
    b.setInsertionPointAfterValue(input);
    turned.map(input, b.create<TransposeOp>(input.getLoc(), input, perm));
  }
  for (Operation *op : ops) {
    OpBuilder b(op);
    Operation *clone = b.clone(*op, turned);
    permuteAttributes(clone, perm);
    Value result = clone->getResult(0);
    auto type = typeOf(result);
    result.setType(type.clone(permute(type.getShape(), perm)));
    auto back = b.create<TransposeOp>(op->getLoc(), result, inverse(perm));
    op->getResult(0).replaceUsesWithIf(
        back, [&](OpOperand &use) { return !contains(use.getOwner()); });
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// The most profitable order for `region`; none if no order is profitable.
static Permutation bestOrder(const OpRegion &region) {
  SmallVector<Permutation> candidates = region.candidates();
  if (candidates.empty())
    return {};
  int64_t rank = typeOf(region.inputs.front()).getRank();
  TransposeCost bestCost =
      region.cost(llvm::to_vector(llvm::seq<int64_t>(rank)));
  Permutation best;
  for (const Permutation &perm : candidates) {
    TransposeCost cost = region.cost(perm);
    if (cost.bytes > bestCost.bytes || cost.count > bestCost.count ||
        (cost.bytes == bestCost.bytes && cost.count == bestCost.count))
      continue;
    bestCost = cost;
    best = perm;
  }
  return best;
}

bool mlir::mnistc::turnRegions(Block &block) {
  // Two regions may count on the same transpose: only one is turned.
  llvm::SmallPtrSet<Operation *, 8> taken;
  bool turned = false;
  for (const OpRegion &region : findRegions(block)) {
    Permutation best = bestOrder(region);
    SmallVector<Operation *> border = region.borderTransposes();
    if (best.empty() || llvm::any_of(border, [&](Operation *transpose) {
          return taken.contains(transpose);
        }))
      continue;
    taken.insert(border.begin(), border.end());
    region.turn(best);
    turned = true;
  }
  return turned;
}
