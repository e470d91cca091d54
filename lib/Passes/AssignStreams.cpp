//===- AssignStreams.cpp - steps that run side by side --------------------===//
//
// List scheduling with a guess of what each step takes. The step on which most
// depends goes on where its operand was made, at no cost; others wait for an
// event on a stream that is free.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "lib/Passes/Passes.h.inc"

// Microseconds, on a large GPU: what any step takes, what a wait for another
// stream adds; and what a microsecond is enough for, in a step of a small
// batch.
static constexpr double launchTime = 2, eventTime = 1.5;
static constexpr double flopsPerTime = 15e6, bytesPerTime = 2e6;

static double timeOf(StepOp step) {
  return launchTime +
         std::max(flopsOf(step) / flopsPerTime, bytesOf(step) / bytesPerTime);
}

namespace {
constexpr unsigned nobody = ~0u;

/// The steps of one function, and where they go.
class Schedule {
public:
  Schedule(func::FuncOp function, unsigned most)
      : steps(function.getOps<StepOp>()), before(findConflicts(function)),
        most(most) {
    findHeirs();
    for (unsigned step = 0; step < steps.size(); ++step)
      put(step, choose(step));
  }

  unsigned streams() const { return lastOf.size(); }
  void write();

private:
  void findHeirs();
  unsigned choose(unsigned step) const;
  double startOn(unsigned stream, unsigned step) const;
  bool isPromised(unsigned stream) const;
  void put(unsigned step, unsigned stream);

  SmallVector<StepOp> steps;
  SmallVector<SmallVector<unsigned>> before;
  unsigned most;
  SmallVector<unsigned> heirOf;   ///< who goes on where a step was, or nobody
  SmallVector<unsigned> parentOf; ///< whose heir a step is, or nobody
  SmallVector<unsigned> streamOf;
  SmallVector<double> end;      ///< when each step that has a stream is done
  SmallVector<unsigned> lastOf; ///< the last step of each stream
};
} // namespace

/// Of those that wait for a step, the one with the longest way to the end is
/// its heir; who could be the heir of several, is that of the last.
void Schedule::findHeirs() {
  SmallVector<double> toEnd(steps.size(), 0);
  SmallVector<unsigned> most(steps.size(), nobody);
  for (unsigned i = steps.size(); i-- > 0;) {
    toEnd[i] += timeOf(steps[i]);
    for (unsigned earlier : before[i])
      if (toEnd[i] >= toEnd[earlier]) {
        toEnd[earlier] = toEnd[i];
        most[earlier] = i;
      }
  }
  heirOf.assign(steps.size(), nobody);
  parentOf.assign(steps.size(), nobody);
  for (auto [i, heir] : llvm::enumerate(most)) {
    if (heir == nobody)
      continue;
    if (parentOf[heir] != nobody)
      heirOf[parentOf[heir]] = nobody;
    heirOf[i] = heir;
    parentOf[heir] = i;
  }
}

/// Whether a stream is kept free for the heir of its last step.
bool Schedule::isPromised(unsigned stream) const {
  unsigned heir = heirOf[lastOf[stream]];
  return heir != nobody && heir >= streamOf.size();
}

/// When a step could begin on a stream, which may be a new one.
double Schedule::startOn(unsigned stream, unsigned step) const {
  double start = stream < lastOf.size() ? end[lastOf[stream]] : 0;
  for (unsigned earlier : before[step])
    start = std::max(start, end[earlier] +
                                (streamOf[earlier] == stream ? 0 : eventTime));
  return start;
}

unsigned Schedule::choose(unsigned step) const {
  if (parentOf[step] != nobody)
    return streamOf[parentOf[step]];
  SmallVector<unsigned> free;
  for (unsigned stream = 0; stream < lastOf.size(); ++stream)
    if (!isPromised(stream))
      free.push_back(stream);
  if (lastOf.size() < most)
    free.push_back(lastOf.size());
  if (free.empty())
    free = llvm::to_vector(llvm::seq<unsigned>(0, lastOf.size()));
  return *llvm::min_element(free, [&](unsigned a, unsigned b) {
    return startOn(a, step) < startOn(b, step);
  });
}

void Schedule::put(unsigned step, unsigned stream) {
  double start = startOn(stream, step);
  if (stream == lastOf.size())
    lastOf.push_back(step);
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

static LogicalResult checkAddresses(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttrOfType<IntegerAttr>(i, "plan.offset"))
      return function.emitError("expected a 'plan.offset' on argument ") << i;
  for (StepOp step : function.getOps<StepOp>())
    if (!step.getOffsets())
      return step.emitError("expected step '")
             << step.getName() << "' to say where its results lie";
  return success();
}

namespace {
struct AssignStreams : impl::AssignStreamsBase<AssignStreams> {
  using AssignStreamsBase::AssignStreamsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (most < 1 || most > maxStreams) {
      function.emitError("expected from 1 to ")
          << maxStreams << " streams, but got " << int64_t(most);
      return signalPassFailure();
    }
    if (function.isExternal() || function.getOps<StepOp>().empty())
      return;
    if (failed(checkAddresses(function)))
      return signalPassFailure();
    Schedule schedule(function, most);
    numStreams += schedule.streams();
    schedule.write();
  }
};
} // namespace

} // namespace mlir::mnistc
