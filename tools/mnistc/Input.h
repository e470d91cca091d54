//===- Input.h - from a file to a module ------------------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_INPUT_H
#define MNISTC_TOOLS_MNISTC_INPUT_H

#include "tools/mnistc/Options.h"

namespace mlir::mnistc {

struct Input {
  ExitCode status = exitBadModel;
  OwningOpRef<ModuleOp> module; ///< null unless `status` is exitOk
  std::vector<OnnxNode> nodes;  ///< of an ONNX model
  bool planned = false;         ///< by a text: the passes have run
  std::string onnx;             ///< the file, where a program is to keep it
};

/// Reads an ONNX model or a module of either dialect, from a file or standard
/// input, and prints what is wrong with it: for a plan, all that prevents it
/// from running.
Input readInput(MLIRContext &context, const Options &options);

/// The input's name without folders and ending.
std::string modelName(const Options &options);

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_INPUT_H
