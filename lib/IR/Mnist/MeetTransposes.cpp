//===- MeetTransposes.cpp - transposes go on to where they meet -----------===//

#include "lib/IR/Mnist/MeetTransposes.h"
#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/TransposeRegions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {

/// The order of a value's elements, which are those of its natural value, with
/// dimensions so small that each of the value's is one or several of them, one
/// after another.
struct Refined {
  ElementOrder order;
  /// Of each of the value's dimensions those of the transposed ones; of one of
  /// size 1 there may be none.
  SmallVector<SmallVector<int64_t>> groups;

  /// The natural dimension that is all of the value's dimension `dim`.
  std::optional<int64_t> naturalDim(int64_t dim) const {
    if (groups[dim].size() != 1)
      return std::nullopt;
    return order.perm[groups[dim].front()];
  }
};

/// Divides dimensions into common parts.
struct Refinement {
  SmallVector<SmallVector<int64_t>> parts; ///< of each dimension their sizes
  SmallVector<SmallVector<int64_t>> groups;
};

} // namespace

/// `from` and `to` have as many elements. None where one's dimensions do not
/// divide the other's.
static std::optional<Refinement> commonParts(ArrayRef<int64_t> from,
                                             ArrayRef<int64_t> to) {
  Refinement all;
  all.parts.resize(from.size());
  all.groups.resize(to.size());
  int64_t number = 0, right = 1;
  size_t j = 0;
  for (auto [i, size] : llvm::enumerate(from)) {
    if (size == 1) {
      all.parts[i].push_back(1);
      ++number;
    }
    for (int64_t left = size; left != 1;) {
      while (right == 1 && j != to.size())
        right = to[j++];
      const int64_t part = std::min(left, right);
      if (part == 0 || left % part != 0 || right % part != 0)
        return std::nullopt;
      all.parts[i].push_back(part);
      all.groups[j - 1].push_back(number++);
      left /= part;
      right /= part;
    }
  }
  return all;
}

static std::optional<Refined> refine(const ElementOrder &order,
                                     ArrayRef<int64_t> value) {
  std::optional<Refinement> parts =
      commonParts(permute(order.shape, order.perm), value);
  if (!parts)
    return std::nullopt;
  // Where the parts of each natural dimension begin.
  const Permutation position = inverse(order.perm);
  SmallVector<int64_t> begin(order.shape.size());
  Refined refined;
  for (auto [dim, at] : llvm::enumerate(position)) {
    begin[dim] = static_cast<int64_t>(refined.order.shape.size());
    llvm::append_range(refined.order.shape, parts->parts[at]);
  }
  for (auto [at, dim] : llvm::enumerate(order.perm))
    for (size_t part = 0; part < parts->parts[at].size(); ++part)
      refined.order.perm.push_back(begin[dim] + static_cast<int64_t>(part));
  refined.groups = std::move(parts->groups);
  return refined;
}

namespace {

/// Follows a value that is its natural one in another order. Without a builder
/// it only looks what that would cost.
class Walk {
public:
  explicit Walk(OpBuilder *builder = nullptr) : builder(builder) {}

  /// Whether all that read `value` can read `natural` instead, up to
  /// transposes.
  bool follow(Value value, Value natural, const ElementOrder &order);

  TransposeCost before, after;

private:
  bool use(Operation *user, Value value, Value natural,
           const ElementOrder &order);
  bool transpose(TransposeOp op, Value natural, const ElementOrder &order);
  bool slice(SliceOp op, Value natural, const ElementOrder &order);
  bool elementwise(Operation *op, Value value, Value natural,
                   const ElementOrder &order);
  bool product(MatmulOp op, Value value, Value natural,
               const ElementOrder &order);

  Value reshaped(Value natural, ArrayRef<int64_t> shape);
  Value inOrder(Value natural, const ElementOrder &order, RankedTensorType type,
                Location loc);
  Value broadcast(BroadcastOp op, const Refined &refined);

  OpBuilder *builder;
  int left = 256; ///< ops to go past: what meets is near
};

} // namespace

static void count(TransposeCost &cost, Type moved) {
  cost.bytes += byteSize(moved);
  ++cost.count;
}

Value Walk::reshaped(Value natural, ArrayRef<int64_t> shape) {
  if (!builder || typeOf(natural).getShape() == shape)
    return natural;
  return builder->createOrFold<ReshapeOp>(
      natural.getLoc(), typeOf(natural).clone(shape), natural);
}

/// The natural value in an order, as something of the type `type` and with its
/// name.
Value Walk::inOrder(Value natural, const ElementOrder &order,
                    RankedTensorType type, Location loc) {
  const bool moves = !preservesMemoryOrder(order.perm, order.shape);
  if (moves)
    count(after, type);
  if (!builder)
    return {};
  natural = reshaped(natural, order.shape);
  if (moves)
    natural = builder->create<TransposeOp>(loc, natural, order.perm);
  return builder->createOrFold<ReshapeOp>(loc, type, natural);
}

/// Without dimensions of size 1, some of which `perm` may lack.
static ElementOrder compact(ArrayRef<int64_t> shape, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> ones;
  ElementOrder order;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size == 1)
      ones.push_back(static_cast<int64_t>(dim));
    else
      order.shape.push_back(size);
  order.perm = without(perm, ones);
  return order;
}

bool Walk::transpose(TransposeOp op, Value natural, const ElementOrder &order) {
  const std::optional<Refined> refined =
      refine(order, op.getInput().getType().getShape());
  if (!refined)
    return false;
  if (!preservesMemoryOrder(op.getPerm(), op.getInput().getType().getShape()))
    count(before, op.getType());
  Permutation perm;
  for (int64_t dim : op.getPerm())
    for (int64_t part : refined->groups[dim])
      perm.push_back(refined->order.perm[part]);
  const ElementOrder both = compact(refined->order.shape, perm);
  if (builder)
    builder->setInsertionPoint(op);
  Value result = inOrder(natural, both, op.getType(), op.getLoc());
  if (builder)
    op.replaceAllUsesWith(result);
  return true;
}

bool Walk::slice(SliceOp op, Value natural, const ElementOrder &order) {
  ArrayRef<int64_t> from = op.getInput().getType().getShape();
  std::optional<Refined> refined = refine(order, from);
  if (!refined)
    return false;
  ElementOrder &now = refined->order;
  SmallVector<int64_t> whole = now.shape;
  SmallVector<int64_t> starts(whole.size(), 0), steps(whole.size(), 1);
  for (auto [dim, size] : llvm::enumerate(op.getType().getShape())) {
    if (size == from[dim] && op.getSteps()[dim] == 1)
      continue;
    std::optional<int64_t> part = refined->naturalDim(dim);
    if (!part)
      return false;
    now.shape[*part] = size;
    starts[*part] = op.getStarts()[dim];
    steps[*part] = op.getSteps()[dim];
  }
  Value part;
  if (builder) {
    builder->setInsertionPoint(op);
    part = builder->createOrFold<SliceOp>(
        op.getLoc(), op.getType().clone(now.shape), reshaped(natural, whole),
        starts, steps);
  }
  return follow(op, part, now);
}

/// A number for all, or one for each of a dimension, along the natural value's.
/// Null: neither.
Value Walk::broadcast(BroadcastOp op, const Refined &refined) {
  SmallVector<int64_t> along;
  for (int64_t dim : op.getDims()) {
    std::optional<int64_t> part = refined.naturalDim(dim);
    if (!part || !along.empty())
      return {};
    along.push_back(*part);
  }
  if (!builder)
    return op;
  return builder->create<BroadcastOp>(op.getLoc(),
                                      op.getType().clone(refined.order.shape),
                                      op.getInput(), along);
}

bool Walk::elementwise(Operation *op, Value value, Value natural,
                       const ElementOrder &order) {
  const std::optional<Refined> refined =
      refine(order, typeOf(value).getShape());
  if (!refined)
    return false;
  if (builder)
    builder->setInsertionPoint(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto other = operand.getDefiningOp<BroadcastOp>();
    if (operand == value)
      operands.push_back(reshaped(natural, refined->order.shape));
    else if (Value inOrder = other ? broadcast(other, *refined) : Value())
      operands.push_back(inOrder);
    else
      return false;
  }
  Value result;
  if (builder) {
    Operation *own = builder->clone(*op);
    own->setOperands(operands);
    own->getResult(0).setType(
        typeOf(op->getResult(0)).clone(refined->order.shape));
    result = own->getResult(0);
  }
  return follow(op->getResult(0), result, refined->order);
}

/// A product of flat rows with a matrix: that of the rows in their natural
/// order has its rows in that order.
bool Walk::product(MatmulOp op, Value value, Value natural,
                   const ElementOrder &order) {
  RankedTensorType left = op.getLhs().getType(), right = op.getRhs().getType();
  if (op.getRhs() == value || op.getTransposed()[0] || left.getRank() != 2 ||
      right.getRank() != 2)
    return false;
  const std::optional<Refined> refined = refine(order, left.getShape());
  if (!refined)
    return false;
  const ElementOrder &now = refined->order;
  const size_t rows = refined->groups[0].size();
  const auto lead = ArrayRef(now.perm).take_front(rows);
  Permutation sorted(lead);
  llvm::sort(sorted);
  if (ArrayRef(sorted) == lead ||
      rows + refined->groups[1].size() != now.perm.size())
    return false;
  ElementOrder inner = {now.shape, sorted}, outer;
  llvm::append_range(inner.perm, ArrayRef(now.perm).drop_front(rows));
  for (int64_t dim : sorted)
    outer.shape.push_back(now.shape[dim]);
  for (int64_t dim : lead)
    outer.perm.push_back(llvm::find(sorted, dim) - sorted.begin());
  outer.shape.push_back(op.getType().getDimSize(1));
  outer.perm.push_back(static_cast<int64_t>(rows));
  if (builder)
    builder->setInsertionPoint(op);
  Value flat = inOrder(natural, inner, left, op.getLhs().getLoc());
  if (builder)
    flat =
        builder->create<MatmulOp>(op.getLoc(), flat, op.getRhs(),
                                  /*transposed=*/false, op.getTransposed()[1]);
  return follow(op, flat, outer);
}

bool Walk::use(Operation *user, Value value, Value natural,
               const ElementOrder &order) {
  if (--left < 0)
    return false;
  if (user->hasTrait<Elementwise>())
    return elementwise(user, value, natural, order);
  return llvm::TypeSwitch<Operation *, bool>(user)
      .Case([&](TransposeOp op) { return transpose(op, natural, order); })
      .Case([&](ReshapeOp op) { return follow(op, natural, order); })
      .Case([&](SliceOp op) { return slice(op, natural, order); })
      .Case([&](MatmulOp op) { return product(op, value, natural, order); })
      .Default(false);
}

bool Walk::follow(Value value, Value natural, const ElementOrder &order) {
  const llvm::SetVector<Operation *> users(value.user_begin(),
                                           value.user_end());
  return !users.empty() && llvm::all_of(users, [&](Operation *user) {
    return use(user, value, natural, order);
  });
}

/// Whether `op` goes on to those that follow.
static bool meet(TransposeOp op) {
  RankedTensorType from = op.getInput().getType();
  const ElementOrder order = {SmallVector<int64_t>(from.getShape()),
                              SmallVector<int64_t>(op.getPerm())};
  if (constantValue(op.getInput()) ||
      preservesMemoryOrder(order.perm, order.shape))
    return false;
  Walk look;
  count(look.before, op.getType());
  if (!look.follow(op, op.getInput(), order) ||
      look.after.count >= look.before.count ||
      look.after.bytes > look.before.bytes)
    return false;
  OpBuilder builder(op);
  return Walk(&builder).follow(op, op.getInput(), order);
}

bool mlir::mnistc::meetTransposes(Block &block) {
  bool changed = false;
  for (TransposeOp op : llvm::to_vector(block.getOps<TransposeOp>()))
    changed |= meet(op);
  return changed;
}
