//===- TrainFlags.h - the flags of --train ----------------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_TRAINFLAGS_H
#define MNISTC_TOOLS_MNISTC_TRAINFLAGS_H

#include "lib/Passes/Pipelines.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::mnistc {

extern llvm::cl::OptionCategory trainCategory;

/// Whether the program is to train. Fills `options`; prints what is wrong
/// and returns false.
bool readTrainFlags(TrainOptions &options, bool &trains);

/// Those that were given, each after a space.
std::string trainFlagsText();

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_TRAINFLAGS_H
