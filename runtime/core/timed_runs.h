//===- timed_runs.h - runs whose kernels say when they run ------*- C++ -*-===//

#ifndef MNISTRT_CORE_TIMED_RUNS_H
#define MNISTRT_CORE_TIMED_RUNS_H

#include "core/status.h"
#include "mnistrt/timestamps.h"
#include <functional>
#include <string>
#include <vector>

namespace mn {

/// A launch of a kernel whose blocks write down their times.
struct TimedLaunch {
  std::string kernel; ///< its name in the program's code, without `part`
  std::string part;   ///< "_filters", "_sums": of a step with several kernels
  int step = -1;      ///< of the plan, from 0; -1: it belongs to none
  int turn = 0; ///< which run of the plan, of those that are launched once
  int stream = 0;
  unsigned blocks = 0;

  bool operator==(const TimedLaunch &) const = default;
};

/// What Executor::timeline is asked for, and what it says.
struct TimedRuns {
  int set = -1; ///< whose batches the plan runs on; -1: the inputs of slot 0
  bool shuffle = false;
  int64_t count = 1; ///< as many runs of the plan, or a few more

  /// Those of `turns` runs, which are launched together.
  std::vector<TimedLaunch> launches;
  int turns = 1;
  /// Called each time that they have run, with the times of all their blocks,
  /// launch after launch.
  std::function<Status(const std::vector<BlockTimes> &)> take;
  /// What one of many runs took, while blocks wrote down their times, and while
  /// they did not.
  double recordedMicroseconds = 0, microseconds = 0;
};

} // namespace mn

#endif // MNISTRT_CORE_TIMED_RUNS_H
