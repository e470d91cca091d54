//===- RowGroup.cpp - ops that will be one row step -----------------------===//
//
// Grows from a reduction: what it is made of, what is made of it, and the other
// reductions of the same rows that these lead to, for as long as nothing
// between them has to run outside of the step.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/RowGroup.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mnistc;

/// More ops than any normalization takes: text stays readable, and registers
/// suffice.
static constexpr size_t maxRowOps = 96;
/// Tensors with an element for each element of a row that a step reads or
/// writes.
static constexpr unsigned maxRowTensors = 10;

//===----------------------------------------------------------------------===//
// Around an op
//===----------------------------------------------------------------------===//

/// The ops that read a result, themselves or through copies.
const SmallVector<Operation *> &RowGroup::readersOf(Operation *op) const {
  auto [known, isNew] = readers.try_emplace(op);
  if (!isNew)
    return known->second;
  llvm::SetVector<Operation *> found, copies;
  copies.insert(op);
  for (size_t i = 0; i < copies.size(); ++i)
    for (Operation *user : copies[i]->getUsers())
      copied.contains(user) ? copies.insert(user) : found.insert(user);
  llvm::append_range(known->second, found);
  return known->second;
}

/// What an op reads from memory, itself or through copies.
SmallVector<Value> RowGroup::operandsOf(Operation *op) const {
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> copies;
  copies.insert(op);
  for (size_t i = 0; i < copies.size(); ++i)
    for (Value operand : copies[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && copied.contains(producer))
        copies.insert(producer);
      else
        values.insert(operand);
    }
  return values.takeVector();
}

/// Whether an op may be part of a step over these rows. What is copied comes
/// with its readers.
bool RowGroup::mayTake(Operation *op) const {
  if (ops.contains(op) || isa<StepOp, ConstantOp>(op) || copied.contains(op) ||
      op->getNumResults() != 1)
    return false;
  return space.isReduction(op) || (space.isMap(op) && !readsInlined(op)) ||
         (space.isTotal(op) && needsRows(op));
}

/// Whether an element is a separate loop, which would run in every phase.
bool RowGroup::readsInlined(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && copied.contains(producer) &&
           (isInlined(producer) || readsInlined(producer));
  });
}

/// Whether an op reads what the group makes of rows.
bool RowGroup::needsRows(Operation *op) const {
  llvm::SetVector<Operation *> open;
  open.insert(op);
  for (size_t i = 0; i < open.size(); ++i)
    for (Value operand : operandsOf(open[i]))
      if (Operation *producer = operand.getDefiningOp();
          producer && ops.contains(producer)) {
        if (space.isReduction(producer))
          return true;
        open.insert(producer);
      }
  return false;
}

bool RowGroup::leadsToReduction(Operation *op) const {
  return space.isReduction(op) ||
         llvm::any_of(readersOf(op), [&](Operation *reader) {
           return space.isReduction(reader);
         });
}

/// Whether one of the two is repeated.
bool RowGroup::addsBias(Operation *op) const {
  return isa<AddOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return copied.contains(operand.getDefiningOp());
         });
}

/// Whether an op may be the end of a step that the group cannot take in: that
/// of a producer which nothing else reads, also a relu after its bias, for
/// libraries compute both.
bool RowGroup::endsOther(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *producer = skipReshapes(operand).getDefiningOp();
    if (!producer || copied.contains(producer) || ops.contains(producer) ||
        isa<StepOp, ConstantOp>(producer) || readersOf(producer).size() != 1)
      return false;
    return !mayTake(producer) ||
           (isa<ReluOp>(op) && addsBias(producer) && endsOther(producer));
  });
}

/// Whether an op of the group may be the end of a contraction's step with all
/// that is between them, as the gradient of an activation is: maps that nothing
/// else reads.
bool RowGroup::endsContraction(Operation *op) const {
  llvm::SetVector<Operation *> between;
  between.insert(op);
  auto isRead = [&](Operation *reader) { return between.contains(reader); };
  auto drawsNumbers = [&](Value operand) {
    return operand.getDefiningOp<RandomUniformOp>() != nullptr;
  };
  Operation *found = nullptr;
  // Those that are read by one come after all of their readers.
  for (size_t i = 0; i < between.size(); ++i) {
    if (llvm::any_of(between[i]->getOperands(), drawsNumbers))
      return false;
    for (Value operand : operandsOf(between[i])) {
      Operation *producer = skipReshapes(operand).getDefiningOp();
      if (!producer || between.contains(producer) ||
          !llvm::all_of(readersOf(producer), isRead))
        continue;
      if (ops.contains(producer) && !space.isReduction(producer))
        between.insert(producer);
      else if (isContraction(producer) && found && found != producer)
        return false;
      else if (isContraction(producer))
        found = producer;
    }
  }
  return found && countOf(found->getResult(0)) == countOf(op->getResult(0));
}

/// Whether an op makes one number, from no row.
bool RowGroup::isNumberForAll(Operation *op) const {
  return space.rows() == 1 && space.isMap(op) &&
         space.hasRows(op->getResult(0)) && !needsRows(op);
}

/// Whether an op stores what it reads once more, for products in bf16.
static bool isRounding(Operation *op) {
  return isa<CastOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isBF16();
}

/// Whether others need an op than the group.
bool RowGroup::isReadOutside(Operation *op) const {
  return llvm::any_of(readersOf(op),
                      [&](Operation *reader) { return !ops.contains(reader); });
}

/// The ops that an op of the group leads to.
SmallVector<Operation *> RowGroup::neighbours(Operation *op) const {
  SmallVector<Operation *> result;
  for (Operation *reader : readersOf(op))
    if (mayTake(reader) && !reader->hasAttr(againAttribute) &&
        (needsRows(reader) || leadsToReduction(reader) || isRounding(reader)))
      result.push_back(reader);
  for (Value operand : operandsOf(op)) {
    Operation *producer = operand.getDefiningOp();
    // What may end another step stays there if it is stored anyway, and who
    // needs a number does not wait for one row.
    if (producer && mayTake(producer) &&
        !((endsOther(producer) || isNumberForAll(producer)) &&
          isReadOutside(producer)))
      result.push_back(producer);
  }
  // What a launch is spent on anyway.
  if (space.rows() == 1)
    for (Operation &other : *op->getBlock())
      if (space.isReduction(&other) && mayTake(&other))
        result.push_back(&other);
  // Several reductions of one tensor read it once.
  for (Value operand : op->getOperands())
    if (space.hasElements(operand))
      for (Operation *user : operand.getUsers())
        if (mayTake(user) && !user->hasAttr(againAttribute) &&
            leadsToReduction(user))
          result.push_back(user);
  return result;
}

/// The candidate and the ops on paths from the group to it or back, which have
/// to be in the group with it; none where one of them may not be.
SmallVector<Operation *> RowGroup::withPaths(Operation *candidate) const {
  auto isInside = [&](Operation *op) {
    return op == candidate || ops.contains(op);
  };
  // Nothing after the last of them leads back.
  size_t end = order[candidate];
  for (Operation *op : ops)
    end = std::max(end, order[op]);
  llvm::SetVector<Operation *> after;
  auto follow = [&](Operation *op) {
    for (Operation *reader : readersOf(op))
      if (!isInside(reader) && order[reader] < end)
        after.insert(reader);
  };
  follow(candidate);
  for (Operation *op : ops)
    follow(op);
  for (size_t i = 0; i < after.size(); ++i)
    follow(after[i]);

  // The last ones first.
  std::vector<std::pair<size_t, Operation *>> outside;
  for (Operation *op : after)
    outside.emplace_back(order[op], op);
  llvm::sort(outside, std::greater<>());
  SmallVector<Operation *> between;
  Ops leadsBack;
  for (auto [at, op] : outside)
    if (llvm::any_of(readersOf(op), [&](Operation *reader) {
          return isInside(reader) || leadsBack.contains(reader);
        })) {
      if (!mayTake(op))
        return {};
      leadsBack.insert(op);
      between.push_back(op);
    }
  between.push_back(candidate);
  return between;
}

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

SmallVector<Operation *> RowGroup::sorted() const {
  SmallVector<Operation *> result(ops.begin(), ops.end());
  llvm::sort(result,
             [&](Operation *a, Operation *b) { return order[a] < order[b]; });
  return result;
}

SmallVector<Operation *> RowGroup::results() const {
  SmallVector<Operation *> result = sorted();
  llvm::erase_if(result, [&](Operation *op) { return !isReadOutside(op); });
  return result;
}

/// What of all elements the group reads for an op: where one is computed again,
/// what that is computed from.
void RowGroup::addReads(Operation *op,
                        llvm::SmallPtrSetImpl<void *> &values) const {
  for (Value operand : operandsOf(op)) {
    Operation *producer = operand.getDefiningOp();
    if (!space.hasElements(operand) || (producer && ops.contains(producer)))
      continue;
    if (producer && producer->hasAttr(againAttribute) && mayTake(producer))
      addReads(producer, values);
    else
      values.insert(operand.getAsOpaquePointer());
  }
}

/// Tensors with all elements, that the group reads and that others read of it.
unsigned RowGroup::countTensors() const {
  llvm::SmallPtrSet<void *, 16> values;
  for (Operation *op : ops) {
    addReads(op, values);
    if (space.hasElements(op->getResult(0)) && isReadOutside(op))
      values.insert(op->getResult(0).getAsOpaquePointer());
  }
  return values.size();
}

void RowGroup::grow() {
  // What closes a diamond joins once both of its sides have: try again.
  for (bool grown = true; grown;) {
    grown = false;
    SmallVector<Operation *> open;
    for (Operation *op : sorted())
      llvm::append_range(open, neighbours(op));
    for (size_t i = 0; i < open.size() && ops.size() < maxRowOps; ++i) {
      if (ops.contains(open[i]))
        continue;
      SmallVector<Operation *> joined = withPaths(open[i]);
      if (joined.empty())
        continue;
      ops.insert(joined.begin(), joined.end());
      if (countTensors() > maxRowTensors) {
        for (Operation *op : joined)
          ops.erase(op);
        continue;
      }
      grown = true;
      for (Operation *op : joined)
        llvm::append_range(open, neighbours(op));
    }
  }
}

void RowGroup::separateTotals(const Machine &machine) {
  auto isTotal = [&](Operation *op) { return space.isTotal(op); };
  if (machine.streams == 1 || llvm::all_of(results(), isTotal))
    return;
  for (Operation *op : sorted())
    if (isTotal(op)) {
      ops.erase(op);
      separate.insert(op);
    }
}

/// Gives back what there is one of for each row and no element needs: one
/// thread would do it while the others wait; elsewhere it runs beside other
/// steps.
void RowGroup::trim() {
  if (space.rows() == 1)
    return;
  SmallVector<Operation *> all = sorted();
  for (Operation *op : llvm::reverse(all))
    if (space.hasRows(op->getResult(0)) && !space.isReduction(op) &&
        llvm::none_of(readersOf(op),
                      [&](Operation *reader) { return ops.contains(reader); }))
      ops.erase(op);
}

/// Whether a copied op reads what the group computes, itself or through others.
bool RowGroup::needsGroup(Operation *op) const {
  return llvm::any_of(operandsOf(op), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && ops.contains(producer);
  });
}

/// Whether the copies that an op reads are of rows as the step knows them,
/// where they depend on any: arithmetic on a number in another shape is not.
bool RowGroup::copiesFit(Operation *op) const {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || !copied.contains(producer) || !needsGroup(producer))
      return true;
    return (space.isRepeat(producer) || space.isMap(producer)) &&
           copiesFit(producer);
  });
}

bool RowGroup::isRowBody() const {
  return llvm::all_of(ops, [&](Operation *op) { return copiesFit(op); });
}

/// Whether it reads or stores a mask of all elements.
bool RowGroup::hasMasks(const Machine &machine) const {
  auto isMask = [&](Value value) {
    return space.hasElements(value) && getElementTypeOrSelf(value).isInteger(1);
  };
  return llvm::any_of(ops, [&](Operation *op) {
    return (isMask(op->getResult(0)) && isReadOutside(op) &&
            !isComparedAgain(op, machine)) ||
           llvm::any_of(op->getOperands(), [&](Value operand) {
             Operation *producer = operand.getDefiningOp();
             return isMask(operand) &&
                    !(producer &&
                      (ops.contains(producer) || copied.contains(producer)));
           });
  });
}

/// Whether its blocks keep a machine at work, or have little to do.
bool RowGroup::hasEnoughBlocks(const Machine &machine) const {
  int64_t rows = space.rows(), elements = rows * space.size();
  bool areColumns = !space.isContiguous() && space.getRun() == 1;
  if (areColumns && elements >= machine.foursFrom) {
    bool hasTotals =
        llvm::any_of(ops, [&](Operation *op) { return space.isTotal(op); });
    if (machine.launchesPhases && space.areRowsInFours() && !hasTotals)
      return true;
    rows = llvm::divideCeil(rows, machine.adjacentRows);
  }
  int64_t blocks = rows * machine.rowBlocks;
  return blocks >= machine.fullBlocks ||
         elements <= blocks * machine.blockElements;
}

bool RowGroup::isWorthwhile(const Machine &machine,
                            const RowParts &parts) const {
  bool mayBeStrided =
      (space.getRun() >= machine.shortestRun || space.areRowsAdjacent()) &&
      (machine.storesMasks || !hasMasks(machine));
  if (space.size() == 1 || !(mayBeStrided || space.isContiguous()) ||
      !hasEnoughBlocks(machine))
    return false;
  auto isReduction = [&](Operation *op) {
    return space.isReduction(op) || space.isTotal(op);
  };
  // Nothing is saved where all are inlined, or a softmax, which has a kernel.
  if (llvm::none_of(ops, [&](Operation *op) {
        return isReduction(op) && !parts.takesNoStep(op);
      }))
    return false;
  return llvm::count_if(ops, isReduction) > 1 ||
         llvm::any_of(results(), [&](Operation *op) {
           return space.hasElements(op->getResult(0)) &&
                  !isComputedAgain(op, machine) &&
                  !(machine.joinsReaders && endsContraction(op));
         });
}

/// Whether the readers outside of the group may rather compare again what it
/// stores anyway.
bool RowGroup::isComparedAgain(Operation *op, const Machine &machine) const {
  return !machine.storesMasks && isa<CompareOp>(op) &&
         space.hasElements(op->getResult(0)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *producer = operand.getDefiningOp();
           return !producer || isa<ConstantOp>(producer) ||
                  (ops.contains(producer) && isReadOutside(producer));
         });
}

/// Whether the readers outside of the group may rather compute an op again:
/// from one tensor that is in memory, and from what there is one of for each
/// row.
bool RowGroup::isComputedAgain(Operation *op, const Machine &machine) const {
  if (isComparedAgain(op, machine))
    return true;
  if (!space.hasElements(op->getResult(0)) || !isCheap(op) ||
      llvm::count_if(op->getOperands(), [&](Value operand) {
        return !copied.contains(operand.getDefiningOp());
      }) != 1)
    return false;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && (copied.contains(producer) ? !space.isRepeat(producer)
                                               : ops.contains(producer)))
      return false;
  }
  return llvm::all_of(readersOf(op), [&](Operation *reader) {
    return space.isReduction(reader) || space.isMap(reader);
  });
}

void RowGroup::copyForReaders(const Machine &machine) {
  for (Operation *op : results()) {
    if (!isComputedAgain(op, machine))
      continue;
    OpBuilder builder(op);
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (Operation *repeat = operand.getDefiningOp();
          repeat && copied.contains(repeat))
        builder.clone(*repeat, mapping);
    Operation *copy = builder.clone(*op, mapping);
    op->getResult(0).replaceUsesWithIf(copy->getResult(0), [&](OpOperand &use) {
      return !ops.contains(use.getOwner());
    });
    readers.clear(); // The copy is one.
  }
}

StepOp RowGroup::outline(StepNames &names) const {
  SmallVector<Operation *> group = sorted(), last = results();
  Operation *main = last.back();
  for (Operation *op : last)
    if (space.hasElements(op->getResult(0)) &&
        !getElementTypeOrSelf(op->getResult(0)).isInteger(1))
      main = op;
  // The step is called after its first result: not a mask.
  std::rotate(last.begin(), llvm::find(last, main), llvm::find(last, main) + 1);
  return mnistc::outline(
      group, last, names.take(tensorName(main), main->getName().stripDialect()),
      [&](Operation *op) { return copied.contains(op); });
}
