//===- transfers.cpp - inputs and outputs of a plan -----------------------===//
//
// Where they are small, kernels before and after the steps copy them, from and
// to the host's memory, and what waits for them looks at words that the last of
// these kernels writes there: copy engines and events are several microseconds
// slower. Large ones are copied by two more streams, so that one slot is copied
// while the other computes.
//
//===----------------------------------------------------------------------===//

#include "core/clock.h"
#include "cuda/executor_state.h"
#include "mnistrt/cuda/kernels/transfer.cuh"
#include <chrono>
#include <cstring>

using namespace mn;
using namespace mn::cuda;

void *CudaExecutor::input(int plan, int number, int slot) {
  return plans[size_t(plan)].host[slot] +
         packedBytes(model.plans[plan].inputs, number);
}

const void *CudaExecutor::output(int plan, int number, int slot) {
  const Plan &p = model.plans[plan];
  return plans[size_t(plan)].host[slot] + packedBytes(p.inputs, p.inputCount) +
         packedBytes(p.outputs, number);
}

Status CudaExecutor::givePixels(int plan, int number, const Pixels &pixels) {
  PlanState &p = plans[size_t(plan)];
  if (p.prepared || model.plans[plan].inputs[number].type != Type::f32)
    return Status::error(Code::usage,
                         "expected pixels for an input of floats, before the "
                         "plan is prepared");
  p.pixels[size_t(number)] = pixels;
  return Status::success();
}

size_t CudaExecutor::givenBytes(int plan, int number) const {
  const size_t bytes = bytesOf(model.plans[plan].inputs[number]);
  return plans[size_t(plan)].pixels[size_t(number)] ? bytes / sizeof(float)
                                                    : bytes;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Status CudaExecutor::enqueueTransfer(const Transfer &transfer) {
  // Like a step, it looks up its kernel once.
  Context ctx;
  ctx.step = 0;
  ctx.runtime = &state;
  state.steps = &transferSteps;
  state.status = Status::success();
  launch(ctx, "mn_transfer", shape::transfer(transfer.bytes), transfer);
  return state.status;
}

Status CudaExecutor::copyInputs(int plan, CUdeviceptr from, bool fromHost,
                                int slot) {
  const Plan &p = model.plans[plan];
  state.last = {};
  for (int i = 0; i < p.inputCount; ++i) {
    const CUdeviceptr to = base + map.arena + p.inputs[i].offset;
    const CUdeviceptr staged = from + packedBytes(p.inputs, i);
    const size_t bytes = givenBytes(plan, i);
    const std::optional<Pixels> &pixels = plans[size_t(plan)].pixels[size_t(i)];
    if (bytes == 0)
      continue;
    if (pixels || (fromHost && !plans[size_t(plan)].staged)) {
      Transfer transfer;
      transfer.to = reinterpret_cast<void *>(to);
      transfer.from = fromHost ? input(plan, i, slot)
                               : reinterpret_cast<const void *>(staged);
      transfer.bytes = int64_t(bytes);
      transfer.isPixels = pixels.has_value();
      transfer.pixels = pixels.value_or(Pixels());
      MN_TRY(enqueueTransfer(transfer));
      continue;
    }
    MN_TRY(check(fromHost
                     ? cu.cuMemcpyHtoDAsync(to, input(plan, i, slot), bytes,
                                            state.stream)
                     : cu.cuMemcpyDtoDAsync(to, staged, bytes, state.stream),
                 "copying an input"));
    state.last = {};
  }
  return Status::success();
}

std::vector<Transfer> CudaExecutor::outputTransfers(int plan, int slot) {
  const Plan &p = model.plans[plan];
  std::vector<Transfer> transfers;
  for (int i = 0; i < p.outputCount; ++i)
    if (const size_t bytes = bytesOf(p.outputs[i]); bytes != 0) {
      Transfer transfer;
      transfer.to = const_cast<void *>(output(plan, i, slot));
      transfer.from = at<void>(map.arena + p.outputs[i].offset);
      transfer.bytes = int64_t(bytes);
      transfers.push_back(transfer);
    }
  // The others have ended when the last begins to copy.
  if (!transfers.empty())
    transfers.back().done = reinterpret_cast<uint32_t *>(
        plans[size_t(plan)].host[slot] + packedBytes(p.inputs, p.inputCount) +
        packedBytes(p.outputs, p.outputCount));
  return transfers;
}

Status CudaExecutor::stageOutputs(int plan, CUdeviceptr to) {
  const Plan &p = model.plans[plan];
  for (int i = 0; i < p.outputCount; ++i) {
    const CUdeviceptr from = base + map.arena + p.outputs[i].offset;
    if (const size_t bytes = bytesOf(p.outputs[i]); bytes != 0)
      MN_TRY(check(cu.cuMemcpyDtoDAsync(to + packedBytes(p.outputs, i), from,
                                        bytes, state.stream),
                   "copying an output"));
  }
  state.last = {};
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Submissions
//===----------------------------------------------------------------------===//

Status CudaExecutor::enqueueDirect(int plan, int slot) {
  MN_TRY(copyInputs(plan, 0, true, slot));
  MN_TRY(enqueueSteps(plan));
  for (const Transfer &transfer : outputTransfers(plan, slot))
    MN_TRY(enqueueTransfer(transfer));
  return Status::success();
}

Status CudaExecutor::submitDirect(int plan, int slot) {
  const std::vector<Transfer> outputs = outputTransfers(plan, slot);
  Slot &s = slots[slot];
  if (!outputs.empty()) {
    s.words = outputs.back().done;
    s.wordCount = shape::transfer(outputs.back().bytes).blocks;
    std::memset(s.words, 0, s.wordCount * sizeof(uint32_t));
  }
  if (options.graph)
    MN_TRY(launchGraph(plans[size_t(plan)].direct[slot]));
  else
    MN_TRY(enqueueDirect(plan, slot));
  return check(cu.cuEventRecord(s.done, state.stream), "recording an event");
}

Status CudaExecutor::submitStaged(int plan, int slot) {
  const Plan &p = model.plans[plan];
  const Slot &s = slots[slot];
  const size_t in = packedBytes(p.inputs, p.inputCount);
  const size_t out = packedBytes(p.outputs, p.outputCount);
  const CUdeviceptr staging = base + map.staging[slot];
  char *host = plans[size_t(plan)].host[slot];
  for (int i = 0; i < p.inputCount; ++i)
    if (const size_t bytes = givenBytes(plan, i); bytes != 0)
      MN_TRY(check(cu.cuMemcpyHtoDAsync(staging + packedBytes(p.inputs, i),
                                        input(plan, i, slot), bytes, copyIn),
                   "copying inputs"));
  MN_TRY(check(cu.cuEventRecord(s.copied, copyIn), "recording an event"));
  MN_TRY(check(cu.cuStreamWaitEvent(state.stream, s.copied, 0),
               "waiting for inputs"));
  MN_TRY(copyInputs(plan, staging, false, slot));
  MN_TRY(enqueuePlan(plan));
  MN_TRY(stageOutputs(plan, staging + in));
  MN_TRY(
      check(cu.cuEventRecord(s.computed, state.stream), "recording an event"));
  MN_TRY(check(cu.cuStreamWaitEvent(copyOut, s.computed, 0),
               "waiting for outputs"));
  if (out != 0)
    MN_TRY(check(cu.cuMemcpyDtoHAsync(host + in, staging + in, out, copyOut),
                 "copying outputs"));
  return check(cu.cuEventRecord(s.done, copyOut), "recording an event");
}

Status CudaExecutor::submit(int plan, int slot) {
  MN_TRY(makeCurrent());
  MN_TRY(prepare(plan));
  slots[slot].wordCount = 0;
  return plans[size_t(plan)].staged ? submitStaged(plan, slot)
                                    : submitDirect(plan, slot);
}

/// Whether all blocks of the last copy have written their word, within the time
/// that a thread had better not sleep.
static bool seesWords(const uint32_t *words, unsigned count) {
  constexpr auto patience = std::chrono::microseconds(200);
  const auto begin = Clock::now();
  unsigned seen = 0;
  while (true) {
    while (seen < count && __atomic_load_n(words + seen, __ATOMIC_ACQUIRE) != 0)
      ++seen;
    if (seen == count)
      return true;
    if (Clock::now() - begin > patience)
      return false;
  }
}

Status CudaExecutor::wait(int slot) {
  const Slot &s = slots[slot];
  if (s.wordCount != 0 && seesWords(s.words, s.wordCount))
    return Status::success();
  // Long runs, and what fails.
  return waitFor(s.done, "running a plan");
}
