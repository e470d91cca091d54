//===- StepBuilder.h - ops into a step and out of it ------------*- C++ -*-===//
//
// How a body is put together: which constants it contains, what is copied into
// it, what the step is called.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_STEPBUILDER_H
#define MNISTC_IR_PLAN_STEPBUILDER_H

#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mnistc {

/// The names of a function's steps.
class StepNames {
public:
  StepNames() = default;
  /// Those that a function has already.
  explicit StepNames(Block &function);

  /// `wanted`, or where it is taken `wanted.suffix`, with a number if need be.
  std::string take(StringRef wanted, StringRef suffix);

private:
  llvm::StringSet<> taken;
  llvm::StringMap<int> next;
};

/// Whether a block has only ops that can be part of a step, and steps.
LogicalResult expectModelOps(Block &block);

/// Moves `group` into a new step, undecided, in the place of its last op. The
/// group is in program order, and only its last op has users outside of it.
/// Ops outside the group that it needs and that are `free` are copied into the
/// body, as are splat constants where nothing needs them in memory.
StepOp outline(ArrayRef<Operation *> group, StringRef name,
               llvm::function_ref<bool(Operation *)> free);

/// The same for a group that others need several ops of: the step's results.
/// Where one is used before the last op of the group, the block is out of
/// order.
StepOp outline(ArrayRef<Operation *> group, ArrayRef<Operation *> results,
               StringRef name, llvm::function_ref<bool(Operation *)> free);

/// Makes one step of several, which are in order: undecided, in the place of
/// `place`, with those of their results that others need.
StepOp join(ArrayRef<StepOp> steps, ArrayRef<Value> results, StringRef name,
            Operation *place);

/// The same, computed as `main`, one of them, is; with its name, or another.
StepOp joinTo(StepOp main, ArrayRef<StepOp> steps, ArrayRef<Value> results,
              Operation *place, StringRef called = {});

/// The same, but as a chain (ChainBody.h): the steps become its links.
StepOp chain(ArrayRef<StepOp> steps, ArrayRef<Value> results);

/// Puts the ops of a step with one result back in its place, and returns them
/// in order. The step is gone.
SmallVector<Operation *> dissolve(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_STEPBUILDER_H
