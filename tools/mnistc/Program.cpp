//===- Program.cpp - from a plan to what was asked for --------------------===//

#include "tools/mnistc/Program.h"
#include "lib/CodeGen/CodeGen.h"
#include "lib/CodeGen/CudaFolders.h"
#include "lib/CodeGen/Toolchain.h"
#include "tools/mnistc/Config.h"
#include "tools/mnistc/Input.h"
#include "tools/mnistc/Output.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
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

/// --runtime, or beside mnistc as installed, or as built.
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
  return {MNISTC_BUILD_INCLUDE, MNISTC_BUILD_LIB};
}

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
  return emit;
}

static bool usesCudaLibraries(ModuleOp module) {
  return uses(module, Impl::cublas) || uses(module, Impl::cudnn);
}

static std::string outputPath(const Options &options) {
  if (!options.output.empty())
    return options.output;
  std::string name = modelName(options);
  return options.emit == Emit::library ? "lib" + name + ".so" : name;
}

static int build(const Input &input, const Options &options,
                 const EmitOptions &emit, std::string source,
                 Stopwatch &watch) {
  ModuleOp module = *input.module;
  Program program;
  program.target = ToolchainTarget::get(emit.target);
  program.archs = emit.archs;
  program.source = std::move(source);
  program.constants = constantBytes(module);
  program.initial = initialBytes(module);
  program.onnx = input.onnx;
  if (module->hasAttr("mnist.recipe"))
    program.commands.push_back("train");
  if (module->hasAttr("mnist.gradcheck"))
    program.commands.push_back("gradcheck");
  program.quick = module->hasAttr("mnist.gradcheck"); // It runs once.
  Runtime runtime = findRuntime(options);
  program.include = runtime.include;
  program.lib = runtime.lib;
  for (Impl impl : {Impl::onednn, Impl::openblas})
    if (uses(module, impl))
      program.libraries.push_back(stringifyImpl(impl).str());
  program.shared = options.emit == Emit::library;
  program.output = outputPath(options);
  program.saveTemps = options.saveTemps;
  program.lap = [&](StringRef what) { watch.lap(what); };
  if (llvm::Error failed = buildProgram(program)) {
    error(llvm::toString(std::move(failed)));
    return exitToolchain;
  }
  return exitOk;
}

/// What the plan was made for, which the command line may repeat.
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
  if (target && !target->deviceCode && options.archs.size() > 1) {
    error("expected one --arch for --target=" + name + ", got '" +
          llvm::join(options.archs, ",") +
          "'; only code of GPUs can be there "
          "for several");
    return nullptr;
  }
  return target;
}

int mlir::mnistc::emitProgram(const Input &input, const Options &options,
                              StageFiles &stages, Stopwatch &watch) {
  ModuleOp module = *input.module;
  const ToolchainTarget *target = targetOf(module, options);
  if (!target)
    return exitUsage;
  EmitOptions emit = emitOptions(options, *target);
  emit.onnxBytes = input.onnx.size();
  // Printed text is the same on every machine; a program knows its maker's.
  if (options.emit != Emit::source && usesCudaLibraries(module))
    emit.libraryPaths = programLibraryFolders();
  std::string source;
  llvm::raw_string_ostream os(source);
  if (failed(emitCpp(module, emit, os)))
    return input.planned ? exitBadModel : exitUnsupported;
  watch.lap("code generation");
  if (!stages.write("source", ".cpp", source))
    return exitToolchain;
  if (options.emit == Emit::source)
    return writeOutput(options.output.empty() ? "-" : options.output, source)
               ? exitOk
               : exitToolchain;
  return build(input, options, emit, std::move(source), watch);
}
