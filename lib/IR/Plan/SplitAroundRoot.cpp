//===- SplitAroundRoot.cpp - a step as several ----------------------------===//

#include "lib/IR/Plan/SplitAroundRoot.h"
#include "lib/IR/Names.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::mnistc;

/// `value` and what it is computed from, within `ops`, in their order.
static SmallVector<Operation *> sliceOf(Value value,
                                        ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 16> within(ops.begin(), ops.end()), slice;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && within.contains(op) && slice.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  SmallVector<Operation *> result;
  llvm::copy_if(ops, std::back_inserter(result),
                [&](Operation *op) { return slice.contains(op); });
  return result;
}

namespace {
class Splitter {
public:
  Splitter(StepOp step, EpilogueParts parts, StepNames &names)
      : step(step), parts(parts), names(names) {}

  /// Returns the step with the root.
  StepOp split() {
    std::string name = step.getName().str();
    auto numberOf = [&](Operation *wanted) {
      Block &body = step.getBody().front();
      return std::distance(body.begin(), wanted->getIterator());
    };
    Operation *root = rootOf(step);
    Operation *end = matchEpiloguePrefix(step, parts).end.getDefiningOp();
    Operation *last = yieldsOf(step).front().getDefiningOp();
    auto rootAt = numberOf(root), endAt = numberOf(end),
         lastAt = numberOf(last);
    ops = dissolve(step);
    root = ops[rootAt], end = ops[endAt], last = ops[lastAt];

    for (unsigned i = 0; i < root->getNumOperands(); ++i) {
      Operation *producer = skipReshapes(root->getOperand(i)).getDefiningOp();
      if (llvm::is_contained(ops, producer) && !isa<ConstantOp>(producer))
        outlineMap(producer, nameFor(producer));
    }
    bool whole = end == last;
    StepOp result = outlinePart(end, whole ? name : nameFor(end));
    if (!whole)
      outlineMap(last, name);
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    return result;
  }

private:
  std::string nameFor(Operation *op) {
    return names.take(tensorName(op), op->getName().stripDialect());
  }

  void outlineMap(Operation *last, StringRef name) {
    outlinePart(last, name).setImpl(Impl::kernel);
  }

  /// Makes a step of `last` and all that it needs. What others need too is
  /// copied.
  StepOp outlinePart(Operation *last, StringRef name) {
    SmallVector<Operation *> slice = sliceOf(last->getResult(0), ops);
    llvm::SmallPtrSet<Operation *, 16> copied;
    for (Operation *op : llvm::reverse(slice))
      if (op != last && llvm::any_of(op->getUsers(), [&](Operation *user) {
            return !llvm::is_contained(slice, user) || copied.contains(user);
          }))
        copied.insert(op);
    SmallVector<Operation *> group;
    for (Operation *op : slice)
      if (!copied.contains(op) && !isa<ConstantOp>(op))
        group.push_back(op);
    llvm::erase_if(
        ops, [&](Operation *op) { return llvm::is_contained(group, op); });
    return outline(group, name,
                   [&](Operation *op) { return copied.contains(op); });
  }

  StepOp step;
  EpilogueParts parts;
  StepNames &names;
  SmallVector<Operation *> ops;
};
} // namespace

StepOp mlir::mnistc::splitAroundRoot(StepOp step, EpilogueParts parts,
                                     StepNames &names) {
  return Splitter(step, parts, names).split();
}
