//===- sweep_display.h - how far a sweep is ---------------------*- C++ -*-===//

#ifndef MNISTRT_SWEEP_SWEEP_DISPLAY_H
#define MNISTRT_SWEEP_SWEEP_DISPLAY_H

#include "reports/live_block.h"
#include "sweep/sweep_run.h"

namespace mn {

/// What is known of a sweep while it runs.
struct SweepState {
  size_t done = 0, runs = 0;
  size_t jobs = 0; ///< that train now
  double imagesPerSecond = 0;
  double secondsLeft = -1; ///< negative: not known
  struct Running {
    const SweepRun *run;
    TrainState state;
  };
  std::vector<Running> running;
  std::vector<SweepRun *> best; ///< of those that are done
};

/// "12 of 64 runs, 8 at a time, 1.20M images/s, 0:40 left".
std::string sweepLine(const SweepState &state);
/// "test loss 0.1234, accuracy 97.50 %", or what is known.
std::string scoreText(const RunResult &result);

/// Tables of the runs, with a column for each option that differs between them.
class SweepTable {
public:
  explicit SweepTable(const std::vector<SweepRun> &runs);

  /// The best so far, and those that train, in at most `height` lines.
  std::string live(const SweepState &state, int width, int height) const;
  /// The best `count`.
  std::string ranking(const std::vector<SweepRun *> &ranked, size_t count,
                      int width) const;

private:
  std::vector<std::string> optionsOf(const SweepRun &run) const;
  std::vector<std::string> heads() const;

  std::vector<const Flag *> columns;
};

/// Where it is said.
class SweepDisplay {
public:
  explicit SweepDisplay(int file) : block(Progress::detect(file)) {}

  void say(const std::string &line) { block.print(line); }
  /// Lines that fit.
  void print(const std::string &lines) { block.write(lines); }
  /// Nothing elsewhere than on a terminal.
  void draw(const SweepTable &table, const SweepState &state);
  bool terminal() const { return block.terminal(); }
  int width() const { return block.width(); }
  void clear() { block.clear(); }

private:
  LiveBlock block;
};

} // namespace mn

#endif // MNISTRT_SWEEP_SWEEP_DISPLAY_H
