//===- compiled_model.cpp - what mnist.h calls, over an executor ----------===//
//
// Only checks and translates arguments; no exception escapes.
//
//===----------------------------------------------------------------------===//

#include "api/compiled_model.h"
#include "inference/runner.h"
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace mn {

namespace {

static_assert(int(MN_NO_DEVICE) == int(Code::noDevice) &&
              int(MN_NUMERIC) == int(Code::numeric));
static_assert(int(MN_F32) == int(Type::f32) && int(MN_I64) == int(Type::i64) &&
              int(MN_U8) == int(Type::u8));

struct State {
  std::unique_ptr<Executor> executor;
  std::vector<int> plans; ///< those that infer, in the model's order
  std::string device;
  int submitted[2] = {-1, -1}; ///< the plan under way in a slot
};

State &of(void *state) { return *static_cast<State *>(state); }

mn_status keep(Message &message, const Status &status) {
  if (!status.ok())
    std::snprintf(message.text, sizeof(message.text), "%s",
                  status.message.c_str());
  return static_cast<mn_status>(status.code);
}

/// Calls `body`, which gives a Status.
template <typename Body>
mn_status guarded(Message &message, const Body &body) noexcept {
  const auto say = [&](mn_status status, const char *text) {
    std::snprintf(message.text, sizeof(message.text), "%s", text);
    return status;
  };
  try {
    return keep(message, body());
  } catch (const std::bad_alloc &) {
    return say(MN_OUT_OF_MEMORY, "out of memory");
  } catch (const std::length_error &) {
    return say(MN_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &exception) {
    return say(MN_BAD_DATA, exception.what());
  } catch (...) {
    return say(MN_BAD_DATA, "unknown failure");
  }
}

Status usage(std::string message) {
  return Status::error(Code::usage, std::move(message));
}

Status checkNumber(const char *what, int found, int count) {
  return found >= 0 && found < count
             ? Status::success()
             : usage(text("expected %s from 0 to %d, got %d", what, count - 1,
                          found));
}

Status checkPlan(const State &state, int plan) {
  return checkNumber("a plan", plan, static_cast<int>(state.plans.size()));
}

Status checkSlot(int slot) { return checkNumber("a slot", slot, 2); }

Status checkNothingSubmitted(const State &state) {
  for (int slot = 0; slot < 2; ++slot)
    if (state.submitted[slot] >= 0)
      return usage(text("expected mn_wait for slot %d first", slot));
  return Status::success();
}

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
    return usage(text("expected device 0 for a model compiled for a CPU, got "
                      "%d",
                      options.device));
  if (!onCpu && options.threads != 0)
    return usage(text("expected threads 0 for a model compiled for a GPU, got "
                      "%d",
                      options.threads));
  if (options.threads > 1024)
    return usage(
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
    const Tensor &tensor = tensorsOf(tables, side)[number];
    const Rows rows(tables, tensor);
    to = {tensor.name,     static_cast<mn_type>(tensor.type),
          tensor.rank,     tensor.shape,
          rows.rowBytes(), rows.batched};
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// Inference of any number of rows
//===----------------------------------------------------------------------===//

/// The bytes of `count` rows, from the first one's.
struct Part {
  Part(const Rows &rows, int64_t first, int64_t count)
      : offset(rows.batched ? static_cast<size_t>(first) * rows.rowBytes() : 0),
        bytes(rows.rowBytes() * static_cast<size_t>(rows.batched ? count : 1)) {
  }
  size_t offset, bytes;
};

/// Finds the tensor that a buffer is for: by its name, or by its place where
/// no buffer has one.
template <typename Buffer>
Status findTensor(const Plan &plan, Side side, const Buffer *buffers, int i,
                  int &number) {
  const char *what = side == Side::input ? "input" : "output";
  const Tensor *tensors = tensorsOf(plan, side);
  if ((buffers[i].name == nullptr) != (buffers[0].name == nullptr))
    return usage(text("expected names of all %ss or of none, got some", what));
  if (!buffers[i].name) {
    number = i;
    return Status::success();
  }
  std::string known;
  for (number = 0; number < countOf(plan, side); ++number) {
    if (std::strcmp(tensors[number].name, buffers[i].name) == 0)
      return Status::success();
    known += text("%s'%s'", number ? ", " : "", tensors[number].name);
  }
  return usage(text("expected an %s of the model (%s), got '%s'", what,
                    known.c_str(), buffers[i].name));
}

/// The addresses of the model's inputs or outputs, in its order.
template <typename Buffer, typename Address>
Status orderBuffers(const Plan &plan, Side side, int64_t rows,
                    const Buffer *buffers, int count,
                    std::vector<Address> &ordered) {
  const char *what = side == Side::input ? "input" : "output";
  if (count != countOf(plan, side))
    return usage(text("expected %d %s buffers, got %d", countOf(plan, side),
                      what, count));
  if (count > 0 && !buffers)
    return usage(text("expected %s buffers, got NULL", what));
  std::vector<bool> seen(static_cast<size_t>(count));
  ordered.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    int number;
    MN_TRY(findTensor(plan, side, buffers, i, number));
    const Tensor &tensor = tensorsOf(plan, side)[number];
    if (seen[number])
      return usage(
          text("expected one buffer for %s '%s', got two", what, tensor.name));
    seen[number] = true;
    const Rows row(plan, tensor);
    size_t bytes = row.rowBytes();
    if (row.batched &&
        __builtin_mul_overflow(bytes, static_cast<size_t>(rows), &bytes))
      return usage(text("expected rows that fit in memory, got %lld",
                        static_cast<long long>(rows)));
    if (buffers[i].bytes != bytes)
      return usage(text("expected %zu bytes for %s '%s', got %zu", bytes, what,
                        tensor.name, buffers[i].bytes));
    if (!buffers[i].data && bytes != 0)
      return usage(
          text("expected memory for %s '%s', got NULL", what, tensor.name));
    ordered[number] = static_cast<Address>(buffers[i].data);
  }
  return Status::success();
}

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
      return usage(text("expected 0 rows or more, got %lld",
                        static_cast<long long>(rows)));
    MN_TRY(checkNothingSubmitted(state));
    int number;
    MN_TRY(Runner(mn_model, *state.executor)
               .choosePlan(rows, /*batch=*/0, number));
    const Plan &plan = mn_model.plans[number];
    std::vector<const char *> from;
    std::vector<char *> to;
    MN_TRY(orderBuffers(plan, Side::input, rows, inputs, inputCount, from));
    MN_TRY(orderBuffers(plan, Side::output, rows, outputs, outputCount, to));
    return runRows(state, number, rows, from, to);
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
      return usage(text("expected mn_wait for slot %d first", slot));
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
      return usage(text("expected mn_submit for slot %d first", slot));
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
  };
  return &model;
}

} // namespace mn
