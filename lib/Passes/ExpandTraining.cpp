//===- ExpandTraining.cpp - what behaves otherwise while training ---------===//
//
// Batch normalization and dropout, as arithmetic.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/PlanKind.h"
#include "lib/Passes/Passes.h"
#include "lib/Passes/States.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_EXPANDTRAINING
#include "lib/Passes/Passes.h.inc"

namespace {
struct ExpandTraining : impl::ExpandTrainingBase<ExpandTraining> {
  using ExpandTrainingBase::ExpandTrainingBase;
  void runOnOperation() override;
  LogicalResult expand(BatchNormOp op);
  void expand(DropoutOp op, int64_t stream);
  void updateInOrder(func::FuncOp function);

  /// What a batch norm does to running statistics.
  struct Update {
    StringAttr name;
    Value running, batch;
    double kept;    ///< of what was there
    int64_t number; ///< of the node
    Location loc;
  };
  Value updated(const Update &update, Value running, OpBuilder &builder);
  /// Those of statistics that several batch norms have in common.
  SmallVector<Update> shared;
  llvm::DenseMap<StringAttr, int> norms; ///< that have a statistic
};

/// Means of a batch, by channel, for a batch normalization.
class BatchMean {
public:
  /// `shared`: over the rows of all ranks. Each of those has equally many.
  BatchMean(const Arithmetic &a, ArrayRef<int64_t> dims, Value count,
            Value ranks, bool shared)
      : a(a), dims(dims), count(count), ranks(ranks), shared(shared) {}

  Value of(Value x) const {
    Value sum = a.sum(x, dims);
    if (!shared)
      return a.div(sum, count);
    // One after the other: compilers evaluate arguments in any order.
    Value total = a.b.create<AllReduceOp>(a.loc, sum);
    return a.div(total, a.mul(count, ranks));
  }
  /// What the running statistics get, which are the same on all ranks.
  Value overRanks(Value mean) const {
    return !ranks || shared
               ? mean
               : a.div(a.b.create<AllReduceOp>(a.loc, mean), ranks);
  }

private:
  const Arithmetic &a;
  ArrayRef<int64_t> dims;
  Value count;
  Value ranks; ///< null: one
  bool shared;
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
  States states(getOperation(), builder, op.getLoc());
  Value ranks;
  if (dataParallel)
    ranks = a.cast(states.loadNumber(mn::names::ranks, builder.getI64Type(), 1),
                   typeOf(count).getElementType());
  BatchMean batchMean(a, others, count, ranks, syncBatchNorm);
  Value mean = batchMean.of(x);
  Value centered = a.sub(x, a.broadcast(mean, dim, type));
  Value variance = batchMean.of(a.mul(centered, centered));
  Value epsilon = a.number(variance, op.getEpsilon().convertToDouble());
  Value scale = a.div(op.getScale(), a.sqrt(a.add(variance, epsilon)));
  Value y = a.add(a.mul(centered, a.broadcast(scale, dim, type)),
                  a.broadcast(op.getBias(), dim, type));

  auto number = op->getAttrOfType<IntegerAttr>("mnist.number");
  auto update = [&](StringAttr name, Value running, Value batch) {
    Update made{name,
                running,
                batchMean.overRanks(batch),
                op.getMomentum().convertToDouble(),
                number ? number.getInt() : int64_t(shared.size()),
                op.getLoc()};
    if (norms[name] > 1)
      shared.push_back(made);
    else
      states.store(name, updated(made, running, builder));
  };
  update(meanName, op.getMean(), mean);
  update(varianceName, op.getVariance(), variance);
  op.replaceAllUsesWith(y);
  op.erase();
  ++numNormalizations;
  getOperation()->setAttr("mnist.partial", builder.getStringAttr("dropped"));
  return success();
}

Value ExpandTraining::updated(const Update &update, Value running,
                              OpBuilder &builder) {
  Arithmetic a{builder, update.loc};
  Value old = a.mul(a.number(running, update.kept), running);
  Value more = a.mul(a.number(update.batch, 1 - update.kept), update.batch);
  return a.add(old, more);
}

/// Of several updates of one statistic each goes on with what the one before
/// gives, in the order of the file's nodes, as frameworks run them.
void ExpandTraining::updateInOrder(func::FuncOp function) {
  OpBuilder builder(function.getBody().front().getTerminator());
  llvm::sort(shared, [](const Update &a, const Update &b) {
    return a.number < b.number;
  });
  llvm::MapVector<StringAttr, Value> latest;
  for (const Update &update : shared) {
    Value &value = latest.insert({update.name, update.running}).first->second;
    value = updated(update, value, builder);
  }
  for (auto &[name, value] : latest)
    States(getOperation(), builder, value.getLoc()).store(name, value);
}

/// How many rows the operand of a dropout has: the batch's. One that has no
/// such rows counts as one, so that ranks draw other numbers all the same.
static int64_t rowsOf(DropoutOp op) {
  auto function = op->getParentOfType<func::FuncOp>();
  auto input = cast<RankedTensorType>(function.getArgumentTypes().front());
  int64_t batch = input.getRank() ? input.getDimSize(0) : 1;
  int64_t count = typeOf(op.getInput()).getNumElements();
  return batch > 0 && count % batch == 0 ? batch : 1;
}

// y = (u >= ratio ? x : 0) / (1 - ratio), with u in [0, 1): a ratio of 1 keeps
// nothing. What makes x and the dropout are steps of their own, so that the
// factor belongs to the latter.
void ExpandTraining::expand(DropoutOp op, int64_t stream) {
  OpBuilder builder(op);
  Arithmetic a{builder, op.getLoc()};
  States states(getOperation(), builder, op.getLoc());
  Value x = op.getInput();
  double ratio = op.getRatio().convertToDouble();
  Type i64 = builder.getI64Type();
  Value rank, ranks;
  IntegerAttr rows;
  if (dataParallel) {
    rank = states.loadNumber(mn::names::rank, i64);
    ranks = states.loadNumber(mn::names::ranks, i64, 1);
    rows = builder.getI64IntegerAttr(rowsOf(op));
  }
  if (accumulate > 1) {
    // Row r of part p is row p rows + r of a batch of all.
    Value part = states.loadNumber(mn::names::part, i64);
    if (!ranks)
      rank = a.number(part, 0), ranks = a.number(part, 1);
    rows = builder.getI64IntegerAttr(rowsOf(op));
    Value before = a.mul(part, a.number(part, double(rows.getInt())));
    rank = a.add(rank, a.mul(before, ranks));
  }
  auto random = cast<RankedTensorType>(x.getType()).clone(builder.getF32Type());
  Value u = builder.create<RandomUniformOp>(
      op.getLoc(), random, states.loadNumber(mn::names::seed, i64),
      states.loadNumber(mn::names::step, i64), rank, ranks, rows,
      builder.getI64IntegerAttr(stream));
  Value kept = a.where(a.compare(Predicate::ge, u, a.number(u, ratio)), x);
  op.replaceAllUsesWith(ratio < 1 ? a.mul(kept, a.number(x, 1 / (1 - ratio)))
                                  : kept);
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
    norms.clear(), shared.clear();
    for (BatchNormOp op : normalizations)
      ++norms[bufferOf(op.getMean())], ++norms[bufferOf(op.getVariance())];
    for (BatchNormOp op : normalizations)
      if (failed(expand(op)))
        return signalPassFailure();
    updateInOrder(function);
    for (auto [number, op] : llvm::enumerate(dropouts))
      expand(op, number + 1);
  }
}

} // namespace mlir::mnistc
