//===- mnist-opt.cpp - run single passes ----------------------------------===//

#include "lib/Passes/Passes.h"
#include "lib/Passes/Pipelines.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ArrayRef.h"

/// The bracket or quote that `text` opens and does not close, or 0.
static char openedIn(llvm::StringRef text) {
  constexpr llvm::StringLiteral opening = "([{'\"", closing = ")]}'\"";
  std::string open; // what is to be closed, innermost last
  for (char c : text) {
    bool quoted = !open.empty() && (open.back() == '\'' || open.back() == '"');
    if (!open.empty() && c == closing[opening.find(open.back())])
      open.pop_back();
    else if (!quoted && opening.contains(c))
      open += c;
  }
  return open.empty() ? 0 : open.back();
}

/// Where a bracket stays open, MLIR never stops looking for the end of a list's
/// item.
static bool checkOptions(llvm::ArrayRef<char *> arguments) {
  for (llvm::StringRef argument : arguments)
    if (char open = argument.starts_with("-") ? openedIn(argument) : 0) {
      llvm::errs() << "error: expected each bracket and quote to be closed, "
                   << "got '" << open << "' open in " << argument << "\n";
      return false;
    }
  return true;
}

int main(int argc, char **argv) {
  if (!checkOptions(llvm::ArrayRef(argv, argc).drop_front()))
    return EXIT_FAILURE;
  mlir::DialectRegistry registry;
  registry
      .insert<mlir::mnistc::MnistDialect, mlir::mnistc::PlanDialect,
              mlir::func::FuncDialect, mlir::ml_program::MLProgramDialect>();
  mlir::mnistc::registerMnistcPasses();
  mlir::mnistc::registerPipelines();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "mnistc pass driver\n", registry));
}
