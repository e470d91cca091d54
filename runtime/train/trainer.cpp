//===- trainer.cpp - the loop that trains ---------------------------------===//

#include "train/trainer.h"
#include <algorithm>
#include <cmath>

namespace mn {

namespace {

/// Of a segment: long beside a look at the metrics (some 20 us), short for
/// whoever waits for it to stop.
constexpr double segmentSeconds = 0.075;
/// Of the recipe's rows, which are written ahead.
constexpr int64_t mostAhead = recipeRows / 2;

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
  MN_TRY(setUp(open));
  signals = std::make_unique<StopSignals>();
  started = windowBegin = Clock::now();
  Status status = loop();
  if (status.ok())
    status = finish();
  reporter.clear();
  Json event = {{"event", "end"},
                {"reason", !status.ok() && signals->received() == 0 ? "error"
                           : signals->received() != 0               ? "signal"
                                                      : "complete"},
                {"step", step},
                {"seconds", secondsBetween(started, Clock::now())}};
  if (status.ok())
    event["digest"] = model.digest(block);
  else
    event["message"] = status.message;
  reporter.event(event);
  return status.ok() ? reporter.late() : status;
}

Status Trainer::loop() {
  while (step < steps()) {
    if (batchOfEpoch() == 0) {
      MN_TRY(model.writeStart(*executor, epoch()));
      last = windowFrom = {};
    }
    epochSteps = 0, epochSeconds = 0;
    do {
      MN_TRY(trainSegment());
      if (batchOfEpoch() != 0 && signals->received())
        return Status::success();
    } while (batchOfEpoch() != 0);
    MN_TRY(endEpoch());
    if (signals->received())
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
  if (metrics.badStep >= 0)
    return badLoss(metrics);
  step += count;
  look(metrics, count, secondsBetween(begin, now));
  const bool reports =
      train.reportEvery > 0
          ? step % train.reportEvery == 0
          : secondsBetween(windowBegin, now) > reporter.interval();
  if (reports)
    reportWindow(metrics, now);
  if (train.checkpointEvery > 0 && step % train.checkpointEvery == 0 &&
      batchOfEpoch() != 0) {
    MN_TRY(readBlock());
    writeCheckpoint();
  }
  return Status::success();
}

Status Trainer::enqueue(int64_t count) {
  const int64_t end = step + count;
  for (int64_t first = step; first < end;) {
    const int64_t part = std::min(end - first, mostAhead);
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
  state.imagesPerSecond = static_cast<double>(now.seen) / seconds;
  state.secondsLeft = trainSeconds / static_cast<double>(step - firstStep) *
                      static_cast<double>(steps() - step);
  reporter.live(state, secondsBetween(started, Clock::now()));
  last = metrics;
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
  windowFrom = metrics;
  windowBegin = now;
  windowSteps = 0;
}

Status Trainer::badLoss(const Metrics &metrics) const {
  return Status::error(
      Code::numeric,
      text("expected a finite loss, got one that is not finite at step %lld "
           "(epoch %lld); '--check-nan' finds out where it comes from",
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
  MN_TRY(readBlock());
  const double rows = static_cast<double>(
      std::min(epochSteps * model.batch, data[0].samples().count));
  report.epochs = train.epochs;
  report.step = step;
  report.seconds = epochSeconds;
  report.imagesPerSecond = rows / epochSeconds;
  report.microsecondsPerStep =
      1e6 * epochSeconds / static_cast<double>(epochSteps);
  report.deviceBytes = executor->deviceBytes();
  report.digest = model.digest(block);
  history.addEpoch(result);
  reporter.epoch(report, history);
  MN_TRY(keepBest(result));
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
                      (rows + model.batch - 1) / model.batch}));
  Metrics metrics;
  MN_TRY(model.readMetrics(*executor, metrics));
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

/// Of `block`. One that fails leaves the one before, and does not end the run.
void Trainer::writeCheckpoint() {
  if (!checkpoint)
    return;
  checkpointFailure =
      checkpoint->write(block, facts(), {step, best, history.text()});
  if (!checkpointFailure.ok()) {
    reporter.say("warning: " + checkpointFailure.message);
    return;
  }
  reporter.event(
      {{"event", "checkpoint"}, {"path", checkpoint->name()}, {"step", step}});
}

/// After the last step, or where a signal stopped the run.
Status Trainer::finish() {
  MN_TRY(readBlock());
  if (signals->received() && batchOfEpoch() != 0)
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
  const int signal = signals->received();
  if (signal == 0 || step >= steps())
    return Status::success();
  std::string message =
      text("%s at step %lld of %lld",
           signal == SIGINT ? "interrupted" : "terminated",
           static_cast<long long>(step), static_cast<long long>(steps()));
  if (!train.save.empty())
    message += ", saved '" + train.save + "'";
  if (checkpoint)
    message += "; '--resume' goes on";
  return Status::error(signal == SIGINT ? Code::interrupted : Code::terminated,
                       message);
}

} // namespace mn
