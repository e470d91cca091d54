//===- Program.h - from a plan to the requested output ----------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_PROGRAM_H
#define MNISTC_TOOLS_MNISTC_PROGRAM_H

#include "tools/mnistc/Input.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/Stages.h"

namespace mlir::mnistc {

/// Whether the options fit each other and the target that the command line
/// names; says what does not. For an ONNX model this is known before it is
/// read; a plan has a target of its own.
bool checkProgramOptions(const Options &options);

/// Emits the text of a planned module, and compiles it unless the text was
/// requested.
int emitProgram(const Input &input, const Options &options, StageFiles &stages,
                Stopwatch &watch);

/// The architectures of the program: those requested, or the target's.
std::vector<std::string> archsOf(const Options &options);

/// Choices that are installed for an architecture; empty where there are none.
std::string installedChoices(StringRef arch);

/// mnistc itself.
const std::string &programPath();

/// So that mnistc finds what is next to it.
void setProgramPath(const char *argv0);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_PROGRAM_H
