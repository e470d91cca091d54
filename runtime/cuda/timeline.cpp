//===- timeline.cpp - runs whose kernels say when they run ----------------===//
//
// A plan runs as it always does, but for what its kernels write down: of a
// graph first one is made whose launches are counted, and then one whose
// launches have a place for the times of their blocks.
//
//===----------------------------------------------------------------------===//

#include "core/timed_runs.h"
#include "cuda/device_memory.h"
#include "cuda/executor_state.h"
#include "cuda/launch_recorder.h"
#include <algorithm>

using namespace mn;
using namespace mn::cuda;

BlockTimes *LaunchRecorder::add(const State &state, const Context &ctx,
                                const char *kernel, const char *part,
                                unsigned count) {
  const auto stream = std::find(streams.begin(), streams.end(), state.stream);
  TimedLaunch launch;
  launch.kernel = kernel;
  launch.part = part;
  launch.step = state.steps == &steps ? ctx.step : -1;
  launch.turn = turn;
  launch.stream = int(stream - streams.begin());
  launch.blocks = count;
  launches.push_back(std::move(launch));
  BlockTimes *const to = memory ? memory + blocks : nullptr;
  blocks += count;
  return to;
}

namespace {

/// How often all launches are made.
int64_t launchesOf(const TimedRuns &runs) {
  return (runs.count + runs.turns - 1) / runs.turns;
}

BlockTimes *timesIn(const DeviceMemory &memory) {
  return reinterpret_cast<BlockTimes *>(memory.address);
}

/// A graph that is freed.
struct Graph {
  explicit Graph(const Driver &cu) : cu(cu) {}
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  ~Graph() {
    if (graph)
      cu.cuGraphExecDestroy(graph);
  }
  const Driver &cu;
  CUgraphExec graph = nullptr;
};

/// What a launch of a kernel is told while this lives.
struct Recording {
  Recording(State &state, LaunchRecorder &recorder) : state(state) {
    state.recorder = &recorder;
  }
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;
  ~Recording() { state.recorder = nullptr; }
  State &state;
};

} // namespace

/// One launch of what a timeline shows: a graph where there are graphs.
Status CudaExecutor::enqueueTimed(int plan, const TimedRuns &runs) {
  if (runs.set >= 0)
    return enqueueBatches(plan, runs.set, runs.shuffle, runs.turns);
  return plans[size_t(plan)].staged ? enqueueAlone(plan)
                                    : enqueueDirect(plan, 0);
}

/// Of `launch`, again and again, as often as the data set has batches for; the
/// first time does not count.
Status CudaExecutor::timeRuns(int plan, const TimedRuns &runs,
                              const std::function<Status()> &launch,
                              double &microseconds) {
  int64_t count = launchesOf(runs);
  if (runs.set >= 0) {
    const int64_t ranks = options.ranks ? options.ranks->place().count : 1;
    const int64_t rows = model.plans[plan].batch * ranks * runs.turns;
    const int64_t most = sets[runs.set]->samples.count / rows - 1;
    count = std::max<int64_t>(std::min(count, most), 1);
  }
  MN_TRY(keepingParameters([&] {
    MN_TRY(launch());
    return runAndTime(launch, int(count), microseconds);
  }));
  microseconds /= double(count * runs.turns);
  return Status::success();
}

/// The times of all blocks of the second of two launches: caches are warm then.
/// Each time the rows have another order.
Status CudaExecutor::recordRun(const TimedRuns &runs, int64_t number,
                               const BatchPlan &batches, CUdeviceptr memory,
                               const std::function<Status()> &launch,
                               std::vector<BlockTimes> &times) {
  const size_t bytes = times.size() * sizeof(BlockTimes);
  return keepingParameters([&] {
    if (runs.set >= 0)
      MN_TRY(writeParameters(batches.epoch, &number, sizeof number));
    MN_TRY(check(cu.cuMemsetD8Async(memory, 0, bytes, state.stream),
                 "clearing times"));
    MN_TRY(launch());
    MN_TRY(launch());
    return copyOutOf(memory, times.data(), bytes, "reading times");
  });
}

Status CudaExecutor::timeline(int plan, TimedRuns &runs) {
  BatchPlan batches;
  if (runs.set >= 0)
    MN_TRY(prepareBatches(plan, runs.set, batches));
  MN_TRY(makeCurrent());
  MN_TRY(prepare(plan));
  runs.turns = runs.set >= 0 && options.graph ? int(batchesPerGraph) : 1;
  LaunchRecorder recorder(plans[size_t(plan)].steps, streams);
  const Recording recording(state, recorder);
  Graph plain(cu), recorded(cu);
  DeviceMemory memory(cu);
  const auto make = [&](Graph &graph) {
    const auto enqueue = [&] { return enqueueTimed(plan, runs); };
    recorder.restart(timesIn(memory));
    return options.graph ? capture(enqueue, graph.graph)
                         : keepingParameters(enqueue);
  };
  const auto launch = [&](const Graph &graph, BlockTimes *times) {
    if (runs.set < 0 && plans[size_t(plan)].staged)
      MN_TRY(copyInputs(plan, 0, true, 0));
    if (graph.graph)
      return launchGraph(graph.graph);
    recorder.restart(times);
    return enqueueTimed(plan, runs);
  };
  const auto launchPlain = [&] { return launch(plain, nullptr); };
  const auto launchRecorded = [&] { return launch(recorded, timesIn(memory)); };

  MN_TRY(make(plain)); // which counts the blocks
  runs.launches = recorder.launches;
  if (runs.launches.empty())
    return Status::error(Code::usage,
                         std::string("expected a plan with kernels, got '") +
                             model.plans[plan].name +
                             "', whose steps all run in libraries");
  std::vector<BlockTimes> times(recorder.blocks);
  const size_t bytes = times.size() * sizeof(BlockTimes);
  MN_TRY(shared->allocate(bytes, bytes, memory.address));
  MN_TRY(make(recorded));
  MN_TRY(timeRuns(plan, runs, launchPlain, runs.microseconds));
  MN_TRY(timeRuns(plan, runs, launchRecorded, runs.recordedMicroseconds));
  for (int64_t i = 0; i < launchesOf(runs); ++i) {
    MN_TRY(recordRun(runs, i, batches, memory.address, launchRecorded, times));
    MN_TRY(runs.take(times));
  }
  return Status::success();
}
