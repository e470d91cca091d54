//===- RowGroup.h - ops that will be one row step ---------------*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_ROWGROUP_H
#define MNISTC_IR_PLAN_ROWGROUP_H

#include "lib/IR/Plan/CopiedOps.h"
#include "lib/IR/Plan/Machine.h"
#include "lib/IR/Plan/RowParts.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <unordered_map>

namespace mlir::mnistc {

/// The ops of a block by number.
class OpOrder {
public:
  explicit OpOrder(Block &block) {
    for (auto [i, op] : llvm::enumerate(block))
      numbers[&op] = i;
  }
  size_t operator[](Operation *op) const { return numbers.at(op); }

private:
  DenseMap<Operation *, size_t> numbers;
};

/// Ops that will be one row step.
class RowGroup {
public:
  RowGroup(Operation *reduction, const CopiedOps &copied, const OpOrder &order)
      : space(*RowSpace::of(reduction)), copied(copied), order(order) {
    ops.insert(reduction);
  }

  /// Takes in all that may be, and that leaves no path out and back in.
  void grow();
  /// Leaves out totals where others wait for the rows.
  void separateTotals(const Machine &machine);
  void trim();
  /// Whether all that comes with its ops goes along the rows.
  bool isRowBody() const;
  /// Whether it saves a step, and has work for a whole machine.
  bool isWorthwhile(const Machine &machine, const RowParts &parts) const;
  /// Whether an op is part of it, or comes with its readers.
  bool contains(Operation *op) const {
    return ops.contains(op) || copied.contains(op) || separate.contains(op);
  }
  /// Has readers compute what is cheaper than a tensor in memory.
  void copyForReaders(const Machine &machine);
  StepOp outline(StepNames &names) const;

private:
  using Ops = llvm::SmallPtrSet<Operation *, 32>;
  bool mayTake(Operation *op) const;
  SmallVector<Operation *> withPaths(Operation *candidate) const;
  bool readsInlined(Operation *op) const;
  bool needsRows(Operation *op) const;
  bool leadsToReduction(Operation *op) const;
  bool addsBias(Operation *op) const;
  bool endsOther(Operation *op) const;
  bool endsContraction(Operation *op) const;
  bool isReadOutside(Operation *op) const;
  bool isNumberForAll(Operation *op) const;
  SmallVector<Operation *> neighbours(Operation *op) const;
  const SmallVector<Operation *> &readersOf(Operation *op) const;
  SmallVector<Value> operandsOf(Operation *op) const;
  bool isComputedAgain(Operation *op, const Machine &machine) const;
  bool isComparedAgain(Operation *op, const Machine &machine) const;
  bool hasMasks(const Machine &machine) const;
  bool hasEnoughBlocks(const Machine &machine) const;
  bool needsGroup(Operation *op) const;
  bool copiesFit(Operation *op) const;
  SmallVector<Operation *> results() const;
  SmallVector<Operation *> sorted() const;
  void addReads(Operation *op, llvm::SmallPtrSetImpl<void *> &values) const;
  unsigned countTensors() const;

  RowSpace space;
  const CopiedOps &copied;
  const OpOrder &order;
  Ops ops, separate;
  /// As far as they were asked for; references to them stay valid.
  mutable std::unordered_map<Operation *, SmallVector<Operation *>> readers;
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_ROWGROUP_H
