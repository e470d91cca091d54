//===- FormBuckets.cpp - collectives of several tensors -------------------===//
//
// The best cut of a list into neighbours, by dynamic programming over how many
// collectives there are and when the last one ends.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include <map>

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
  /// When the first n tensors are done in some number of buckets, and where the
  /// last of these begins.
  struct Cut {
    double done;
    size_t begin;
  };
  using Row = SmallVector<Cut>;

  bool mayJoin(const Tensor &first, const Tensor &last) const;
  /// With one bucket more.
  Row nextRow(const Row &before) const;

  SmallVector<Tensor> tensors;
  const std::optional<StepTimes> &times;
};

struct FormBuckets : impl::FormBucketsBase<FormBuckets> {
  void runOnOperation() override;
  void copySharedOperands(StepOp step, StepNames &names);
};
} // namespace

/// A large step leaves no room for others: all that could begin before a tensor
/// is there has ended by then.
Buckets::Buckets(func::FuncOp function, const std::optional<StepTimes> &times)
    : times(times) {
  const DenseMap<Operation *, double> starts = startsOf(function, times);
  DenseMap<Operation *, int64_t> numbers;
  std::map<double, double> workAt; ///< of the steps that begin then
  for (StepOp step : function.getOps<StepOp>()) {
    numbers.try_emplace(step, numbers.size());
    if (times && !isCollectiveStep(step))
      workAt[starts.at(step)] += times->onCores(step);
  }
  for (StepOp step : function.getOps<StepOp>()) {
    if (!isCollectiveStep(step))
      continue;
    int64_t firstUser = numbers.size();
    for (Operation *user : step->getUsers())
      if (auto it = numbers.find(user); it != numbers.end())
        firstUser = std::min(firstUser, it->second);
    double ready = 0;
    for (auto it = workAt.begin(), end = workAt.lower_bound(starts.at(step));
         it != end; ++it)
      ready += it->second;
    tensors.push_back(
        {step, numbers.at(step), firstUser, ready, bytesOf(step) / 2});
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

Buckets::Row Buckets::nextRow(const Row &before) const {
  const double never = std::numeric_limits<double>::infinity();
  Row row(tensors.size() + 1, {never, 0});
  for (size_t end = 1; end <= tensors.size(); ++end) {
    const Tensor &last = tensors[end - 1];
    double bytes = 0;
    for (size_t first = end; first-- > 0;) {
      if (!mayJoin(tensors[first], last))
        break;
      bytes += tensors[first].bytes;
      double time = times ? times->collective + bytes / times->reduced : 1;
      if (times && end < tensors.size())
        time *= times->beside;
      double after = std::max(before[first].done, last.ready) + time;
      if (after <= row[end].done)
        row[end] = {after, first};
    }
  }
  return row;
}

SmallVector<SmallVector<StepOp>> Buckets::cut() const {
  const double never = std::numeric_limits<double>::infinity();
  // With no bucket, one, two, and so on.
  SmallVector<Row> rows = {Row(tensors.size() + 1, {never, 0})};
  rows.front().front().done = 0;
  size_t best = 0;
  double least = tensors.empty() ? 0 : never;
  const double disturbed = times ? times->disturbed : 0;
  while (rows.size() <= tensors.size() &&
         least >= disturbed * double(rows.size())) {
    rows.push_back(nextRow(rows.back()));
    size_t count = rows.size() - 1;
    double all = rows.back().back().done + disturbed * double(count);
    if (all < least)
      least = all, best = count;
  }
  SmallVector<SmallVector<StepOp>> buckets;
  for (size_t end = tensors.size(), count = best; end > 0; --count) {
    size_t first = rows[count][end].begin;
    auto &bucket = buckets.emplace_back();
    for (size_t i = first; i < end; ++i)
      bucket.push_back(tensors[i].step);
    end = first;
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
