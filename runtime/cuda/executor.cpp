//===- executor.cpp - runs the plans of a model on a GPU ------------------===//
//
// One allocation, one stream that computes, or a few where steps may run
// concurrently (streams.cpp). A plan is run once step by step, which prepares
// its library calls, and from then on as one graph (transfers.cpp).
//
//===----------------------------------------------------------------------===//

#include "core/executor.h"
#include "cuda/device_memory.h"
#include "cuda/executor_state.h"
#include "cuda/spread.h"
#include <algorithm>
#include <cstring>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define MN_RANGE_PUSH(NAME) nvtxRangePushA(NAME)
#define MN_RANGE_POP() nvtxRangePop()
#else
#define MN_RANGE_PUSH(NAME) (void)(NAME)
#define MN_RANGE_POP() (void)0
#endif

using namespace mn;
using namespace mn::cuda;

//===----------------------------------------------------------------------===//
// Running steps
//===----------------------------------------------------------------------===//

Status CudaExecutor::check(CUresult result, const char *what) const {
  return cuda::check(state.driver, result, what);
}

Status CudaExecutor::inStep(int plan, int step, Status status) const {
  // What has no message is said by another rank.
  if (status.ok() || status.message.empty())
    return status;
  const Step &s = model.plans[plan].steps[step];
  return Status::error(status.code, "step " + std::to_string(step + 1) + " '" +
                                        s.name + "' (" + s.ops +
                                        "): " + status.message);
}

Status CudaExecutor::enqueueStep(int plan, int step, StepPart part,
                                 const Moved &inputs) {
  const Step &s = model.plans[plan].steps[step];
  Context ctx;
  ctx.arena = at<char>(map.arena);
  ctx.inputs = inputs;
  ctx.constants = reinterpret_cast<const char *>(shared->constants);
  ctx.workspaceBytes = model.plans[plan].workspaceBytes;
  ctx.workspace = at<char>(map.workspace) +
                  aligned(ctx.workspaceBytes) *
                      size_t(workspacesBefore(model.plans[plan], s.stream));
  ctx.step = step;
  ctx.part = part;
  ctx.runtime = &state;
  state.steps = &plans[size_t(plan)].steps;
  state.status = Status::success();
  MN_RANGE_PUSH(s.nodes && *s.nodes ? s.nodes : s.name);
  s.run(ctx);
  MN_RANGE_POP();
  return inStep(plan, step, state.status);
}

Status CudaExecutor::runEagerly(int plan) {
  // After the parameters the arena has what another plan left. Zeros are
  // indices that are valid.
  const size_t bytes = aligned(model.plans[plan].arenaBytes);
  if (bytes > model.parameterBytes)
    MN_TRY(check(cu.cuMemsetD8Async(base + map.arena + model.parameterBytes, 0,
                                    bytes - model.parameterBytes, state.stream),
                 "clearing the arena"));
  state.last = {};
  for (int step = 0; step < model.plans[plan].stepCount; ++step) {
    const auto enqueue = [&] {
      const RankWatch::Call call(state.nccl.watch.get());
      return enqueueStep(plan, step);
    };
    MN_TRY(enqueue());
    state.last = {};
    MN_TRY(inStep(plan, step, synchronize("running it")));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status CudaExecutor::capture(const std::function<Status()> &enqueue,
                             CUgraphExec &graph) {
  const RankWatch::Call call(state.nccl.watch.get());
  MN_TRY(check(cu.cuStreamBeginCapture(state.stream,
                                       CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
               "capturing a graph"));
  Status status = enqueue();
  CUgraph captured = nullptr;
  const CUresult ended = cu.cuStreamEndCapture(state.stream, &captured);
  if (status.ok())
    status = check(ended, "capturing a graph");
  if (status.ok())
    status = check(cu.cuGraphInstantiateWithFlags(&graph, captured, 0),
                   "making a graph");
  if (status.ok())
    status = check(cu.cuGraphUpload(graph, state.stream), "uploading a graph");
  if (captured)
    cu.cuGraphDestroy(captured);
  return status;
}

Status CudaExecutor::launchGraph(CUgraphExec graph) {
  const RankWatch::Call call(state.nccl.watch.get());
  return check(cu.cuGraphLaunch(graph, state.stream), "launching a graph");
}

Status CudaExecutor::prepare(int plan) {
  PlanState &p = plans[size_t(plan)];
  if (p.prepared)
    return Status::success();
  p.steps.resize(size_t(model.plans[plan].stepCount));
  if (options.ranks && options.ranks->several()) {
    const std::vector<bool> apart = stepsApartFromSums(model.plans[plan]);
    for (size_t step = 0; step < apart.size(); ++step)
      p.steps[step].spreads = apart[step];
  }
  MN_TRY(makeCurrent());
  MN_TRY(loadLibraries(plan));
  MN_TRY(keepingParameters([&] { return runEagerly(plan); }));
  if (state.nccl.communicator)
    MN_TRY(state.nccl.shareSums(*options.ranks));
  if (options.graph) {
    MN_TRY(capture([&] { return enqueueAlone(plan); }, p.graph));
    if (!p.staged)
      for (int slot = 0; slot < 2; ++slot)
        MN_TRY(
            capture([&] { return enqueueDirect(plan, slot); }, p.direct[slot]));
  }
  MN_TRY(synchronize("preparing a plan"));
  p.prepared = true;
  return Status::success();
}

Status CudaExecutor::enqueueAlone(int plan) {
  state.last = {};
  return enqueueSteps(plan);
}

Status CudaExecutor::enqueuePlan(int plan) {
  if (!options.graph)
    return enqueueAlone(plan);
  return launchGraph(plans[size_t(plan)].graph);
}

//===----------------------------------------------------------------------===//
// Looking closer
//===----------------------------------------------------------------------===//

Status CudaExecutor::read(size_t offset, void *to, size_t bytes) {
  MN_TRY(makeCurrent());
  return copyOutOf(base + map.arena + offset, to, bytes, "reading the arena");
}

/// The driver blocks in a copy to memory that is not pinned until the stream
/// has come to it. Who has to look after other ranks waits before that.
Status CudaExecutor::copyOutOf(CUdeviceptr from, void *to, size_t bytes,
                               const char *what) {
  if (state.nccl.communicator)
    MN_TRY(synchronize(what));
  MN_TRY(check(cu.cuMemcpyDtoHAsync(to, from, bytes, state.stream), what));
  return synchronize(what);
}

/// In memory of the device, or of the host where there is not room for both.
Status CudaExecutor::keepingParameters(const std::function<Status()> &run) {
  const size_t bytes = model.parameterBytes;
  if (bytes == 0)
    return run();
  DeviceMemory kept(cu);
  if (cu.cuMemAlloc(&kept.address, bytes) != CUDA_SUCCESS) {
    kept.address = 0;
    std::vector<char> onHost(bytes);
    MN_TRY(readParameters(0, onHost.data(), bytes));
    MN_TRY(run());
    return writeParameters(0, onHost.data(), bytes);
  }
  const CUdeviceptr parameters = base + map.arena;
  const auto copy = [&](CUdeviceptr to, CUdeviceptr from) {
    return check(cu.cuMemcpyDtoDAsync(to, from, bytes, state.stream),
                 "keeping the parameters");
  };
  MN_TRY(copy(kept.address, parameters));
  MN_TRY(run());
  MN_TRY(copy(parameters, kept.address));
  return synchronize("keeping the parameters");
}

Status CudaExecutor::runAndTime(const std::function<Status()> &enqueue,
                                int count, double &microseconds) {
  MN_TRY(check(cu.cuEventRecord(begin, state.stream), "recording an event"));
  for (int i = 0; i < count; ++i)
    MN_TRY(enqueue());
  MN_TRY(check(cu.cuEventRecord(end, state.stream), "recording an event"));
  MN_TRY(waitFor(end, "running a plan"));
  float milliseconds = 0;
  MN_TRY(check(cu.cuEventElapsedTime(&milliseconds, begin, end),
               "reading the time"));
  microseconds = 1000.0 * milliseconds;
  return Status::success();
}

Status CudaExecutor::time(int plan, int count, double &microseconds) {
  MN_TRY(makeCurrent());
  MN_TRY(prepare(plan));
  return keepingParameters([&] {
    MN_TRY(copyInputs(plan, 0, true, 0));
    return runAndTime([&] { return enqueuePlan(plan); }, count, microseconds);
  });
}

Status CudaExecutor::profile(int plan, std::vector<StepTime> &times) {
  MN_TRY(makeCurrent());
  MN_TRY(prepare(plan));
  return profileSteps(plan, times);
}

/// A graph with an event between all steps, after the inputs' copies, so that
/// no launch from the host comes between. The median of a few runs, which all
/// begin with the same parameters.
Status CudaExecutor::profileSteps(int plan, std::vector<StepTime> &times) {
  const Plan &p = model.plans[plan];
  const int steps = p.stepCount;
  constexpr int runs = 9;
  Events events(cu, steps + 1);
  CUgraphExec graph = nullptr;
  Status status = capture(
      [&] {
        MN_TRY(copyInputs(plan, 0, true, 0));
        for (int step = 0; step < steps; ++step)
          if (packsEarly(p, step)) // As it runs: beside other steps.
            MN_TRY(enqueueStep(plan, step, StepPart::packing));
        for (int step = 0; step <= steps; ++step) {
          state.last = {};
          MN_TRY(check(cu.cuEventRecordWithFlags(events[step], state.stream,
                                                 CU_EVENT_RECORD_EXTERNAL),
                       "recording an event"));
          if (step < steps)
            MN_TRY(enqueueStep(plan, step,
                               packsEarly(p, step) ? StepPart::others
                                                   : StepPart::all));
        }
        return Status::success();
      },
      graph);
  std::vector<std::vector<float>> marks(size_t(steps) + 1);
  for (int run = 0; status.ok() && run < runs; ++run) {
    status = keepingParameters([&] {
      MN_TRY(launchGraph(graph));
      return synchronize("profiling a plan");
    });
    for (int step = 0; status.ok() && step <= steps; ++step) {
      float milliseconds = 0;
      status =
          check(cu.cuEventElapsedTime(&milliseconds, events[0], events[step]),
                "reading the time");
      marks[size_t(step)].push_back(milliseconds);
    }
  }
  if (graph)
    cu.cuGraphExecDestroy(graph);
  MN_TRY(status);
  times.clear();
  double start = 0;
  for (int step = 0; step < steps; ++step) {
    std::vector<float> took;
    for (int run = 0; run < runs; ++run)
      took.push_back(marks[size_t(step) + 1][size_t(run)] -
                     marks[size_t(step)][size_t(run)]);
    std::nth_element(took.begin(), took.begin() + runs / 2, took.end());
    times.push_back({1000.0 * took[runs / 2], start});
    start += times.back().microseconds;
  }
  return Status::success();
}

Status CudaExecutor::trace(int plan, Status (*look)(void *user, int step),
                           void *user) {
  MN_TRY(makeCurrent());
  MN_TRY(prepare(plan));
  return keepingParameters([&] {
    MN_TRY(copyInputs(plan, 0, true, 0));
    for (int step = 0; step < model.plans[plan].stepCount; ++step) {
      state.last = {};
      MN_TRY(enqueueStep(plan, step));
      MN_TRY(inStep(plan, step, synchronize("running it")));
      MN_TRY(look(user, step));
    }
    return Status::success();
  });
}

double CudaExecutor::peakFlops() const { return shared->device.peakFlops; }

std::string CudaExecutor::deviceName() const {
  const Device &device = shared->device;
  return device.name + ", " + std::to_string(device.multiprocessors) +
         " SMs, driver " + driverVersion(state.driver);
}

std::vector<std::pair<std::string, std::string>>
CudaExecutor::libraryVersions() const {
  std::vector<std::pair<std::string, std::string>> versions;
  if (state.cublas.cublasLtGetVersion)
    versions.emplace_back("cublas",
                          std::to_string(state.cublas.cublasLtGetVersion()));
  if (state.cudnn.cudnnGetVersion)
    versions.emplace_back("cudnn",
                          std::to_string(state.cudnn.cudnnGetVersion()));
  if (int version = 0;
      state.nccl.isOpen() && state.nccl.ncclGetVersion(&version) == 0)
    versions.emplace_back("nccl", std::to_string(version));
  return versions;
}
