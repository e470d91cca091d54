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
#include "tools/mnistc/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/thread.h"

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

/// Whether there is a function to compile, and nothing else.
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

/// Checks a plan as one that no pass made. It is for the target that it names,
/// or else for the one that was requested.
static bool checkPlan(ModuleOp module, StringRef target) {
  if (!module->hasAttr("plan.target"))
    module->setAttr("plan.target",
                    StringAttr::get(module.getContext(), target));
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  // What is not said is chosen.
  pm.addPass(createChooseSchedules());
  pm.addPass(createCheckSteps());
  return succeeded(pm.run(module));
}

/// What people and passes write has about a dozen.
static constexpr int64_t maxNesting = 256;
/// For each character a level or two, where there are no brackets.
static constexpr std::optional<unsigned> parserStack = 1u << 29;

/// How deep the brackets of a text are nested. A type such as `() -> () -> ()`
/// or a number such as `---1` is nested without them.
static int64_t nestingOf(StringRef text) {
  int64_t depth = 0, most = 0, signs = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (text.substr(i).starts_with("//"))
      i = std::min(text.find('\n', i), text.size());
    else if (c == '"')
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    else if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c) &&
             !(c == '>' && (text.take_front(i).ends_with("-") ||
                            text.substr(i).starts_with(">="))))
      depth = std::max<int64_t>(depth - 1, 0);
    if (c == '-')
      ++signs;
    else if (llvm::isAlnum(c) || c == '=')
      signs = 0;
    most = std::max({most, depth, signs});
  }
  return most;
}

static Input parseModule(MLIRContext &context,
                         std::unique_ptr<llvm::MemoryBuffer> buffer,
                         StringRef target) {
  Input input;
  if (nestingOf(buffer->getBuffer()) > maxNesting) {
    error(buffer->getBufferIdentifier() +
          ": expected brackets nested at most " + Twine(maxNesting) +
          " deep, got more");
    return input;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  // The parser is recursive: its stack is as deep as the text's brackets.
  llvm::thread parser(parserStack, [&] {
    input.module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  });
  parser.join();
  if (!input.module || !isModel(*input.module))
    return input;
  input.planned = isPlan(*input.module);
  if (!input.planned || checkPlan(*input.module, target))
    input.status = exitOk;
  return input;
}

/// As most tutorials have it.
static constexpr int64_t usualTrainingBatch = 64;

static Input importModel(MLIRContext &context, StringRef bytes,
                         const Options &options) {
  StringRef directory = llvm::sys::path::parent_path(options.input);
  ImportOptions import = options.import;
  import.train = options.train;
  if (options.train && !options.gradcheck)
    import.usualBatch = usualTrainingBatch;
  Imported imported =
      importOnnx(context, bytes, options.input,
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

/// A pipe without a writer or an endless device would be waited for forever.
static bool isFile(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (path == "-" || llvm::sys::fs::status(path, status) ||
      llvm::sys::fs::is_regular_file(status))
    return true;
  return error(path + ": expected a file, got " +
               (llvm::sys::fs::is_directory(status)
                    ? "'Is a directory'"
                    : "a device or pipe; '-' reads standard input"));
}

/// What standard input has, up to the limit of a model's file: there may be no
/// end.
static llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> readStandardInput() {
  constexpr size_t step = size_t(1) << 20;
  llvm::SmallVector<char, 0> bytes;
  for (size_t had = 0; had <= maxModelBytes; had = bytes.size()) {
    bytes.resize_for_overwrite(had + step);
    llvm::Expected<size_t> got = llvm::sys::fs::readNativeFile(
        llvm::sys::fs::getStdinHandle(),
        llvm::MutableArrayRef(bytes).drop_front(had));
    if (!got)
      return llvm::errorToErrorCode(got.takeError());
    bytes.truncate(had + *got);
    if (*got == 0)
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes),
                                                             "<stdin>");
  }
  return std::make_error_code(std::errc::file_too_large);
}

Input mlir::mnistc::readInput(MLIRContext &context, const Options &options) {
  if (!isFile(options.input))
    return {};
  auto buffer = options.input == "-"
                    ? readStandardInput()
                    : llvm::MemoryBuffer::getFile(options.input);
  if (buffer.getError() == std::errc::file_too_large) {
    error("<stdin>: expected at most " + Twine(maxModelBytes) +
          " bytes, got more");
    return {};
  }
  if (!buffer) {
    error(options.input + ": expected a readable file, got '" +
          buffer.getError().message() + "'");
    return {};
  }
  StringRef bytes = (*buffer)->getBuffer();
  if (isMlirText(options.input, bytes))
    return parseModule(context, std::move(*buffer), options.target);
  Input input;
  input.status = exitUsage;
  if (!checkProgramOptions(options))
    return input;
  input = importModel(context, bytes, options);
  if (options.train && !options.gradcheck && input.status == exitOk)
    input.onnx = bytes.str();
  return input;
}

std::string mlir::mnistc::modelName(const Options &options) {
  StringRef stem = llvm::sys::path::stem(options.input);
  return stem.empty() || stem == "-" ? "model" : stem.str();
}
