//===- Output.h - writes files completely or not at all ---------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_OUTPUT_H
#define MNISTC_TOOLS_MNISTC_OUTPUT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// Writes `text` to standard output for "-", else to a file, written
/// completely or not at all. Prints what went wrong and returns false.
bool writeOutput(StringRef path, StringRef text);

/// What is in a file; nothing where it cannot be read.
std::string contentsOf(StringRef path);

/// How a module is printed.
enum class Detail {
  readable,  ///< large constants are left out
  constants, ///< all constants, so that it can be read back
  whole,     ///< also the names of the model, in locations
};
std::string printModule(ModuleOp module, Detail detail);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_OUTPUT_H
