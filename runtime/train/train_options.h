//===- train_options.h - the options of 'app train' -------------*- C++ -*-===//

#ifndef MNISTRT_TRAIN_TRAIN_OPTIONS_H
#define MNISTRT_TRAIN_TRAIN_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

namespace mn {

/// Data, plan and device are options of all commands; see Options.
struct TrainOptions {
  int64_t epochs = 5, seed = 1;
  int64_t testLimit = 0;       ///< rows; 0: all
  int64_t reportEvery = 0;     ///< steps; 0: by time
  int64_t checkpointEvery = 0; ///< steps; 0: only epochs
  int64_t deviceData = -1;     ///< bytes; -1: what is free
  int64_t timeout = 20;        ///< seconds that ranks wait for each other

  /// The numbers of the recipe, where the compiler's are not wanted.
  std::optional<double> lr, momentum, weightDecay, beta1, beta2, epsilon,
      dampening, clipNorm, clipValue;
  std::optional<double> validation; ///< part of the rows to train on
  std::string schedule = "constant", init = "file";
  std::string augment;      ///< "shift:2,flip"; empty: rows stay as they are
  std::string classWeights; ///< "balanced", "1,2"; empty: the program's

  /// Files and folders that are written; empty: not.
  std::string save, best, checkpoint, log, tensorboard, plot, csv, report;
  std::string devices;   ///< GPUs that train together; empty: one
  int64_t earlyStop = 0; ///< epochs without a better one; 0: never
  std::string maxTime;   ///< "90s", "1.5m", "2h"; empty: without end
  bool lrFind = false;
  bool resume = false, noShuffle = false, dropLast = false;
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAIN_OPTIONS_H
