//===- Output.h - files, whole or not at all --------------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_OUTPUT_H
#define MNISTC_TOOLS_MNISTC_OUTPUT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mnistc {

/// Writes `text` to standard output for "-", else to a file, which appears
/// whole or not at all. Says what went wrong and returns false.
bool writeOutput(StringRef path, StringRef text);

/// The printed module. A `whole` one can be read back: with all constants, and
/// the names of the model in its locations.
std::string printModule(ModuleOp module, bool whole);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_OUTPUT_H
