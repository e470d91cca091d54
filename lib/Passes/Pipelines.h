//===- Pipelines.h - the order of the passes --------------------*- C++ -*-===//

#ifndef MNISTC_PASSES_PIPELINES_H
#define MNISTC_PASSES_PIPELINES_H

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
  Option<bool> fuse{*this, "fuse", llvm::cl::init(true),
                    llvm::cl::desc("Join ops into steps")};
  Option<bool> chooseLayout{
      *this, "choose-layout", llvm::cl::init(true),
      llvm::cl::desc("Give all images the layout asked for")};
  Option<bool> foldBatchNorm{
      *this, "fold-batch-norm", llvm::cl::init(true),
      llvm::cl::desc("Fold batch normalization into convolutions")};
  Option<bool> foldConstants{
      *this, "fold-constants", llvm::cl::init(true),
      llvm::cl::desc("Compute at compile time what depends on constants")};
  Option<bool> pushTransposes{
      *this, "push-transposes", llvm::cl::init(true),
      llvm::cl::desc("Move transposes into weights and cancel them")};
  Option<bool> cse{*this, "cse", llvm::cl::init(true),
                   llvm::cl::desc("Compute equal ops once")};
  Option<bool> reuseMemory{
      *this, "reuse-memory", llvm::cl::init(true),
      llvm::cl::desc("Give a dead result's memory to a later one")};
};

/// From an imported model to its inference plan.
void buildInferPipeline(OpPassManager &pm, const InferOptions &options);

/// Registers `--mnist-infer`.
void registerPipelines();

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_PIPELINES_H
