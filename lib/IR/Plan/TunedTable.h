//===- TunedTable.h - choices that were measured ----------------*- C++ -*-===//
//
// What computes a contraction and how, by its sizes: a JSON file that
// `mnistc --tune` writes and `--tuned` reads. Never by a model's or step's
// name.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_TUNEDTABLE_H
#define MNISTC_IR_PLAN_TUNEDTABLE_H

#include "lib/IR/Plan/PlanOps.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>

namespace mlir::mnistc {

/// What computes a contraction, and how.
struct StepChoice {
  Impl impl = Impl::kernel;
  Attribute schedule; ///< null: none

  bool operator==(const StepChoice &) const = default;
};

/// Whether a step's choice can be measured: a contraction of f32.
bool isTunable(StepOp step);

/// "conv .batch = 64, ...": the contraction's sizes, and whether a library
/// could compute all of the step.
std::string tuningKey(StepOp step);

class TunedTable {
public:
  struct Entry {
    StepChoice choice;
    double us = 0, untunedUs = 0; ///< measured: of the choice, and without it
  };
  /// What was measured on: "NVIDIA H200", "sm_90", versions by library.
  std::string gpu, arch;
  std::map<std::string, std::string> libraries;
  /// By precision, then by key.
  std::map<std::string, std::map<std::string, Entry>> entries;

  /// From a file's text; the error says what was expected.
  static llvm::Expected<TunedTable> parse(StringRef text, MLIRContext *context);
  /// From a file, whose name errors begin with.
  static llvm::Expected<TunedTable> read(StringRef path, MLIRContext *context);
  /// The same text for the same table.
  std::string text() const;

  /// Null where there is none.
  const Entry *find(StringRef precision, StringRef key) const;
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_TUNEDTABLE_H
