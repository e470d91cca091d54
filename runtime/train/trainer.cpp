//===- trainer.cpp - the loop that trains ---------------------------------===//

#include "train/trainer.h"
#include <algorithm>
#include <cmath>

namespace mn {

namespace {

/// Of a segment: long compared with a look at the metrics (some 20 us), short
/// for whoever waits for it to stop.
constexpr double segmentSeconds = 0.075;
/// Of the recipe's rows, which are written ahead.
constexpr int64_t maxAhead = recipeRows / 2;

double secondsBetween(std::chrono::steady_clock::time_point begin,
                      std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

Metrics difference(const Metrics &now, const Metrics &before) {
  return {now.lossSum - before.lossSum, now.correct - before.correct,
          now.seen - before.seen, now.badStep};
}

} // namespace

Status Trainer::run(const Open &open) {
  MN_TRY(ranks.agree(setUp(open)));
  MN_TRY(startTogether());
  if (!signals)
    signals = std::make_shared<StopSignals>();
  ranks.isStopping = [this] { return signals->received() != 0; };
  started = windowBegin = checkpointTime = Clock::now();
  Status status = loop();
  if (status.ok())
    status = finish();
  else
    ranks.fail(status.code);
  report(status);
  if (status.ok())
    status = reporter.late();
  return ranks.agree(status);
}

/// At the end.
void Trainer::report(const Status &status) {
  reporter.clear();
  reporter.finish(history);
  const bool stoppedBySignal = stopSignal != 0;
  const char *reason = stoppedBySignal ? "signal"
                       : status.ok()   ? "complete"
                                       : "error";
  Json event = {{"event", "end"},
                {"reason", reason},
                {"step", step},
                {"seconds", secondsBetween(started, Clock::now())}};
  if (status.ok())
    event["digest"] = model.digest(block);
  else
    event["message"] = status.message;
  reporter.event(event);
  if (options.json && (status.ok() || stoppedBySignal))
    printJson(summary(reason));
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
               {"rows", data[0].samples().count},
               {"test_rows", tests ? data[1].samples().count : 0},
               {"seconds", secondsBetween(started, Clock::now())}};
  if (lastEpoch.epoch > 0) {
    json["train_loss"] = lastEpoch.trainLoss;
    if (lastEpoch.trainAccuracy >= 0)
      json["train_accuracy"] = lastEpoch.trainAccuracy;
    if (lastEpoch.tested)
      json["test_loss"] = lastEpoch.testLoss;
    if (lastEpoch.tested && lastEpoch.testAccuracy >= 0)
      json["test_accuracy"] = lastEpoch.testAccuracy;
  }
  json["digest"] = model.digest(block);
  if (!train.save.empty())
    json["save"] = train.save;
  if (!best.empty())
    json["best"] = train.best;
  if (checkpoint)
    json["checkpoint"] = checkpoint->name();
  return json;
}

int64_t Trainer::stepsNow() const {
  return shared && shared->pauseEpoch > 0
             ? std::min(steps(), stepsPerEpoch * shared->pauseEpoch)
             : steps();
}

Status Trainer::loop() {
  while (step < stepsNow()) {
    if (batchOfEpoch() == 0) {
      MN_TRY(model.writeStart(*executor, epoch()));
      last = windowFrom = pointFrom = {};
    }
    epochSteps = 0, epochSeconds = 0;
    do {
      MN_TRY(trainSegment());
      if (batchOfEpoch() != 0 && stopSignal != 0)
        return Status::success();
    } while (batchOfEpoch() != 0);
    MN_TRY(endEpoch());
    if (stopSignal != 0)
      return Status::success();
  }
  return Status::success();
}

/// Up to the next thing that must happen between two steps.
int64_t Trainer::segmentSteps() const {
  int64_t count = std::min(segment, stepsPerEpoch - batchOfEpoch());
  for (const int64_t every : {train.reportEvery, train.checkpointEvery})
    if (every > 0)
      count = std::min(count, every - step % every);
  return count;
}

Status Trainer::trainSegment() {
  const int64_t count = segmentSteps();
  const auto begin = Clock::now();
  MN_TRY(enqueue(count));
  Metrics metrics;
  MN_TRY(model.readMetrics(*executor, metrics));
  const auto now = Clock::now();
  double seconds = secondsBetween(begin, now);
  MN_TRY(share(metrics, seconds));
  if (metrics.badStep >= 0)
    return ranks.agree(badLoss(metrics));
  step += count;
  look(metrics, count, seconds);
  const bool reports =
      train.reportEvery > 0
          ? step % train.reportEvery == 0
          : secondsBetween(windowBegin, now) > reporter.interval();
  if (reports)
    reportWindow(metrics, now);
  if (train.checkpointEvery > 0 && step % train.checkpointEvery == 0 &&
      batchOfEpoch() != 0) {
    MN_TRY(ranks.agree(readBlock()));
    writeCheckpoint();
  }
  return Status::success();
}

Status Trainer::enqueue(int64_t count) {
  const int64_t end = step + count;
  for (int64_t first = step; first < end;) {
    const int64_t part = std::min(end - first, maxAhead);
    if (ring)
      MN_TRY(ring->write(*executor, first, part));
    MN_TRY(feeder->run({model.trainPlan, 0, !train.noShuffle, train.seed,
                        epoch(), first - epoch() * stepsPerEpoch, part}));
    first += part;
  }
  return Status::success();
}

void Trainer::adaptSegment(int64_t count, double seconds) {
  const double each = std::max(seconds / static_cast<double>(count), 1e-9);
  const auto wanted = static_cast<int64_t>(
      std::min(segmentSeconds / each, static_cast<double>(segment * 8)));
  segment = std::max<int64_t>(wanted, 1);
  if (segment > batchesPerGraph)
    segment -= segment % batchesPerGraph;
}

/// What a segment tells those who watch.
void Trainer::look(const Metrics &metrics, int64_t count, double seconds) {
  if (count == segment || count * 2 > segment)
    adaptSegment(count, seconds);
  epochSteps += count, windowSteps += count;
  epochSeconds += seconds, trainSeconds += seconds;
  const Metrics now = difference(metrics, last);
  const int64_t epoch = (step - 1) / stepsPerEpoch;
  history.addPoint(
      {static_cast<double>(step) / static_cast<double>(stepsPerEpoch),
       static_cast<double>(count), now.loss()});
  TrainState state;
  state.epoch = epoch + 1, state.epochs = train.epochs;
  state.step = step - epoch * stepsPerEpoch, state.steps = stepsPerEpoch;
  state.loss = now.loss(), state.accuracy = model.accuracy(now);
  state.rows = now.seen;
  state.imagesPerSecond = static_cast<double>(now.seen) / seconds;
  state.secondsLeft = trainSeconds / static_cast<double>(step - firstStep) *
                      static_cast<double>(steps() - step);
  reporter.live(state, secondsBetween(started, Clock::now()));
  last = metrics;
  if (train.reportEvery == 0)
    addPoint(metrics);
}

/// Where reports are due by time, TensorBoard has a point every two hundredth
/// part of the run so far, and at most every five seconds: short runs have a
/// curve too, and long ones no more than they can draw.
void Trainer::addPoint(const Metrics &metrics) {
  const double seconds = secondsBetween(started, Clock::now());
  const double interval = std::min(seconds / 200, 5.0);
  if (batchOfEpoch() != 0 && seconds - pointSeconds < interval)
    return;
  const Metrics part = difference(metrics, pointFrom);
  reporter.point(step, part.loss(), model.accuracy(part), rate.at(step - 1));
  pointFrom = metrics;
  pointSeconds = seconds;
}

void Trainer::reportWindow(const Metrics &metrics, Clock::time_point now) {
  const Metrics window = difference(metrics, windowFrom);
  const double seconds = secondsBetween(windowBegin, now);
  const int64_t epoch = (step - 1) / stepsPerEpoch;
  Report report;
  report.state.epoch = epoch + 1, report.state.epochs = train.epochs;
  report.state.step = step - epoch * stepsPerEpoch;
  report.state.steps = stepsPerEpoch;
  report.state.loss = window.loss();
  report.state.accuracy = model.accuracy(window);
  report.state.imagesPerSecond = static_cast<double>(window.seen) / seconds;
  report.state.secondsLeft = trainSeconds /
                             static_cast<double>(step - firstStep) *
                             static_cast<double>(steps() - step);
  report.step = step;
  report.lr = rate.at(step - 1);
  report.microsecondsPerStep =
      1e6 * seconds / static_cast<double>(std::max<int64_t>(windowSteps, 1));
  reporter.report(report);
  if (train.reportEvery > 0)
    reporter.point(step, report.state.loss, report.state.accuracy, report.lr);
  windowFrom = metrics;
  windowBegin = now;
  windowSteps = 0;
}

Status Trainer::badLoss(const Metrics &metrics) const {
  return Status::error(
      Code::numeric,
      text(
          "expected a finite loss, got NaN or infinity at step %lld (epoch "
          "%lld); '--check-nan' names the first step of the plan that computes "
          "one",
          static_cast<long long>(metrics.badStep + 1),
          static_cast<long long>(metrics.badStep / stepsPerEpoch + 1)));
}

Status Trainer::endEpoch() {
  EpochReport report;
  EpochResult &result = report.result;
  result.epoch = epoch();
  result.trainLoss = last.loss();
  result.trainAccuracy = model.accuracy(last);
  MN_TRY(evaluate(result));
  MN_TRY(ranks.agree(readBlock()));
  MN_TRY(checkWeights());
  const double rows = static_cast<double>(
      std::min(epochSteps * globalBatch(), data[0].samples().count));
  report.epochs = train.epochs;
  report.step = step;
  report.seconds = epochSeconds;
  report.imagesPerSecond = rows / epochSeconds;
  report.microsecondsPerStep =
      1e6 * epochSeconds / static_cast<double>(epochSteps);
  report.deviceBytes = executor->deviceBytes();
  report.digest = model.digest(block);
  history.addEpoch(result);
  lastEpoch = result;
  reporter.epoch(report, history);
  MN_TRY(keepBest(result));
  if (checkpointIsDue())
    writeCheckpoint();
  windowBegin = Clock::now();
  windowSteps = 0;
  return Status::success();
}

Status Trainer::evaluate(EpochResult &result) {
  if (!tests)
    return Status::success();
  const int64_t rows = data[1].samples().count;
  MN_TRY(model.writeStart(*executor, epoch()));
  MN_TRY(feeder->run({model.evalPlan, 1, false, train.seed, epoch(), 0,
                      (rows + globalBatch() - 1) / globalBatch()}));
  Metrics metrics;
  MN_TRY(model.readMetrics(*executor, metrics));
  MN_TRY(shareSums(metrics));
  result.tested = true;
  result.testLoss = metrics.loss();
  result.testAccuracy = model.accuracy(metrics);
  return Status::success();
}

/// By accuracy, or by loss where there are no classes.
Status Trainer::keepBest(const EpochResult &result) {
  if (train.best.empty())
    return Status::success();
  const bool byLoss = result.testAccuracy < 0;
  const double value = byLoss ? -result.testLoss : result.testAccuracy;
  if (std::isnan(value) ||
      (!best.empty() && value <= std::strtod(best.c_str(), nullptr)))
    return Status::success();
  const Status status = saver.save(train.best, block);
  reporter.warn(status);
  if (!status.ok())
    return Status::success();
  best = text("%.17g", value);
  reporter.event({{"event", "save"},
                  {"path", train.best},
                  {"step", step},
                  {"best", true}});
  return Status::success();
}

Status Trainer::readBlock() {
  MN_TRY(executor->readParameters(0, block.data(), block.size()));
  Status status = model.checkNumbers(block);
  if (!status.ok())
    status.message += text(" at step %lld; '--check-nan' finds out where it "
                           "comes from",
                           static_cast<long long>(step));
  return status;
}

/// After an epoch.
bool Trainer::checkpointIsDue() const {
  return !shared ||
         (step < steps() && secondsBetween(checkpointTime, Clock::now()) >=
                                shared->checkpointSeconds);
}

/// Of `block`. One that fails leaves the one before, and does not end the run.
void Trainer::writeCheckpoint() {
  if (!checkpoint || !ranks.isFirst())
    return;
  // Those of this rank are a part of them.
  if (ranks.several() && batchOfEpoch() != 0)
    model.setMetrics(block, last);
  checkpointFailure = checkpoint->write(
      block, facts(),
      {step, best, history.text(), textsOf(options), ranks.place().count});
  if (!checkpointFailure.ok()) {
    reporter.say("warning: " + checkpointFailure.message);
    return;
  }
  checkpointStep = step;
  checkpointTime = Clock::now();
  reporter.event(
      {{"event", "checkpoint"}, {"path", checkpoint->name()}, {"step", step}});
}

/// After the last step, or where a signal stopped the run, or it pauses.
Status Trainer::finish() {
  MN_TRY(readBlock());
  if (step < steps() && step != checkpointStep)
    writeCheckpoint();
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
  return stopped();
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
