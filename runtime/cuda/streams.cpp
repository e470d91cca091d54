//===- streams.cpp - the steps of a plan on several streams ---------------===//
//
// The first stream begins and ends every plan. Another one begins when it waits
// for a step of the first, or for all that was before the plan, and is waited
// for at the end. An event is recorded after each step of such a plan: while a
// graph is captured, that costs nothing.
//
// Filters that are parameters are packed on a stream of their own, from the
// beginning of the plan on: who needs them rarely has to wait. Where the next
// batch is copied while a plan runs, it is on a stream of its own, too.
//
//===----------------------------------------------------------------------===//

#include "cuda/executor_state.h"
#include <algorithm>

using namespace mn;
using namespace mn::cuda;

/// What the streams of a plan have seen while its steps are enqueued.
class mn::cuda::StreamOrder {
public:
  using Clock = std::vector<int>; ///< of each stream, the last step that ended
  struct Stream {
    bool begun = false; ///< does it follow what was before the plan?
    Last last;          ///< State::last
    int step = -1;      ///< its last one
    Clock clock;
  };

  explicit StreamOrder(const Plan &plan)
      : streams(size_t(streamCount(plan))), plan(plan),
        clocks(size_t(plan.stepCount)) {
    for (Stream &stream : streams)
      stream.clock.assign(streams.size() + 1, -1);
    for (int step = 0; step < plan.stepCount; ++step)
      if (packsEarly(plan, step))
        packing.push_back(step);
  }

  std::vector<Stream> streams;
  std::vector<int> packing; ///< the steps that pack early

  /// The last of these that a stream knows to have packed its filters.
  static int &packedBy(Stream &stream) { return stream.clock.back(); }

  Stream &streamOf(int step) {
    return streams[size_t(plan.steps[step].stream)];
  }

  /// `stream` continues when `step` has ended.
  void await(Stream &stream, int step) {
    const Clock &known = clocks[size_t(step)];
    for (size_t i = 0; i < known.size(); ++i)
      stream.clock[i] = std::max(stream.clock[i], known[i]);
    int &ended = stream.clock[size_t(plan.steps[step].stream)];
    ended = std::max(ended, step);
    stream.begun = true;
    stream.last = {};
  }

  /// `step` was enqueued.
  void add(int step) {
    Stream &stream = streamOf(step);
    clocks[size_t(step)] = stream.clock;
    stream.step = step;
    stream.clock[size_t(plan.steps[step].stream)] = step;
  }

private:
  const Plan &plan;
  std::vector<Clock> clocks; ///< of each step, before it
};

Status CudaExecutor::useStream(int number) {
  const CUstream stream = streams[size_t(number)];
  if (stream == state.stream)
    return Status::success();
  state.stream = stream;
  if (state.cudnn.handle)
    if (const cudnnStatus_t status =
            state.cudnn.cudnnSetStream(state.cudnn.handle, stream);
        status != CUDNN_STATUS_SUCCESS)
      return Status::error(Code::noDevice,
                           std::string("giving cuDNN another stream: ") +
                               state.cudnn.cudnnGetErrorString(status));
  return Status::success();
}

Status CudaExecutor::awaitEvent(CUevent event) {
  return check(cu.cuStreamWaitEvent(state.stream, event, 0),
               "waiting for another stream");
}

/// Waits for what a step needs of other streams.
Status CudaExecutor::awaitSteps(const Step &step, StreamOrder &order) {
  StreamOrder::Stream &stream = order.streams[size_t(step.stream)];
  for (int i = 0; i < step.afterCount; ++i) {
    MN_TRY(awaitEvent(stepEvents[size_t(step.after[i])]));
    order.await(stream, step.after[i]);
  }
  if (!stream.begun)
    MN_TRY(awaitEvent(stepEvents.back()));
  stream.begun = true;
  return Status::success();
}

/// All filters that may be packed early, in the order of their steps.
Status CudaExecutor::enqueuePacking(int plan, StreamOrder &order) {
  if (order.packing.empty())
    return Status::success();
  MN_TRY(useStream(packingStream));
  MN_TRY(awaitEvent(stepEvents.back()));
  state.last = {};
  for (size_t i = 0; i < order.packing.size(); ++i) {
    MN_TRY(enqueueStep(plan, order.packing[i], StepPart::packing));
    MN_TRY(check(cu.cuEventRecord(packEvents[i], state.stream),
                 "recording an event"));
  }
  return Status::success();
}

/// Waits until the filters that a step reads or overwrites are packed, and
/// while it waits for as many others as steps were before it: these are most
/// likely there, and nobody waits for them again.
Status CudaExecutor::awaitPacking(int step, const Plan &plan,
                                  StreamOrder &order) {
  StreamOrder::Stream &stream = order.streamOf(step);
  const std::vector<int> &packing = order.packing;
  const auto end = std::upper_bound(
      packing.begin(), packing.end(),
      packsEarly(plan, step) ? step : plan.steps[step].packing);
  const int number = int(end - packing.begin()) - 1;
  if (order.packedBy(stream) >= number)
    return Status::success();
  const int last = std::max(number, std::min(step, int(packing.size()) - 1));
  MN_TRY(awaitEvent(packEvents[size_t(last)]));
  order.packedBy(stream) = last;
  stream.last.waits = true;
  return Status::success();
}

/// The copy of the next batch, to where the run before this one had its own.
Status CudaExecutor::enqueueNextBatch(const Turn &turn) {
  if (!turn.copyNext)
    return Status::success();
  MN_TRY(useStream(batchStream));
  MN_TRY(awaitEvent(stepEvents.back()));
  state.last = {};
  MN_TRY(turn.copyNext());
  return check(cu.cuEventRecord(batchEvent, state.stream),
               "recording an event");
}

/// The first stream continues when all others have ended.
Status CudaExecutor::joinStreams(StreamOrder &order, const Turn &turn) {
  MN_TRY(useStream(0));
  StreamOrder::Stream &first = order.streams[0];
  for (size_t i = 1; i < order.streams.size(); ++i)
    if (const int last = order.streams[i].step; last > first.clock[i]) {
      MN_TRY(awaitEvent(stepEvents[size_t(last)]));
      order.await(first, last);
    }
  state.last = first.last;
  if (turn.copyNext) {
    MN_TRY(awaitEvent(batchEvent));
    state.last = {};
  }
  return Status::success();
}

Status CudaExecutor::enqueueOrdered(int plan, StreamOrder &order,
                                    const Turn &turn) {
  const Plan &p = model.plans[plan];
  MN_TRY(check(cu.cuEventRecord(stepEvents.back(), state.stream),
               "recording an event"));
  MN_TRY(enqueuePacking(plan, order));
  for (int i = 0; i < p.stepCount; ++i) {
    StreamOrder::Stream &stream = order.streamOf(i);
    MN_TRY(useStream(p.steps[i].stream));
    MN_TRY(awaitSteps(p.steps[i], order));
    MN_TRY(awaitPacking(i, p, order));
    state.last = stream.last;
    MN_TRY(enqueueStep(plan, i,
                       packsEarly(p, i) ? StepPart::others : StepPart::all,
                       turn.inputs));
    stream.last = state.last;
    order.add(i);
    MN_TRY(check(cu.cuEventRecord(stepEvents[size_t(i)], state.stream),
                 "recording an event"));
    if (i == 0) // Beside it, but the step is launched first.
      MN_TRY(enqueueNextBatch(turn));
  }
  return joinStreams(order, turn);
}

Status CudaExecutor::enqueueSteps(int plan, const Turn &turn) {
  const Plan &p = model.plans[plan];
  if (streamCount(p) > 1 || turn.copyNext) {
    StreamOrder order(p);
    order.streams[0].begun = true;
    order.streams[0].last = state.last;
    const Status status = enqueueOrdered(plan, order, turn);
    const Status back = useStream(0);
    return status.ok() ? back : status;
  }
  for (int step = 0; step < p.stepCount; ++step)
    MN_TRY(enqueueStep(plan, step, StepPart::all, turn.inputs));
  return Status::success();
}
