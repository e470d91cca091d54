//===- DropDropout.cpp - dropout does nothing in inference ----------------===//

#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_DROPDROPOUT
#include "lib/Passes/Passes.h.inc"

namespace {
struct DropDropout : impl::DropDropoutBase<DropDropout> {
  void runOnOperation() override {
    getOperation().walk([&](DropoutOp op) {
      op.replaceAllUsesWith(op.getInput());
      op.erase();
      ++numDropped;
    });
  }
};
} // namespace

} // namespace mlir::mnistc
