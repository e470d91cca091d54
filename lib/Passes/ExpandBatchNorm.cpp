//===- ExpandBatchNorm.cpp - batch normalization as arithmetic ------------===//
//
// What FoldBatchNorm left, for example because there is no convolution before
// it. Scale and shift depend on parameters only: one number for each channel.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/ChannelAffine.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_EXPANDBATCHNORM
#include "lib/Passes/Passes.h.inc"

namespace {
struct ExpandBatchNorm : impl::ExpandBatchNormBase<ExpandBatchNorm> {
  void runOnOperation() override {
    getOperation().walk([&](BatchNormOp op) {
      OpBuilder builder(op);
      Location loc = op.getLoc();
      ChannelAffine affine = batchNormAffine(builder, op);
      int64_t dim = op.getDim();
      Value scale =
          builder.create<BroadcastOp>(loc, op.getType(), affine.scale, dim);
      Value shift =
          builder.create<BroadcastOp>(loc, op.getType(), affine.shift, dim);
      Value scaled = builder.create<MulOp>(loc, op.getInput(), scale);
      op.replaceAllUsesWith(
          builder.create<AddOp>(loc, scaled, shift).getResult());
      op.erase();
      ++numExpanded;
    });
  }
};
} // namespace

} // namespace mlir::mnistc
