//===- ProductFlags.h - the flags --precision and --prefer ------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_PRODUCTFLAGS_H
#define MNISTC_TOOLS_MNISTC_PRODUCTFLAGS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::mnistc {

extern llvm::cl::OptionCategory targetCategory;

/// Checks them, and the precision against the architectures that were given, of
/// which it may say less; prints what is wrong and returns false.
bool readProductFlags(ArrayRef<std::string> archs);

/// Checks --tune and --tuned against each other and the target, likewise.
bool checkTuneFlags(StringRef target);

/// Those that shape the program, each after a space: not a file's path.
std::string productFlagsText();

/// Files of choices: read, or "none", and written; empty: not given.
StringRef tunedFlag();
StringRef tuneFlag();

/// strict, fp32, tf32 or bf16.
StringRef precisionFlag();

/// libraries, tensor-cores or fma; empty: what the machine prefers.
StringRef preferFlag();

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_PRODUCTFLAGS_H
