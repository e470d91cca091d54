//===- CopiedOps.cpp - what is rather computed twice than stored ----------===//

#include "lib/IR/Plan/CopiedOps.h"
#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mnistc {

/// What Elementwise.def says.
static bool isExpensiveOnFloats(Operation *op) {
  constexpr bool cheap = false, expensive = true;
  return llvm::TypeSwitch<Operation *, bool>(op)
#define MNIST_FUNCTION(OP, COST, FUNCTION, NOUN) .Case([](OP) { return COST; })
#define MNIST_FUNCTION_OF(OP, COST, FUNCTION, GETTER, NOUN)                    \
  MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)
#define MNIST_INFIX(OP, COST, FUNCTION, SIGN, PRECEDENCE, NOUN)                \
  MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)
#define MNIST_PREFIX(OP, COST, FUNCTION, SIGN, NOUN)                           \
  MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)
#include "lib/IR/Mnist/Elementwise.def"
      .Default(cheap);
}

bool isCheap(Operation *op) {
  // Integers are indices and counts: few of them, at any cost.
  auto type = cast<ShapedType>(op->getResult(0).getType());
  bool isExpensive =
      isa<FloatType>(type.getElementType()) && isExpensiveOnFloats(op);
  return op->hasTrait<Indexing>() ||
         (op->hasTrait<Elementwise>() && !isExpensive);
}

bool takesPrologue(Operation *op) {
  auto root = dyn_cast<RootOpInterface>(op);
  return root && root.takesPrologue();
}

static bool isNumber(Operation *op) {
  return cast<ShapedType>(op->getResult(0).getType()).getNumElements() == 1;
}

/// Adds the ops that a number is made of, through numbers.
static void addMakers(Value number,
                      llvm::SmallPtrSetImpl<Operation *> &makers) {
  Operation *op = number.getDefiningOp();
  if (!op || isa<ConstantOp>(op) || isRoot(op) || op->getNumResults() != 1 ||
      !isNumber(op) || !makers.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    addMakers(operand, makers);
}

/// Where random numbers are drawn, the step is counted last, and who reads its
/// number late delays that. So the place of a recipe's numbers is computed
/// once, early: the last op that the places of all of them are made of.
static Operation *placeOfNumbers(Block &block) {
  bool draws = false;
  unsigned gathers = 0;
  DenseMap<Operation *, unsigned> uses;
  for (Operation &op : block.without_terminator()) {
    draws |= isa<RandomUniformOp>(op);
    auto gather = dyn_cast<GatherOp>(op);
    if (!gather || !isNumber(gather))
      continue;
    ++gathers;
    llvm::SmallPtrSet<Operation *, 16> makers;
    addMakers(gather.getIndices(), makers);
    for (Operation *maker : makers)
      ++uses[maker];
  }
  Operation *last = nullptr;
  if (draws)
    for (auto [op, count] : uses)
      if (count == gathers && !isa<ReshapeOp>(op) &&
          (!last || last->isBeforeInBlock(op)))
        last = op;
  return last;
}

/// Whether a value is read element by element only, through reshapes.
static bool isReadByElement(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<Elementwise>() ||
           (isa<ReshapeOp>(user) && isReadByElement(user->getResult(0)));
  });
}

/// With fusion: what only repeats or counts, and random numbers, which are
/// computed again rather than stored; parts of tensors, whose elements are as
/// soon read there; what is made only of those, such as a one-hot row or a
/// mask; inlined reductions; and numbers on their own.
static bool isWorthCopying(Operation *op,
                           const llvm::SmallPtrSetImpl<Operation *> &copied) {
  if (isa<BroadcastOp, IotaOp, RandomUniformOp>(op) || isInlined(op) ||
      (isa<SliceOp>(op) && isReadByElement(op->getResult(0))))
    return true;
  if (isNumber(op) && (isCheap(op) || isa<DivOp>(op)))
    return true;
  return isCheap(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *producer = operand.getDefiningOp();
           return producer &&
                  (isa<ConstantOp>(producer) || copied.contains(producer));
         });
}

/// Copies of copies are text that doubles with each op: one that takes more ops
/// is computed once.
static constexpr unsigned maxCopiedOps = 64;

CopiedOps::CopiedOps(Block &block, bool fuse) {
  llvm::SmallPtrSet<Operation *, 16> copied;
  DenseMap<Operation *, unsigned> copiedOps; // with each, as a tree
  Operation *place = fuse ? placeOfNumbers(block) : nullptr;
  for (Operation &op : block.without_terminator()) {
    unsigned count = 1;
    for (Value operand : op.getOperands())
      count += copiedOps.lookup(operand.getDefiningOp());
    if (count > maxCopiedOps || isRoot(&op) || isa<ConstantOp>(op))
      continue;
    if (fuse && &op != place && isWorthCopying(&op, copied))
      copied.insert(&op);
    if (isa<ReshapeOp>(op) || copied.contains(&op))
      copiedOps[&op] = count;
  }
  // Reshapes that are read, through other ones, by a root from memory.
  llvm::SmallPtrSet<Operation *, 16> inMemory;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    if (!copiedOps.contains(&op))
      continue;
    bool reshape = isa<ReshapeOp>(op), free = true;
    for (Operation *user : op.getUsers()) {
      bool readsMemory = contains(user) ? inMemory.contains(user)
                                        : isRoot(user) && !takesPrologue(user);
      if (readsMemory)
        inMemory.insert(&op);
      free &= !user->hasTrait<OpTrait::IsTerminator>() && !isa<StepOp>(user) &&
              (reshape || !readsMemory);
    }
    if (free)
      ops.insert(&op);
  }
}

} // namespace mlir::mnistc
