//===- on_device.cpp - inference on the caller's memory of a GPU ----------===//

#include "inference/on_device.h"
#include "api/buffers.h"
#include "inference/runner.h"

namespace mn {

namespace {

/// The rows of a batch in the caller's memory.
CallerRows partOf(const Plan &plan, const Tensor &tensor, const void *begin,
                  bool onHost, int64_t first, int64_t count) {
  const Rows rows(plan, tensor);
  const Part part(rows, first, count);
  return {static_cast<const char *>(begin) + part.offset, part.bytes,
          rows.batched ? rows.rowBytes() : 0, onHost};
}

struct DeviceInference {
  State &state;
  int64_t rows;
  int number;
  const Plan &plan;
  std::vector<const char *> inputs;
  std::vector<char *> outputs;
  std::vector<std::vector<char>> read; ///< by the host, which has checked it

  Status checkAddresses() const;
  Status readInputs();
  Status run();
};

Status DeviceInference::checkAddresses() const {
  const auto check = [&](const Tensor &tensor, const void *address) {
    const Part all(Rows(plan, tensor), 0, rows);
    return checkOnDevice(*state.executor, tensor, address, all.bytes);
  };
  for (int i = 0; i < plan.inputCount; ++i)
    MN_TRY(check(plan.inputs[i], inputs[i]));
  for (int i = 0; i < plan.outputCount; ++i)
    MN_TRY(check(plan.outputs[i], outputs[i]));
  return Status::success();
}

/// What no kernel can refuse.
Status DeviceInference::readInputs() {
  read.resize(inputs.size());
  for (int i = 0; i < plan.inputCount; ++i) {
    const Tensor &input = plan.inputs[i];
    const Part all(Rows(plan, input), 0, rows);
    if (!mustBeAdmitted(plan, i) || all.bytes == 0)
      continue;
    read[i].resize(all.bytes);
    MN_TRY(state.executor->readOnDevice(inputs[i], read[i].data(), all.bytes));
    MN_TRY(
        admitInput(plan, i, read[i].data(), all.bytes / bytesOf(input.type)));
  }
  return Status::success();
}

Status DeviceInference::run() {
  const int64_t batch = std::max<int64_t>(plan.batch, 1);
  for (int64_t first = 0; first < rows; first += batch) {
    const int64_t count = std::min(batch, rows - first);
    std::vector<CallerRows> from, to;
    for (int i = 0; i < plan.inputCount; ++i) {
      const bool onHost = !read[i].empty();
      from.push_back(partOf(plan, plan.inputs[i],
                            onHost ? read[i].data() : inputs[i], onHost, first,
                            count));
    }
    for (int i = 0; i < plan.outputCount; ++i)
      to.push_back(
          partOf(plan, plan.outputs[i], outputs[i], false, first, count));
    MN_TRY(state.executor->runOnDevice(number, from, to));
  }
  return Status::success();
}

} // namespace

Status inferOnDevice(State &state, int64_t rows, const mn_const_buffer *inputs,
                     int inputCount, const mn_buffer *outputs, int outputCount,
                     void *stream) {
  if (rows < 0)
    return usageError(text("expected 0 rows or more, got %lld",
                           static_cast<long long>(rows)));
  MN_TRY(checkNothingSubmitted(state));
  Executor &executor = *state.executor;
  int number;
  MN_TRY(Runner(mn_model, executor).choosePlan(rows, /*batch=*/0, number));
  const Plan &plan = mn_model.plans[number];
  DeviceInference inference = {state, rows, number, plan, {}, {}, {}};
  MN_TRY(orderBuffers(Wanted::inputs(plan), rows, inputs, inputCount,
                      inference.inputs));
  MN_TRY(orderBuffers(Wanted::outputs(plan), rows, outputs, outputCount,
                      inference.outputs));
  MN_TRY(inference.checkAddresses());
  MN_TRY(executor.prepare(number));
  MN_TRY(executor.beginAfter(stream));
  MN_TRY(inference.readInputs());
  MN_TRY(inference.run());
  return executor.endBefore(stream);
}

} // namespace mn
