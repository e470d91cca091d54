//===- DrawNumbers.cpp - random numbers in steps of their own -------------===//
//
// A random number is computed again wherever it is read, which is right for a
// GPU. SIMD registers of a CPU hold the numbers of neighbours, if nothing else
// is computed between them: it takes a fraction of the time. The numbers are
// stored, not a mask: SIMD loops would rather compare again.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Names.h"
#include "lib/IR/Plan/StepBuilder.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_DRAWNUMBERS
#include "lib/Passes/Passes.h.inc"

/// Gives all who read a mask of drawn numbers a comparison of their own.
static void compareForEach(CompareOp mask) {
  OpBuilder builder(mask);
  while (!mask.getOutput().use_empty() && !mask.getOutput().hasOneUse())
    mask.getOutput().use_begin()->set(builder.clone(*mask)->getResult(0));
}

namespace {
struct DrawNumbers : impl::DrawNumbersBase<DrawNumbers> {
  using DrawNumbersBase::DrawNumbersBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    StepNames names(block);
    llvm::SetVector<CompareOp> masks;
    for (RandomUniformOp op :
         llvm::make_early_inc_range(block.getOps<RandomUniformOp>())) {
      for (Operation *user : op.getOutput().getUsers())
        if (auto mask = dyn_cast<CompareOp>(user))
          masks.insert(mask);
      std::string name = names.take(tensorName(op) + ".uniform", "drawn");
      outline({op}, name, [](Operation *) { return false; });
      ++numSteps;
    }
    llvm::for_each(masks, compareForEach);
  }
};
} // namespace

} // namespace mlir::mnistc
