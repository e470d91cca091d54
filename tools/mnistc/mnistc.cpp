//===- mnistc.cpp - the compiler, stage by stage --------------------------===//
//
// Reads a model, runs the passes, emits the text, calls the compilers; stops
// wherever it was asked to.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/Explain.h"
#include "lib/CodeGen/Processes.h"
#include "lib/IR/Printable.h"
#include "lib/Passes/Passes.h"
#include "tools/mnistc/Describe.h"
#include "tools/mnistc/Gradcheck.h"
#include "tools/mnistc/Input.h"
#include "tools/mnistc/Messages.h"
#include "tools/mnistc/Operators.h"
#include "tools/mnistc/Output.h"
#include "tools/mnistc/Program.h"
#include "tools/mnistc/Stages.h"
#include "tools/mnistc/Tune.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/InitLLVM.h"
#include <cstdlib>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mnistc;

static int printOperators() {
  std::string text;
  llvm::raw_string_ostream os(text);
  printOperatorTables(os);
  return writeOutput("-", text) ? exitOk : exitToolchain;
}

static int printDescription(StringRef format) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!describeOptions(format, os)) {
    error("expected --describe-options to be man, bash, zsh or fish, got '" +
          format + "'");
    return exitUsage;
  }
  return writeOutput("-", text) ? exitOk : exitToolchain;
}

/// Prints a module where requested: readable on a terminal, complete in a file
/// or a pipe, so that it can be compiled further.
static int emitModule(ModuleOp module, const Options &options) {
  StringRef path = options.output.empty() ? "-" : StringRef(options.output);
  Detail detail = path != "-"                   ? Detail::whole
                  : llvm::outs().is_displayed() ? Detail::readable
                                                : Detail::constants;
  return writeOutput(path, printModule(module, detail)) ? exitOk
                                                        : exitToolchain;
}

/// What --check prints on success.
static int reportModel(const Input &input, const Options &options) {
  if (options.quiet)
    return exitOk;
  ModuleOp module = *input.module;
  size_t nodes =
      llvm::count_if(input.nodes, [](const OnnxNode &n) { return n.isNeeded; });
  size_t functions = llvm::range_size(module.getOps<func::FuncOp>());
  std::string text = "ok: " + printable(options.input) + ": ";
  if (input.planned || input.nodes.empty())
    text += std::to_string(functions) +
            (functions == 1 ? " function" : " functions");
  else
    text += std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") +
            ", all of them supported";
  return writeOutput("-", text + "\n") ? exitOk : exitToolchain;
}

static int explainPlan(const Input &input, const Options &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (options.explain == Explain::json)
    explainJson(*input.module, input.nodes, os);
  else
    mlir::mnistc::explain(*input.module, input.nodes, os);
  return writeOutput(options.output.empty() ? "-" : options.output, text)
             ? exitOk
             : exitToolchain;
}

/// The plan, by choices that are there or are measured now.
static int plan(const Input &input, Options &options, StageFiles &stages,
                Stopwatch &watch) {
  int code = options.tune.empty() ? findChoices(*input.module, options)
                                  : mlir::mnistc::tune(input, options, watch);
  if (code != exitOk)
    return code;
  if (!runPasses(*input.module, options, stages))
    return exitBadModel;
  watch.lap("passes");
  return exitOk;
}

static int compile(Options &options) {
  if (!options.tune.empty() && (options.check || options.emit == Emit::mnist)) {
    error("expected --tune with plans to measure, got --check or --emit=mnist");
    return exitUsage;
  }
  Stopwatch watch(options.verbose);
  DialectRegistry registry;
  registry.insert<MnistDialect, PlanDialect, func::FuncDialect,
                  ml_program::MLProgramDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  DiagnosticPrinter diagnostics(context, options.input);

  StageFiles stages(options.saveStages);
  if (!stages.open())
    return exitToolchain;
  Input input = readInput(context, options);
  watch.lap("import");
  if (input.status != exitOk)
    return input.status;
  ModuleOp module = *input.module;
  if (options.check)
    return reportModel(input, options);
  stages.write("import", module);
  if (options.emit == Emit::mnist)
    return emitModule(module, options);

  int64_t classes = classesOf(module);
  if (input.planned && !options.tune.empty()) {
    error("expected a model with --tune, got a plan, whose choices are made");
    return exitUsage;
  }
  if (!input.planned)
    if (int code = plan(input, options, stages, watch); code != exitOk)
      return code;
  if (options.explain != Explain::no) {
    options.onlyReport = true;
    int code = options.report.empty()
                   ? exitOk
                   : emitProgram(input, options, stages, watch);
    return code == exitOk ? explainPlan(input, options) : code;
  }
  if (options.emit == Emit::plan)
    return emitModule(module, options);
  if (options.gradcheck && options.emit == Emit::executable &&
      options.output.empty())
    return checkGradients(input, options, classes, stages, watch);
  return emitProgram(input, options, stages, watch);
}

/// --help and --version print and exit inside LLVM, whose stream would end the
/// process with a message and its own exit code where it cannot write.
static void flushAtExit() {
  if (!writeOutput("-", ""))
    _exit(exitToolchain);
}

int main(int argc, char **argv) {
  llvm::setBugReportMsg("error: mnistc crashed; please report this with the "
                        "model:\n");
  handleInterrupts();
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  // Where messages cannot be printed, the exit code stays what it is.
  auto unsaid = llvm::make_scope_exit([] { llvm::errs().clear_error(); });
  // Made first, so that they end after the handler.
  llvm::outs(), llvm::errs();
  std::atexit(flushAtExit);
  setProgramPath(argv[0]);
  Options options;
  if (!parseOptions(argc, argv, options))
    return exitUsage;
  if (StringRef format = describeFlag(); !format.empty())
    return printDescription(format);
  if (options.listOperators)
    return printOperators();
  return compile(options);
}
