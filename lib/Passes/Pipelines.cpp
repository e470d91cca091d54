//===- Pipelines.cpp - the order of the passes ----------------------------===//

#include "lib/Passes/Pipelines.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mnistc;

/// The layout that the implementations of a target like better. An unknown
/// target is reported where implementations are selected.
static std::string preferredLayout(StringRef name) {
  llvm::Expected<const Target *> target = Target::get(name);
  if (target)
    return stringifyLayout((*target)->preferredLayout).str();
  llvm::consumeError(target.takeError());
  return stringifyLayout(Layout::nchw).str();
}

void mlir::mnistc::buildInferPipeline(OpPassManager &pm,
                                      const InferOptions &options) {
  // 1. The model, made small: what is known at compile time is computed now.

  // 1.1 Parameters are constants, dropout is nothing.
  pm.addPass(createFreezeParameters());
  pm.addNestedPass<func::FuncOp>(createDropDropout());
  // 1.2 Weights that are written as expressions (transposed, cast, joined from
  //     parts) are constants for all that follow.
  pm.addPass(createCanonicalizerPass());
  if (options.foldConstants)
    pm.addNestedPass<func::FuncOp>(createFoldConstants());
  // 1.3 Before layouts are chosen, so that the ops after a convolution are as
  //     the exporter left them. What has no weights before it is arithmetic.
  if (options.foldBatchNorm)
    pm.addNestedPass<func::FuncOp>(createFoldBatchNorm());
  pm.addNestedPass<func::FuncOp>(createExpandBatchNorm());

  // 2. The order of dimensions.

  // 2.1 One layout for all images; it leaves transposes around every op.
  if (options.chooseLayout)
    pm.addNestedPass<func::FuncOp>(
        createChooseLayout({options.layout, preferredLayout(options.target)}));
  // 2.2 They cancel, or become constants with the weights that they reach.
  if (options.pushTransposes)
    pm.addNestedPass<func::FuncOp>(createPushTransposes());
  // 2.3 Once more: the passes above left arithmetic on constants.
  if (options.foldConstants)
    pm.addNestedPass<func::FuncOp>(createFoldConstants());
  pm.addPass(createCanonicalizerPass());
  if (options.cse)
    pm.addPass(createCSEPass());

  // 3. The plan. From here on the order of steps is the order of execution.

  // 3.1 What belongs together, by the graph alone.
  FormStepsOptions form;
  form.fuse = options.fuse;
  pm.addNestedPass<func::FuncOp>(createFormSteps(form));
  // 3.2 What can be launched together, by the target.
  SelectImplementationsOptions select;
  select.target = options.target;
  select.libraries = options.libraries;
  pm.addPass(createSelectImplementations(select));
  // 3.3 Addresses, once the steps are final.
  AssignMemoryOptions assign;
  assign.reuse = options.reuseMemory;
  pm.addPass(createAssignMemory(assign));
  // 3.4 Order is memory now: never run a plan unchecked.
  pm.addPass(createCheckSteps());
}

void mlir::mnistc::registerPipelines() {
  PassPipelineRegistration<InferOptions>(
      "mnist-infer", "From an imported model to its inference plan",
      buildInferPipeline);
}
