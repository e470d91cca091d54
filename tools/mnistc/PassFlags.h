//===- PassFlags.h - the flags -O and those of passes ----------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_PASSFLAGS_H
#define MNISTC_TOOLS_MNISTC_PASSFLAGS_H

#include "lib/Passes/Pipelines.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::mnistc {

extern llvm::cl::OptionCategory passCategory;

/// Prints what is wrong and returns false.
bool checkPassFlags();

/// Turns off the passes that the flags do; they were checked.
void setPasses(InferOptions &options);

/// The flags that were given, each after a space.
std::string passFlagsText();

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_PASSFLAGS_H
