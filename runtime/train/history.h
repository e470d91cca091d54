//===- history.h - what a run has reported so far ---------------*- C++ -*-===//
//
// Kept in checkpoints, so that the plot of a resumed run is whole.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_HISTORY_H
#define MNISTRT_TRAIN_HISTORY_H

#include "reports/plot.h"
#include <cstdint>
#include <string_view>

namespace mn {

/// Accuracies are of 0 to 1, and negative where there are none.
struct EpochResult {
  int64_t epoch = 0; ///< from 1
  double trainLoss = 0, trainAccuracy = -1;
  bool tested = false;
  double testLoss = 0, testAccuracy = -1;
};

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

  /// As JSON; reads back the same.
  std::string text() const;
  /// Errors: text that is not a history, numbers that no run can have.
  Status parse(std::string_view text);

  Plot plot(const std::string &title) const;

private:
  std::vector<HistoryPoint> points;
  std::vector<EpochResult> epochs;
};

} // namespace mn

#endif // MNISTRT_TRAIN_HISTORY_H
