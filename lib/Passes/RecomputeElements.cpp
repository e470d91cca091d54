//===- RecomputeElements.cpp - elements that are rather computed twice ----===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/SameBits.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/CopiedOps.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_RECOMPUTEELEMENTS
#include "lib/Passes/Passes.h.inc"

namespace {
struct RecomputeElements : impl::RecomputeElementsBase<RecomputeElements> {
  using RecomputeElementsBase::RecomputeElementsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    asked = valuesAskedToBeEqual(block);
    findContractions(block);
    ValuesOf valuesOf;
    for (Operation &op : block)
      if (isCandidate(&op))
        valuesOf[baseOf(op.getResult(0))].push_back(&op);
    for (auto op : block.getOps<CompareOp>())
      lookThroughRelu(op, valuesOf);
    // Before anything changes.
    valuesOf.remove_if(
        [&](const auto &entry) { return !pays(entry.first, entry.second); });
    for (auto &[base, values] : valuesOf)
      for (Operation *op : values) {
        recompute(op, base);
        ++numRecomputed;
      }
  }

private:
  using ValuesOf = llvm::MapVector<Value, SmallVector<Operation *>>;
  /// By the contractions' numbers: what each op needs, and what needs it.
  DenseMap<Operation *, llvm::BitVector> before, after;
  DenseMap<Value, Value> bases;
  DenseSet<Value> reduced; ///< bases whose elements are summed, or so
  DenseSet<Value> asked;   ///< whether they equal others: computed once
  /// From a base to a value.
  struct Path {
    bool hasFunctions = false;  ///< such as exp or erf
    bool hasStatistics = false; ///< it is normalized

    /// The gradient of what is normalized has several sums before it stores: a
    /// function is computed for each of them.
    bool isExpensive() const { return hasFunctions && hasStatistics; }
  };
  DenseMap<Value, Path> paths;

  void findContractions(Block &block);
  bool isLater(Operation *user, Value base) const;
  bool isKept(Value value, Value base) const;
  bool isStored(Value base) const;
  bool isReadWith(Operation *op, Value base, Value read) const;
  bool pays(Value base, ArrayRef<Operation *> values) const;
  Path pathTo(Value value, Value base);
  bool isCandidate(Operation *op);
  void lookThroughRelu(CompareOp op, ValuesOf &valuesOf);
  Value baseOf(Value value);
  Value clone(Value value, Value base, OpBuilder &b, IRMapping &again);
  void recompute(Operation *op, Value base);
};
} // namespace

void RecomputeElements::findContractions(Block &block) {
  before.clear(), after.clear(), bases.clear(), paths.clear();
  reduced.clear();
  unsigned count = 0;
  for (Operation &op : block)
    count += isContraction(&op);
  unsigned number = 0;
  for (Operation &op : block) {
    llvm::BitVector &mine = before[&op];
    mine.resize(count);
    if (isContraction(&op))
      mine.set(number++);
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        mine |= before.at(producer);
  }
  for (Operation &op : llvm::reverse(block)) {
    llvm::BitVector mine(count);
    if (isContraction(&op))
      mine.set(--number);
    for (Operation *user : op.getUsers())
      mine |= after.at(user);
    after[&op] = std::move(mine);
  }
  for (auto op : block.getOps<ReductionOpInterface>())
    reduced.insert(baseOf(op->getOperand(0)));
}

/// Whether `user` waits for a contraction that needs `base`: what is made of
/// that alone would be kept in memory for so long.
bool RecomputeElements::isLater(Operation *user, Value base) const {
  return llvm::any_of(base.getUsers(), [&](Operation *reader) {
    // On clones depends nothing new.
    auto needs = after.find(reader);
    return needs != after.end() && before.at(user).anyCommon(needs->second);
  });
}

/// Whether `value`, which is made of `base`, has later users.
bool RecomputeElements::isKept(Value value, Value base) const {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return isLater(user, base); });
}

/// Whether it is in memory whoever reads it later: what a contraction makes is
/// when it is reduced, for nothing can do both.
bool RecomputeElements::isStored(Value base) const {
  Operation *maker = base.getDefiningOp();
  return !maker || isKept(base, base) ||
         (isContraction(maker) && reduced.contains(base));
}

/// Whether something else than contractions reads `read`, and waits for the
/// same as a later user of `op`: a step of both reads it anyway.
bool RecomputeElements::isReadWith(Operation *op, Value base,
                                   Value read) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return isLater(user, base) &&
           llvm::any_of(read.getUsers(), [&](Operation *reader) {
             auto waits = before.find(reader);
             return !isContraction(reader) && waits != before.end() &&
                    before.at(user) == waits->second;
           });
  });
}

static bool givesNumber(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0)).isF32();
}

/// Whether `base` takes the place of more than it needs itself. A boolean takes
/// a byte of four: alone it is only computed again from what is read anyway.
bool RecomputeElements::pays(Value base, ArrayRef<Operation *> values) const {
  if (llvm::any_of(values, givesNumber))
    return isStored(base) || values.size() > 1;
  return llvm::all_of(
      values, [&](Operation *mask) { return isReadWith(mask, base, base); });
}

/// Of one element for many of `value`.
static bool isSmallFor(Value small, Value value) {
  constexpr int64_t many = 16;
  if (auto broadcast = small.getDefiningOp<BroadcastOp>())
    small = broadcast.getInput();
  return isa_and_nonnull<ConstantOp, IotaOp>(small.getDefiningOp()) ||
         countOf(small) * many <= countOf(value);
}

/// Whether a contraction reads it from memory.
static bool isMultiplied(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isContraction(user) ||
           (isa<ReshapeOp>(user) && isMultiplied(user->getResult(0)));
  });
}

/// How `value` is made of its base.
RecomputeElements::Path RecomputeElements::pathTo(Value value, Value base) {
  if (value == base || baseOf(value) != base)
    return {};
  if (auto known = paths.find(value); known != paths.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  Path path{.hasFunctions = !isCheap(op)};
  for (Value operand : op->getOperands()) {
    Path before = pathTo(operand, base);
    path.hasFunctions |= before.hasFunctions;
    path.hasStatistics |= before.hasStatistics;
    auto repeated = operand.getDefiningOp<BroadcastOp>();
    path.hasStatistics |= repeated && repeated.getInput().getDefiningOp() &&
                          !repeated.getInput().getDefiningOp<ConstantOp>();
  }
  return paths[value] = path;
}

/// Whether `op` computes elements early that would be stored only for later
/// ops.
bool RecomputeElements::isCandidate(Operation *op) {
  if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1)
    return false;
  Value value = op->getResult(0), base = baseOf(value);
  Type element = getElementTypeOrSelf(value);
  return (element.isF32() || element.isInteger(1)) && countOf(value) >= from &&
         base != value && !isLater(op, base) && isKept(value, base) &&
         (countOf(value) >= functionsFrom ||
          !pathTo(value, base).isExpensive());
}

/// relu(x) > 0 is x > 0. The mask of a relu whose result a product reads is
/// made of that result; but where a number is computed again with it from what
/// the relu is made of, so is the mask.
void RecomputeElements::lookThroughRelu(CompareOp op, ValuesOf &valuesOf) {
  auto relu = op.getLhs().getDefiningOp<ReluOp>();
  if (!relu || op.getPredicate() != Predicate::gt || !isZero(op.getRhs()) ||
      !isMultiplied(relu))
    return;
  const Value result = baseOf(op);
  op.getLhsMutable().assign(relu.getInput());
  bases.erase(op);
  const Value base = baseOf(op);
  if (isStored(base) && isCandidate(op) &&
      llvm::any_of(valuesOf.lookup(base), [&](Operation *value) {
        return givesNumber(value) && isReadWith(op, base, value->getResult(0));
      })) {
    llvm::erase(valuesOf[result], op);
    valuesOf[base].push_back(op);
    return;
  }
  op.getLhsMutable().assign(relu);
  bases.erase(op);
}

/// The one tensor of as many elements that `value` is computed from, as far as
/// that goes, by elementwise ops; `value` where there is none, where a product
/// has it in memory, or where all have to read the same bits.
Value RecomputeElements::baseOf(Value value) {
  if (auto known = bases.find(value); known != bases.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  Value base;
  if (op && op->hasTrait<Elementwise>() && !isMultiplied(value) &&
      !asked.contains(value))
    for (Value operand : op->getOperands()) {
      if (isSmallFor(operand, value))
        continue;
      Value origin = baseOf(operand);
      if (base && base != origin)
        base = value;
      else if (!base)
        base = origin;
    }
  // What is made of a base before it is used otherwise takes its place.
  if (!base || (base.hasOneUse() && *base.user_begin() == op))
    base = value;
  return bases[value] = base;
}

/// Computes `value` from its base again, at `b`; what else it takes is there.
Value RecomputeElements::clone(Value value, Value base, OpBuilder &b,
                               IRMapping &again) {
  Operation *maker = value.getDefiningOp();
  if (value == base || !maker || baseOf(value) != base)
    return value;
  if (Value known = again.lookupOrNull(value))
    return known;
  for (Value operand : maker->getOperands())
    again.map(operand, clone(operand, base, b, again));
  Operation *copy = b.clone(*maker, again);
  copy->setAttr(againAttribute, b.getUnitAttr());
  return copy->getResult(0);
}

/// Has each later user compute it from its base: they may be in several steps.
void RecomputeElements::recompute(Operation *op, Value base) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : op->getUses())
    if (before.contains(use.getOwner()) && isLater(use.getOwner(), base))
      uses.push_back(&use);
  for (OpOperand *use : uses) {
    OpBuilder b(use->getOwner());
    IRMapping again;
    use->set(clone(op->getResult(0), base, b, again));
  }
}

} // namespace mlir::mnistc
