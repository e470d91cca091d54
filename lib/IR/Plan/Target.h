//===- Target.h - what a target can run, as data ----------------*- C++ -*-===//
//
// A target is generated code, which computes all that the dialect allows, and
// libraries, which compute what its table says. Which of them is preferred is
// data of its machine (Machine.h). Passes know no target by name.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_TARGET_H
#define MNISTC_IR_PLAN_TARGET_H

#include "lib/IR/Plan/Machine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::mnistc {

/// An op that a library computes, in f32 unless it says more. The call is named
/// after the library and the root's kernel: mn::cudnn::conv.
struct LibraryCall {
  Impl impl;
  StringRef op;               ///< the root's mnemonic
  bool takesEpilogue = false; ///< bias, residual and relu, each or none
  /// The bytes of scratch memory that it asks for, or that it does at most, as
  /// many times those of the step's tensors.
  int64_t scratchBytes = 0, scratchTimes = 0;
  ArrayRef<Mma> tensorCores = {}; ///< on which it multiplies, besides ffma
  bool takesDoubles = false;      ///< f64 too
  bool evenPads = false;          ///< only as much padding after as before
  bool byFft = false;             ///< asks for what an FFT makes, too
  bool takesRounded = false;      ///< operands in bf16 too, on cores for them

  /// Why it cannot compute a root; empty if nothing speaks against it.
  std::string objection(Operation *root) const;
  /// The same of a root that reads bf16 or does not, whatever its types are.
  std::string objectionToShape(Operation *root, bool rounded) const;

  /// Whether it can compute a step, profitable or not.
  bool canCompute(StepOp step) const;
};

struct Target {
  StringRef name;
  ArrayRef<LibraryCall> libraries;
  const Machine *machine;         ///< that it is planned for
  ArrayRef<Mma> tensorCores = {}; ///< that generated code knows, besides ffma
  /// Whether generated code does as schedules say, pools what it computes, and
  /// runs chains.
  bool schedules = false;

  static ArrayRef<Target> all();
  /// The target called `name`.
  static llvm::Expected<const Target *> get(StringRef name);

  /// Whether it can compute a step as the step says.
  bool canCompute(StepOp step) const;
  static bool anyCanCompute(StepOp step);

  /// Why what a preference chooses cannot compute a root; empty if it can.
  std::string inability(const Preference &preference, Operation *root) const;

  /// Whether a root should be computed as the machine prefers, if what it reads
  /// is rounded, which it is not yet.
  bool prefersRounded(const Preference &preference, Operation *root) const;

  /// Why a root cannot or should not be computed as the machine prefers; empty
  /// if nothing speaks against it.
  std::string objection(const Preference &preference, Operation *root) const;
};

/// The scratch memory of the library that computes a step, in bytes.
int64_t scratchFor(StepOp step);

/// Whether a kernel can compute a step: a map, or one around a root.
bool canGenerate(StepOp step);

/// What a function or step is planned for, by its module's `plan.target`; the
/// first target where none is said.
const Target &targetFor(Operation *planned);
const Machine &machineFor(Operation *planned);

/// Libraries that a user allows.
class Libraries {
public:
  /// From "all", "none", or names joined by '+'.
  static llvm::Expected<Libraries> parse(StringRef text);

  /// Nothing else does what a collective does.
  bool allow(Impl impl) const {
    return impl == Impl::kernel || isCollective(impl) || (allowed & bit(impl));
  }

private:
  static unsigned bit(Impl impl) { return 1u << static_cast<unsigned>(impl); }
  unsigned allowed = 0;
};

/// What --precision allows: ffma, and what is listed up to it.
bool allows(Precision precision, Mma mma);

/// As exact as FMA units, within a few roundings.
inline constexpr llvm::StringLiteral defaultPrecision = "fp32";

/// The precision that a module is planned for, the default if it does not say.
Precision precisionOf(Operation *module);

/// What multiplies in a step that becomes a link of a chain (ChainBody.h): the
/// tensor cores that the module's plan may use, also where they do not pay for
/// a step of its own, which spreads over the whole machine.
Mma mmaOfLink(StepOp step);

/// What a step is in tables and messages: its root's mnemonic, or "pointwise".
StringRef rowNameOf(StepOp step);

/// Why a step runs on what it runs on: what is preferred to it, and what spoke
/// against that.
std::string reasonFor(StepOp step, const Target &target, Libraries libraries,
                      Precision precision);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_TARGET_H
