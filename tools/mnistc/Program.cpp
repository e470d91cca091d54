//===- Program.cpp - from a plan to the requested output ------------------===//

#include "tools/mnistc/Program.h"
#include "lib/CodeGen/CodeGen.h"
#include "lib/CodeGen/Explain.h"
#include "lib/CodeGen/LibraryHeader.h"
#include "lib/CodeGen/Toolchain.h"
#include "lib/IR/Printable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mnistrt/report_page.h"
#include "tools/mnistc/Config.h"
#include "tools/mnistc/Input.h"
#include "tools/mnistc/Output.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::mnistc;

static std::string executablePath;

void mlir::mnistc::setProgramPath(const char *argv0) {
  executablePath = llvm::sys::fs::getMainExecutable(
      argv0, reinterpret_cast<void *>(&setProgramPath));
}

namespace {
struct Runtime {
  std::string include, lib;
};
} // namespace

/// --runtime, or next to mnistc as installed, or as built.
static Runtime findRuntime(const Options &options) {
  auto below = [](StringRef folder) -> Runtime {
    return {(folder + "/include").str(), (folder + "/lib").str()};
  };
  if (!options.runtime.empty())
    return below(options.runtime);
  StringRef bin = llvm::sys::path::parent_path(executablePath);
  Runtime installed = below(llvm::sys::path::parent_path(bin));
  if (llvm::sys::fs::exists(installed.include + "/mnistrt/generated.h"))
    return installed;
  auto fromBin = [&](StringRef relative) {
    llvm::SmallString<128> path(bin);
    llvm::sys::path::append(path, relative);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    return path.str().str();
  };
  return {fromBin(MNISTC_BUILD_INCLUDE), fromBin(MNISTC_BUILD_LIB)};
}

std::vector<std::string> mlir::mnistc::archsOf(const Options &options) {
  if (!options.archs.empty())
    return options.archs;
  const ToolchainTarget *target = ToolchainTarget::get(options.target);
  return {target ? target->arch.str() : ""};
}

std::string mlir::mnistc::installedChoices(StringRef arch) {
  StringRef bin = llvm::sys::path::parent_path(executablePath);
  for (StringRef folder : {"../share/mnistc/tuned", MNISTC_BUILD_TUNED}) {
    llvm::SmallString<128> path(bin);
    llvm::sys::path::append(path, folder, arch + ".json");
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return "";
}

const std::string &mlir::mnistc::programPath() { return executablePath; }

static EmitOptions emitOptions(const Options &options,
                               const ToolchainTarget &target) {
  EmitOptions emit;
  emit.model = modelName(options);
  emit.compiler = "mnistc " MNISTC_VERSION;
  emit.command = ("--target=" + target.name + options.command).str();
  emit.target = target.name;
  emit.archs = options.archs;
  if (emit.archs.empty())
    emit.archs.push_back(target.arch.str());
  emit.embedsKernels = target.deviceCode;
  emit.timestamps = options.timestamps;
  return emit;
}

static std::string outputPath(const Options &options) {
  if (!options.output.empty())
    return options.output;
  std::string name = modelName(options);
  return options.emit == Emit::library ? "lib" + name + ".so" : name;
}

/// "wrote app: 1.21 MB for cpu x86-64-v3, batch 1, 8, in 0.42 s"
static void sayWritten(ModuleOp module, const Program &program,
                       const Stopwatch &watch) {
  uint64_t bytes = 0;
  llvm::sys::fs::file_size(program.output, bytes); // 0 if it is gone already
  llvm::SmallSetVector<int64_t, 4> batches;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getNumArguments() != 0)
      if (auto type =
              dyn_cast<RankedTensorType>(function.getArgumentTypes()[0]);
          type && type.getRank() != 0 &&
          function.getName().starts_with("infer"))
        batches.insert(type.getDimSize(0));
  std::string text = "wrote " + printable(program.output) + ": ";
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.2f", static_cast<double>(bytes) / 1e6) << " MB for "
     << program.target->name << " " << llvm::join(program.archs, ",");
  if (!batches.empty()) {
    os << ", batch ";
    llvm::interleaveComma(batches, os);
  }
  if (program.trains)
    os << ", to train";
  os << ", in " << llvm::format("%.2f", watch.seconds()) << " s";
  if (program.shared || program.archive)
    os << "; its header declares " << modelFunction(program) << "()";
  if (program.archive)
    os << "; link it with " << archiveNeeds(program);
  llvm::outs() << text << "\n";
  llvm::outs().flush();
  llvm::outs().clear_error(); // The program is there all the same.
}

static int build(const Input &input, const Options &options,
                 const EmitOptions &emit, std::string source,
                 StringRef description, unsigned parts, Stopwatch &watch) {
  ModuleOp module = *input.module;
  Program program;
  program.target = ToolchainTarget::get(emit.target);
  program.archs = emit.archs;
  program.source = std::move(source);
  program.parts = parts;
  program.constants = constantBytes(module);
  program.initial = initialBytes(module);
  program.onnx = input.onnx;
  if (emit.embedsReport)
    program.report = mn::packText(description);
  program.trains = module->hasAttr("mnist.recipe");
  if (program.trains && options.emit != Emit::library)
    program.commands.insert(program.commands.end(), {"train", "sweep"});
  if (module->hasAttr("mnist.gradcheck"))
    program.commands.push_back("gradcheck");
  program.quick = module->hasAttr("mnist.gradcheck"); // It runs once.
  Runtime runtime = findRuntime(options);
  program.include = runtime.include;
  program.lib = runtime.lib;
  for (Impl impl : {Impl::onednn, Impl::openblas})
    if (uses(module, impl))
      program.libraries.push_back(stringifyImpl(impl).str());
  program.output = outputPath(options);
  if (options.emit == Emit::library) {
    program.archive = StringRef(program.output).ends_with(".a");
    program.shared = !program.archive;
    program.libraryName =
        options.library.empty() ? libraryName(program.output) : options.library;
    if (!isLibraryName(program.libraryName)) {
      error("expected --name=NAME for the library " + program.output +
            ", an identifier of C that does not begin with mn_");
      return exitUsage;
    }
  }
  program.saveTemps = options.saveTemps;
  if (options.cache)
    program.cache = CompileCache(CompileCache::userFolder());
  program.lap = [&](StringRef what) { watch.lap(what); };
  if (llvm::Error failed = buildProgram(program)) {
    error(llvm::toString(std::move(failed)));
    return exitToolchain;
  }
  if (!options.quiet)
    sayWritten(module, program, watch);
  return exitOk;
}

/// Whether the target is what options are for, and has every --arch. `chosen`:
/// by more than the default.
static bool checkTarget(const ToolchainTarget &target, const Options &options,
                        bool chosen) {
  if (options.timestamps && !target.deviceCode)
    return error("expected --target=cuda with --timestamps, got '" +
                 target.name + "', whose steps run one after another");
  for (StringRef arch : options.archs)
    if (arch.starts_with("sm_") != target.deviceCode)
      return error("expected --arch such as " + target.arch +
                   " for --target=" + target.name + ", got '" + arch + "'" +
                   (chosen ? "" : "; did you mean --target=cpu?"));
  if (!target.deviceCode && options.archs.size() > 1)
    return error("expected one --arch for --target=" + target.name + ", got '" +
                 llvm::join(options.archs, ",") +
                 "'; only code of GPUs can be there for several");
  return true;
}

bool mlir::mnistc::checkProgramOptions(const Options &options) {
  const ToolchainTarget *target = ToolchainTarget::get(options.target);
  return !target || checkTarget(*target, options, options.targetGiven);
}

/// The target of the plan, which the command line may repeat.
static const ToolchainTarget *targetOf(ModuleOp module,
                                       const Options &options) {
  auto planned = module->getAttrOfType<StringAttr>("plan.target");
  StringRef name = planned ? planned.getValue() : StringRef(options.target);
  const ToolchainTarget *target = ToolchainTarget::get(name);
  if (!target)
    error("expected a plan for cuda or cpu, got one for '" + name + "'");
  if (target && options.targetGiven && options.target != name) {
    error("expected --target=" + name + ", as the plan says, got '" +
          options.target + "'");
    return nullptr;
  }
  bool chosen = options.targetGiven || planned;
  return target && checkTarget(*target, options, chosen) ? target : nullptr;
}

int mlir::mnistc::emitProgram(const Input &input, const Options &options,
                              StageFiles &stages, Stopwatch &watch) {
  ModuleOp module = *input.module;
  const ToolchainTarget *target = targetOf(module, options);
  if (!target)
    return exitUsage;
  if (module->hasAttr("mnist.gradcheck") && options.emit == Emit::library) {
    error("expected a program to check gradients, got a library; choose -o "
          "without .so or .a");
    return exitUsage;
  }
  EmitOptions emit = emitOptions(options, *target);
  emit.onnxBytes = input.onnx.size();
  // A library has no commands that would show it, a check of gradients needs
  // none.
  emit.embedsReport = options.emit != Emit::library && !options.gradcheck;
  std::string source;
  llvm::raw_string_ostream os(source);
  StepSources sources;
  FailureOr<unsigned> parts = emitCpp(module, emit, os, &sources);
  if (failed(parts))
    return input.planned ? exitBadModel : exitUnsupported;
  watch.lap("code generation");
  if (!stages.write("source", ".cpp", source))
    return exitToolchain;
  if (options.emit == Emit::source)
    return writeOutput(options.output.empty() ? "-" : options.output, source)
               ? exitOk
               : exitToolchain;
  std::string description;
  llvm::raw_string_ostream json(description);
  describeJson(module, input.nodes, emit, sources, json);
  if (!options.report.empty() &&
      !writeOutput(options.report, mn::reportPage(description)))
    return exitToolchain;
  if (options.onlyReport)
    return exitOk;
  return build(input, options, emit, std::move(source), description, *parts,
               watch);
}
