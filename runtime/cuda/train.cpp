//===- train.cpp - batches and parameters on a GPU ------------------------===//
//
// A data set is on the device as the file has it. A kernel copies the next
// batch to where a plan reads it, the plan follows, and sixteen of such pairs
// are one graph: the host only says how many. There a batch is copied while the
// plan runs on the one before, which is in another copy of the plan's inputs.
//
//===----------------------------------------------------------------------===//

#include "core/parameter_order.h"
#include "cuda/executor_state.h"
#include "cuda/launch_recorder.h"
#include "mnistrt/cuda/kernels/batch.cuh"
#include <algorithm>
#include <cstring>

using namespace mn;
using namespace mn::cuda;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Status CudaExecutor::initializeParameters() {
  if (model.parameterBytes == 0)
    return Status::success();
  const CUdeviceptr block = base + map.arena;
  MN_TRY(check(cu.cuMemsetD8Async(block, 0, model.parameterBytes, state.stream),
               "clearing the parameters"));
  if (const std::vector<char> initial = initialInOrder(model); !initial.empty())
    MN_TRY(check(cu.cuMemcpyHtoDAsync(block, initial.data(), initial.size(),
                                      state.stream),
                 "uploading the parameters"));
  return makeWriter();
}

Status CudaExecutor::makeWriter() {
  void *memory = nullptr;
  MN_TRY(check(cu.cuMemHostAlloc(&memory, Writer::chunks * Writer::bytes, 0),
               "allocating pinned host memory"));
  writer.memory = static_cast<char *>(memory);
  for (CUevent &event : writer.copied)
    MN_TRY(check(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING),
                 "making an event"));
  return Status::success();
}

Status CudaExecutor::writeParameters(size_t offset, const void *from,
                                     size_t bytes) {
  MN_TRY(checkParameterRange(model, offset, bytes));
  return writeInOrder(model, offset, from, bytes,
                      [&](size_t at, const void *some, size_t count) {
                        return writeArena(at, some, count);
                      });
}

Status CudaExecutor::writeArena(size_t offset, const void *from, size_t bytes) {
  MN_TRY(makeCurrent());
  if (!writer.memory)
    MN_TRY(makeWriter());
  const char *next = static_cast<const char *>(from);
  while (bytes != 0) {
    // Through pinned memory, so that the host does not wait for the copy.
    const size_t part = std::min(bytes, Writer::bytes);
    const CUevent copied = writer.copied[writer.next];
    char *chunk = writer.memory + writer.next * Writer::bytes;
    writer.next = (writer.next + 1) % Writer::chunks;
    MN_TRY(waitFor(copied, "writing parameters"));
    std::memcpy(chunk, next, part);
    MN_TRY(check(cu.cuMemcpyHtoDAsync(base + map.arena + offset, chunk, part,
                                      state.stream),
                 "writing parameters"));
    MN_TRY(check(cu.cuEventRecord(copied, state.stream), "recording an event"));
    next += part, offset += part, bytes -= part;
  }
  return Status::success();
}

Status CudaExecutor::readParameters(size_t offset, void *to, size_t bytes) {
  MN_TRY(checkParameterRange(model, offset, bytes));
  return readInOrder(model, offset, to, bytes,
                     [&](size_t at, void *some, size_t count) {
                       return read(at, some, count);
                     });
}

Status CudaExecutor::finish() {
  MN_TRY(makeCurrent());
  return synchronize("running plans");
}

//===----------------------------------------------------------------------===//
// Data sets
//===----------------------------------------------------------------------===//

void CudaExecutor::freeSet(int set) {
  // Their kernels have the data's address.
  for (PlanState &plan : plans)
    for (BatchGraphs &graphs : plan.batches[set])
      for (CUgraphExec *graph : {&graphs.many, &graphs.one})
        if (*graph) {
          cu.cuGraphExecDestroy(*graph);
          *graph = nullptr;
        }
  sets[set] = nullptr;
}

Status CudaExecutor::load(int set, const Samples &samples) {
  MN_TRY(checkSamples(set, samples));
  MN_TRY(finish());
  freeSet(set); // first, so that there is room
  auto loaded = std::make_shared<DeviceSet>(shared);
  MN_TRY(loaded->upload(samples, state.stream));
  sets[set] = std::move(loaded);
  return Status::success();
}

size_t CudaExecutor::deviceBytes() const {
  size_t bytes = mn::deviceBytes(model);
  for (const std::shared_ptr<DeviceSet> &set : sets)
    bytes += set ? set->bytes : 0;
  return bytes;
}

Status CudaExecutor::freeBytes(int64_t &bytes) {
  size_t available = 0, total = 0;
  MN_TRY(makeCurrent());
  MN_TRY(check(cu.cuMemGetInfo(&available, &total), "asking for free memory"));
  bytes = int64_t(available);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Batch CudaExecutor::batchFor(const BatchPlan &plan, const Samples &samples,
                             bool shuffle, const Moved &inputs) const {
  Context ctx;
  ctx.arena = at<char>(map.arena);
  ctx.inputs = inputs;
  Batch batch = batchOf(samples, shuffle,
                        options.ranks ? options.ranks->place() : RankPlace());
  plan.place(ctx, batch);
  return batch;
}

Status CudaExecutor::enqueueBatch(const Batch &batch) {
  // Like a step, it looks up its kernel once.
  Context ctx;
  ctx.step = 0;
  ctx.runtime = &state;
  state.steps = &batchSteps;
  state.status = Status::success();
  launch(ctx, "mn_next_batch",
         shape::nextBatch(batch.rows, batch.inputElements), batch);
  return state.status;
}

Status CudaExecutor::enqueueBatches(int plan, int set, bool shuffle,
                                    int count) {
  BatchPlan found;
  MN_TRY(findBatchPlan(model, plan, found));
  const bool prefetches = model.plans[plan].prefetches && count > 1;
  const auto inputsOf = [&](int i) {
    return prefetches && i % 2 != 0 ? otherInputs(model.plans[plan], map)
                                    : Moved();
  };
  const auto copy = [&](int i) {
    Batch batch = batchFor(found, sets[set]->samples, shuffle, inputsOf(i));
    // The first one says from where on the others count.
    int64_t *number = at<int64_t>(map.number);
    if (prefetches && i == 0)
      batch.toNumber = number;
    else if (prefetches)
      batch.number = number, batch.ahead = i;
    return enqueueBatch(batch);
  };
  state.last = {};
  for (int i = 0; i < count; ++i) {
    if (state.recorder)
      state.recorder->turn = i;
    if (i == 0 || !prefetches)
      MN_TRY(copy(i));
    Turn turn;
    turn.inputs = inputsOf(i);
    if (prefetches && i + 1 < count)
      turn.copyNext = [&, i] { return copy(i + 1); };
    MN_TRY(enqueueSteps(plan, turn));
  }
  return Status::success();
}

/// A plan, to run on batches of a set.
Status CudaExecutor::prepareBatches(int plan, int set, BatchPlan &found) {
  MN_TRY(findBatchPlan(model, plan, found));
  if ((set < 0 || set >= dataSets) || !sets[set])
    return Status::error(Code::usage, "expected data set " +
                                          std::to_string(set) +
                                          " to be loaded, got none");
  MN_TRY(checkRows(found, sets[set]->samples));
  MN_TRY(makeCurrent());
  return prepare(plan);
}

Status CudaExecutor::runBatches(int plan, int set, bool shuffle,
                                int64_t count) {
  BatchPlan found;
  MN_TRY(prepareBatches(plan, set, found));
  if (!options.graph) {
    // A launch may wait for others, all of them for longer than is allowed.
    for (int64_t i = 0; i < count; ++i) {
      const RankWatch::Call call(state.nccl.watch.get());
      MN_TRY(enqueueBatches(plan, set, shuffle, 1));
    }
    return Status::success();
  }
  BatchGraphs &graphs = plans[size_t(plan)].batches[set][shuffle];
  const auto run = [&](CUgraphExec &graph, int batches) {
    if (!graph)
      MN_TRY(capture(
          [&] { return enqueueBatches(plan, set, shuffle, batches); }, graph));
    return launchGraph(graph);
  };
  for (; count >= batchesPerGraph; count -= batchesPerGraph)
    MN_TRY(run(graphs.many, batchesPerGraph));
  for (; count > 0; --count)
    MN_TRY(run(graphs.one, 1));
  return Status::success();
}
