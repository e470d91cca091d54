//===- FormBuckets.cpp - collectives of several tensors -------------------===//
//
// The best cut of a list into neighbours, by dynamic programming over how many
// collectives there are and when the last one ends. What comes after a
// collective waits for its operands (plan-assign-streams): a cut keeps steps
// apart that could run concurrently.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
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
  double begin;      ///< when the last one of its operand's steps could begin
  double bytes;
};

/// Any step.
struct Step {
  int64_t number, tensor = -1; ///< the tensor that it adds up, if it does
  double start;                ///< when it could begin
  double time = 0, work = 0;   ///< with and without its launch
  SmallVector<int64_t> inputs; ///< the steps that make them
};

class Buckets {
public:
  Buckets(func::FuncOp function, const std::optional<StepTimes> &times);

  /// The tensors of each bucket, in order.
  SmallVector<SmallVector<StepOp>> cut() const;

private:
  /// When the first n tensors are there, and added up, in some number of
  /// buckets, and where the last of these begins.
  struct Cut {
    double ready, done;
    size_t begin;
  };
  using Row = SmallVector<Cut>;

  void addTensor(StepOp step, const Step &sum);
  void measureFrom(size_t first);
  double workBeside(const Tensor *before, const Step &sum) const;
  bool mayJoin(const Tensor &first, const Tensor &last) const;
  double readyBy(const Row &before, size_t first, size_t end) const;
  SmallVector<double> doneBy(const Row &before, size_t end) const;
  /// With one bucket more.
  Row nextRow(const Row &before) const;

  SmallVector<Step> steps;
  SmallVector<Tensor> tensors;
  /// From when the tensors before the first number are there to when those
  /// before the second are.
  SmallVector<SmallVector<double>> between;
  const std::optional<StepTimes> &times;
};

struct FormBuckets : impl::FormBucketsBase<FormBuckets> {
  void runOnOperation() override;
  void copySharedOperands(StepOp step, StepNames &names);
};
} // namespace

Buckets::Buckets(func::FuncOp function, const std::optional<StepTimes> &times)
    : times(times) {
  const DenseMap<Operation *, double> starts = startsOf(function, times);
  DenseMap<Operation *, int64_t> numbers;
  for (StepOp step : function.getOps<StepOp>()) {
    numbers[step] = int64_t(steps.size());
    Step &mine = steps.emplace_back();
    mine.number = int64_t(steps.size()) - 1;
    mine.start = starts.at(step);
    for (Value input : step.getInputs())
      if (Operation *made = input.getDefiningOp<StepOp>())
        mine.inputs.push_back(numbers.at(made));
    if (isCollectiveStep(step)) {
      mine.tensor = int64_t(tensors.size());
      addTensor(step, mine);
    } else if (times) {
      mine.time = times->onCores(step);
      mine.work = mine.time - times->launch;
    }
  }
  for (Tensor &tensor : tensors)
    for (Operation *user : tensor.step->getUsers())
      if (auto it = numbers.find(user); it != numbers.end())
        tensor.firstUser = std::min(tensor.firstUser, it->second);
  for (size_t first = 0; first < tensors.size(); ++first)
    measureFrom(first);
}

void Buckets::addTensor(StepOp step, const Step &sum) {
  double begin = tensors.empty() ? 0 : tensors.back().begin;
  for (int64_t made : sum.inputs)
    begin = std::max(begin, steps[made].start);
  tensors.push_back({step, sum.number, std::numeric_limits<int64_t>::max(),
                     begin, bytesOf(step) / 2});
}

/// Steps take as long as the longest chain of those that wait for each other,
/// or as all of them one after the other but for their launches, and longer
/// beside a collective. What could begin together with the last operands of a
/// bucket runs beside these.
void Buckets::measureFrom(size_t first) {
  SmallVector<double> &length = between.emplace_back(tensors.size() + 1, 0);
  const Tensor *before = first == 0 ? nullptr : &tensors[first - 1];
  double longest = 0, work = 0, largest = 0;
  size_t end = first;
  SmallVector<double> ends(steps.size(), 0);
  for (const Step &step :
       ArrayRef(steps).drop_front(before ? before->number + 1 : 0)) {
    if (step.tensor >= 0) {
      length[++end] = std::max(longest, work + workBeside(before, step));
      if (before && times)
        length[end] += times->crowded * largest;
      continue;
    }
    if (before && step.start <= before->begin)
      continue;
    double begin = 0;
    for (int64_t earlier : step.inputs)
      begin = std::max(begin, ends[earlier]);
    longest = std::max(longest, ends[step.number] = begin + step.time);
    work += step.work;
    largest = std::max(largest, step.time);
  }
}

/// Of what comes after a collective and runs beside its operands, but not
/// beside those of one `before`.
double Buckets::workBeside(const Tensor *before, const Step &sum) const {
  double begin = tensors[sum.tensor].begin, work = 0;
  for (const Step &step : ArrayRef(steps).drop_front(sum.number + 1))
    if (step.start <= begin && (!before || step.start > before->begin))
      work += step.work;
  return work;
}

/// Whether tensors from `first` to `last` are of one type, and nothing needs
/// the first's sum before the last's operand is there.
bool Buckets::mayJoin(const Tensor &first, const Tensor &last) const {
  auto elementOf = [](const Tensor &tensor) {
    return getElementTypeOrSelf(StepOp(tensor.step).getResult(0).getType());
  };
  return elementOf(first) == elementOf(last) && first.firstUser > last.number;
}

/// When the tensors before `end` are there if the last bucket begins with
/// `first`: not before they would be without a cut.
double Buckets::readyBy(const Row &before, size_t first, size_t end) const {
  return std::max(between[0][end], before[first].ready + between[first][end]);
}

/// When the tensors before `end` are done, by which is the first one of the
/// last bucket; never where it may not be.
SmallVector<double> Buckets::doneBy(const Row &before, size_t end) const {
  SmallVector<double> done(end, std::numeric_limits<double>::infinity());
  const Tensor &last = tensors[end - 1];
  double bytes = 0;
  for (size_t first = end; first-- > 0;) {
    if (!mayJoin(tensors[first], last))
      break;
    bytes += tensors[first].bytes;
    double time = times ? times->collective + bytes / times->reduced : 1;
    done[first] =
        std::max(before[first].done, readyBy(before, first, end)) + time;
  }
  return done;
}

Buckets::Row Buckets::nextRow(const Row &before) const {
  // The last bucket rather has some bytes more: the others begin earlier.
  constexpr double same = 0.05;
  const double never = std::numeric_limits<double>::infinity();
  Row row(before.size(), {never, never, 0});
  for (size_t end = 1; end <= tensors.size(); ++end) {
    SmallVector<double> done = doneBy(before, end);
    double least = *llvm::min_element(done);
    size_t first =
        llvm::find_if(done, [&](double d) { return d <= least + same; }) -
        done.begin();
    row[end] = {readyBy(before, first, end), done[first], first};
  }
  return row;
}

SmallVector<SmallVector<StepOp>> Buckets::cut() const {
  const double never = std::numeric_limits<double>::infinity();
  // With no bucket, one, two, and so on.
  SmallVector<Row> rows = {Row(tensors.size() + 1, {never, never, 0})};
  rows.front().front() = {0, 0, 0};
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
