//===- trainer_end.cpp - what is written and said at the end --------------===//

#include "train/trainer.h"
#include <csignal>

namespace mn {

/// At the end.
void Trainer::report(const Status &status) {
  reporter.clear();
  reporter.finish(history);
  const bool stoppedBySignal = stopSignal != 0;
  const char *reason = stoppedBySignal   ? "signal"
                       : !status.ok()    ? "error"
                       : step == steps() ? "complete"
                       : timeIsOver      ? "max-time"
                       : patienceIsOver  ? "early-stop"
                                         : "paused";
  Json event = {{"event", "end"},
                {"reason", reason},
                {"step", step},
                {"seconds", secondsSince(started)}};
  if (status.ok())
    event["digest"] = model.digest(block);
  else
    event["message"] = status.message;
  reporter.event(event);
  if (options.json && (status.ok() || stoppedBySignal))
    printJson(summary(reason));
}

/// "test_loss" and "test_accuracy".
static void addTo(Json &json, const std::string &prefix,
                  const Evaluation &evaluation) {
  if (!evaluation.done())
    return;
  const std::string name = prefix + nameOf(evaluation.set);
  json[name + "_loss"] = evaluation.loss;
  if (evaluation.accuracy >= 0)
    json[name + "_accuracy"] = evaluation.accuracy;
}

/// What 'train --json' prints.
Json Trainer::summary(const char *reason) const {
  Json json = {{"model", tables.name},
               {"target", tables.target},
               {"device", executor->deviceName()},
               {"reason", reason},
               {"resumed", resumed},
               {"epochs", train.epochs},
               {"steps_per_epoch", stepsPerEpoch},
               {"step", step},
               {"batch", model.batch},
               {"accumulate", model.batchesOfStep},
               {"rows", data.rows(trainSet)},
               {"validation_rows", data.rows(validationSet)},
               {"test_rows", data.rows(testSet)},
               {"seconds", secondsSince(started)}};
  if (lastEpoch.epoch > 0) {
    json["train_loss"] = lastEpoch.trainLoss;
    if (lastEpoch.trainAccuracy >= 0)
      json["train_accuracy"] = lastEpoch.trainAccuracy;
    addTo(json, "", lastEpoch.evaluation);
  }
  if (const EpochResult *epoch = history.best())
    json["best_epoch"] = epoch->epoch;
  addTo(json, "", lastTest);
  addTo(json, "best_", bestTest);
  json["digest"] = model.digest(block);
  if (!train.save.empty())
    json["save"] = train.save;
  if (!best.empty())
    json["best"] = train.best;
  if (checkpoint)
    json["checkpoint"] = checkpoint->name();
  return json;
}

/// After the last step, or where a signal stopped the run, or it pauses.
Status Trainer::finish() {
  MN_TRY(readBlock());
  if (step < steps() && step != checkpointStep)
    writeCheckpoint();
  MN_TRY(ranks.agree(testAtTheEnd()));
  announceEnd();
  if (!train.save.empty()) {
    MN_TRY(saver.save(train.save, block));
    reporter.say("saved '" + train.save + "', digest " + model.digest(block));
    reporter.event({{"event", "save"},
                    {"path", train.save},
                    {"step", step},
                    {"best", false},
                    {"digest", model.digest(block)}});
  }
  MN_TRY(checkpointFailure);
  MN_TRY(writeReport());
  return stopped();
}

/// With a validation set, the test set is kept for the end: for the last
/// weights, and for those of '--best'.
Status Trainer::testAtTheEnd() {
  if (data.judge() != validationSet || !evaluates(testSet) || stopSignal != 0 ||
      (step < steps() && !ends()))
    return Status::success();
  MN_TRY(evaluate(testSet, lastTest));
  if (bestBlock.empty())
    return Status::success();
  MN_TRY(executor->writeParameters(0, bestBlock.data(), bestBlock.size()));
  return evaluate(testSet, bestTest);
}

/// What the run came to.
void Trainer::announceEnd() {
  if (lastEpoch.epoch == 0)
    return;
  const EpochResult *epoch = history.best();
  if (timeIsOver && step < steps())
    reporter.say("stopped after '--max-time=" + train.maxTime + "'");
  else if (patienceIsOver && step < steps())
    reporter.say(text("stopped early: no epoch since epoch %lld was better",
                      static_cast<long long>(epoch->epoch)));
  if (epoch && history.results().size() > 1)
    reporter.say(
        text("best epoch %lld of %zu: ", static_cast<long long>(epoch->epoch),
             history.results().size()) +
        evaluationText(epoch->evaluation));
  if (lastTest.done())
    reporter.say("at the end: " + evaluationText(lastTest));
  if (bestTest.done())
    reporter.say("'" + train.best + "': " + evaluationText(bestTest));
  announceSpeed();
}

/// Over the time of training alone.
void Trainer::announceSpeed() {
  const auto batches =
      static_cast<double>(batchesBefore(step) - batchesBefore(firstStep));
  double operations = 0;
  for (int i = 0; i < model.plan().stepCount; ++i)
    operations += model.plan().steps[i].flops;
  const double perSecond = operations * batches / trainSeconds;
  const std::string time = trainSeconds < 60 ? text("%.2f s", trainSeconds)
                                             : durationText(trainSeconds);
  std::string line =
      text("trained for %s: %s images/s, %.3g GFLOP/s", time.c_str(),
           rateText(batches * static_cast<double>(globalBatch()) / trainSeconds)
               .c_str(),
           1e-9 * perSecond * ranks.place().count);
  if (const double peak = executor->peakFlops(); peak > 0)
    line +=
        text(", %.1f %% of the peak of its fp32 units", 100 * perSecond / peak);
  reporter.say(line);
}

Status Trainer::stopped() const {
  const int signal = stopSignal;
  if (signal == 0 || step >= steps())
    return Status::success();
  std::string message =
      text("%s at step %lld of %lld",
           signal == SIGINT ? "interrupted" : "terminated",
           static_cast<long long>(step), static_cast<long long>(steps()));
  if (!train.save.empty())
    message += ", saved '" + train.save + "'";
  if (checkpoint)
    message += "; continue with '--resume'";
  return Status::error(signal == SIGINT ? Code::interrupted : Code::terminated,
                       message);
}

} // namespace mn
