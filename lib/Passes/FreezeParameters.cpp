//===- FreezeParameters.cpp - parameters become constants -----------------===//
//
// All of them for inference. Training keeps those that have a role.
//
//===----------------------------------------------------------------------===//

#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FREEZEPARAMETERS
#include "lib/Passes/Passes.h.inc"

namespace {
struct FreezeParameters : impl::FreezeParametersBase<FreezeParameters> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk([&](ml_program::GlobalLoadOp load) {
      auto global = symbols.lookup<ml_program::GlobalOp>(
          load.getGlobal().getRootReference());
      auto value = global
                       ? dyn_cast_or_null<ElementsAttr>(global.getValueAttr())
                       : ElementsAttr();
      if (!value) {
        load.emitOpError("expected a parameter with a value, but ")
            << load.getGlobal() << " has none";
        return WalkResult::interrupt();
      }
      if (global->hasAttr("mnist.role"))
        return WalkResult::advance();
      OpBuilder builder(load);
      auto constant = builder.create<ConstantOp>(load.getLoc(), value);
      constant->setDiscardableAttr("mnist.name", global.getSymNameAttr());
      load.replaceAllUsesWith(constant.getResult());
      load.erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto global : llvm::make_early_inc_range(
             getOperation().getOps<ml_program::GlobalOp>()))
      if (!global->hasAttr("mnist.role"))
        global.erase();
  }
};
} // namespace

} // namespace mlir::mnistc
