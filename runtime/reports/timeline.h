//===- timeline.h - what happens in a run of a plan, and when ---*- C++ -*-===//
//
// From the times of blocks: when each kernel starts, waits and computes, beside
// which others, and when none does. Medians over runs.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORTS_TIMELINE_H
#define MNISTRT_REPORTS_TIMELINE_H

#include "core/timed_runs.h"

namespace mn {

/// Of a launch, in microseconds. A run begins when the first of its kernels has
/// what it waits for. A kernel computes from `ready` to `end`.
struct LaunchTimes {
  double start = 0;           ///< the first block is on a multiprocessor
  double ready = 0;           ///< the first block has what it waits for,
  double lastReady = 0;       ///< and the last block
  double firstEnd = 0;        ///< the first block has ended,
  double end = 0;             ///< and the last block
  double took = 0;            ///< from ready to end
  double block = 0;           ///< from ready to end of one block: the median,
  double longestBlock = 0;    ///< and the longest
  double alone = 0;           ///< of the kernel's time, while no other computes
  double idleBefore = 0;      ///< none computes until this one does
  double multiprocessors = 0; ///< a number: those that its blocks are on
};

/// Of a run, in microseconds: how long exactly one kernel, several, or none
/// compute.
struct RunTimes {
  double whole = 0; ///< to the beginning of the next, or to its own end
  double alone = 0, several = 0, idle = 0;
};

class Timeline {
public:
  /// Of launches and turns of `runs`, which the executor has filled in when
  /// times are added.
  explicit Timeline(const TimedRuns &runs) : runs(runs) {}

  /// Of all blocks, as TimedRuns::take has them. Where runs follow each other,
  /// the first and the last are left out: what is before and after differs.
  Status add(const std::vector<BlockTimes> &times);

  /// How many runs have been added.
  int64_t count() const { return int64_t(whole.size()); }

  struct Row {
    TimedLaunch launch;
    LaunchTimes times;
  };
  /// Medians of the launches of a run, in the order in which they compute.
  std::vector<Row> rows() const;
  RunTimes run() const;

private:
  size_t firstOf(int turn) const;
  void addTurn(std::vector<LaunchTimes> times, double end);

  const TimedRuns &runs;
  std::vector<TimedLaunch> launches;             ///< of one run
  std::vector<std::vector<LaunchTimes>> samples; ///< of each of them
  std::vector<RunTimes> whole;
};

} // namespace mn

#endif // MNISTRT_REPORTS_TIMELINE_H
