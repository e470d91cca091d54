//===- Pipelines.cpp - the order of the passes ----------------------------===//

#include "lib/Passes/Pipelines.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::mnistc;

/// The machine of a target; any for an unknown one, which is reported where
/// implementations are selected.
static const Machine &machineOf(const InferOptions &options) {
  llvm::Expected<const Target *> target = Target::get(options.target);
  if (target)
    return *(*target)->machine;
  llvm::consumeError(target.takeError());
  return *Target::all().front().machine;
}

/// Whether what is in memory may have two bytes an element. Ways to compute a
/// product are compared as they read f32.
static bool mayRound(const InferOptions &options) {
  return options.precision == "bf16" && options.prefer.empty() &&
         options.candidate < 0;
}

static int64_t streamsOf(const InferOptions &options) {
  return options.assignStreams ? machineOf(options).streams : 1;
}

/// The order of dimensions.
static void addLayoutPasses(OpPassManager &pm, const InferOptions &options) {
  // One layout for all images; it leaves transposes around every op.
  if (options.chooseLayout)
    pm.addNestedPass<func::FuncOp>(createChooseLayout(
        {options.layout,
         stringifyLayout(machineOf(options).preferredLayout).str(),
         machineOf(options).layoutGain}));
  // They cancel, or become constants with the weights that they reach.
  if (options.pushTransposes)
    pm.addNestedPass<func::FuncOp>(createPushTransposes());
  // In the layout that there is now, flat images need no transposes.
  if (options.convToMatmul)
    pm.addNestedPass<func::FuncOp>(createConvToMatmul());
  // Before the backward pass, whose products are as few then.
  if (const int64_t most = machineOf(options).joinedWeights;
      options.joinProducts && most > 0)
    pm.addNestedPass<func::FuncOp>(createJoinProducts({most}));
  if (const std::optional<JoinedProducts> &joined =
          machineOf(options).joinedInputs;
      options.joinInputs && joined)
    pm.addNestedPass<func::FuncOp>(
        createJoinInputs({joined->fewest, joined->elements}));
}

/// Once more: the passes before left arithmetic on constants.
static void addCleanUp(OpPassManager &pm, const InferOptions &options) {
  if (options.foldConstants)
    pm.addNestedPass<func::FuncOp>(createFoldConstants());
  pm.addPass(createCanonicalizerPass());
  if (options.cse)
    pm.addPass(createCSEPass());
}

/// The plan. From here on the order of steps is the order of execution.
static void addPlanPasses(OpPassManager &pm, const InferOptions &options,
                          bool fuseHorizontally, bool dataParallel) {
  // What is cast where it is made joins the step that makes it.
  if (options.roundOperands && mayRound(options))
    pm.addNestedPass<func::FuncOp>(createRoundOperands(
        {options.target, options.libraries, options.pushTransposes}));
  // Nothing else is computed between them.
  if (options.fuse && options.drawNumbers && machineOf(options).storesDrawn)
    pm.addNestedPass<func::FuncOp>(createDrawNumbers());
  // Whole rows first: what is left joins the steps around it.
  if (options.fuse && options.formRows)
    pm.addNestedPass<func::FuncOp>(createFormRows({options.target}));
  // What belongs together, by the graph only.
  FormStepsOptions form;
  form.fuse = options.fuse;
  form.maxRecompute = machineOf(options).maxRecompute;
  pm.addNestedPass<func::FuncOp>(createFormSteps(form));
  // What can be launched together, by the target.
  SelectImplementationsOptions select;
  select.target = options.target;
  select.libraries = options.libraries;
  select.precision = options.precision;
  select.prefer = options.prefer;
  select.tuned = options.tuned;
  select.candidate = options.candidate;
  pm.addPass(createSelectImplementations(select));
  // What a kernel has in its registers is pooled there. Ways to compute it are
  // compared without.
  const bool joinsPools = options.fuse && options.joinPools &&
                          options.candidate < 0 &&
                          machineOf(options).joinsPools;
  if (joinsPools)
    pm.addNestedPass<func::FuncOp>(createJoinPools());
  // The kernels' sizes, which nothing after it changes.
  pm.addPass(createChooseSchedules());
  // Once it is known which of them can read windows of a pool.
  if (joinsPools)
    pm.addNestedPass<func::FuncOp>(createJoinUnpools());
  // And what more they can sum. What is measured has parts.
  if (options.fuse && options.joinBiases && options.candidate < 0)
    pm.addNestedPass<func::FuncOp>(createJoinBiases());
  // And which of them are the only ones that read a map.
  if (options.fuse && options.joinMaps && options.candidate < 0)
    pm.addNestedPass<func::FuncOp>(createJoinMaps());
  // Once it is known which results there are, and which steps are libraries'.
  if (options.roundResults && mayRound(options))
    pm.addNestedPass<func::FuncOp>(
        createRoundResults({machineOf(options).roundedFrom}));
  // Once it is known which gradients are one step.
  if (options.fuse && options.joinUpdates && options.candidate < 0)
    pm.addNestedPass<func::FuncOp>(createJoinUpdates());
  // Sums over ranks, once it is known what computes what they wait for.
  if (dataParallel) {
    // What updates need comes after sums, as the updates do that may be joined.
    pm.addNestedPass<func::FuncOp>(createOrderSteps({/*early=*/false}));
    pm.addNestedPass<func::FuncOp>(createFormBuckets());
  }
  // Once it is known which steps are maps, and which sums each waits for.
  int64_t streams = streamsOf(options);
  // But not what is measured, whose parts have to be told apart.
  if (fuseHorizontally && options.candidate < 0) {
    FuseHorizontallyOptions join;
    join.concurrent = streams > 1;
    pm.addNestedPass<func::FuncOp>(createFuseHorizontally(join));
  }
  // What ops were copied into a step for may be the same.
  if (options.cse)
    pm.addPass(createCSEPass());
  // Launches that none of the passes above saves. What is measured has parts.
  if (options.fuse && options.formChains && options.candidate < 0)
    pm.addNestedPass<func::FuncOp>(createFormChains());
  // What is no part of a chain.
  if (options.fuse && options.joinReaders && options.candidate < 0)
    pm.addNestedPass<func::FuncOp>(createJoinReaders());
  // Joined steps are where the last of their parts was.
  if (dataParallel || streams > 1)
    pm.addNestedPass<func::FuncOp>(createOrderSteps());
  // New values take the place of old ones: who reads those comes first.
  pm.addNestedPass<func::FuncOp>(createOrderUpdates());
  // Addresses, once the steps are final.
  AssignMemoryOptions assign;
  assign.reuse = options.reuseMemory;
  assign.concurrent = streams > 1;
  assign.workspace = options.workspace;
  pm.addPass(createAssignMemory(assign));
  // Which steps may run concurrently depends on addresses.
  if (streams > 1)
    pm.addNestedPass<func::FuncOp>(
        createAssignStreams({streams + dataParallel}));
  // Order is memory now: never run a plan unchecked.
  pm.addPass(createCheckSteps());
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
  addLayoutPasses(pm, options);
  addCleanUp(pm, options);

  // 3. The plan.
  addPlanPasses(pm, options, /*fuseHorizontally=*/false,
                /*dataParallel=*/false);
}

/// What makes a backward pass cheaper.
static void addGradientPasses(OpPassManager &pm, const TrainOptions &options) {
  if (options.joinPools && machineOf(options).joinsPools)
    pm.addNestedPass<func::FuncOp>(createIndexPools());
  pm.addNestedPass<func::FuncOp>(createSplitSums());
  if (const std::optional<JoinedProducts> &terms =
          machineOf(options).joinedTerms;
      options.joinTerms && terms)
    pm.addNestedPass<func::FuncOp>(
        createJoinTerms({terms->fewest, terms->elements}));
  addCleanUp(pm, options);
}

static AddOptimizerOptions optimizerOptions(const TrainOptions &options) {
  AddOptimizerOptions optimizer;
  optimizer.kind = options.optimizer;
  optimizer.convention = options.convention;
  optimizer.clipping = options.clipping;
  optimizer.lr = options.lr;
  optimizer.momentum = options.momentum;
  optimizer.weightDecay = options.weightDecay;
  optimizer.beta1 = options.beta1;
  optimizer.beta2 = options.beta2;
  optimizer.epsilon = options.epsilon;
  optimizer.dampening = options.dampening;
  optimizer.clip = options.clip;
  optimizer.average = options.average;
  optimizer.accumulate = options.accumulate;
  return optimizer;
}

/// What is trained, before it is differentiated.
static void addLossPasses(OpPassManager &pm, const TrainOptions &options,
                          bool trainAll = false) {
  // 1. What is trained, and for what.

  // 1.1 The rest of the file's tensors are constants.
  ChooseParametersOptions choose;
  choose.freeze = options.freeze;
  choose.trainOnly = options.trainOnly;
  choose.all = trainAll;
  pm.addPass(createChooseParameters(choose));
  pm.addPass(createFreezeParameters());
  // 1.2 Before anything is changed: the loss looks at the model's last op.
  pm.addPass(createCanonicalizerPass());
  AddLossOptions loss;
  loss.kind = options.loss;
  loss.targets = options.targets;
  loss.smoothing = options.smoothing;
  loss.classWeights = options.classWeights;
  loss.dataParallel = options.dataParallel;
  loss.accumulate = options.accumulate;
  pm.addPass(createAddLoss(loss));
  // 1.3 Functions that train take what they do otherwise, the others the rest.
  ExpandTrainingOptions expand;
  expand.dataParallel = options.dataParallel;
  expand.accumulate = options.accumulate;
  expand.syncBatchNorm = options.syncBatchNorm;
  pm.addPass(createExpandTraining(expand));
  pm.addNestedPass<func::FuncOp>(createDropDropout());
  pm.addNestedPass<func::FuncOp>(createExpandBatchNorm());
  pm.addPass(createCanonicalizerPass());
  if (options.foldConstants)
    pm.addNestedPass<func::FuncOp>(createFoldConstants());

  // 2. The order of dimensions; the backward pass has the forward's.
  addLayoutPasses(pm, options);
}

/// The plan of what trains, or of its gradients: what is checked is what runs.
static void addTrainPlanPasses(OpPassManager &pm, const TrainOptions &options) {
  // Small networks wait for launches, not for arithmetic.
  const Machine &machine = machineOf(options);
  if (options.fuse && options.recomputeElements)
    pm.addNestedPass<func::FuncOp>(createRecomputeElements(
        {machine.recomputedFrom, machine.functionsFrom}));
  // Masks that are computed again take no relu's result.
  pm.addNestedPass<func::FuncOp>(createMaskByDropout());
  if (options.inlineReductions && machine.inlineElements > 0)
    pm.addNestedPass<func::FuncOp>(createInlineReductions(
        {machine.inlineElements, machine.inlineResults}));
  addPlanPasses(pm, options, options.fuseHorizontally, options.dataParallel);
}

void mlir::mnistc::buildTrainPipeline(OpPassManager &pm,
                                      const TrainOptions &options) {
  addLossPasses(pm, options);
  // What flattens images in the file's order has its parameters in theirs.
  if (options.orderParameters)
    pm.addPass(createOrderParameters());
  // 3. The backward pass and the updates. An ordinary program from here on.
  pm.addNestedPass<func::FuncOp>(createDifferentiate());
  if (options.dataParallel)
    pm.addNestedPass<func::FuncOp>(createReduceGradients());
  pm.addPass(createAddOptimizer(optimizerOptions(options)));
  pm.addPass(createBindParameters());
  if (options.pushTransposes)
    pm.addNestedPass<func::FuncOp>(createPushTransposes());
  addGradientPasses(pm, options);

  // 4. The plan.
  addTrainPlanPasses(pm, options);
}

void mlir::mnistc::buildGradcheckPipeline(OpPassManager &pm,
                                          const GradcheckOptions &options) {
  // Before anything computes with the model's numbers.
  if (options.widen)
    pm.addPass(createWiden());
  addLossPasses(pm, options, /*trainAll=*/true);
  // 3. The backward pass. Probes after the model has its layout, so that what
  //    is differentiated is what training differentiates.
  pm.addPass(createIsolateGradients());
  if (options.probes)
    pm.addPass(createAddProbes());
  pm.addNestedPass<func::FuncOp>(createDifferentiate());
  pm.addPass(createBindParameters());
  if (options.pushTransposes)
    pm.addNestedPass<func::FuncOp>(createPushTransposes());
  addGradientPasses(pm, options);

  // 4. The plan.
  addTrainPlanPasses(pm, options);
}

void mlir::mnistc::registerPipelines() {
  PassPipelineRegistration<InferOptions>(
      "mnist-infer", "From an imported model to its inference plan",
      buildInferPipeline);
  PassPipelineRegistration<TrainOptions>(
      "mnist-train", "From an imported model to its plans for training",
      buildTrainPipeline);
  PassPipelineRegistration<GradcheckOptions>(
      "mnist-gradcheck",
      "From an imported model to a plan that returns the loss and its "
      "gradients",
      buildGradcheckPipeline);
}
