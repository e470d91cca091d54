//===- GradcheckPasses.td - passes that check gradients ----*- tablegen -*-===//
//
// A backward pass is compared with finite differences: in double precision, and
// for each operator apart.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_GRADCHECKPASSES_TD
#define MNISTC_PASSES_GRADCHECKPASSES_TD

include "mlir/Pass/PassBase.td"

def Widen : Pass<"mnist-widen", "::mlir::ModuleOp"> {
  let summary = "Compute in double precision";
  let description = [{
    Every f32 of the module becomes an f64: the types of values, arguments and
    globals, and the elements of constants and attributes. Numbers keep their
    values.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def IsolateGradients : Pass<"mnist-isolate-gradients", "::mlir::ModuleOp"> {
  let summary = "Keep nothing but the function that trains, and its values";
  let description = [{
    What remains is the function with a result marked `mnist.loss` whose name
    begins with "train". It stores nothing, so that it gives the same results
    whenever it runs. There must be one; the module is marked `mnist.gradcheck`.
  }];
  let dependentDialects = ["::mlir::mnistc::MnistDialect"];
}

def AddProbes : Pass<"mnist-add-probes", "::mlir::ModuleOp"> {
  let summary = "Have the gradient of every value on the way to the loss";
  let description = [{
    In a function that trains, an op that depends on a parameter and that the
    loss depends on reads `x + probe.x` where it read x. The probe is a parameter
    of zeros, one for each operand of each op: its gradient is what the
    derivative of this op gives, and changing an element of it changes that of
    x, for this op only. A parameter that is read once is its own probe.

    Globals that are probes have the attributes `mnist.reader`, the op that reads
    them, and `mnist.downstream`, the probes of what that op computes. The derivative
    of an op is wrong where the gradients downstream are right and that of its
    probe is not.
  }];
  let statistics = [Statistic<"numProbes", "probes", "probes added">];
  let dependentDialects = ["::mlir::mnistc::MnistDialect",
                           "::mlir::ml_program::MLProgramDialect"];
}

#endif // MNISTC_PASSES_GRADCHECKPASSES_TD
