//===- plan.cpp - any text as a module or a plan --------------------------===//
//
// A text must end in errors, or in a plan that is proved and can be emitted.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CodeGen.h"
#include "lib/IR/CheckModule.h"
#include "lib/Passes/Passes.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::mnistc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // What mnistc refuses before the parser, which is recursive.
  if (size > 4096)
    return 0;
  DialectRegistry registry;
  registry.insert<MnistDialect, PlanDialect, func::FuncDialect,
                  ml_program::MLProgramDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  // MLIR's lexer ends at a zero after the text, as a file in memory has one.
  const std::string text(reinterpret_cast<const char *>(data), size);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module || failed(checkModule(*module)))
    return 0;
  PassManager pm(&context, ModuleOp::getOperationName());
  pm.addPass(createCheckSteps());
  if (failed(pm.run(*module)))
    return 0;
  EmitOptions options;
  options.model = options.compiler = options.command = "fuzz";
  options.target = "cpu";
  options.archs = {"x86-64-v3"};
  std::string source;
  llvm::raw_string_ostream os(source);
  (void)emitCpp(*module, options, os);
  return 0;
}
