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
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace mn;
using namespace mn::cuda;

namespace {

void addUp(Context &ctx, void *x, int64_t count, int type) {
  State &state = State::of(ctx);
  const NcclLibrary &nccl = state.nccl;
  state.last = {};
  if (!nccl.communicator)
    return;
  const Status status =
      nccl.check(nccl.ncclAllReduce(x, x, size_t(count), type, NcclLibrary::sum,
                                    nccl.communicator, state.stream),
                 "adding up over ranks");
  if (!status.ok())
    state.fail(status.code, status.message);
}

} // namespace

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
      nccl.ncclCommAbort(nccl.communicator);
      state.nccl.communicator = nullptr;
      return status;
    }
    if (waited > 0.001) // Short waits are for small networks.
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}
