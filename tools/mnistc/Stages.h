//===- Stages.h - writes the module after each pass -------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_STAGES_H
#define MNISTC_TOOLS_MNISTC_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::mnistc {

/// Numbered files in a folder: 1-import.mlir, 2-mnist-freeze-parameters.mlir...
class StageFiles {
public:
  /// Makes the folder. An empty path: nothing is written.
  explicit StageFiles(StringRef folder) : folder(folder.str()) {}
  bool open();
  bool write(StringRef stage, StringRef ending, StringRef text);
  bool write(StringRef stage, ModuleOp module);
  bool enabled() const { return !folder.empty(); }

  /// Has a pass manager write a file after each pass.
  void watch(PassManager &pm);

private:
  std::string folder;
  int number = 0;
};

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_STAGES_H
