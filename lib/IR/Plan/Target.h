//===- Target.h - what a target can run, as data ----------------*- C++ -*-===//
//
// A target is a table. A row says which implementation computes an op, what it
// takes, and in which order implementations are preferred. Passes read the rows
// and know no target by name.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_TARGET_H
#define MNISTC_IR_PLAN_TARGET_H

#include "lib/IR/Plan/StepBody.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mlir::mnistc {

/// One way to compute one op.
struct Implementation {
  Impl impl = Impl::kernel;
  StringRef op; ///< the root's mnemonic, or "pointwise"

  // What it takes. A kernel takes all that the dialect allows.
  bool onlyF32 = false;
  std::optional<Layout> onlyLayout = {}; ///< of images; none: any

  // From where on a call pays. Two rows for one op are alternatives: where
  // either pays, the call is made.
  int64_t minProducts = 0; ///< multiplications for one result
  int64_t minChannels = 0; ///< channels of the input, in one group
  int64_t minWeights = 0;  ///< of an output channel (a filter's gradient)
  int64_t minResults = 0;
  int64_t minWork = 0; ///< multiplications in all
  /// Takes any prologue and epilogue: generated code.
  bool acceptsAnyFusion = false;
  EpilogueParts epilogue = {};

  /// Why the root (null for a map) cannot or should not be computed this way;
  /// empty if nothing speaks against it.
  std::string objection(Operation *root) const;

  /// Whether it takes along all that a step does beside its root.
  bool takesWhole(StepOp step) const;

  /// Whether it can compute a step, be it worth it or not.
  bool canCompute(StepOp step) const;

private:
  std::string unsupportedReason(Operation *root) const;
  std::string unprofitableReason(Operation *root) const;
};

struct Target {
  StringRef name;
  /// What --layout=auto takes where transposes do not decide.
  Layout preferredLayout;
  /// Starting a step costs as much as many elements: small ones are joined, or
  /// computed where they are read. Elsewhere a step of its own is a loop of its
  /// own, without questions.
  bool launchesCost;
  /// Steps that can run side by side.
  int64_t streams;
  ArrayRef<Implementation> implementations; ///< preferred ones first

  static ArrayRef<Target> all();
  /// The target called `name`.
  static llvm::Expected<const Target *> get(StringRef name);
};

/// Libraries that a user allows.
class Libraries {
public:
  /// From "all", "none", or names joined by '+'.
  static llvm::Expected<Libraries> parse(StringRef text);

  bool allow(Impl impl) const {
    return impl == Impl::kernel || (allowed & bit(impl));
  }

private:
  static unsigned bit(Impl impl) { return 1u << static_cast<unsigned>(impl); }
  unsigned allowed = 0;
};

/// The name of what a row must be for: a root's mnemonic, or "pointwise".
StringRef rowNameOf(StepOp step);

/// Why a step runs on what it runs on: the rows before its own and what spoke
/// against them.
std::string reasonFor(StepOp step, const Target &target, Libraries libraries);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_TARGET_H
