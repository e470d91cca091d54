//===- reporter.h - who is told how the training goes -----------*- C++ -*-===//
//
// The terminal or pipe, the JSONL log, TensorBoard and the plot. A log that
// cannot be written any more, on a full disk above all, does not end a run: it
// is said once, and is the run's result when all else is done.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORTS_REPORTER_H
#define MNISTRT_REPORTS_REPORTER_H

#include "formats/jsonl.h"
#include "formats/tensorboard.h"
#include "reports/progress.h"
#include "train/history.h"
#include "train/train_options.h"

namespace mn {

/// "test loss 0.0312, accuracy 98.97 %".
std::string evaluationText(const Evaluation &evaluation);

/// What is known at a report.
struct Report {
  TrainState state;
  int64_t step = 0; ///< in total
  double lr = 0, microsecondsPerStep = 0;
};

/// What is known at the end of an epoch.
struct EpochReport {
  EpochResult result;
  int64_t epochs = 1, step = 0;
  double imagesPerSecond = 0, microsecondsPerStep = 0, seconds = 0;
  size_t deviceBytes = 0;
  std::string digest;
};

/// Who is told instead of the terminal, where trainings share it.
class RunListener {
public:
  virtual ~RunListener() = default;
  /// After each segment.
  virtual void live(const TrainState &state) = 0;
  virtual void epoch(const EpochReport &report) = 0;
};

class Reporter {
public:
  /// `file`: the descriptor of the terminal or pipe; -1: none. `listener` may
  /// be null.
  Reporter(const TrainOptions &options, std::string title, int file,
           RunListener *listener = nullptr)
      : options(options), title(std::move(title)),
        display(Progress::detect(file)), progress(display), listener(listener) {
  }

  /// Opens what is to be written.
  Status open(bool resumed);

  /// Seconds between reports, where they are not asked for by steps.
  double interval() const { return display.terminal ? 1 : 5; }

  void say(const std::string &line) { progress.print(line); }
  void event(const Json &event);
  /// A failure that the run survives.
  void warn(const Status &status);

  void live(const TrainState &state, double now) {
    progress.update(state, now);
    if (listener)
      listener->live(state);
  }
  void report(const Report &report);
  /// Only for TensorBoard, which gets more points than there are reports.
  void point(int64_t step, double loss, double accuracy, double lr);
  void epoch(const EpochReport &report, const History &history);
  /// Whether `weights` is of use.
  bool wantsWeights() const { return boarding; }
  /// After an epoch, for TensorBoard.
  void weights(int64_t step, const std::vector<Histogram> &histograms);
  /// Writes what is written once: a plot on standard output.
  void finish(const History &history);
  void clear() { progress.clear(); }

  /// The first failure that the run survived.
  const Status &late() const { return first; }

private:
  void tensorboardWrite(int64_t step, const std::vector<Scalar> &scalars);

  const TrainOptions &options;
  std::string title;
  Progress::Options display;
  Progress progress;
  RunListener *listener;
  JsonLog log;
  TensorBoard board;
  bool logging = false, boarding = false;
  Status first;
};

} // namespace mn

#endif // MNISTRT_REPORTS_REPORTER_H
