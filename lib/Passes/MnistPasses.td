//===- MnistPasses.td - passes on the model ----------------*- tablegen -*-===//

#ifndef MNISTC_PASSES_MNISTPASSES_TD
#define MNISTC_PASSES_MNISTPASSES_TD

include "mlir/Pass/PassBase.td"

def FreezeParameters : Pass<"mnist-freeze-parameters", "::mlir::ModuleOp"> {
  let summary = "Replace loads of parameters by constants";
  let description = [{
    For inference: every `ml_program.global_load` becomes an `mnist.constant` of
    the global's value, and the globals go.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

#endif // MNISTC_PASSES_MNISTPASSES_TD
