//===- StepOrder.h - which steps may run concurrently -----------*- C++ -*-===//
//
// Steps are numbered from 0 in the order of the plan, which is one in which
// they may run. A step is of a stream (`plan.stream`, 0 where it says nothing);
// the steps of a stream run one after another, those of different streams side
// by side, but for what `plan.after` says.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_STEPORDER_H
#define MNISTC_IR_PLAN_STEPORDER_H

#include "lib/IR/Plan/Machine.h"
#include "lib/IR/Plan/PlanOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::mnistc {

inline constexpr llvm::StringLiteral streamAttribute = "plan.stream";
inline constexpr llvm::StringLiteral afterAttribute = "plan.after";
/// On a step beside which steps of other streams run.
inline constexpr llvm::StringLiteral besideAttribute = "plan.beside";
/// On a step that a table of measured choices decided, and while one is made:
/// which candidate of which step it is.
inline constexpr llvm::StringLiteral tunedAttribute = "plan.tuned";
inline constexpr llvm::StringLiteral candidateAttribute = "plan.candidate";
/// More are never profitable.
inline constexpr int64_t maxStreams = 8;

/// The stream of a step.
int64_t streamOf(StepOp step);
/// The steps of other streams that a step waits for.
ArrayRef<int64_t> stepsAwaitedBy(StepOp step);
/// Whether steps of other streams run beside a step, as the plan says: blocks
/// that wait for it take room from theirs.
bool runsBeside(StepOp step);
/// The streams of a function: one more than the greatest number.
int64_t streamsOf(func::FuncOp function);

/// For each step those before it that must have ended, ascending: they write
/// bytes that it reads or writes, or read bytes that it writes, unless to pack
/// their filter; or both are collectives, which all ranks must run in one
/// order. The function has addresses.
SmallVector<SmallVector<unsigned>> findConflicts(func::FuncOp function);

/// For each step the last one before it whose filter it overwrites, or nothing:
/// on several streams filters are packed from the beginning of the plan on, in
/// the order of their steps; this one is before the step begins.
SmallVector<std::optional<unsigned>> findPacking(func::FuncOp function);

/// When each step could begin, in microseconds, if it waited only for those
/// whose values it reads; without times always 0.
DenseMap<Operation *, double> startsOf(func::FuncOp function,
                                       const std::optional<StepTimes> &times);

/// Which steps need which, by the values that they read.
class StepDependencies {
public:
  explicit StepDependencies(func::FuncOp function);
  /// Whether `step` needs `earlier`, directly or by way of others.
  bool needs(unsigned step, unsigned earlier) const {
    return all[step].test(earlier);
  }
  bool needs(StepOp step, StepOp earlier) const {
    return needs(numberOf.at(step), numberOf.at(earlier));
  }
  /// All that a step needs, by number.
  const llvm::BitVector &of(unsigned step) const { return all[step]; }

private:
  SmallVector<llvm::BitVector> all;
  DenseMap<Operation *, unsigned> numberOf;
};

/// What has ended for certain when a step begins, as streams and waiting say
/// it: for each step, the last one of each stream.
class StepOrder {
public:
  /// Adds the next step.
  void add(int64_t stream, ArrayRef<int64_t> after);
  /// Whether step `earlier` would have ended when such a next step begins.
  bool hasEnded(unsigned earlier, int64_t stream,
                ArrayRef<int64_t> after) const;

private:
  using Clock = std::array<int64_t, maxStreams>;
  /// What the next step would know; -1: nothing of a stream.
  Clock clockOf(int64_t stream, ArrayRef<int64_t> after) const;

  SmallVector<Clock> clocks; ///< of each step, at its beginning
  SmallVector<int64_t> streams;
  Clock last = {-1, -1, -1, -1, -1, -1, -1, -1};
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_STEPORDER_H
