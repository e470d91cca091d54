//===- ExpandTraining.cpp - what behaves otherwise while training ---------===//
//
// Batch normalization and dropout, as arithmetic.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/States.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_EXPANDTRAINING
#include "lib/Passes/Passes.h.inc"

namespace {
struct ExpandTraining : impl::ExpandTrainingBase<ExpandTraining> {
  void runOnOperation() override;
  LogicalResult expand(BatchNormOp op);
  void expand(DropoutOp op, int64_t stream);
};
} // namespace

/// The name of the buffer that `value` is loaded from, or null.
static StringAttr bufferOf(Value value) {
  auto load = value.getDefiningOp<ml_program::GlobalLoadOp>();
  return load ? load.getGlobal().getLeafReference() : StringAttr();
}

// m = mean(x), v = mean((x - m)^2), both for each channel
// y = (x - m) / sqrt(v + epsilon) scale + bias
LogicalResult ExpandTraining::expand(BatchNormOp op) {
  StringAttr meanName = bufferOf(op.getMean());
  StringAttr varianceName = bufferOf(op.getVariance());
  if (!meanName && !varianceName)
    return success(); // Frozen.
  if (!meanName || !varianceName)
    return op.emitOpError("expected both its mean and its variance to be "
                          "frozen, or neither");
  OpBuilder builder(op);
  Arithmetic a{builder, op.getLoc()};
  auto type = cast<RankedTensorType>(op.getType());
  int64_t dim = op.getDim();
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim)
      others.push_back(i);
  Value x = op.getInput();
  Value count = a.number(op.getMean(), double(type.getNumElements()) /
                                           double(type.getDimSize(dim)));
  Value mean = a.div(a.sum(x, others), count);
  Value centered = a.sub(x, a.broadcast(mean, dim, type));
  Value variance = a.div(a.sum(a.mul(centered, centered), others), count);
  Value epsilon = a.number(variance, op.getEpsilon().convertToDouble());
  Value scale = a.div(op.getScale(), a.sqrt(a.add(variance, epsilon)));
  Value y = a.add(a.mul(centered, a.broadcast(scale, dim, type)),
                  a.broadcast(op.getBias(), dim, type));

  States states(getOperation(), builder, op.getLoc());
  auto update = [&](StringAttr name, Value running, Value batch) {
    double kept = op.getMomentum().convertToDouble();
    Value old = a.mul(a.number(running, kept), running);
    states.store(name, a.add(old, a.mul(a.number(batch, 1 - kept), batch)));
  };
  update(meanName, op.getMean(), mean);
  update(varianceName, op.getVariance(), variance);
  op.replaceAllUsesWith(y);
  op.erase();
  ++numNormalizations;
  getOperation()->setAttr("mnist.partial", builder.getStringAttr("dropped"));
  return success();
}

// y = u >= ratio ? x / (1 - ratio) : 0
void ExpandTraining::expand(DropoutOp op, int64_t stream) {
  OpBuilder builder(op);
  Arithmetic a{builder, op.getLoc()};
  States states(getOperation(), builder, op.getLoc());
  Value x = op.getInput();
  double ratio = op.getRatio().convertToDouble();
  Type i64 = builder.getI64Type();
  auto random = cast<RankedTensorType>(x.getType()).clone(builder.getF32Type());
  Value u = builder.create<RandomUniformOp>(
      op.getLoc(), random, states.loadNumber(mn::names::seed, i64),
      states.loadNumber(mn::names::step, i64), stream);
  Value kept = a.compare(Predicate::ge, u, a.number(u, ratio));
  Value scaled =
      ratio < 1 ? a.mul(x, a.number(x, 1 / (1 - ratio))) : a.number(x, 0);
  op.replaceAllUsesWith(a.where(kept, scaled));
  op.erase();
  ++numDropouts;
}

void ExpandTraining::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (!isOfKind(function, mn::kinds::train) || function.isExternal())
      continue;
    SmallVector<BatchNormOp> normalizations;
    SmallVector<DropoutOp> dropouts;
    function.walk([&](BatchNormOp op) { normalizations.push_back(op); });
    function.walk([&](DropoutOp op) { dropouts.push_back(op); });
    for (BatchNormOp op : normalizations)
      if (failed(expand(op)))
        return signalPassFailure();
    for (auto [number, op] : llvm::enumerate(dropouts))
      expand(op, number + 1);
  }
}

} // namespace mlir::mnistc
