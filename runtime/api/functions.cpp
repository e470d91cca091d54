//===- functions.cpp - the functions of mnist.h ---------------------------===//
//
// Checks what any library would refuse, finds the session, and calls its
// library. Nothing here allocates or throws.
//
//===----------------------------------------------------------------------===//

#include "api/sessions.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

using mn::Acquired;
using mn::Message;
using mn::Side;
using Training = mn_training_functions;

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

/// Whether a session's library has what version 2.`minor` brought.
bool isOfVersion(const Acquired &it, int minor) {
  return it.model->version % 1000 >= minor;
}

mn_status tooOld() {
  return fail(MN_NO_LIBRARY, "expected a model compiled by a newer mnistc, got "
                             "an older one; compile it again");
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

/// What this version knows of a caller's options: of an older header, which had
/// `first` bytes of them, the others are zeros.
template <typename Options>
mn_status readOptions(const char *what, size_t first, const Options *from,
                      Options &to) {
  to = {};
  to.size = sizeof(to);
  if (!from)
    return MN_OK;
  if (from->size < first) {
    std::snprintf(lastError.text, sizeof(lastError.text),
                  "expected %s of %zu bytes, got %zu", what, sizeof(to),
                  from->size);
    return MN_USAGE;
  }
  // Of a newer header, and not zero: it asks for what is not here.
  const char *bytes = reinterpret_cast<const char *>(from);
  for (size_t i = sizeof(to); i < from->size; ++i)
    if (bytes[i] != 0) {
      std::snprintf(lastError.text, sizeof(lastError.text),
                    "expected %s that this library knows, got newer ones; "
                    "compile the model again",
                    what);
      return MN_USAGE;
    }
  std::memcpy(&to, from, std::min(from->size, sizeof(to)));
  to.size = sizeof(to);
  return MN_OK;
}

mn_status readOpenOptions(const mn_options *from, mn_options &to) {
  const mn_status status =
      readOptions("mn_options", sizeof(mn_options), from, to);
  if (status != MN_OK)
    return status;
  if (to.device < 0 || to.threads < 0)
    return fail(MN_USAGE, to.device < 0
                              ? "expected a device of 0 or more, got less"
                              : "expected threads of 0 or more, got less");
  return MN_OK;
}

/// Calls f(training, session) of a model that trains.
template <typename F> mn_status inTraining(mn_session *session, const F &f) {
  return with(session, [&](const Acquired &it) {
    if (!isOfVersion(it, 1))
      return tooOld();
    if (!it.model->training)
      return fail(MN_USAGE, "expected a model compiled with --train, got one "
                            "without");
    return f(*it.model->training, it.state);
  });
}

mn_status startTraining(mn_session *session, const mn_train_options *options,
                        const char *checkpoint) {
  mn_train_options known;
  const mn_status status =
      readOptions("mn_train_options", sizeof(mn_train_options), options, known);
  if (status != MN_OK)
    return status;
  if (known.batch < 0)
    return fail(MN_USAGE, "expected a batch of 0 or more, got less");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.start(state, known, checkpoint, lastError);
  });
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
  if (const mn_status status = readOpenOptions(options, known); status != MN_OK)
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

mn_status mn_infer_on_device(mn_session *session, int64_t rows,
                             const mn_const_buffer *inputs, int input_count,
                             const mn_buffer *outputs, int output_count,
                             void *stream) {
  return with(session, [&](const Acquired &it) {
    return isOfVersion(it, 1)
               ? it.model->inferOnDevice(it.state, rows, inputs, input_count,
                                         outputs, output_count, stream,
                                         lastError)
               : tooOld();
  });
}

mn_status mn_train_start(mn_session *session, const mn_train_options *options) {
  return startTraining(session, options, nullptr);
}

mn_status mn_train_resume(mn_session *session, const mn_train_options *options,
                          const char *folder) {
  if (!folder || !*folder)
    return fail(MN_USAGE, "expected a folder with a checkpoint, got none");
  return startTraining(session, options, folder);
}

int64_t mn_train_batch(mn_session *session) {
  int64_t batch = -1;
  inTraining(session, [&](const Training &training, void *state) {
    return training.batch(state, batch, lastError);
  });
  return batch;
}

mn_status mn_train_target(mn_session *session, mn_tensor *tensor) {
  if (!tensor)
    return fail(MN_USAGE, "expected a tensor to fill in, got NULL");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.target(state, *tensor, lastError);
  });
}

const char *mn_train_number(mn_session *session, int number) {
  const char *name = nullptr;
  inTraining(session, [&](const Training &training, void *state) {
    return training.number(state, number, name, lastError);
  });
  return name;
}

mn_status mn_train_get(mn_session *session, const char *name, double *value) {
  if (!value)
    return fail(MN_USAGE, "expected a place for the number, got NULL");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.get(state, name, *value, lastError);
  });
}

mn_status mn_train_set(mn_session *session, const char *name, double value) {
  return inTraining(session, [&](const Training &training, void *state) {
    return training.set(state, name, value, lastError);
  });
}

mn_status mn_train_step(mn_session *session, int64_t rows,
                        const mn_const_buffer *inputs, int input_count,
                        const mn_const_buffer *targets, double *loss) {
  return inTraining(session, [&](const Training &training, void *state) {
    return training.step(state, rows, inputs, input_count, targets, loss,
                         lastError);
  });
}

mn_status mn_train_step_on_device(mn_session *session, int64_t rows,
                                  const mn_const_buffer *inputs,
                                  int input_count,
                                  const mn_const_buffer *targets, void *stream,
                                  double *loss) {
  return inTraining(session, [&](const Training &training, void *state) {
    return training.stepOnDevice(state, rows, inputs, input_count, targets,
                                 stream, loss, lastError);
  });
}

mn_status mn_train_metrics(mn_session *session, mn_metrics *metrics) {
  if (!metrics)
    return fail(MN_USAGE, "expected a place for the metrics, got NULL");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.metrics(state, *metrics, lastError);
  });
}

mn_status mn_evaluate(mn_session *session, int64_t rows,
                      const mn_const_buffer *inputs, int input_count,
                      const mn_const_buffer *targets, mn_metrics *metrics) {
  if (!metrics)
    return fail(MN_USAGE, "expected a place for the metrics, got NULL");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.evaluate(state, rows, inputs, input_count, targets,
                             *metrics, lastError);
  });
}

mn_status mn_train_digest(mn_session *session, char digest[17]) {
  if (!digest)
    return fail(MN_USAGE, "expected a place for the digest, got NULL");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.digest(state, digest, lastError);
  });
}

mn_status mn_save(mn_session *session, const char *path) {
  if (!path || !*path)
    return fail(MN_USAGE, "expected a file to write, got none");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.save(state, path, lastError);
  });
}

mn_status mn_train_checkpoint(mn_session *session, const char *folder) {
  if (!folder || !*folder)
    return fail(MN_USAGE, "expected a folder to write to, got none");
  return inTraining(session, [&](const Training &training, void *state) {
    return training.checkpoint(state, folder, lastError);
  });
}

} // extern "C"
