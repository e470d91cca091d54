//===- reporter.cpp - who is told how the training goes -------------------===//

#include "reports/reporter.h"
#include "core/array.h"
#include "formats/atomic_file.h"
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace mn {

namespace {

/// More than any plot has.
constexpr uint64_t plotBytes = 1 << 18;
/// As a table of a thousand epochs.
constexpr uint64_t csvBytes = 1 << 17;

double wallTime() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string accuracyText(double accuracy) {
  return accuracy < 0 ? "" : text(", accuracy %.2f %%", 100 * accuracy);
}

} // namespace

std::string evaluationText(const Evaluation &evaluation) {
  return text("%s loss %.4f", nameOf(evaluation.set), evaluation.loss) +
         accuracyText(evaluation.accuracy);
}

Status Reporter::open(bool resumed) {
  if (!options.log.empty())
    MN_TRY(log.open(options.log, resumed));
  if (!options.tensorboard.empty())
    MN_TRY(board.open(options.tensorboard));
  if (!options.plot.empty() && options.plot != "-")
    MN_TRY(checkWritable(options.plot, plotBytes));
  if (!options.csv.empty())
    MN_TRY(checkWritable(options.csv, csvBytes));
  logging = log.isOpen();
  boarding = board.isOpen();
  return Status::success();
}

void Reporter::warn(const Status &status) {
  if (status.ok())
    return;
  if (first.ok())
    first = status;
  progress.print("warning: " + status.message);
}

void Reporter::event(const Json &event) {
  if (!logging)
    return;
  const Status status = log.write(event);
  logging = status.ok();
  warn(status);
}

void Reporter::tensorboardWrite(int64_t step,
                                const std::vector<Scalar> &scalars) {
  if (!boarding)
    return;
  const Status status = board.write(step, wallTime(), scalars);
  boarding = status.ok();
  warn(status);
}

void Reporter::weights(int64_t step, const std::vector<Histogram> &histograms) {
  if (!boarding)
    return;
  const Status status = board.writeHistograms(step, wallTime(), histograms);
  boarding = status.ok();
  warn(status);
}

void Reporter::report(const Report &report) {
  const TrainState &state = report.state;
  progress.report(state);
  Json event = {{"event", "report"},
                {"epoch", state.epoch},
                {"step", report.step},
                {"loss", state.loss}};
  if (state.accuracy >= 0)
    event["accuracy"] = state.accuracy;
  event["lr"] = report.lr;
  event["images_per_second"] = state.imagesPerSecond;
  event["us_per_step"] = report.microsecondsPerStep;
  this->event(event);
}

void Reporter::point(int64_t step, double loss, double accuracy, double lr) {
  std::vector<Scalar> scalars = {{"train/loss", static_cast<float>(loss)},
                                 {"train/lr", static_cast<float>(lr)}};
  if (accuracy >= 0)
    scalars.push_back({"train/accuracy", static_cast<float>(accuracy)});
  tensorboardWrite(step, scalars);
}

void Reporter::epoch(const EpochReport &report, const History &history) {
  if (listener)
    listener->epoch(report);
  const EpochResult &result = report.result;
  std::string line =
      text("epoch %lld/%lld: train loss %.4f",
           static_cast<long long>(result.epoch),
           static_cast<long long>(report.epochs), result.trainLoss) +
      accuracyText(result.trainAccuracy);
  const Evaluation &evaluation = result.evaluation;
  if (evaluation.done())
    line += "; " + evaluationText(evaluation);
  line += text("; %s images/s, %.1f us/step, digest %s",
               rateText(report.imagesPerSecond).c_str(),
               report.microsecondsPerStep, report.digest.c_str());
  progress.clear();
  progress.print(line);

  Json event = {{"event", "epoch"},
                {"epoch", result.epoch},
                {"step", report.step},
                {"train_loss", result.trainLoss}};
  std::vector<Scalar> scalars = {
      {"epoch/train_loss", static_cast<float>(result.trainLoss)}};
  const auto add = [&](DataSetNumber set, const char *what, double value) {
    const std::string key = std::string(nameOf(set)) + what;
    event[key] = value;
    scalars.push_back({"epoch/" + key, static_cast<float>(value)});
  };
  if (result.trainAccuracy >= 0)
    add(trainSet, "_accuracy", result.trainAccuracy);
  if (evaluation.done())
    add(evaluation.set, "_loss", evaluation.loss);
  if (evaluation.done() && evaluation.accuracy >= 0)
    add(evaluation.set, "_accuracy", evaluation.accuracy);
  event["seconds"] = report.seconds;
  event["images_per_second"] = report.imagesPerSecond;
  event["us_per_step"] = report.microsecondsPerStep;
  event["device_bytes"] = report.deviceBytes;
  event["digest"] = report.digest;
  this->event(event);
  tensorboardWrite(report.step, scalars);
  if (!options.plot.empty() && options.plot != "-")
    warn(writePlot(options.plot, history.plot(title)));
  if (!options.csv.empty())
    warn(writeAtomically(options.csv, history.csv()));
}

void Reporter::finish(const History &history) {
  if (options.plot != "-")
    return;
  const std::string picture = drawPlot(history.plot(title));
  if (std::fwrite(picture.data(), 1, picture.size(), stdout) !=
          picture.size() ||
      std::fflush(stdout) != 0)
    warn(badData("cannot write to standard output: %s", std::strerror(errno)));
}

} // namespace mn
