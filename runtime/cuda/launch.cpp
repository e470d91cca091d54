//===- launch.cpp - starting kernels --------------------------------------===//
//
// A step's kernels are looked up by name once. Where the GPU can, it may be
// started while the one before still runs: all of ours wait for that one
// themselves (device::begin). Filters that another stream packs are read before
// that, and have to be there when a kernel starts: in a graph it has an edge of
// either kind.
//
//===----------------------------------------------------------------------===//

#include "mnistrt/cuda/launch.h"
#include "cuda/launch_recorder.h"
#include <algorithm>
#include <vector>

using namespace mn;
using namespace mn::cuda;

/// Whether a kernel may be started before the one before it has ended. Blocks
/// that could have a multiprocessor each would have to share some, for others
/// are still taken, unless they are spread. Filters are packed without waiting,
/// but not while the same ones may be read.
static bool mayOverlap(const State &state, StepPart part,
                       std::string_view kernel, const LaunchShape &shape,
                       bool isEven, std::string_view suffix) {
  if (!state.overlaps || state.last.kernel.empty())
    return false;
  if (suffix == filtersSuffix)
    return part == StepPart::packing || state.last.kernel != kernel;
  return isEven || !shape.alone ||
         shape.blocks > unsigned(state.device.multiprocessors);
}

/// What the next kernel of a graph that is captured waits for.
static CUresult awaited(State &state, std::vector<CUgraphNode> &nodes) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode *found = nullptr;
  const CUgraphEdgeData *edges = nullptr;
  size_t count = 0;
  const CUresult result = state.driver.cuStreamGetCaptureInfo(
      state.stream, &status, nullptr, nullptr, &found, &edges, &count);
  if (result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
    nodes.assign(found, found + count);
  return result;
}

/// Lets the next kernel be started before the last one of its stream has ended,
/// but not before what else it waits for. Only a graph tells the two apart.
static CUresult overlapLast(State &state) {
  std::vector<CUgraphNode> nodes;
  CUresult result = awaited(state, nodes);
  std::vector<CUgraphEdgeData> edges(nodes.size());
  const auto last = std::find(nodes.begin(), nodes.end(), state.last.node);
  if (result != CUDA_SUCCESS || last == nodes.end())
    return result;
  CUgraphEdgeData &edge = edges[size_t(last - nodes.begin())];
  edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return state.driver.cuStreamUpdateCaptureDependencies(
      state.stream, nodes.data(), edges.data(), nodes.size(),
      CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

/// The kernel that was enqueued is the last one.
static CUresult remember(State &state, const char *kernel) {
  std::vector<CUgraphNode> nodes;
  const CUresult result = state.overlaps ? awaited(state, nodes) : CUDA_SUCCESS;
  state.last = {kernel, nodes.empty() ? nullptr : nodes.front()};
  return result;
}

void *mn::stepMemory(Context &ctx, size_t bytes) {
  State &state = State::of(ctx);
  CUdeviceptr &memory = state.step(ctx).memory;
  if (memory == 0)
    if (const CUresult result = state.driver.cuMemAlloc(&memory, bytes);
        result != CUDA_SUCCESS)
      state.fail(result == CUDA_ERROR_OUT_OF_MEMORY ? Code::outOfMemory
                                                    : Code::noDevice,
                 "expected " + std::to_string(bytes) +
                     " bytes of free memory for packed filters, got none: " +
                     describe(state.driver, result));
  return reinterpret_cast<void *>(memory);
}

/// How the blocks of a kernel are spread.
static CUresult spread(const State &state, const State::Step &step,
                       const LaunchShape &shape, State::Kernel &kernel) {
  kernel.spread = {shape.shared, false};
  if (!state.spreads || !step.spreads || !shape.spread)
    return CUDA_SUCCESS;
  int declared = 0;
  const CUresult result = state.driver.cuFuncGetAttribute(
      &declared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.function);
  if (result == CUDA_SUCCESS)
    kernel.spread = spreadBlocks(state.device, shape, unsigned(declared));
  return result;
}

/// Lets a kernel have so many bytes of shared memory, and what others asked
/// for.
static CUresult allowShared(State &state, CUfunction function, unsigned bytes) {
  unsigned &most = state.sharedOf[function];
  if (bytes <= most)
    return CUDA_SUCCESS;
  const CUresult result = state.driver.cuFuncSetAttribute(
      function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(bytes));
  if (result == CUDA_SUCCESS)
    most = bytes;
  return result;
}

/// Looks a kernel up, once. False: what failed is in the state.
static bool find(State &state, const State::Step &step, const std::string &name,
                 const LaunchShape &shape, State::Kernel &kernel) {
  if (kernel.function)
    return true;
  CUfunction function = nullptr;
  CUresult result = CUDA_ERROR_NOT_FOUND;
  for (CUmodule module : state.modules)
    if (module && result == CUDA_ERROR_NOT_FOUND)
      result =
          state.driver.cuModuleGetFunction(&function, module, name.c_str());
  if (result != CUDA_SUCCESS) {
    state.fail(Code::wrongArch, "kernel '" + name +
                                    "' is not in the program's code: " +
                                    describe(state.driver, result));
    return false;
  }
  kernel.function = function;
  result = spread(state, step, shape, kernel);
  if (result == CUDA_SUCCESS)
    result = allowShared(state, function, kernel.spread.shared);
  if (result != CUDA_SUCCESS)
    state.fail(Code::noDevice, "kernel '" + name + "' cannot have " +
                                   std::to_string(kernel.spread.shared) +
                                   " bytes of shared memory: " +
                                   describe(state.driver, result));
  return result == CUDA_SUCCESS;
}

void mn::launch(Context &ctx, const char *first, LaunchShape shape,
                void **arguments, size_t count, const char *suffix) {
  State &state = State::of(ctx);
  const std::string kernel = std::string(first) + suffix;
  State::Step &step = state.step(ctx);
  State::Kernel &found = step.kernels[kernel];
  if (!find(state, step, kernel, shape, found))
    return;
  CUlaunchAttribute overlap = {};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = shape.blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = shape.threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = found.spread.shared;
  config.hStream = state.stream;
  config.attrs = &overlap;
  const bool overlaps =
      mayOverlap(state, ctx.part, first, shape, found.spread.isEven, suffix);
  const bool waits = state.last.waits;
  config.numAttrs = overlaps && !waits ? 1 : 0;
  BlockTimes *times = state.recorder ? state.recorder->add(state, ctx, first,
                                                           suffix, shape.blocks)
                                     : nullptr;
  std::vector<void *> all(arguments, arguments + count);
  if (state.timestamps)
    all.push_back(&times);
  CUresult result = overlaps && waits ? overlapLast(state) : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS)
    result = state.driver.cuLaunchKernelEx(&config, found.function, all.data(),
                                           nullptr);
  if (result == CUDA_SUCCESS)
    result = remember(state, first);
  if (result != CUDA_SUCCESS)
    return state.fail(Code::noDevice,
                      "kernel '" + kernel + "' cannot be started with " +
                          std::to_string(shape.blocks) + " blocks of " +
                          std::to_string(shape.threads) +
                          " threads: " + describe(state.driver, result));
}
