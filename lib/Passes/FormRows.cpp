//===- FormRows.cpp - reductions of the same rows in one step -------------===//

#include "lib/IR/Plan/RowGroup.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include <optional>

namespace mlir::mnistc {

#define GEN_PASS_DEF_FORMROWS
#include "lib/Passes/Passes.h.inc"

namespace {
struct FormRows : impl::FormRowsBase<FormRows> {
  using FormRowsBase::FormRowsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    if (failed(expectModelOps(block)))
      return signalPassFailure();
    llvm::Expected<const Target *> found = Target::get(target);
    if (!found) {
      getOperation().emitError(llvm::toString(found.takeError()));
      return signalPassFailure();
    }
    StepNames names(block);
    llvm::DenseSet<Operation *> tried;
    while (formOne(block, *(*found)->machine, names, tried))
      ++numSteps;
    getOperation().walk([](Operation *op) { op->removeAttr(againAttribute); });
  }

private:
  /// Forms the step of the first reduction that has a worthwhile one. The ops
  /// that are copied are others after each.
  bool formOne(Block &block, const Machine &machine, StepNames &names,
               llvm::DenseSet<Operation *> &tried) {
    SmallVector<Operation *> starts;
    for (Operation &op : block)
      if (RowSpace::ofAny(&op) && !tried.contains(&op))
        starts.push_back(&op);
    std::optional<View> view;
    for (Operation *start : starts) {
      tried.insert(start);
      RowParts parts(block, *RowSpace::ofAny(start));
      if (!view || !parts.empty())
        view.emplace(block);
      if (formFrom(parts, start, view, machine, names))
        return true;
      if (!parts.empty())
        view.reset();
      parts.putBack();
    }
    return false;
  }

  /// A block as it is at the moment.
  struct View {
    explicit View(Block &block)
        : block(block), copied(block, /*fuse=*/true), order(block) {}
    Block &block;
    CopiedOps copied;
    OpOrder order;
  };

  /// What joins is seen only once it is written as parts of rows; what does not
  /// is put back, and the group grows again without it.
  bool formFrom(RowParts &parts, Operation *start, std::optional<View> &view,
                const Machine &machine, StepNames &names) {
    Block &block = view->block;
    while (true) {
      Operation *first = parts.firstOf(start);
      if (!RowSpace::of(first) || view->copied.contains(first))
        return false;
      RowGroup group(first, view->copied, view->order);
      group.grow();
      group.separateTotals(machine);
      group.trim();
      if (parts.putBackUnless(
              [&](Operation *op) { return group.contains(op); }))
        view.emplace(block);
      else if (!group.isRowBody() || !group.isWorthwhile(machine, parts))
        return false;
      else {
        group.copyForReaders(machine);
        group.outline(names);
        sortTopologically(&block);
        return true;
      }
    }
  }
};
} // namespace

} // namespace mlir::mnistc
