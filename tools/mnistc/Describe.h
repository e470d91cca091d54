//===- Describe.h - the options, for manuals and shells ---------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_DESCRIBE_H
#define MNISTC_TOOLS_MNISTC_DESCRIBE_H

#include "mlir/Support/LLVM.h"

namespace mlir::mnistc {

/// What --describe-options asks for: man, bash, zsh or fish; empty: nothing.
StringRef describeFlag();

/// Writes the options as a manual page, or for a shell that completes them. All
/// of it is made of what --help prints. False for another format.
bool describeOptions(StringRef format, raw_ostream &os);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_DESCRIBE_H
