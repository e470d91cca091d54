//===- mnist-opt.cpp - run passes by hand ---------------------------------===//

#include "lib/Passes/Passes.h"
#include "lib/Passes/Pipelines.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
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
