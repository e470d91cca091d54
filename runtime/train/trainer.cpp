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

int64_t Trainer::stepsNow() const {
  return shared && shared->pauseEpoch > 0
             ? std::min(steps(), stepsPerEpoch * shared->pauseEpoch)
             : steps();
}

Status Trainer::loop() {
  while (step < stepsNow()) {
    if (stepOfEpoch() == 0) {
      MN_TRY(model.writeStart(*executor, epoch()));
      last = windowFrom = pointFrom = {};
    }
    epochSteps = 0, epochSeconds = 0;
    do {
      MN_TRY(trainSegment());
      if (stepOfEpoch() != 0 && ends())
        return Status::success();
    } while (stepOfEpoch() != 0);
    MN_TRY(endEpoch());
    if (ends())
      return Status::success();
  }
  return Status::success();
}

/// Before the last step.
bool Trainer::ends() const {
  return stopSignal != 0 || timeIsOver || patienceIsOver;
}

/// Up to the next thing that must happen between two steps.
int64_t Trainer::segmentSteps() const {
  int64_t count = std::min(segment, stepsPerEpoch - stepOfEpoch());
  for (const int64_t every : {train.reportEvery, train.checkpointEvery})
    if (every > 0)
      count = std::min(count, every - step % every);
  return count;
}

Status Trainer::trainSegment() {
  const int64_t count = segmentSteps();
  const auto begin = Clock::now();
  ranks.step = step;
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
      stepOfEpoch() != 0) {
    MN_TRY(ranks.agree(readBlock()));
    writeCheckpoint();
  }
  return Status::success();
}

int64_t Trainer::batchesOfEpoch() const {
  const int64_t all = (data.rows(trainSet) + globalBatch() - 1) / globalBatch();
  return std::min(stepsPerEpoch * model.batchesOfStep, all);
}

/// The last step of an epoch may have fewer.
int64_t Trainer::batchesBefore(int64_t step) const {
  return step / stepsPerEpoch * batchesOfEpoch() +
         step % stepsPerEpoch * model.batchesOfStep;
}

Status Trainer::enqueue(int64_t count) {
  const int64_t end = step + count;
  for (int64_t first = step; first < end;) {
    const int64_t part = std::min(end - first, maxAhead);
    if (ring)
      MN_TRY(ring->write(*executor, first, part));
    const int64_t batch =
        (first - epoch() * stepsPerEpoch) * model.batchesOfStep;
    MN_TRY(feeder->run({model.trainPlan, 0, !train.noShuffle, train.seed,
                        epoch(), batch,
                        batchesBefore(first + part) - batchesBefore(first)}));
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
  reporter.live(state, secondsSince(started));
  last = metrics;
  if (train.reportEvery == 0)
    addPoint(metrics);
}

/// Where reports are due by time, TensorBoard has a point every two hundredth
/// part of the run so far, and at most every five seconds: short runs have a
/// curve too, and long ones no more than they can draw.
void Trainer::addPoint(const Metrics &metrics) {
  const double seconds = secondsSince(started);
  const double interval = std::min(seconds / 200, 5.0);
  if (stepOfEpoch() != 0 && seconds - pointSeconds < interval)
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
  if (evaluates(data.judge()))
    MN_TRY(evaluate(data.judge(), result.evaluation));
  MN_TRY(ranks.agree(readBlock()));
  MN_TRY(checkWeights());
  const double rows = static_cast<double>(
      std::min(epochSteps * rowsOfStep(), data.rows(trainSet)));
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
  patienceIsOver = isPatienceOver();
  reporter.epoch(report, history);
  if (reporter.wantsWeights())
    reporter.weights(step, weightHistograms());
  MN_TRY(keepBest(result));
  if (checkpointIsDue())
    writeCheckpoint();
  windowBegin = Clock::now();
  windowSteps = 0;
  return Status::success();
}

Status Trainer::evaluate(DataSetNumber set, Evaluation &result) {
  const int64_t rows = data.rows(set);
  MN_TRY(model.writeStart(*executor, epoch()));
  MN_TRY(feeder->run({model.evalPlan, set, false, train.seed, epoch(), 0,
                      (rows + globalBatch() - 1) / globalBatch()}));
  Metrics metrics;
  MN_TRY(model.readMetrics(*executor, metrics));
  MN_TRY(shareSums(metrics));
  result = {set, metrics.loss(), model.accuracy(metrics)};
  return Status::success();
}

bool Trainer::isPatienceOver() const {
  const EpochResult *best = history.best();
  return train.earlyStop > 0 && best &&
         lastEpoch.epoch - best->epoch >= train.earlyStop;
}

/// By accuracy, or by loss where there are no classes.
Status Trainer::keepBest(const EpochResult &result) {
  // Ranks that write nothing evaluate it with the first.
  if (keepsBest && result.evaluation.set == validationSet &&
      history.best()->epoch == result.epoch)
    bestBlock = block;
  if (train.best.empty())
    return Status::success();
  const Evaluation &found = result.evaluation;
  const double value = found.accuracy < 0 ? -found.loss : found.accuracy;
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

/// Of data that was as it is now.
Status Trainer::readBlock() {
  MN_TRY(executor->readParameters(0, block.data(), block.size()));
  MN_TRY(feeder->check());
  Status status = model.checkNumbers(block);
  if (!status.ok())
    status.message += text(" at step %lld; '--check-nan' finds out where it "
                           "comes from",
                           static_cast<long long>(step));
  return status;
}

/// After an epoch.
bool Trainer::checkpointIsDue() const {
  return !shared || (step < steps() &&
                     secondsSince(checkpointTime) >= shared->checkpointSeconds);
}

/// Of `block`. One that fails leaves the one before, and does not end the run.
void Trainer::writeCheckpoint() {
  if (!checkpoint || !ranks.isFirst())
    return;
  // Those of this rank are a part of them.
  if (ranks.several() && stepOfEpoch() != 0)
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

} // namespace mn
