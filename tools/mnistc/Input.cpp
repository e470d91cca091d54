//===- Input.cpp - from a file to a module --------------------------------===//
//
// A text that MLIR printed begins with a letter, '"', '#', '{' or a comment; an
// ONNX model, a protobuf message, with a byte below 32 or, damaged, anything.
//
//===----------------------------------------------------------------------===//

#include "tools/mnistc/Input.h"
#include "lib/IR/CheckModule.h"
#include "lib/Passes/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tools/mnistc/Messages.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::mnistc;

static bool isMlirText(StringRef path, StringRef text) {
  if (path.ends_with(".mlir"))
    return true;
  if (path != "-")
    return false;
  text = text.ltrim();
  for (StringRef start : {"//", "module", "func.func", "#", "{-#", "\""})
    if (text.starts_with(start))
      return true;
  return false;
}

/// Whether there is a function to compile, and nothing that is none.
static bool isModel(ModuleOp module) {
  if (module.getOps<func::FuncOp>().empty()) {
    module.emitError("expected a function, got none");
    return false;
  }
  return succeeded(checkModule(module));
}

/// Whether the passes have run. A plan may be without steps.
static bool isPlan(ModuleOp module) {
  return module->hasAttr("plan.constant_bytes") ||
         module.walk([](StepOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
}

/// Proves a plan as if no pass had made it. It is for the target that it names,
/// or else for the one that was asked for.
static bool checkPlan(ModuleOp module, StringRef target) {
  if (!module->hasAttr("plan.target"))
    module->setAttr("plan.target",
                    StringAttr::get(module.getContext(), target));
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addPass(createCheckSteps());
  return succeeded(pm.run(module));
}

static Input parseModule(MLIRContext &context,
                         std::unique_ptr<llvm::MemoryBuffer> buffer,
                         StringRef target) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  Input input;
  input.module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!input.module || !isModel(*input.module))
    return input;
  input.planned = isPlan(*input.module);
  if (!input.planned || checkPlan(*input.module, target))
    input.status = exitOk;
  return input;
}

/// As most introductions take it.
static constexpr int64_t usualTrainingBatch = 64;

static Input importModel(MLIRContext &context, StringRef bytes,
                         const Options &options) {
  StringRef directory = llvm::sys::path::parent_path(options.input);
  ImportOptions import = options.import;
  import.train = options.train;
  if (options.train && !options.gradcheck)
    import.usualBatch = usualTrainingBatch;
  Imported imported =
      importOnnxFromMemory(context, bytes, options.input,
                           directory.empty() ? "." : directory.str(), import);
  for (const std::string &problem : imported.problems)
    error(problem);
  for (const std::string &text : imported.warnings)
    warning(text);
  if (options.verbose)
    for (const std::string &text : imported.notes)
      note(text);
  Input input;
  switch (imported.status) {
  case ImportStatus::success:
    input.status = exitOk;
    break;
  case ImportStatus::badModel:
    input.status = exitBadModel;
    break;
  case ImportStatus::unsupported:
    input.status = exitUnsupported;
    break;
  }
  input.module = std::move(imported.module);
  input.nodes = std::move(imported.nodes);
  return input;
}

Input mlir::mnistc::readInput(MLIRContext &context, const Options &options) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer) {
    error(options.input + ": expected a readable file, got '" +
          buffer.getError().message() + "'");
    return {};
  }
  StringRef bytes = (*buffer)->getBuffer();
  if (isMlirText(options.input, bytes))
    return parseModule(context, std::move(*buffer), options.target);
  Input input = importModel(context, bytes, options);
  if (options.train && !options.gradcheck && input.status == exitOk)
    input.onnx = bytes.str();
  return input;
}

std::string mlir::mnistc::modelName(const Options &options) {
  StringRef stem = llvm::sys::path::stem(options.input);
  return stem.empty() || stem == "-" ? "model" : stem.str();
}
