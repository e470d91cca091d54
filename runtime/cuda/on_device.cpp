//===- on_device.cpp - a caller's memory and streams ----------------------===//
//
// Rows that a caller has on the GPU are copied there. Two events put the plan
// between what the caller's stream has and what it gets next: the host does not
// wait.
//
//===----------------------------------------------------------------------===//

#include "cuda/executor_state.h"
#include <algorithm>

using namespace mn;
using namespace mn::cuda;

static CUdeviceptr addressOf(const void *memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

/// Its first byte and its last one; how memory in between was allocated is the
/// caller's matter.
Status CudaExecutor::checkOnDevice(const void *address, size_t bytes) {
  if (bytes == 0)
    return Status::success();
  MN_TRY(makeCurrent());
  for (const size_t offset : {size_t(0), bytes - 1}) {
    unsigned type = 0;
    int device = -1;
    const CUdeviceptr at = addressOf(address) + offset;
    if (cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) !=
            CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE)
      return usageError("expected " + std::to_string(bytes) +
                        " bytes of memory on the GPU, got " +
                        (offset ? "less" : "an address elsewhere"));
    MN_TRY(check(cu.cuPointerGetAttribute(
                     &device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at),
                 "asking where memory is"));
    if (device != shared->device.number)
      return usageError("expected memory on GPU " +
                        std::to_string(shared->device.number) +
                        ", the session's, got GPU " + std::to_string(device));
  }
  return Status::success();
}

Status CudaExecutor::beginAfter(void *stream) {
  MN_TRY(makeCurrent());
  const auto caller = static_cast<CUstream>(stream);
  CUstreamCaptureStatus captured = CU_STREAM_CAPTURE_STATUS_NONE;
  if (cu.cuStreamIsCapturing(caller, &captured) != CUDA_SUCCESS ||
      captured != CU_STREAM_CAPTURE_STATUS_NONE)
    return usageError("expected a stream that no graph is captured from, got "
                      "another");
  const CUresult recorded = cu.cuEventRecord(callerBegin, caller);
  if (recorded == CUDA_ERROR_INVALID_HANDLE ||
      recorded == CUDA_ERROR_INVALID_CONTEXT)
    return usageError("expected a stream of the session's GPU, got another");
  MN_TRY(check(recorded, "recording an event"));
  return check(cu.cuStreamWaitEvent(state.stream, callerBegin, 0),
               "waiting for a stream");
}

Status CudaExecutor::endBefore(void *stream) {
  MN_TRY(
      check(cu.cuEventRecord(callerEnd, state.stream), "recording an event"));
  return check(
      cu.cuStreamWaitEvent(static_cast<CUstream>(stream), callerEnd, 0),
      "making a stream wait");
}

Status CudaExecutor::readOnDevice(const void *from, void *to, size_t bytes) {
  MN_TRY(makeCurrent());
  return copyOutOf(addressOf(from), to, bytes, "reading an input");
}

Status CudaExecutor::copyRows(const Tensor &input, const CallerRows &rows) {
  const CUdeviceptr to = base + map.arena + input.offset;
  const size_t all = bytesOf(input);
  const auto copy = [&](CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return check(cu.cuMemcpyDtoDAsync(to, from, bytes, state.stream),
                 "copying an input");
  };
  if (rows.onHost)
    MN_TRY(writeArena(input.offset, rows.address, rows.bytes));
  else if (rows.bytes != 0)
    MN_TRY(copy(to, addressOf(rows.address), rows.bytes));
  size_t filled = rows.bytes;
  if (filled < all && rows.rowBytes == 0)
    return check(cu.cuMemsetD8Async(to + filled, 0, all - filled, state.stream),
                 "clearing an input");
  // Twice as many copies of the last row each time.
  const size_t last = rows.bytes - rows.rowBytes;
  while (filled < all) {
    const size_t part = std::min(filled - last, all - filled);
    MN_TRY(copy(to + filled, to + last, part));
    filled += part;
  }
  return Status::success();
}

Status CudaExecutor::runOnDevice(int plan,
                                 const std::vector<CallerRows> &inputs,
                                 const std::vector<CallerRows> &outputs) {
  const Plan &tables = model.plans[plan];
  MN_TRY(makeCurrent());
  MN_TRY(prepare(plan));
  for (size_t i = 0; i < inputs.size(); ++i)
    MN_TRY(copyRows(tables.inputs[i], inputs[i]));
  MN_TRY(enqueuePlan(plan));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].bytes != 0)
      MN_TRY(check(
          cu.cuMemcpyDtoDAsync(addressOf(outputs[i].address),
                               base + map.arena + tables.outputs[i].offset,
                               outputs[i].bytes, state.stream),
          "copying an output"));
  state.last = {};
  return Status::success();
}
