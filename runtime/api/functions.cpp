//===- functions.cpp - the functions of mnist.h ---------------------------===//
//
// Checks what any library would refuse, finds the session, and calls its
// library. Nothing here allocates or throws.
//
//===----------------------------------------------------------------------===//

#include "api/sessions.h"
#include <cstdio>
#include <cstring>

namespace {

using mn::Acquired;
using mn::Message;
using mn::Side;

thread_local Message lastError;

mn_status fail(mn_status status, const char *text) {
  std::snprintf(lastError.text, sizeof(lastError.text), "%s", text);
  return status;
}

/// Calls f(session, message) with a session that no other thread uses.
template <typename F> mn_status with(mn_session *session, const F &f) {
  const Acquired acquired(session);
  if (acquired.status != MN_OK)
    return fail(acquired.status, acquired.reason);
  return f(acquired);
}

/// The same for what fails only if the session does; then `otherwise`.
template <typename T, typename F>
T valueOf(mn_session *session, T otherwise, const F &f) {
  T value = otherwise;
  with(session, [&](const Acquired &it) {
    value = f(it);
    return MN_OK;
  });
  return value;
}

mn_status describe(mn_session *session, Side side, int plan, int number,
                   mn_tensor *tensor) {
  if (!tensor)
    return fail(MN_USAGE, "expected a tensor to fill in, got NULL");
  return with(session, [&](const Acquired &it) {
    return it.model->describe(it.state, side, plan, number, *tensor, lastError);
  });
}

const void *dataOf(mn_session *session, Side side, int plan, int number,
                   int slot) {
  const void *data = nullptr;
  with(session, [&](const Acquired &it) {
    return it.model->data(it.state, side, plan, number, slot, data, lastError);
  });
  return data;
}

/// What this version knows of a caller's options.
mn_status readOptions(const mn_options *from, mn_options &to) {
  to = {};
  to.size = sizeof(to);
  if (!from)
    return MN_OK;
  if (from->size < sizeof(to)) {
    std::snprintf(lastError.text, sizeof(lastError.text),
                  "expected mn_options of %zu bytes, got %zu", sizeof(to),
                  from->size);
    return MN_USAGE;
  }
  // Of a newer header, and not zero: it asks for what is not here.
  const char *bytes = reinterpret_cast<const char *>(from);
  for (size_t i = sizeof(to); i < from->size; ++i)
    if (bytes[i] != 0)
      return fail(MN_USAGE, "expected mn_options that this library knows, got "
                            "newer ones; compile the model again");
  to = *from;
  if (to.device < 0 || to.threads < 0)
    return fail(MN_USAGE, to.device < 0
                              ? "expected a device of 0 or more, got less"
                              : "expected threads of 0 or more, got less");
  return MN_OK;
}

} // namespace

extern "C" {

int mn_version(void) { return MN_VERSION_MAJOR * 1000 + MN_VERSION_MINOR; }

const char *mn_status_name(int status) {
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
  case MN_BUSY:
    return "busy";
  }
  return "unknown";
}

mn_status mn_open(const mn_compiled_model *model, const mn_options *options,
                  mn_session **session) {
  if (!session)
    return fail(MN_USAGE, "expected a place for the session, got NULL");
  *session = nullptr;
  if (!model)
    return fail(MN_USAGE, "expected a model, as the function in its library's "
                          "header returns it, got NULL");
  if (model->version / 1000 != MN_VERSION_MAJOR)
    return fail(MN_NO_LIBRARY, "expected models compiled by one version of "
                               "mnistc, got an older or newer one");
  if (mn::isForked())
    return fail(MN_USAGE, "expected a process that opened no session before "
                          "fork(), got one whose parent did; open sessions in "
                          "the children only");
  mn_options known;
  if (const mn_status status = readOptions(options, known); status != MN_OK)
    return status;
  if (!mn::watchForks())
    return fail(MN_OUT_OF_MEMORY, "out of memory");
  void *state = nullptr;
  if (const mn_status status = model->open(known, state, lastError);
      status != MN_OK)
    return status;
  *session = mn::addSession(model, state);
  if (*session)
    return MN_OK;
  model->close(state);
  return fail(MN_OUT_OF_MEMORY,
              "expected fewer than 4096 open sessions, got as many");
}

mn_status mn_close(mn_session *session) {
  // What a parent opened must not be used.
  if (!session || mn::isForked())
    return MN_OK;
  Acquired acquired(session);
  if (acquired.status != MN_OK)
    return fail(acquired.status, acquired.reason);
  acquired.model->close(acquired.state);
  acquired.retire();
  return MN_OK;
}

const char *mn_error(void) { return lastError.text; }

int mn_plan_count(mn_session *session) {
  return valueOf(session, -1, [](const Acquired &it) {
    return it.model->planCount(it.state);
  });
}

int64_t mn_plan_batch(mn_session *session, int plan) {
  int64_t batch = -1;
  with(session, [&](const Acquired &it) {
    return it.model->planBatch(it.state, plan, batch, lastError);
  });
  return batch;
}

int mn_input_count(mn_session *session) {
  return valueOf(session, -1, [](const Acquired &it) {
    return it.model->tensorCount(it.state, Side::input);
  });
}

int mn_output_count(mn_session *session) {
  return valueOf(session, -1, [](const Acquired &it) {
    return it.model->tensorCount(it.state, Side::output);
  });
}

mn_status mn_input(mn_session *session, int plan, int number,
                   mn_tensor *tensor) {
  return describe(session, Side::input, plan, number, tensor);
}

mn_status mn_output(mn_session *session, int plan, int number,
                    mn_tensor *tensor) {
  return describe(session, Side::output, plan, number, tensor);
}

const char *mn_model_name(mn_session *session) {
  return valueOf<const char *>(session, nullptr, [](const Acquired &it) {
    return it.model->modelName(it.state);
  });
}

const char *mn_device_name(mn_session *session) {
  return valueOf<const char *>(session, nullptr, [](const Acquired &it) {
    return it.model->deviceName(it.state);
  });
}

size_t mn_device_bytes(mn_session *session) {
  return valueOf<size_t>(session, 0, [](const Acquired &it) {
    return it.model->deviceBytes(it.state);
  });
}

mn_status mn_infer(mn_session *session, int64_t rows,
                   const mn_const_buffer *inputs, int input_count,
                   const mn_buffer *outputs, int output_count) {
  return with(session, [&](const Acquired &it) {
    return it.model->infer(it.state, rows, inputs, input_count, outputs,
                           output_count, lastError);
  });
}

void *mn_input_data(mn_session *session, int plan, int number, int slot) {
  return const_cast<void *>(dataOf(session, Side::input, plan, number, slot));
}

const void *mn_output_data(mn_session *session, int plan, int number,
                           int slot) {
  return dataOf(session, Side::output, plan, number, slot);
}

mn_status mn_submit(mn_session *session, int plan, int slot) {
  return with(session, [&](const Acquired &it) {
    return it.model->submit(it.state, plan, slot, lastError);
  });
}

mn_status mn_wait(mn_session *session, int slot) {
  return with(session, [&](const Acquired &it) {
    return it.model->wait(it.state, slot, lastError);
  });
}

} // extern "C"
