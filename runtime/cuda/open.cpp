//===- open.cpp - the life of the CUDA executor ---------------------------===//
//
// Everything that can be missing is looked for before a plan runs, each with
// its own message and exit code: driver and GPU (10), its architecture (11),
// memory (13), and when the plan is prepared, its libraries (12).
//
//===----------------------------------------------------------------------===//

#include "cuda/executor_state.h"
#include <algorithm>
#include <cstring>

using namespace mn;
using namespace mn::cuda;

Status Executor::open(const Model &model, const ExecutorOptions &options,
                      std::unique_ptr<Executor> &executor) {
  auto shared = std::make_shared<SharedDevice>();
  MN_TRY(shared->open(model, options));
  auto opened =
      std::make_unique<CudaExecutor>(model, options, std::move(shared));
  MN_TRY(opened->open());
  executor = std::move(opened);
  return Status::success();
}

Status CudaExecutor::share(std::unique_ptr<Executor> &other) {
  auto opened = std::make_unique<CudaExecutor>(model, options, shared);
  for (int set = 0; set < dataSets; ++set)
    opened->sets[set] = sets[set];
  MN_TRY(opened->open());
  other = std::move(opened);
  return Status::success();
}

Status CudaExecutor::open() {
  state.driver = shared->driver;
  state.overlaps = shared->device.capability >= 90;
  state.spreads = state.overlaps && !options.shared;
  state.device = shared->device;
  state.timestamps = model.timestamps;
  MN_TRY(makeCurrent());
  MN_TRY(shared->loadModules(state.modules));
  MN_TRY(makeStreams());
  return allocate();
}

Status CudaExecutor::makeStreams() {
  for (CUstream *stream : {&state.stream, &copyIn, &copyOut})
    MN_TRY(check(cu.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING),
                 "making a stream"));
  MN_TRY(makeStepStreams());
  for (CUevent *event : {&begin, &end})
    MN_TRY(check(cu.cuEventCreate(event, CU_EVENT_DEFAULT), "making an event"));
  for (CUevent *event : {&callerBegin, &callerEnd})
    MN_TRY(check(cu.cuEventCreate(event, CU_EVENT_DISABLE_TIMING),
                 "making an event"));
  for (Slot &slot : slots)
    for (CUevent *event : {&slot.copied, &slot.computed, &slot.done})
      MN_TRY(check(cu.cuEventCreate(event, CU_EVENT_DISABLE_TIMING),
                   "making an event"));
  return Status::success();
}

/// What plans need whose steps run concurrently, or beside a copy.
Status CudaExecutor::makeStepStreams() {
  size_t count = 1, events = 0, packing = 0;
  bool prefetches = false;
  for (int i = 0; i < model.planCount; ++i) {
    const Plan &p = model.plans[i];
    count = std::max(count, size_t(streamCount(p)));
    if (streamCount(p) > 1 || p.prefetches)
      events = std::max(events, size_t(p.stepCount) + 1);
    size_t packed = 0;
    for (int step = 0; step < p.stepCount; ++step)
      packed += packsEarly(p, step);
    packing = std::max(packing, packed);
    prefetches |= p.prefetches;
  }
  if (packing != 0)
    packingStream = int(count++);
  if (prefetches) {
    batchStream = int(count++);
    MN_TRY(check(cu.cuEventCreate(&batchEvent, CU_EVENT_DISABLE_TIMING),
                 "making an event"));
  }
  streams.assign(count, nullptr);
  streams[0] = state.stream;
  for (size_t i = 1; i < count; ++i)
    MN_TRY(check(cu.cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING),
                 "making a stream"));
  stepEvents.assign(events, nullptr);
  packEvents.assign(packing, nullptr);
  for (std::vector<CUevent> *all : {&stepEvents, &packEvents})
    for (CUevent &event : *all)
      MN_TRY(check(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING),
                   "making an event"));
  return Status::success();
}

/// Those that a plan calls: to open one takes longer than most runs.
Status CudaExecutor::loadLibraries(int plan) {
  const Plan &p = model.plans[plan];
  const auto calls = [&](const char *library) {
    return std::any_of(p.steps, p.steps + p.stepCount, [&](const Step &step) {
      return std::strcmp(step.implementation, library) == 0;
    });
  };
  if (!state.cublas.handle && calls("cublas"))
    MN_TRY(loadCublas(state.cublas));
  if (!state.cudnn.handle && calls("cudnn"))
    MN_TRY(loadCudnn(state.stream, state.cudnn));
  return Status::success();
}

/// The arena, where there are several ranks in memory that they may share.
Status CudaExecutor::allocateArena() {
  if (options.ranks && options.ranks->several() &&
      loadNccl(state.nccl).ok()) // or else join() says what is missing
    base = reinterpret_cast<CUdeviceptr>(state.nccl.allocate(map.bytes));
  return base ? Status::success()
              : shared->allocate(map.bytes, map.bytes, base);
}

Status CudaExecutor::allocate() {
  map = mapMemory(model);
  MN_TRY(allocateArena());
  MN_TRY(initializeParameters());
  batchSteps.resize(1);
  transferSteps.resize(1);
  plans.resize(size_t(model.planCount));
  for (int i = 0; i < model.planCount; ++i) {
    const Plan &plan = model.plans[i];
    PlanState &p = plans[size_t(i)];
    p.staged = isStaged(plan);
    p.pixels.resize(size_t(plan.inputCount));
    const size_t packed = packedBytes(plan.inputs, plan.inputCount) +
                          packedBytes(plan.outputs, plan.outputCount);
    const size_t bytes = packed != 0 ? packed + wordBytes : 0;
    for (char *&host : p.host) {
      void *memory = nullptr;
      if (bytes != 0)
        MN_TRY(check(cu.cuMemHostAlloc(&memory, bytes, 0),
                     "allocating pinned host memory"));
      host = static_cast<char *>(memory);
      if (bytes != 0)
        std::memset(host, 0, bytes);
    }
  }
  return check(cu.cuStreamSynchronize(state.stream),
               "uploading the parameters");
}

bool mn::opensSlowly() { return true; }

int mn::usefulExecutors() { return 0; }

Status mn::countDevices(int &count) {
  Driver driver;
  MN_TRY(loadDriver(driver));
  return check(driver, driver.cuDeviceGetCount(&count), "looking for GPUs");
}

CudaExecutor::~CudaExecutor() {
  if (!state.driver.cuCtxSetCurrent)
    return; // it was never opened
  cu.cuCtxSetCurrent(shared->context);
  // A sum waits for ever for a rank that is gone.
  if (state.nccl.communicator && options.ranks->isOver())
    state.nccl.abort(Status::error(Code::rankLost, ""));
  // The first of those that compute is state.stream.
  std::vector<CUstream> all = streams;
  all.insert(all.end(), {copyIn, copyOut});
  if (streams.empty())
    all.push_back(state.stream);
  for (CUstream stream : all)
    if (stream)
      cu.cuStreamSynchronize(stream);
  for (int set : {0, 1})
    freeSet(set);
  for (PlanState &p : plans) {
    for (CUgraphExec graph : {p.graph, p.direct[0], p.direct[1]})
      if (graph)
        cu.cuGraphExecDestroy(graph);
    for (char *host : p.host)
      if (host)
        cu.cuMemFreeHost(host);
    for (const State::Step &step : p.steps)
      if (step.memory)
        cu.cuMemFree(step.memory);
    p.steps.clear(); // needs the libraries
  }
  if (base && !state.nccl.owns(base))
    cu.cuMemFree(base);
  state.nccl.close();
  if (state.cublas.handle)
    state.cublas.cublasLtDestroy(state.cublas.handle);
  if (state.cudnn.handle)
    state.cudnn.cudnnDestroy(state.cudnn.handle);
  for (const Slot &slot : slots)
    for (CUevent event : {slot.copied, slot.computed, slot.done})
      if (event)
        cu.cuEventDestroy(event);
  for (CUevent event : {begin, end, callerBegin, callerEnd, batchEvent})
    if (event)
      cu.cuEventDestroy(event);
  for (CUevent event : writer.copied)
    if (event)
      cu.cuEventDestroy(event);
  for (const std::vector<CUevent> *events : {&stepEvents, &packEvents})
    for (CUevent event : *events)
      if (event)
        cu.cuEventDestroy(event);
  if (writer.memory)
    cu.cuMemFreeHost(writer.memory);
  for (CUstream stream : all)
    if (stream)
      cu.cuStreamDestroy(stream);
  for (CUmodule module : state.modules)
    if (module)
      cu.cuModuleUnload(module);
}
