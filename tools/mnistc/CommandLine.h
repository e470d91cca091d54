//===- CommandLine.h - what is wrong with the command line ------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_COMMANDLINE_H
#define MNISTC_TOOLS_MNISTC_COMMANDLINE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::mnistc {

/// Says what LLVM would say in other words, and not as an error; returns false
/// if it says something.
bool checkFlags(ArrayRef<const char *> arguments);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_COMMANDLINE_H
