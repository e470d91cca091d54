//===- Pipelines.cpp - the order of the passes ----------------------------===//

#include "lib/Passes/Pipelines.h"
#include "lib/Passes/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mnistc;

void mlir::mnistc::buildInferPipeline(OpPassManager &pm,
                                      const InferOptions &options) {
  // 1. The model, made small: parameters are constants now.
  pm.addPass(createFreezeParameters());
  pm.addPass(createCanonicalizerPass());
  if (options.cse)
    pm.addPass(createCSEPass());
}

void mlir::mnistc::registerPipelines() {
  PassPipelineRegistration<InferOptions>(
      "mnist-infer", "From an imported model to its inference plan",
      buildInferPipeline);
}
