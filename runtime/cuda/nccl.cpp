//===- nccl.cpp - sums over ranks on NCCL ---------------------------------===//
//
// A sum is enqueued as a kernel is, and captured in graphs as a kernel is. What
// waits for the device looks meanwhile whether all ranks are there: a kernel of
// NCCL waits for ever for one that is not.
//
//===----------------------------------------------------------------------===//

#include "core/clock.h"
#include "cuda/executor_state.h"
#include "cuda/spread.h"
#include "mnistrt/cuda/libraries.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace mn;
using namespace mn::cuda;

namespace {

/// What a stream has come to while a graph is captured; empty otherwise.
struct Captured {
  explicit Captured(const State &state) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = nullptr;
    const CUgraphEdgeData *edges = nullptr;
    size_t count = 0;
    result = state.driver.cuStreamGetCaptureInfo(
        state.stream, &status, nullptr, &graph, &nodes, &edges, &count);
    if (result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
      last.assign(nodes, nodes + count);
  }

  CUresult result = CUDA_SUCCESS;
  CUgraph graph = nullptr;
  std::vector<CUgraphNode> last;
};

} // namespace

/// Lets a node begin when all that it follows has ended.
static CUresult followEnds(const Driver &cu, CUgraph graph, CUgraphNode node) {
  size_t count = 0;
  CUresult result =
      cu.cuGraphNodeGetDependencies(node, nullptr, nullptr, &count);
  std::vector<CUgraphNode> followed(count);
  std::vector<CUgraphEdgeData> edges(count);
  if (result == CUDA_SUCCESS && count != 0)
    result = cu.cuGraphNodeGetDependencies(node, followed.data(), edges.data(),
                                           &count);
  for (size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    if (edges[i].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
      continue;
    result =
        cu.cuGraphRemoveDependencies(graph, &followed[i], &node, &edges[i], 1);
    const CUgraphEdgeData whole = {};
    if (result == CUDA_SUCCESS)
      result = cu.cuGraphAddDependencies(graph, &followed[i], &node, &whole, 1);
  }
  return result;
}

/// NCCL lets its kernels on shared memory begin before the last kernel of the
/// stream has ended. From 2.28 to 2.30.6 they do not wait for it then, and add
/// up what is not there yet (NVIDIA/nccl, release notes of 2.30.7). So the
/// kernel of a sum, enqueued since `before`, follows ends.
static CUresult followEnds(const State &state, const Captured &before) {
  const Captured now(state);
  CUresult result = now.result;
  for (CUgraphNode node : now.last)
    if (result == CUDA_SUCCESS &&
        std::find(before.last.begin(), before.last.end(), node) ==
            before.last.end())
      result = followEnds(state.driver, now.graph, node);
  return result;
}

template <typename T>
static void addUp(Context &ctx, T *x, int64_t count, int type) {
  State &state = State::of(ctx);
  NcclLibrary &nccl = state.nccl;
  state.last = {};
  if (!nccl.communicator)
    return;
  const Captured before(state);
  if (before.last.empty())
    nccl.sums.push_back({x, size_t(count) * sizeof(T)});
  const Status status =
      nccl.check(nccl.ncclAllReduce(x, x, size_t(count), type, NcclLibrary::sum,
                                    nccl.communicator, state.stream),
                 "adding up over ranks");
  if (!status.ok())
    return state.fail(status.code, status.message);
  const CUresult result = followEnds(state, before);
  if (result != CUDA_SUCCESS)
    state.fail(Code::noDevice, std::string("adding up over ranks: ") +
                                   describe(state.driver, result));
}

void nccl::allReduce(Context &ctx, float *x, int64_t count) {
  addUp(ctx, x, count, NcclLibrary::floats);
}

void nccl::allReduce(Context &ctx, double *x, int64_t count) {
  addUp(ctx, x, count, NcclLibrary::doubles);
}

/// The sums of a graph have one order, and graphs run one after the other. NCCL
/// need not see to that, for which it adds a wait and an event to each sum: on
/// two H200 a step of SimpleCNN with 64 rows takes 10 us less without, one of
/// Net 29. The user may choose otherwise.
void mn::setUpRanks() {
  ::setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", /*overwrite=*/0);
}

/// Plans that were prepared before are prepared again: their graphs have no
/// sums, and the first sum of each size makes connections.
Status CudaExecutor::join() {
  Ranks *ranks = options.ranks;
  if (!ranks || !ranks->several())
    return Status::success();
  MN_TRY(makeCurrent());
  MN_TRY(ranks->agree(loadNccl(state.nccl)));
  MN_TRY(ranks->agree(connect(state.nccl, *ranks)));
  for (int i = 0; i < model.planCount; ++i) {
    PlanState &plan = plans[size_t(i)];
    const Plan &tables = model.plans[i];
    bool adds = false;
    for (int step = 0; step < tables.stepCount; ++step)
      adds |= isCollective(tables.steps[step]);
    if (!plan.prepared || !adds)
      continue;
    for (CUgraphExec *graph : {&plan.graph, &plan.direct[0], &plan.direct[1]})
      if (*graph) {
        cu.cuGraphExecDestroy(*graph);
        *graph = nullptr;
      }
    plan.prepared = false;
    MN_TRY(prepare(i));
  }
  return Status::success();
}

Status CudaExecutor::synchronize(const char *what) {
  if (!state.nccl.communicator)
    return check(cu.cuStreamSynchronize(state.stream), what);
  return waitUntil([&] { return cu.cuStreamQuery(state.stream); }, what);
}

Status CudaExecutor::waitFor(CUevent event, const char *what) {
  if (!state.nccl.communicator)
    return check(cu.cuEventSynchronize(event), what);
  return waitUntil([&] { return cu.cuEventQuery(event); }, what);
}

/// Looks also whether the other ranks are there.
Status CudaExecutor::waitUntil(const std::function<CUresult()> &query,
                               const char *what) {
  const NcclLibrary &nccl = state.nccl;
  const auto begin = Clock::now();
  for (;;) {
    const CUresult result = query();
    if (result != CUDA_ERROR_NOT_READY)
      return check(result, what);
    const double waited =
        std::chrono::duration<double>(Clock::now() - begin).count();
    int error = 0;
    nccl.ncclCommGetAsyncError(nccl.communicator, &error);
    Status status = nccl.check(error, what);
    if (status.ok())
      status = options.ranks->watch(waited);
    if (!status.ok()) {
      state.nccl.abort(status);
      return status;
    }
    if (waited > 0.001) // Short waits are for small networks.
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}
