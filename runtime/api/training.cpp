//===- training.cpp - what of mnist.h trains ------------------------------===//
//
// Only checks and translates arguments; train/train_session.h does the work.
// Linked into libraries of models that train.
//
//===----------------------------------------------------------------------===//

#include "api/buffers.h"
#include "inference/on_device.h"
#include "train/train_session.h"

namespace mn {

namespace {

/// Calls `body` with a session's training.
template <typename Body>
mn_status inTraining(void *state, Message &message, const Body &body) noexcept {
  return guarded(message, [&] {
    if (!of(state).training)
      return usageError("expected mn_train_start or mn_train_resume first");
    MN_TRY(checkNothingSubmitted(of(state)));
    return body(*of(state).training);
  });
}

mn_status start(void *state, const mn_train_options &options,
                const char *checkpoint, Message &message) {
  return guarded(message, [&] {
    MN_TRY(checkNothingSubmitted(of(state)));
    TrainSession::Begin begin;
    begin.batch = options.batch;
    begin.seed = options.seed;
    if (options.init)
      begin.init = options.init;
    if (checkpoint)
      begin.checkpoint = checkpoint;
    return TrainSession::begin(mn_model, *of(state).executor, begin,
                               of(state).training);
  });
}

mn_status batch(void *state, int64_t &batch, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    batch = session.tables().rowsOfStep();
    return Status::success();
  });
}

mn_status target(void *state, mn_tensor &to, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    to = describe(session.tables().plan(), *session.tables().labels);
    return Status::success();
  });
}

mn_status number(void *state, int number, const char *&name, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    name = number < 0 ? nullptr : session.numberName(number);
    return name
               ? Status::success()
               : usageError(text("expected fewer numbers of the optimizer, got "
                                 "number %d",
                                 number));
  });
}

Status checkName(const char *name) {
  return name ? Status::success()
              : usageError("expected the name of a number, got NULL");
}

mn_status get(void *state, const char *name, double &value, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    MN_TRY(checkName(name));
    return session.get(name, value);
  });
}

mn_status set(void *state, const char *name, double value, Message &message) {
  return inTraining(state, message, [&](TrainSession &session) {
    MN_TRY(checkName(name));
    return session.set(name, value);
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The caller's buffers as rows that the model trains on.
Status readRows(const TrainModel &model, int64_t count,
                const mn_const_buffer *inputs, int inputCount,
                const mn_const_buffer *targets, TrainRows &rows) {
  if (count < 0)
    return usageError(text("expected 0 rows or more, got %lld",
                           static_cast<long long>(count)));
  const Plan &plan = model.plan();
  std::vector<const void *> input, target;
  MN_TRY(orderBuffers(Wanted{plan, "input", model.input, 1}, count, inputs,
                      inputCount, input));
  MN_TRY(orderBuffers(Wanted{plan, "target", model.labels, 1}, count, targets,
                      1, target));
  rows = {count, input[0], target[0]};
  return Status::success();
}

mn_status step(void *state, int64_t count, const mn_const_buffer *inputs,
               int inputCount, const mn_const_buffer *targets, double *loss,
               Message &message) {
  return inTraining(state, message, [&](TrainSession &session) {
    TrainRows rows;
    MN_TRY(
        readRows(session.tables(), count, inputs, inputCount, targets, rows));
    return session.step(rows, loss);
  });
}

mn_status stepOnDevice(void *state, int64_t count,
                       const mn_const_buffer *inputs, int inputCount,
                       const mn_const_buffer *targets, void *stream,
                       double *loss, Message &message) {
  return inTraining(state, message, [&](TrainSession &session) {
    TrainRows rows;
    const TrainModel &model = session.tables();
    MN_TRY(readRows(model, count, inputs, inputCount, targets, rows));
    Executor &executor = *of(state).executor;
    MN_TRY(checkOnDevice(executor, *model.input, rows.inputs, inputs[0].bytes));
    MN_TRY(
        checkOnDevice(executor, *model.labels, rows.targets, targets->bytes));
    rows.onDevice = true;
    rows.stream = stream;
    return session.step(rows, loss);
  });
}

mn_metrics metricsOf(const TrainModel &model, const Metrics &metrics) {
  const bool counts = model.accuracy(metrics) >= 0;
  return {metrics.loss(), metrics.seen,
          counts ? metrics.seen * model.targetElements : 0,
          counts ? metrics.correct : 0};
}

mn_status metrics(void *state, mn_metrics &to, Message &message) {
  return inTraining(state, message, [&](TrainSession &session) {
    Metrics found;
    MN_TRY(session.takeMetrics(found));
    to = metricsOf(session.tables(), found);
    return Status::success();
  });
}

mn_status evaluate(void *state, int64_t count, const mn_const_buffer *inputs,
                   int inputCount, const mn_const_buffer *targets,
                   mn_metrics &to, Message &message) {
  return inTraining(state, message, [&](TrainSession &session) {
    TrainRows rows;
    MN_TRY(
        readRows(session.tables(), count, inputs, inputCount, targets, rows));
    Metrics found;
    MN_TRY(session.evaluate(rows, found));
    to = metricsOf(session.tables(), found);
    return Status::success();
  });
}

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

mn_status digest(void *state, char *digest, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    std::string text;
    MN_TRY(session.digest(text));
    std::memcpy(digest, text.c_str(), 17);
    return Status::success();
  });
}

mn_status save(void *state, const char *path, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    return session.save(path);
  });
}

mn_status checkpoint(void *state, const char *folder, Message &message) {
  return inTraining(state, message, [&](const TrainSession &session) {
    return session.writeCheckpoint(folder);
  });
}

} // namespace

} // namespace mn

extern "C" const mn_training_functions *mn_training_table() {
  static const mn_training_functions table = {
      mn::start,  mn::batch, mn::target,       mn::number,  mn::get,
      mn::set,    mn::step,  mn::stepOnDevice, mn::metrics, mn::evaluate,
      mn::digest, mn::save,  mn::checkpoint};
  return &table;
}
