//===- c_api.cpp - mnist.h over an executor -------------------------------===//
//
// Nothing but checks of arguments and translation; no exception gets out.
//
//===----------------------------------------------------------------------===//

#include "inference/runner.h"
#include "mnist.h"
#include <exception>
#include <new>

struct mn_session {
  std::unique_ptr<mn::Executor> executor;
  std::vector<int> plans; ///< those that infer, in the model's order
  std::string error, device;
};

namespace {

static_assert(int(MN_NO_DEVICE) == int(mn::Code::noDevice) &&
              int(MN_NUMERIC) == int(mn::Code::numeric));
static_assert(int(MN_F32) == int(mn::Type::f32) &&
              int(MN_I64) == int(mn::Type::i64) &&
              int(MN_U8) == int(mn::Type::u8));

thread_local std::string openError;

mn_status keep(std::string &error, mn::Status status) {
  error = std::move(status.message);
  return static_cast<mn_status>(status.code);
}

/// Calls `body`, which gives a Status.
template <typename Body>
mn_status guarded(std::string &error, const Body &body) noexcept {
  try {
    try {
      return keep(error, body());
    } catch (const std::bad_alloc &) {
      return keep(error,
                  mn::Status::error(mn::Code::outOfMemory, "out of memory"));
    } catch (const std::exception &exception) {
      return keep(error, mn::badData("%s", exception.what()));
    }
  } catch (...) {
    return MN_OUT_OF_MEMORY; // not even the message fits
  }
}

mn::Status usage(const char *what, long long found, long long count) {
  return mn::Status::error(
      mn::Code::usage,
      mn::text("expected %s from 0 to %lld, got %lld", what, count - 1, found));
}

mn::Status checkPlan(const mn_session *session, int plan) {
  const int count = static_cast<int>(session->plans.size());
  return plan < 0 || plan >= count ? usage("a plan", plan, count)
                                   : mn::Status::success();
}

mn::Status checkSlot(int slot) {
  return slot < 0 || slot > 1 ? usage("a slot", slot, 2)
                              : mn::Status::success();
}

const mn::Plan &planOf(const mn_session *session, int plan) {
  return mn_model.plans[session->plans[static_cast<size_t>(plan)]];
}

mn::Status describe(const mn_session *session, int plan, int number,
                    const mn::Tensor *mn::Plan::*tensors, int mn::Plan::*count,
                    mn_tensor *to) {
  MN_TRY(checkPlan(session, plan));
  const mn::Plan &tables = planOf(session, plan);
  if (number < 0 || number >= tables.*count)
    return usage("a tensor", number, tables.*count);
  const mn::Tensor &tensor = (tables.*tensors)[number];
  const mn::Rows rows(tables, tensor);
  *to = {tensor.name,     static_cast<mn_type>(tensor.type),
         tensor.rank,     tensor.shape,
         rows.rowBytes(), rows.batched};
  return mn::Status::success();
}

/// One plan's runs over all rows.
mn::Status inferRows(mn_session *session, int64_t rows,
                     const void *const *inputs, void *const *outputs) {
  if (rows < 0)
    return mn::Status::error(mn::Code::usage,
                             "expected 0 rows or more, got less");
  mn::Runner runner(mn_model, *session->executor);
  int number;
  MN_TRY(runner.choosePlan(rows, 0, number));
  const mn::Plan &plan = mn_model.plans[number];
  const auto part = [](const mn::Rows &rows, int64_t first, int64_t count,
                       size_t &offset, size_t &bytes) {
    offset = rows.batched ? static_cast<size_t>(first) * rows.rowBytes() : 0;
    bytes = rows.rowBytes() * static_cast<size_t>(rows.batched ? count : 1);
  };
  return runner.run(
      number, rows,
      [&](int64_t first, int64_t count, int slot) {
        for (int i = 0; i < plan.inputCount; ++i) {
          const mn::Rows input(plan, plan.inputs[i]);
          size_t offset, bytes;
          part(input, first, count, offset, bytes);
          char *to =
              static_cast<char *>(session->executor->input(number, i, slot));
          std::memcpy(to, static_cast<const char *>(inputs[i]) + offset, bytes);
          // The rest of the batch repeats the last row: no stale NaN.
          for (int64_t row = count; input.batched && row < plan.batch; ++row)
            std::memcpy(to + static_cast<size_t>(row) * input.rowBytes(),
                        to + bytes - input.rowBytes(), input.rowBytes());
        }
        return mn::Status::success();
      },
      [&](int64_t first, int64_t count, int slot) {
        for (int i = 0; i < plan.outputCount; ++i) {
          size_t offset, bytes;
          part(mn::Rows(plan, plan.outputs[i]), first, count, offset, bytes);
          std::memcpy(static_cast<char *>(outputs[i]) + offset,
                      session->executor->output(number, i, slot), bytes);
        }
        return mn::Status::success();
      });
}

} // namespace

extern "C" {

int mn_version(void) { return MN_VERSION_MAJOR * 1000 + MN_VERSION_MINOR; }

const char *mn_status_name(mn_status status) {
  switch (status) {
  case MN_OK:
    return "ok";
  case MN_USAGE:
    return "usage";
  case MN_NO_DEVICE:
    return "no device";
  case MN_WRONG_ARCH:
    return "wrong architecture";
  case MN_NO_LIBRARY:
    return "no library";
  case MN_OUT_OF_MEMORY:
    return "out of memory";
  case MN_BAD_DATA:
    return "bad data";
  case MN_NUMERIC:
    return "numeric";
  }
  return "unknown";
}

mn_status mn_open(const mn_options *options, mn_session **session) {
  *session = nullptr;
  return guarded(openError, [&] {
    if (options && options->size < sizeof(mn_options))
      return mn::Status::error(
          mn::Code::usage, mn::text("expected options of %zu bytes, got %zu",
                                    sizeof(mn_options), options->size));
    mn::ExecutorOptions open;
    if (options) {
      open.device = options->device;
      open.graph = !options->no_graph;
    }
    auto opened = std::make_unique<mn_session>();
    MN_TRY(mn::Executor::open(mn_model, open, opened->executor));
    opened->device = opened->executor->deviceName();
    for (int i = 0; i < mn_model.planCount; ++i)
      if (mn::isInference(mn_model.plans[i]))
        opened->plans.push_back(i);
    *session = opened.release();
    return mn::Status::success();
  });
}

void mn_close(mn_session *session) { delete session; }

const char *mn_error(const mn_session *session) {
  return session ? session->error.c_str() : openError.c_str();
}

int mn_plan_count(const mn_session *session) {
  return static_cast<int>(session->plans.size());
}

int64_t mn_plan_batch(const mn_session *session, int plan) {
  return checkPlan(session, plan).ok() ? planOf(session, plan).batch : 0;
}

int mn_input_count(const mn_session *session) {
  return session->plans.empty() ? 0 : planOf(session, 0).inputCount;
}

int mn_output_count(const mn_session *session) {
  return session->plans.empty() ? 0 : planOf(session, 0).outputCount;
}

mn_status mn_input(mn_session *session, int plan, int number,
                   mn_tensor *tensor) {
  return guarded(session->error, [&] {
    return describe(session, plan, number, &mn::Plan::inputs,
                    &mn::Plan::inputCount, tensor);
  });
}

mn_status mn_output(mn_session *session, int plan, int number,
                    mn_tensor *tensor) {
  return guarded(session->error, [&] {
    return describe(session, plan, number, &mn::Plan::outputs,
                    &mn::Plan::outputCount, tensor);
  });
}

const char *mn_model_name(const mn_session *) { return mn_model.name; }

const char *mn_device_name(const mn_session *session) {
  return session->device.c_str();
}

size_t mn_device_bytes(const mn_session *session) {
  return session->executor->deviceBytes();
}

mn_status mn_infer(mn_session *session, int64_t rows, const void *const *inputs,
                   void *const *outputs) {
  return guarded(session->error,
                 [&] { return inferRows(session, rows, inputs, outputs); });
}

void *mn_input_data(mn_session *session, int plan, int number, int slot) {
  void *data = nullptr;
  guarded(session->error, [&] {
    mn_tensor tensor;
    MN_TRY(checkSlot(slot));
    MN_TRY(describe(session, plan, number, &mn::Plan::inputs,
                    &mn::Plan::inputCount, &tensor));
    data = session->executor->input(session->plans[plan], number, slot);
    return mn::Status::success();
  });
  return data;
}

const void *mn_output_data(mn_session *session, int plan, int number,
                           int slot) {
  const void *data = nullptr;
  guarded(session->error, [&] {
    mn_tensor tensor;
    MN_TRY(checkSlot(slot));
    MN_TRY(describe(session, plan, number, &mn::Plan::outputs,
                    &mn::Plan::outputCount, &tensor));
    data = session->executor->output(session->plans[plan], number, slot);
    return mn::Status::success();
  });
  return data;
}

mn_status mn_submit(mn_session *session, int plan, int slot) {
  return guarded(session->error, [&] {
    MN_TRY(checkPlan(session, plan));
    MN_TRY(checkSlot(slot));
    const int number = session->plans[static_cast<size_t>(plan)];
    MN_TRY(mn::admitInputs(*session->executor, mn_model.plans[number], number,
                           slot));
    return session->executor->submit(number, slot);
  });
}

mn_status mn_wait(mn_session *session, int slot) {
  return guarded(session->error, [&] {
    MN_TRY(checkSlot(slot));
    return session->executor->wait(slot);
  });
}

} // extern "C"
