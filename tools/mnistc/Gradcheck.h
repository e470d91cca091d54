//===- Gradcheck.h - mnistc gradcheck ---------------------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_GRADCHECK_H
#define MNISTC_TOOLS_MNISTC_GRADCHECK_H

#include "tools/mnistc/Input.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/Stages.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::mnistc {

extern llvm::cl::OptionCategory gradcheckCategory;

/// If the command line begins with the word gradcheck, replaces it by the
/// corresponding flags.
bool takeGradcheckWord(SmallVectorImpl<const char *> &arguments);

/// Fills `options` for the command if `asked`; prints what is wrong and returns
/// false.
bool readGradcheckFlags(Options &options, bool asked);

/// The number of classes of the model's first output, or 2.
int64_t classesOf(ModuleOp module);

/// Builds the program of a planned module, runs it, and prints what it found.
int checkGradients(const Input &input, Options &options, int64_t classes,
                   StageFiles &stages, Stopwatch &watch);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_GRADCHECK_H
