//===- StepOrder.cpp - which steps may run concurrently -------------------===//

#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"

using namespace mlir;
using namespace mlir::mnistc;

int64_t mlir::mnistc::streamOf(StepOp step) {
  auto stream = step->getAttrOfType<IntegerAttr>(streamAttribute);
  return stream ? stream.getInt() : 0;
}

ArrayRef<int64_t> mlir::mnistc::stepsAwaitedBy(StepOp step) {
  auto after = step->getAttrOfType<DenseI64ArrayAttr>(afterAttribute);
  return after ? after.asArrayRef() : ArrayRef<int64_t>();
}

bool mlir::mnistc::runsBeside(StepOp step) {
  return step->hasAttr(besideAttribute);
}

int64_t mlir::mnistc::streamsOf(func::FuncOp function) {
  int64_t streams = 1;
  for (StepOp step : function.getOps<StepOp>())
    streams = std::max(streams, streamOf(step) + 1);
  return streams;
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

namespace {
/// Bytes of the arena, from `begin` to before `end`.
struct Bytes {
  int64_t begin, end;
};
struct Accesses {
  SmallVector<Bytes> reads, writes;
  /// Of what is read: for nothing but a filter that is packed; and the rest.
  SmallVector<Bytes> packed, readsLate;
  bool isCollective;
};
} // namespace

/// A value's address in the arena; nothing for a constant.
static std::optional<Bytes> bytesOfValue(Value value, func::FuncOp function) {
  std::optional<int64_t> begin;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto offset = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), "plan.offset");
    begin = offset.getInt();
  } else if (auto step = value.getDefiningOp<StepOp>()) {
    begin = (*step.getOffsets())[cast<OpResult>(value).getResultNumber()];
  }
  if (!begin)
    return std::nullopt;
  return Bytes{*begin, *begin + sizeInBytes(value.getType())};
}

static bool overlap(ArrayRef<Bytes> some, ArrayRef<Bytes> others) {
  for (const Bytes &a : some)
    for (const Bytes &b : others)
      if (a.begin < b.end && b.begin < a.end)
        return true;
  return false;
}

static Accesses accessesOf(StepOp step, func::FuncOp function) {
  Accesses all;
  SmallVector<unsigned> ofFilter = filterInputs(step);
  for (auto [i, input] : llvm::enumerate(step.getInputs()))
    if (std::optional<Bytes> bytes = bytesOfValue(input, function)) {
      all.reads.push_back(*bytes);
      bool packs = llvm::is_contained(ofFilter, i);
      (packs ? all.packed : all.readsLate).push_back(*bytes);
    }
  for (Value result : step.getResults())
    all.writes.push_back(*bytesOfValue(result, function));
  all.isCollective = isCollectiveStep(step);
  return all;
}

static std::vector<Accesses> accessesOf(func::FuncOp function) {
  std::vector<Accesses> all;
  for (StepOp step : function.getOps<StepOp>())
    all.push_back(accessesOf(step, function));
  return all;
}

SmallVector<SmallVector<unsigned>>
mlir::mnistc::findConflicts(func::FuncOp function) {
  std::vector<Accesses> all = accessesOf(function);
  SmallVector<SmallVector<unsigned>> conflicts(all.size());
  for (auto [step, now] : llvm::enumerate(all))
    for (auto [i, earlier] : llvm::enumerate(ArrayRef(all).take_front(step)))
      if ((earlier.isCollective && now.isCollective) ||
          overlap(earlier.writes, now.reads) ||
          overlap(earlier.writes, now.writes) ||
          overlap(earlier.readsLate, now.writes))
        conflicts[step].push_back(i);
  return conflicts;
}

SmallVector<std::optional<unsigned>>
mlir::mnistc::findPacking(func::FuncOp function) {
  std::vector<Accesses> all = accessesOf(function);
  SmallVector<std::optional<unsigned>> packing(all.size());
  for (auto [step, now] : llvm::enumerate(all))
    for (auto [i, earlier] : llvm::enumerate(ArrayRef(all).take_front(step)))
      if (overlap(earlier.packed, now.writes))
        packing[step] = i;
  return packing;
}

DenseMap<Operation *, double>
mlir::mnistc::startsOf(func::FuncOp function,
                       const std::optional<StepTimes> &times) {
  DenseMap<Operation *, double> starts;
  for (StepOp step : function.getOps<StepOp>()) {
    double start = 0;
    for (Value input : step.getInputs())
      if (auto made = input.getDefiningOp<StepOp>())
        start = std::max(start,
                         starts.at(made) + (times ? times->onCores(made) : 0));
    starts[step] = start;
  }
  return starts;
}

StepDependencies::StepDependencies(func::FuncOp function) {
  SmallVector<StepOp> steps(function.getOps<StepOp>());
  for (auto [i, step] : llvm::enumerate(steps)) {
    numberOf[step] = i;
    llvm::BitVector &needed = all.emplace_back(steps.size());
    for (Value input : step.getInputs())
      if (auto made = input.getDefiningOp<StepOp>()) {
        unsigned earlier = numberOf.at(made);
        needed |= all[earlier];
        needed.set(earlier);
      }
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

StepOrder::Clock StepOrder::clockOf(int64_t stream,
                                    ArrayRef<int64_t> after) const {
  Clock clock;
  clock.fill(-1);
  auto awaits = [&](int64_t step) {
    for (auto [mine, known] : llvm::zip_equal(clock, clocks[step]))
      mine = std::max(mine, known);
    int64_t &ended = clock[streams[step]];
    ended = std::max(ended, step);
  };
  if (last[stream] >= 0)
    awaits(last[stream]);
  llvm::for_each(after, awaits);
  return clock;
}

void StepOrder::add(int64_t stream, ArrayRef<int64_t> after) {
  clocks.push_back(clockOf(stream, after));
  last[stream] = streams.size();
  streams.push_back(stream);
}

bool StepOrder::hasEnded(unsigned earlier, int64_t stream,
                         ArrayRef<int64_t> after) const {
  return clockOf(stream, after)[streams[earlier]] >= int64_t(earlier);
}
