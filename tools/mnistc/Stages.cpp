//===- Stages.cpp - writes the module after each pass ---------------------===//

#include "tools/mnistc/Stages.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/Output.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {
/// A pass on functions runs once for each; the module is written when the next
/// pass begins.
class StageWriter : public PassInstrumentation {
public:
  explicit StageWriter(StageFiles &files) : files(files) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (current && current != pass)
      flush();
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty()) // an adaptor
      return;
    current = pass;
    while (Operation *parent = op->getParentOp())
      op = parent;
    module = dyn_cast<ModuleOp>(op);
    stage = pass->getArgument().str();
  }
  ~StageWriter() override { flush(); }

private:
  void flush() {
    if (current && module)
      files.write(stage, module);
    current = nullptr;
  }

  StageFiles &files;
  Pass *current = nullptr;
  ModuleOp module;
  std::string stage;
};
} // namespace

bool StageFiles::open() {
  if (!enabled())
    return true;
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return error("cannot make folder " + folder + ": " + code.message());
  return true;
}

bool StageFiles::write(StringRef stage, StringRef ending, StringRef text) {
  if (!enabled())
    return true;
  llvm::SmallString<128> path(folder);
  std::string name = std::to_string(++number);
  name.insert(0, name.size() < 2 ? "0" : "");
  llvm::sys::path::append(path, name + "-" + stage + ending);
  return writeOutput(path, text);
}

bool StageFiles::write(StringRef stage, ModuleOp module) {
  return !enabled() ||
         write(stage, ".mlir", printModule(module, Detail::whole));
}

void StageFiles::watch(PassManager &pm) {
  if (enabled())
    pm.addInstrumentation(std::make_unique<StageWriter>(*this));
}
