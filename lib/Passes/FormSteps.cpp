//===- FormSteps.cpp - cut a function into steps --------------------------===//
//
// What belongs together is the graph's affair and decided here; what can be
// launched together is the target's (SelectImplementations.cpp).
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/CopiedOps.h"
#include "lib/IR/Plan/MapForm.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepSize.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/EraseDead.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace mlir::mnistc {

#define GEN_PASS_DEF_FORMSTEPS
#include "lib/Passes/Passes.h.inc"

/// How many elements of `value` a root reads while it runs.
static double readsOf(Operation *op, Value value) {
  auto root = cast<RootOpInterface>(op);
  double reads = 0;
  for (auto [number, operand] : llvm::enumerate(op->getOperands()))
    if (operand == value)
      reads += root.getReads(number);
  return reads;
}

namespace {
/// Ops that will be one step. Only the last one is used outside of it.
struct Group {
  SmallVector<Operation *> ops; // in program order
  Operation *root = nullptr;

  Operation *last() const { return ops.back(); }
};

/// Groups the ops of a block.
class Grouping {
public:
  Grouping(Block &block, bool fuse, bool epilogues, double maxRecompute,
           int64_t transposedFrom);

  /// Joins groups for as long as two belong together.
  void join();

  /// The groups, in program order of their last ops.
  SmallVector<const Group *> groups() const;

  /// Ops that cost nothing and are copied to wherever they are used.
  bool isFree(Operation *op) const { return freeOps.contains(op); }

private:
  bool tryJoin(Operation *op);
  void retry(const Group &merged);
  bool fits(const Group &producer, const Group &consumer) const;
  bool canFuseProducer(const Group &producer, const Group &consumer) const;
  bool canFuseConsumer(const Group &root, const Group &epilogue) const;
  bool drawsNumbers(const Group &group) const;
  bool isReadAcross(const Group &producer, const Group &consumer) const;
  bool onlyUsedBy(const Group &producer, const Group &consumer) const;
  double recomputeCount(Value value, const Group &consumer,
                        DenseMap<Value, double> &known) const;
  bool allReaders(Value value,
                  llvm::function_ref<bool(Operation *)> accepts) const;
  Group *producerOf(Value operand) const;
  void merge(Group *producer, Group *consumer);

  bool epilogues;
  double maxRecompute;    ///< elements for one use, of ops that are expensive
  int64_t transposedFrom; ///< elements
  SmallVector<std::unique_ptr<Group>> all;
  DenseMap<Operation *, Group *> groupOf;
  DenseMap<Operation *, unsigned> numberOf; ///< in program order
  std::set<unsigned> toTry;                 ///< ops that may join a producer
  const CopiedOps freeOps;
};
} // namespace

Grouping::Grouping(Block &block, bool fuse, bool epilogues, double maxRecompute,
                   int64_t transposedFrom)
    : epilogues(epilogues), maxRecompute(maxRecompute),
      transposedFrom(transposedFrom), freeOps(block, fuse) {
  for (Operation &op : block.without_terminator()) {
    if (isa<ConstantOp, StepOp>(op) || isFree(&op))
      continue;
    all.push_back(std::make_unique<Group>());
    all.back()->ops.push_back(&op);
    all.back()->root = isRoot(&op) ? &op : nullptr;
    groupOf[&op] = all.back().get();
    numberOf[&op] = all.size() - 1;
  }
}

/// Whether `accepts` holds for the ops that read `value`, through free ops.
bool Grouping::allReaders(Value value,
                          llvm::function_ref<bool(Operation *)> accepts) const {
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> open = {value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers())
      if (!isFree(user)) {
        if (!accepts(user))
          return false;
      } else if (seen.insert(user).second) {
        open.push_back(user->getResult(0));
      }
  return true;
}

bool Grouping::onlyUsedBy(const Group &producer, const Group &consumer) const {
  return allReaders(producer.last()->getResult(0), [&](Operation *user) {
    return groupOf.lookup(user) == &consumer;
  });
}

/// How many elements of `value`, which comes from outside, a group computes if
/// it computes them itself.
double Grouping::recomputeCount(Value value, const Group &consumer,
                                DenseMap<Value, double> &known) const {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  double times = 0;
  for (Operation *user : value.getUsers()) {
    if (!isFree(user) && groupOf.lookup(user) != &consumer)
      continue;
    double here;
    if (isRoot(user))
      here = readsOf(user, value);
    else if (user == consumer.last())
      here = countOf(user->getResult(0));
    else
      here = recomputeCount(user->getResult(0), consumer, known);
    // Other elements of it are read elsewhere.
    if (isa<ConcatOp>(user))
      here *= double(llvm::count(user->getOperands(), value)) * countOf(value) /
              countOf(user->getResult(0));
    times = std::max(times, here);
  }
  known[value] = times;
  return times;
}

/// Whether a large transpose would be read by what does not go through its
/// elements in their order, such as windows or one of several inputs of a
/// concatenation: threads would load what is far apart. As a step of its own it
/// goes through memory in both orders (TransposedMap). Products know operands
/// that are transposed.
bool Grouping::isReadAcross(const Group &producer,
                            const Group &consumer) const {
  if (countOf(producer.last()->getResult(0)) < transposedFrom ||
      llvm::none_of(producer.ops, [](Operation *op) {
        auto transpose = dyn_cast<TransposeOp>(op);
        return transpose && turnsMatrices(transpose);
      }))
    return false;
  bool across = false;
  llvm::SetVector<Operation *> reached;
  auto reach = [&](Operation *op) {
    if (groupOf.lookup(op) == &consumer && reached.insert(op))
      across |= !isPointwise(op) && !isa<MatmulOp>(op);
    return true;
  };
  allReaders(producer.last()->getResult(0), reach);
  for (size_t i = 0; i < reached.size() && !across; ++i) // grows
    if (reached[i] != consumer.last() && !isRoot(reached[i]))
      allReaders(reached[i]->getResult(0), reach);
  return across;
}

/// Whether a map may be computed wherever the consumer reads its result.
bool Grouping::canFuseProducer(const Group &producer,
                               const Group &consumer) const {
  if (producer.root || !onlyUsedBy(producer, consumer) ||
      isReadAcross(producer, consumer))
    return false;
  Value value = producer.last()->getResult(0);
  // Does it reach a root that reads from memory?
  if (consumer.root && !takesPrologue(consumer.root)) {
    llvm::SetVector<Operation *> reached;
    auto reach = [&](Operation *op) { return reached.insert(op), true; };
    allReaders(value, reach);
    for (size_t i = 0; i < reached.size(); ++i)
      if (reached[i] == consumer.root)
        return false;
      else if (reached[i] != consumer.last() &&
               groupOf.lookup(reached[i]) == &consumer)
        allReaders(reached[i]->getResult(0), reach);
  }
  DenseMap<Value, double> known;
  return llvm::all_of(producer.ops, isCheap) ||
         recomputeCount(value, consumer, known) <=
             maxRecompute * countOf(value);
}

/// Whether the ops of a group take random numbers, which are free.
bool Grouping::drawsNumbers(const Group &group) const {
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Operation *> open(group.ops);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (isa<RandomUniformOp>(op))
      return true;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && isFree(producer) && seen.insert(producer).second)
        open.push_back(producer);
  }
  return false;
}

/// Whether a map can be done on each result of a root before it is stored: it
/// goes through the elements in the same order. A thread of a large map draws
/// random numbers for four neighbours at once; one of a product or a pool,
/// whose results are not neighbours, would draw four for each.
bool Grouping::canFuseConsumer(const Group &root, const Group &epilogue) const {
  if (!epilogues || !root.root || epilogue.root || !onlyUsedBy(root, epilogue))
    return false;
  // It begins as soon as it can, which what follows it would put off.
  if (root.root->hasTrait<Collective>())
    return false;
  if (!RowSpace::ofAny(root.root) && drawsNumbers(epilogue))
    return false;
  SmallVector<Value> values = {root.last()->getResult(0)};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (!isPointwise(user))
        return false;
      if (user != epilogue.last())
        values.push_back(user->getResult(0));
    }
  return true;
}

/// Whether an element of both together is not too much text, and compiles in
/// bounded time: a chain is cut into steps.
bool Grouping::fits(const Group &producer, const Group &consumer) const {
  return fitsStep(consumer.last(), [&](Operation *op) {
    const Group *group = groupOf.lookup(op);
    return group == &producer || group == &consumer || isFree(op);
  });
}

Group *Grouping::producerOf(Value operand) const {
  while (Operation *op = operand.getDefiningOp()) {
    if (!isFree(op))
      return groupOf.lookup(op);
    if (op->getNumOperands() == 0)
      return nullptr;
    operand = op->getOperand(0);
  }
  return nullptr;
}

void Grouping::merge(Group *producer, Group *consumer) {
  for (Operation *op : producer->ops)
    groupOf[op] = consumer;
  SmallVector<Operation *> ops;
  std::merge(producer->ops.begin(), producer->ops.end(), consumer->ops.begin(),
             consumer->ops.end(), std::back_inserter(ops),
             [&](Operation *a, Operation *b) {
               return numberOf.at(a) < numberOf.at(b);
             });
  consumer->ops = std::move(ops);
  if (producer->root)
    consumer->root = producer->root;
  producer->ops.clear();
}

/// Joins the group of `op` with one that it reads. Of several roots it follows
/// the latest, so that the others' results are there by then.
bool Grouping::tryJoin(Operation *op) {
  Group *consumer = groupOf.lookup(op);
  llvm::SetVector<Group *> producers;
  for (Value operand : op->getOperands())
    if (Group *producer = producerOf(operand); producer && producer != consumer)
      producers.insert(producer);
  Group *best = nullptr;
  for (Group *producer : producers) {
    if (!canFuseProducer(*producer, *consumer) &&
        !canFuseConsumer(*producer, *consumer))
      continue;
    if (!best ||
        (producer->root &&
         (!best->root || best->last()->isBeforeInBlock(producer->last()))))
      if (fits(*producer, *consumer))
        best = producer;
  }
  if (!best)
    return false;
  merge(best, consumer);
  retry(*consumer);
  return true;
}

/// What a merge allows: producers that have now no other reader, and for those
/// that read the result, to follow a root.
void Grouping::retry(const Group &merged) {
  for (Operation *op : merged.ops)
    toTry.insert(numberOf.at(op));
  if (merged.root)
    allReaders(merged.last()->getResult(0), [&](Operation *user) {
      if (auto number = numberOf.find(user); number != numberOf.end())
        toTry.insert(number->second);
      return true;
    });
}

void Grouping::join() {
  SmallVector<Operation *> ops;
  for (const std::unique_ptr<Group> &group : all)
    ops.push_back(group->last());
  for (unsigned number = 0; number < ops.size(); ++number)
    toTry.insert(number);
  // A diamond joins only when its last op has joined both sides: what may join
  // now is tried again, in program order, round after round.
  while (!toTry.empty()) {
    std::set<unsigned> round = std::exchange(toTry, {});
    for (unsigned number : round)
      while (tryJoin(ops[number]))
        ;
  }
}

SmallVector<const Group *> Grouping::groups() const {
  SmallVector<const Group *> result;
  for (const std::unique_ptr<Group> &group : all)
    if (!group->ops.empty())
      result.push_back(group.get());
  llvm::sort(result, [](const Group *a, const Group *b) {
    return a->last()->isBeforeInBlock(b->last());
  });
  return result;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Gives every result of the function a separate op: arguments, constants
/// and values that are returned already are copied.
static void copySharedResults(func::FuncOp function) {
  Operation *ret = function.getBody().front().getTerminator();
  llvm::SmallPtrSet<Value, 8> returned;
  for (OpOperand &operand : ret->getOpOperands()) {
    Value value = operand.get();
    bool own = value.getDefiningOp() && !value.getDefiningOp<ConstantOp>();
    if (returned.insert(value).second && own)
      continue;
    auto name = function.getResultAttrOfType<StringAttr>(
        operand.getOperandNumber(), "mnist.name");
    Location loc = name ? Location(NameLoc::get(name)) : ret->getLoc();
    OpBuilder builder(ret);
    operand.set(builder.create<ReshapeOp>(loc, value.getType(), value));
  }
}

/// What the function calls its results, each the result of a separate op.
static DenseMap<Operation *, StringAttr> namesOfResults(func::FuncOp function) {
  DenseMap<Operation *, StringAttr> names;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    for (StringRef attribute : {"mnist.name", "mnist.parameter"})
      if (auto name = function.getResultAttrOfType<StringAttr>(
              operand.getOperandNumber(), attribute))
        names[operand.get().getDefiningOp()] = name;
  return names;
}

/// A step is called after the tensor that it computes. Where two compute parts
/// of one tensor, the result of the function has its name, or else the later.
static SmallVector<std::string> namesOf(ArrayRef<const Group *> groups,
                                        func::FuncOp function) {
  DenseMap<Operation *, StringAttr> results = namesOfResults(function);
  StepNames taken(function.getBody().front());
  SmallVector<std::string> names(groups.size());
  for (bool isResult : {true, false})
    for (size_t i = groups.size(); i-- > 0;) {
      Operation *last = groups[i]->last();
      StringAttr name = results.lookup(last);
      if (bool(name) == isResult)
        names[i] = taken.take(name ? name.str() : tensorName(last),
                              last->getName().stripDialect());
    }
  return names;
}

namespace {
struct FormSteps : impl::FormStepsBase<FormSteps> {
  using FormStepsBase::FormStepsBase;

  void runOnOperation() override {
    if (epilogues != "any" && epilogues != "none") {
      getOperation().emitError("expected epilogues 'any' or 'none', got '")
          << epilogues << "'";
      return signalPassFailure();
    }
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    if (failed(expectModelOps(block)))
      return signalPassFailure();
    copySharedResults(getOperation());
    eraseDead(block);

    Grouping grouping(block, fuse, epilogues == "any",
                      maxRecompute < 0 ? machineFor(getOperation()).maxRecompute
                                       : maxRecompute,
                      machineFor(getOperation()).transposedFrom);
    if (fuse)
      grouping.join();
    SmallVector<const Group *> groups = grouping.groups();

    SmallVector<std::string> names = namesOf(groups, getOperation());
    for (auto [i, group] : llvm::enumerate(groups)) {
      numJoined += group->ops.size() - 1;
      ++numSteps;
      outline(group->ops, names[i], [&](Operation *op) {
        // Free ops go with their last users, and a step may be made
        // where one was in memory.
        return !isa<StepOp>(op) && grouping.isFree(op);
      });
    }
    eraseDead(block);
  }
};
} // namespace

} // namespace mlir::mnistc
