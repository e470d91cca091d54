//===- Pipelines.h - the order of the passes --------------------*- C++ -*-===//

#ifndef MNISTC_PASSES_PIPELINES_H
#define MNISTC_PASSES_PIPELINES_H

#include "lib/IR/Plan/Target.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::mnistc {

/// What `--mnist-infer` can be told; mnistc's flags of the same name fill it.
struct InferOptions : PassPipelineOptions<InferOptions> {
  Option<std::string> target{*this, "target", llvm::cl::init("cuda"),
                             llvm::cl::desc("cuda or cpu")};
  Option<std::string> layout{*this, "layout", llvm::cl::init("auto"),
                             llvm::cl::desc("auto, nchw or nhwc")};
  Option<std::string> libraries{
      *this, "libraries", llvm::cl::init("all"),
      llvm::cl::desc("Libraries that may be used: all, none or a list such as "
                     "cudnn+cublas")};
  Option<std::string> precision{*this, "precision",
                                llvm::cl::init(defaultPrecision.str()),
                                llvm::cl::desc("strict, fp32, tf32 or bf16")};
  Option<std::string> prefer{
      *this, "prefer", llvm::cl::init(""),
      llvm::cl::desc("What is chosen wherever it can be: "
                     "libraries, tensor-cores or fma")};
  Option<std::string> tuned{
      *this, "tuned", llvm::cl::init(""),
      llvm::cl::desc("A file of choices that were measured")};
  Option<int64_t> candidate{
      *this, "candidate", llvm::cl::init(-1),
      llvm::cl::desc("Which candidate contractions take, to be measured")};
  Option<int64_t> workspace{
      *this, "workspace", llvm::cl::init(int64_t(1) << 30),
      llvm::cl::desc("Scratch memory for libraries, at most, in bytes")};
  Option<bool> fuse{*this, "fuse", llvm::cl::init(true),
                    llvm::cl::desc("Join ops into steps")};
  Option<bool> chooseLayout{*this, "choose-layout", llvm::cl::init(true),
                            llvm::cl::desc("Force one layout for all images")};
  Option<bool> foldBatchNorm{
      *this, "fold-batch-norm", llvm::cl::init(true),
      llvm::cl::desc("Fold batch normalization into convolutions")};
  Option<bool> foldConstants{
      *this, "fold-constants", llvm::cl::init(true),
      llvm::cl::desc("Compute at compile time what depends on constants")};
  Option<bool> pushTransposes{
      *this, "push-transposes", llvm::cl::init(true),
      llvm::cl::desc("Move transposes into weights and cancel them")};
  Option<bool> orderParameters{
      *this, "order-parameters", llvm::cl::init(true),
      llvm::cl::desc("Keep parameters in the order of images")};
  Option<bool> convToMatmul{
      *this, "conv-to-matmul", llvm::cl::init(true),
      llvm::cl::desc("Compute windows of whole images as matrix products")};
  Option<bool> joinProducts{
      *this, "join-products", llvm::cl::init(true),
      llvm::cl::desc("Multiply a matrix with several weights at once")};
  Option<bool> joinInputs{
      *this, "join-inputs", llvm::cl::init(true),
      llvm::cl::desc(
          "Multiply several matrices with the same weights at once")};
  Option<bool> joinTerms{
      *this, "join-terms", llvm::cl::init(true),
      llvm::cl::desc("Compute sums of many products as one product")};
  Option<bool> cse{*this, "cse", llvm::cl::init(true),
                   llvm::cl::desc("Compute equal ops once")};
  Option<bool> reuseMemory{
      *this, "reuse-memory", llvm::cl::init(true),
      llvm::cl::desc("Give a dead result's memory to a later one")};
  Option<bool> drawNumbers{
      *this, "draw-numbers", llvm::cl::init(true),
      llvm::cl::desc("Draw random numbers in steps of their own")};
  Option<bool> formRows{
      *this, "form-rows", llvm::cl::init(true),
      llvm::cl::desc("Put reductions of the same rows into one step")};
  Option<bool> joinPools{
      *this, "join-pools", llvm::cl::init(true),
      llvm::cl::desc("Pool what a step computes before it is stored")};
  Option<bool> joinMaps{
      *this, "join-maps", llvm::cl::init(true),
      llvm::cl::desc("Compute maps where gradients of filters read them")};
  Option<bool> joinReaders{
      *this, "join-readers", llvm::cl::init(true),
      llvm::cl::desc("Compute maps with the contractions that they read")};
  Option<bool> joinUpdates{
      *this, "join-updates", llvm::cl::init(true),
      llvm::cl::desc("Compute new values of parameters with their gradients")};
  Option<bool> joinBiases{
      *this, "join-biases", llvm::cl::init(true),
      llvm::cl::desc("Compute a bias's gradient with that of its filter")};
  Option<bool> roundOperands{
      *this, "round-operands", llvm::cl::init(true),
      llvm::cl::desc("Have large products and convolutions in bf16 read bf16")};
  Option<bool> roundResults{
      *this, "round-results", llvm::cl::init(true),
      llvm::cl::desc("Store large results in bf16, where that is asked for")};
  Option<bool> formChains{
      *this, "form-chains", llvm::cl::init(true),
      llvm::cl::desc("Run small steps row by row in one launch")};
  Option<bool> assignStreams{
      *this, "assign-streams", llvm::cl::init(true),
      llvm::cl::desc("Run independent steps concurrently")};
};

/// What `--mnist-train` can be told beyond that.
struct TrainOptions : InferOptions {
  Option<std::string> loss{*this, "loss", llvm::cl::init("auto"),
                           llvm::cl::desc("What is made small")};
  Option<std::string> targets{*this, "targets", llvm::cl::init("auto"),
                              llvm::cl::desc("auto, class or values")};
  Option<double> smoothing{*this, "smoothing", llvm::cl::init(0.0),
                           llvm::cl::desc("Label smoothing")};
  ListOption<double> classWeights{*this, "class-weights",
                                  llvm::cl::desc("Weights of classes")};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::init("sgd"),
                                llvm::cl::desc("How parameters are updated")};
  Option<std::string> convention{*this, "convention", llvm::cl::init("torch"),
                                 llvm::cl::desc("torch or keras")};
  Option<std::string> clipping{*this, "clipping", llvm::cl::init("none"),
                               llvm::cl::desc("none, norm or value")};
  ListOption<std::string> freeze{*this, "freeze",
                                 llvm::cl::desc("Names to keep as they are")};
  ListOption<std::string> trainOnly{*this, "train-only",
                                    llvm::cl::desc("Names to train")};
  Option<double> lr{*this, "lr", llvm::cl::init(-1.0),
                    llvm::cl::desc("Learning rate")};
  Option<double> momentum{*this, "momentum", llvm::cl::init(-1.0),
                          llvm::cl::desc("Momentum")};
  Option<double> weightDecay{*this, "weight-decay", llvm::cl::init(-1.0),
                             llvm::cl::desc("Weight decay")};
  Option<double> beta1{*this, "beta1", llvm::cl::init(-1.0),
                       llvm::cl::desc("Decay of the mean gradient")};
  Option<double> beta2{*this, "beta2", llvm::cl::init(-1.0),
                       llvm::cl::desc("Decay of the mean square")};
  Option<double> epsilon{*this, "epsilon", llvm::cl::init(-1.0),
                         llvm::cl::desc("Added to roots")};
  Option<double> dampening{*this, "dampening", llvm::cl::init(-1.0),
                           llvm::cl::desc("What momentum leaves out")};
  Option<double> clip{*this, "clip", llvm::cl::init(-1.0),
                      llvm::cl::desc("Where clipping begins")};
  Option<double> average{*this, "average", llvm::cl::init(0.0),
                         llvm::cl::desc("Decay of the parameters' mean")};
  Option<int64_t> accumulate{*this, "accumulate", llvm::cl::init(1),
                             llvm::cl::desc("Batches that an update has")};
  Option<bool> dataParallel{
      *this, "data-parallel", llvm::cl::init(false),
      llvm::cl::desc("Several ranks train, on a share of the rows each")};
  Option<bool> syncBatchNorm{
      *this, "sync-batch-norm", llvm::cl::init(false),
      llvm::cl::desc("Batch statistics are those of all ranks")};
  Option<bool> fuseHorizontally{*this, "fuse-horizontally",
                                llvm::cl::init(true),
                                llvm::cl::desc("Launch maps together")};
  Option<bool> recomputeElements{
      *this, "recompute-elements", llvm::cl::init(true),
      llvm::cl::desc("Compute elements again instead of keeping them")};
  Option<bool> inlineReductions{
      *this, "inline-reductions", llvm::cl::init(true),
      llvm::cl::desc("Compute small reductions where they are read")};
};

/// What `--mnist-gradcheck` can be told beyond that.
struct GradcheckOptions : TrainOptions {
  Option<bool> widen{*this, "widen", llvm::cl::init(true),
                     llvm::cl::desc("Compute in double precision")};
  Option<bool> probes{*this, "probes", llvm::cl::init(true),
                      llvm::cl::desc("Have the gradient of every value")};
};

/// From an imported model to its inference plan.
void buildInferPipeline(OpPassManager &pm, const InferOptions &options);

/// From an imported model to the plans that infer, evaluate and train.
void buildTrainPipeline(OpPassManager &pm, const TrainOptions &options);

/// From an imported model to a plan that returns the loss and its gradients.
void buildGradcheckPipeline(OpPassManager &pm, const GradcheckOptions &options);

/// Registers `--mnist-infer`, `--mnist-train` and `--mnist-gradcheck`.
void registerPipelines();

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_PIPELINES_H
