//===- FormBuckets.cpp - collectives of several tensors -------------------===//
//
// The best cut of a list into neighbours, by dynamic programming over when the
// last collective ends.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FORMBUCKETS
#include "lib/Passes/Passes.h.inc"

namespace {
/// A collective of one tensor, as the plan has it before there are buckets.
struct Tensor {
  StepOp step;
  int64_t number;    ///< of the step
  int64_t firstUser; ///< the first step that reads the sum
  double ready;      ///< when its operand is there
  double bytes;
};

class Buckets {
public:
  Buckets(func::FuncOp function, const std::optional<StepTimes> &times);

  /// The tensors of each bucket, in order.
  SmallVector<SmallVector<StepOp>> cut() const;

private:
  bool mayJoin(const Tensor &first, const Tensor &last) const;

  SmallVector<Tensor> tensors;
  const std::optional<StepTimes> &times;
};

struct FormBuckets : impl::FormBucketsBase<FormBuckets> {
  void runOnOperation() override;
  void copySharedOperands(StepOp step, StepNames &names);
};
} // namespace

Buckets::Buckets(func::FuncOp function, const std::optional<StepTimes> &times)
    : times(times) {
  DenseMap<Operation *, int64_t> numbers;
  for (StepOp step : function.getOps<StepOp>())
    numbers.try_emplace(step, numbers.size());
  double now = 0;
  for (StepOp step : function.getOps<StepOp>()) {
    if (!isCollectiveStep(step)) {
      now += times ? times->of(step) : 0;
      continue;
    }
    int64_t firstUser = numbers.size();
    for (Operation *user : step->getUsers())
      if (auto it = numbers.find(user); it != numbers.end())
        firstUser = std::min(firstUser, it->second);
    tensors.push_back(
        {step, numbers.at(step), firstUser, now, bytesOf(step) / 2});
  }
}

/// Whether tensors from `first` to `last` are of one type, and nothing needs
/// the first's sum before the last's operand is there.
bool Buckets::mayJoin(const Tensor &first, const Tensor &last) const {
  auto elementOf = [](const Tensor &tensor) {
    return getElementTypeOrSelf(StepOp(tensor.step).getResult(0).getType());
  };
  return elementOf(first) == elementOf(last) && first.firstUser > last.number;
}

SmallVector<SmallVector<StepOp>> Buckets::cut() const {
  // When the first n tensors are done, and where their last bucket begins.
  SmallVector<double> done = {0};
  SmallVector<size_t> begin = {0};
  for (size_t end = 1; end <= tensors.size(); ++end) {
    const Tensor &last = tensors[end - 1];
    done.push_back(std::numeric_limits<double>::infinity());
    begin.push_back(end - 1);
    double bytes = 0;
    for (size_t first = end; first-- > 0;) {
      if (!mayJoin(tensors[first], last))
        break;
      bytes += tensors[first].bytes;
      double time = times ? times->collective + bytes / times->reduced : 1;
      double after = std::max(done[first], last.ready) + time;
      if (after <= done[end])
        done[end] = after, begin[end] = first;
    }
  }
  SmallVector<SmallVector<StepOp>> buckets;
  for (size_t end = tensors.size(); end > 0; end = begin[end]) {
    auto &bucket = buckets.emplace_back();
    for (size_t i = begin[end]; i < end; ++i)
      bucket.push_back(tensors[i].step);
  }
  return buckets;
}

/// A collective overwrites its operands.
void FormBuckets::copySharedOperands(StepOp step, StepNames &names) {
  for (OpOperand &operand : step->getOpOperands()) {
    Value value = operand.get();
    if (value.getDefiningOp<StepOp>() && value.hasOneUse())
      continue;
    OpBuilder builder(step);
    auto copy =
        builder.create<ReshapeOp>(step.getLoc(), value.getType(), value);
    operand.set(copy);
    StepOp made = outline({copy}, names.take(step.getName(), "copy"),
                          [](Operation *) { return false; });
    made.setImpl(Impl::kernel);
    ++numCopied;
  }
}

void FormBuckets::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  StepNames names(function.getBody().front());
  for (StepOp step : llvm::to_vector(function.getOps<StepOp>()))
    if (isCollectiveStep(step))
      copySharedOperands(step, names);
  Buckets buckets(function, machineFor(function).times);
  for (ArrayRef<StepOp> bucket : buckets.cut()) {
    if (bucket.size() == 1)
      continue;
    Impl impl = StepOp(bucket.back()).getImpl();
    SmallVector<Value> results = llvm::map_to_vector(
        bucket, [](StepOp step) -> Value { return step.getResult(0); });
    StepOp joined =
        join(bucket, results, names.take("sums", "bucket"), bucket.back());
    joined.setImpl(impl);
    ++numBuckets;
  }
}

} // namespace mlir::mnistc
