//===- history.h - what a run has reported so far ---------------*- C++ -*-===//
//
// Kept in checkpoints, so that the plot of a resumed run is whole.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_HISTORY_H
#define MNISTRT_TRAIN_HISTORY_H

#include "core/executor.h"
#include "reports/plot.h"
#include <cstdint>
#include <string_view>

namespace mn {

/// What a model achieves on a set that it is not trained on. Accuracies are of
/// 0 to 1, and negative where there are none.
struct Evaluation {
  DataSetNumber set = trainSet; ///< trainSet: it was not evaluated
  double loss = 0, accuracy = -1;

  bool done() const { return set != trainSet; }
};

struct EpochResult {
  int64_t epoch = 0; ///< from 1
  double trainLoss = 0, trainAccuracy = -1;
  Evaluation evaluation = {};
};

/// Whether `a` is better: the higher accuracy, or the smaller loss where there
/// are no classes; not finite is worst.
bool isBetter(const Evaluation &a, const Evaluation &b);

/// The mean over some steps that end at `epoch`, a number of epochs.
struct HistoryPoint {
  double epoch, steps, loss;
};

class History {
public:
  /// Neighbouring points are put together where there are too many.
  void addPoint(const HistoryPoint &point);
  void addEpoch(const EpochResult &result) { epochs.push_back(result); }

  const std::vector<EpochResult> &results() const { return epochs; }
  /// The first of the best epochs; null: none was evaluated.
  const EpochResult *best() const;
  const std::vector<HistoryPoint> &means() const { return points; }

  /// As JSON; reads back the same.
  std::string text() const;
  /// Errors: text that is not a history, numbers that no run can have.
  Status parse(std::string_view text);

  Plot plot(const std::string &title) const;
  /// A row for each epoch, as CSV.
  std::string csv() const;

private:
  std::vector<HistoryPoint> points;
  std::vector<EpochResult> epochs;
};

} // namespace mn

#endif // MNISTRT_TRAIN_HISTORY_H
