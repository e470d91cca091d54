//===- AssignStreams.cpp - steps that run concurrently --------------------===//
//
// List scheduling with an estimate of what each step takes. The critical
// successor of a step follows on its stream, at no cost; other successors wait
// for an event on a stream that is free. Collectives have a stream of their
// own: how long they wait for other ranks is not known, and what follows on a
// stream waits as long.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "lib/Passes/Passes.h.inc"

namespace {
constexpr unsigned none = ~0u;

/// The steps of one function, and where they go.
class Schedule {
public:
  Schedule(func::FuncOp function, const StepTimes &times, unsigned limit)
      : steps(function.getOps<StepOp>()), before(findConflicts(function)),
        times(times), limit(limit),
        separate(limit > 1 && llvm::any_of(steps, isCollectiveStep)) {
    putSumsFirst(function);
    findCriticalSuccessors();
    for (unsigned step = 0; step < steps.size(); ++step)
      put(step, choose(step));
  }

  unsigned streams() const { return lastOf.size(); }
  void write();
  void writeBeside();

private:
  double timeOf(StepOp step) const;
  void putSumsFirst(func::FuncOp function);
  void findCriticalSuccessors();
  unsigned choose(unsigned step) const;
  double startOn(unsigned stream, unsigned step) const;
  bool isSeparate(unsigned step) const;
  bool isReserved(unsigned stream) const;
  SmallVector<unsigned> streamsToChooseFrom() const;
  void put(unsigned step, unsigned stream);

  SmallVector<StepOp> steps;
  SmallVector<SmallVector<unsigned>> before;
  const StepTimes &times;
  unsigned limit;              ///< of streams
  bool separate;               ///< have collectives a stream of their own?
  unsigned collectives = none; ///< that stream, if there is one yet
  SmallVector<unsigned> successorOf;   ///< the critical one, or none
  SmallVector<unsigned> predecessorOf; ///< whose critical successor it is
  SmallVector<unsigned> streamOf;
  SmallVector<double> end;      ///< when each step that has a stream is done
  SmallVector<unsigned> lastOf; ///< the last step of each stream
};
} // namespace

double Schedule::timeOf(StepOp step) const { return times.of(step); }

/// What comes after a collective in the plan waits for what it adds up, unless
/// it could begin together with the last of this: so a collective begins early,
/// and runs beside all the rest. Otherwise what it adds up would wait for the
/// multiprocessors that others have.
void Schedule::putSumsFirst(func::FuncOp function) {
  const DenseMap<Operation *, double> starts = startsOf(function, times);
  SmallVector<unsigned> added;
  double last = 0;
  for (unsigned step = 0; step < steps.size(); ++step) {
    if (isSeparate(step)) {
      for (unsigned earlier : before[step])
        if (!isSeparate(earlier)) {
          added.push_back(earlier);
          last = std::max(last, starts.at(steps[earlier]));
        }
    } else if (starts.at(steps[step]) > last) {
      before[step].append(added);
      llvm::sort(before[step]);
      before[step].erase(llvm::unique(before[step]), before[step].end());
    }
  }
}

/// The critical successor of a step is, of those that wait for it, the one with
/// the longest path to the end. A step is that of one predecessor: the last.
void Schedule::findCriticalSuccessors() {
  SmallVector<double> toEnd(steps.size(), 0);
  SmallVector<unsigned> critical(steps.size(), none);
  for (unsigned i = steps.size(); i-- > 0;) {
    toEnd[i] += timeOf(steps[i]);
    for (unsigned earlier : before[i])
      if (toEnd[i] >= toEnd[earlier]) {
        toEnd[earlier] = toEnd[i];
        critical[earlier] = isSeparate(i) || isSeparate(earlier) ? none : i;
      }
  }
  successorOf.assign(steps.size(), none);
  predecessorOf.assign(steps.size(), none);
  for (auto [i, successor] : llvm::enumerate(critical)) {
    if (successor == none)
      continue;
    if (predecessorOf[successor] != none)
      successorOf[predecessorOf[successor]] = none;
    successorOf[i] = successor;
    predecessorOf[successor] = i;
  }
}

/// Whether a step is on the collectives' stream.
bool Schedule::isSeparate(unsigned step) const {
  return separate && isCollectiveStep(steps[step]);
}

/// Whether a stream is kept free for the successor of its last step. What waits
/// for a collective that is still to come needs none yet.
bool Schedule::isReserved(unsigned stream) const {
  unsigned successor = successorOf[lastOf[stream]];
  auto isToCome = [&](unsigned step) {
    return isSeparate(step) && step >= streamOf.size();
  };
  return successor != none && successor >= streamOf.size() &&
         llvm::none_of(before[successor], isToCome);
}

/// When a step could begin on a stream, which may be a new one.
double Schedule::startOn(unsigned stream, unsigned step) const {
  double start = stream < lastOf.size() ? end[lastOf[stream]] : 0;
  for (unsigned earlier : before[step])
    start = std::max(
        start, end[earlier] + (streamOf[earlier] == stream ? 0 : times.event));
  return start;
}

/// Where a step may go: no streams that are kept free, unless all are.
SmallVector<unsigned> Schedule::streamsToChooseFrom() const {
  SmallVector<unsigned> free, others;
  for (unsigned stream = 0; stream < lastOf.size(); ++stream) {
    if (stream == collectives)
      continue;
    others.push_back(stream);
    if (!isReserved(stream))
      free.push_back(stream);
  }
  if (lastOf.size() + (separate && collectives == none) < limit)
    free.push_back(lastOf.size());
  return free.empty() ? others : free;
}

unsigned Schedule::choose(unsigned step) const {
  if (isSeparate(step))
    return collectives != none ? collectives : lastOf.size();
  if (predecessorOf[step] != none)
    return streamOf[predecessorOf[step]];
  SmallVector<unsigned> free = streamsToChooseFrom();
  return *llvm::min_element(free, [&](unsigned a, unsigned b) {
    return startOn(a, step) < startOn(b, step);
  });
}

void Schedule::put(unsigned step, unsigned stream) {
  double start = startOn(stream, step);
  if (stream == lastOf.size())
    lastOf.push_back(step);
  if (isSeparate(step))
    collectives = stream;
  lastOf[stream] = step;
  streamOf.push_back(stream);
  end.push_back(start + timeOf(steps[step]));
}

/// Says on each step where it runs, and what it waits for beyond what its
/// stream and other waits see to.
void Schedule::write() {
  StepOrder order;
  for (auto [i, step] : llvm::enumerate(steps)) {
    SmallVector<int64_t> after;
    for (unsigned earlier : llvm::reverse(before[i]))
      if (!order.hasEnded(earlier, streamOf[i], after))
        after.push_back(earlier);
    llvm::sort(after);
    order.add(streamOf[i], after);
    Builder builder(step.getContext());
    if (streamOf[i] != 0)
      step->setAttr(streamAttribute, builder.getI64IntegerAttr(streamOf[i]));
    if (!after.empty())
      step->setAttr(afterAttribute, builder.getDenseI64ArrayAttr(after));
  }
}

/// Says beside which steps others run: what takes less than a step leaves it
/// alone most of the time.
void Schedule::writeBeside() {
  StepOrder order;
  SmallVector<double> beside(steps.size(), 0);
  for (auto [i, step] : llvm::enumerate(steps)) {
    const ArrayRef<int64_t> after = stepsAwaitedBy(step);
    for (unsigned earlier = 0; earlier < i; ++earlier) {
      if (order.hasEnded(earlier, streamOf[i], after))
        continue;
      beside[earlier] += timeOf(step);
      beside[i] += timeOf(steps[earlier]);
    }
    order.add(streamOf[i], after);
  }
  for (auto [step, time] : llvm::zip_equal(steps, beside))
    if (time > timeOf(step))
      step->setAttr(besideAttribute, UnitAttr::get(step.getContext()));
}

static LogicalResult checkAddresses(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttrOfType<IntegerAttr>(i, "plan.offset"))
      return function.emitError("expected a 'plan.offset' on argument ") << i;
  for (StepOp step : function.getOps<StepOp>())
    if (!step.getOffsets())
      return step.emitError("expected step '")
             << step.getName() << "' to have the addresses of its results";
  return success();
}

namespace {
struct AssignStreams : impl::AssignStreamsBase<AssignStreams> {
  using AssignStreamsBase::AssignStreamsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (maxStreams < 1 || maxStreams > mnistc::maxStreams) {
      function.emitError("expected from 1 to ")
          << mnistc::maxStreams << " streams, got " << int64_t(maxStreams);
      return signalPassFailure();
    }
    if (function.isExternal() || function.getOps<StepOp>().empty())
      return;
    if (failed(checkAddresses(function)))
      return signalPassFailure();
    const std::optional<StepTimes> &times = machineFor(function).times;
    if (!times) // The machine runs one step after the other.
      return;
    Schedule schedule(function, *times, maxStreams);
    numStreams += schedule.streams();
    schedule.write();
    schedule.writeBeside();
  }
};
} // namespace

} // namespace mlir::mnistc
