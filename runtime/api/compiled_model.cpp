//===- compiled_model.cpp - what mnist.h calls, over an executor ----------===//
//
// Only checks and translates arguments; no exception escapes.
//
//===----------------------------------------------------------------------===//

#include "api/buffers.h"
#include "inference/runner.h"

namespace mn {

namespace {

static_assert(int(MN_NO_DEVICE) == int(Code::noDevice) &&
              int(MN_NUMERIC) == int(Code::numeric));
static_assert(int(MN_F32) == int(Type::f32) && int(MN_I64) == int(Type::i64) &&
              int(MN_U8) == int(Type::u8));

Status checkNumber(const char *what, int found, int count) {
  return found >= 0 && found < count
             ? Status::success()
             : usageError(text("expected %s from 0 to %d, got %d", what,
                               count - 1, found));
}

Status checkPlan(const State &state, int plan) {
  return checkNumber("a plan", plan, static_cast<int>(state.plans.size()));
}

Status checkSlot(int slot) { return checkNumber("a slot", slot, 2); }

/// The model's own number of a plan.
int numberOf(const State &state, int plan) {
  return state.plans[static_cast<size_t>(plan)];
}

int countOf(const Plan &plan, Side side) {
  return side == Side::input ? plan.inputCount : plan.outputCount;
}

const Tensor *tensorsOf(const Plan &plan, Side side) {
  return side == Side::input ? plan.inputs : plan.outputs;
}

Status checkTensor(const State &state, Side side, int plan, int number) {
  MN_TRY(checkPlan(state, plan));
  return checkNumber(side == Side::input ? "an input" : "an output", number,
                     countOf(mn_model.plans[numberOf(state, plan)], side));
}

//===----------------------------------------------------------------------===//
// Opening and asking
//===----------------------------------------------------------------------===//

Status openState(const mn_options &options, void *&opened) {
  const bool onCpu = std::strcmp(mn_model.target, "cpu") == 0;
  if (onCpu && options.device != 0)
    return usageError(
        text("expected device 0 for a model compiled for a CPU, got "
             "%d",
             options.device));
  if (!onCpu && options.threads != 0)
    return usageError(
        text("expected threads 0 for a model compiled for a GPU, got "
             "%d",
             options.threads));
  if (options.threads > 1024)
    return usageError(
        text("expected threads of at most 1024, got %d", options.threads));
  auto state = std::make_unique<State>();
  ExecutorOptions with;
  with.device = options.device;
  with.graph = !options.no_graph;
  with.threads = options.threads;
  MN_TRY(Executor::open(mn_model, with, state->executor));
  state->device = state->executor->deviceName();
  for (int i = 0; i < mn_model.planCount; ++i)
    if (isInference(mn_model.plans[i]))
      state->plans.push_back(i);
  opened = state.release();
  return Status::success();
}

mn_status open(const mn_options &options, void *&state, Message &message) {
  return guarded(message, [&] { return openState(options, state); });
}

void close(void *state) { delete &of(state); }

int planCount(void *state) { return static_cast<int>(of(state).plans.size()); }

int tensorCount(void *state, Side side) {
  return of(state).plans.empty()
             ? 0
             : countOf(mn_model.plans[numberOf(of(state), 0)], side);
}

const char *modelName(void *) { return mn_model.name; }

const char *deviceName(void *state) { return of(state).device.c_str(); }

size_t deviceBytes(void *state) { return of(state).executor->deviceBytes(); }

mn_status planBatch(void *state, int plan, int64_t &batch, Message &message) {
  return guarded(message, [&] {
    MN_TRY(checkPlan(of(state), plan));
    batch = mn_model.plans[numberOf(of(state), plan)].batch;
    return Status::success();
  });
}

mn_status describe(void *state, Side side, int plan, int number, mn_tensor &to,
                   Message &message) {
  return guarded(message, [&] {
    MN_TRY(checkTensor(of(state), side, plan, number));
    const Plan &tables = mn_model.plans[numberOf(of(state), plan)];
    to = mn::describe(tables, tensorsOf(tables, side)[number]);
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// Inference of any number of rows
//===----------------------------------------------------------------------===//

/// One plan's runs over all rows.
Status runRows(State &state, int number, int64_t rows,
               const std::vector<const char *> &inputs,
               const std::vector<char *> &outputs) {
  Runner runner(mn_model, *state.executor);
  const Plan &plan = mn_model.plans[number];
  const auto fill = [&](int64_t first, int64_t count, int slot) {
    for (int i = 0; i < plan.inputCount; ++i) {
      const Rows input(plan, plan.inputs[i]);
      const Part part(input, first, count);
      char *to = static_cast<char *>(state.executor->input(number, i, slot));
      std::memcpy(to, inputs[i] + part.offset, part.bytes);
      // The rest of the batch repeats the last row: no old NaN remains.
      for (int64_t row = count; input.batched && row < plan.batch; ++row)
        std::memcpy(to + static_cast<size_t>(row) * input.rowBytes(),
                    to + part.bytes - input.rowBytes(), input.rowBytes());
    }
    return Status::success();
  };
  const auto take = [&](int64_t first, int64_t count, int slot) {
    for (int i = 0; i < plan.outputCount; ++i) {
      const Part part(Rows(plan, plan.outputs[i]), first, count);
      std::memcpy(outputs[i] + part.offset,
                  state.executor->output(number, i, slot), part.bytes);
    }
    return Status::success();
  };
  return runner.run(number, rows, fill, take);
}

mn_status infer(void *session, int64_t rows, const mn_const_buffer *inputs,
                int inputCount, const mn_buffer *outputs, int outputCount,
                Message &message) {
  return guarded(message, [&] {
    State &state = of(session);
    if (rows < 0)
      return usageError(text("expected 0 rows or more, got %lld",
                             static_cast<long long>(rows)));
    MN_TRY(checkNothingSubmitted(state));
    int number;
    MN_TRY(Runner(mn_model, *state.executor)
               .choosePlan(rows, /*batch=*/0, number));
    const Plan &plan = mn_model.plans[number];
    std::vector<const char *> from;
    std::vector<char *> to;
    MN_TRY(orderBuffers(Wanted::inputs(plan), rows, inputs, inputCount, from));
    MN_TRY(orderBuffers(Wanted::outputs(plan), rows, outputs, outputCount, to));
    return runRows(state, number, rows, from, to);
  });
}

mn_status inferOnDevice(void *session, int64_t rows,
                        const mn_const_buffer *inputs, int inputCount,
                        const mn_buffer *outputs, int outputCount, void *stream,
                        Message &message) {
  return guarded(message, [&] {
    return mn::inferOnDevice(of(session), rows, inputs, inputCount, outputs,
                             outputCount, stream);
  });
}

//===----------------------------------------------------------------------===//
// Without copies
//===----------------------------------------------------------------------===//

mn_status data(void *session, Side side, int plan, int number, int slot,
               const void *&found, Message &message) {
  return guarded(message, [&] {
    State &state = of(session);
    MN_TRY(checkSlot(slot));
    MN_TRY(checkTensor(state, side, plan, number));
    const int own = numberOf(state, plan);
    MN_TRY(state.executor->prepare(own));
    found = side == Side::input ? state.executor->input(own, number, slot)
                                : state.executor->output(own, number, slot);
    return Status::success();
  });
}

mn_status submit(void *session, int plan, int slot, Message &message) {
  return guarded(message, [&] {
    State &state = of(session);
    MN_TRY(checkPlan(state, plan));
    MN_TRY(checkSlot(slot));
    if (state.submitted[slot] >= 0)
      return usageError(text("expected mn_wait for slot %d first", slot));
    const int own = numberOf(state, plan);
    MN_TRY(admitInputs(*state.executor, mn_model.plans[own], own, slot));
    MN_TRY(state.executor->submit(own, slot));
    state.submitted[slot] = plan;
    return Status::success();
  });
}

mn_status wait(void *session, int slot, Message &message) {
  return guarded(message, [&] {
    State &state = of(session);
    MN_TRY(checkSlot(slot));
    if (state.submitted[slot] < 0)
      return usageError(text("expected mn_submit for slot %d first", slot));
    state.submitted[slot] = -1; // Also where it failed.
    return state.executor->wait(slot);
  });
}

} // namespace

const mn_compiled_model *compiledModel() {
  static const mn_compiled_model model = {
      MN_VERSION_MAJOR * 1000 + MN_VERSION_MINOR,
      open,
      close,
      planCount,
      tensorCount,
      modelName,
      deviceName,
      deviceBytes,
      planBatch,
      describe,
      infer,
      data,
      submit,
      wait,
      inferOnDevice,
      mn_training_table ? mn_training_table() : nullptr,
  };
  return &model;
}

} // namespace mn
