//===- Program.h - from a plan to what was asked for ------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_PROGRAM_H
#define MNISTC_TOOLS_MNISTC_PROGRAM_H

#include "tools/mnistc/Input.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/Stages.h"

namespace mlir::mnistc {

/// Emits the text of a planned module, and compiles it unless the text is what
/// was asked for.
int emitProgram(const Input &input, const Options &options, StageFiles &stages,
                Stopwatch &watch);

/// So that mnistc finds what lies beside it.
void setProgramPath(const char *argv0);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_PROGRAM_H
