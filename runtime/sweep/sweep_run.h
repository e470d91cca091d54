//===- sweep_run.h - one training of a sweep --------------------*- C++ -*-===//

#ifndef MNISTRT_SWEEP_SWEEP_RUN_H
#define MNISTRT_SWEEP_SWEEP_RUN_H

#include "sweep/space.h"
#include "train/history.h"

namespace mn {

/// What is known of a run.
struct RunResult {
  std::vector<EpochResult> epochs; ///< that were trained
  std::string digest;              ///< of the weights after them
  std::string device;
  std::string failure; ///< a loss that is not finite: trained no further
  double seconds = 0;
  bool dropped = false; ///< by halving

  int64_t count() const { return static_cast<int64_t>(epochs.size()); }
};

struct SweepRun {
  int64_t number = 0; ///< from 1
  OptionTexts chosen; ///< by the sweep
  Options options;    ///< of 'train'
  /// Of the options that make the run what it is, other than where data is.
  std::string id;
  RunResult result;

  bool finished() const { return result.count() == options.train.epochs; }
  bool failed() const { return !result.failure.empty(); }
};

/// The runs of a sweep, without repetitions. `base`: the options that all have.
Status makeRuns(const Options &base, const std::vector<OptionTexts> &chosen,
                std::vector<SweepRun> &runs);

/// The options of 'app train' that train a run.
std::string trainCommand(const Options &options);
/// "--lr=0.1 --seed=3".
std::string chosenText(const OptionTexts &chosen);

/// How good a run was after an epoch.
struct Score {
  bool known = false;
  double accuracy = -1; ///< of the set that epochs are evaluated on
  double loss = 0;      ///< likewise
};
Score scoreOf(const RunResult &result, int64_t epoch);
/// The higher accuracy, then the smaller loss, is better; what is not known or
/// not finite is worst.
bool isBetter(const Score &a, const Score &b);

/// The runs by their score after an epoch, the best first; equal ones by
/// number.
std::vector<SweepRun *> ranked(std::vector<SweepRun *> runs, int64_t epoch);
/// By their last epoch.
std::vector<SweepRun *> ranked(std::vector<SweepRun *> runs);

/// Successive halving (Jamieson and Talwalkar, AISTATS 2016): after how many
/// epochs runs are compared, of `epochs`; the last is `epochs`. Each rung is
/// `factor` times the one before, and so many times fewer runs get to it.
std::vector<int64_t> rungsOf(int64_t epochs, int64_t factor, size_t runs);
/// How many of `runs` get to the next rung.
size_t survivors(size_t runs, int64_t factor);

} // namespace mn

#endif // MNISTRT_SWEEP_SWEEP_RUN_H
