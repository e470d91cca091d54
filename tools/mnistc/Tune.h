//===- Tune.h - measured choices: --tune and --tuned ------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_TUNE_H
#define MNISTC_TOOLS_MNISTC_TUNE_H

#include "tools/mnistc/Input.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/Stages.h"

namespace mlir::mnistc {

/// The pipeline that the options ask for.
bool runPasses(ModuleOp module, const Options &options, StageFiles &stages);

/// Has the passes read --tuned, or what is installed for the architecture;
/// returns an exit code.
int findChoices(ModuleOp module, Options &options);

/// Measures a model's contractions on this machine's GPU, writes --tune's file,
/// and has the passes read it; returns an exit code.
int tune(const Input &input, Options &options, Stopwatch &watch);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_TUNE_H
