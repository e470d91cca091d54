//===- IsolateGradients.cpp - only the function that trains ---------------===//

#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ISOLATEGRADIENTS
#include "lib/Passes/Passes.h.inc"

namespace {
struct IsolateGradients : impl::IsolateGradientsBase<IsolateGradients> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t found = 0;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!trains(function)) {
        function.erase();
        continue;
      }
      ++found;
      for (auto store : llvm::make_early_inc_range(
               function.getOps<ml_program::GlobalStoreOp>()))
        store.erase();
    }
    module->setAttr("mnist.gradcheck", UnitAttr::get(&getContext()));
    if (found == 1)
      return;
    module.emitError("expected one batch size to check gradients with, got ")
        << found;
    signalPassFailure();
  }
};
} // namespace

} // namespace mlir::mnistc
