//===- results.h - what the runs of a sweep have given ----------*- C++ -*-===//
//
// FOLDER/results.jsonl: a line about the sweep, then one for each run that
// ended, paused or was dropped; the last line of a run counts. A sweep that
// was killed finds in it what is done. FOLDER/results.csv: a row for each epoch
// of each run, written at the end.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_SWEEP_RESULTS_H
#define MNISTRT_SWEEP_RESULTS_H

#include "formats/jsonl.h"
#include "sweep/sweep_run.h"

namespace mn {

class ResultsFile {
public:
  explicit ResultsFile(const std::string &folder)
      : path(folder + "/results.jsonl") {}
  ResultsFile(const ResultsFile &) = delete;
  ResultsFile &operator=(const ResultsFile &) = delete;
  ~ResultsFile();

  /// Makes the folder, and reads what the file has of `runs`. `about`: what the
  /// sweep is; its keys in `same` must be those of the file. Errors: another
  /// sweep's file, a process that writes to it, a line that is none of ours.
  Status open(const Json &about, const std::vector<std::string> &same,
              std::vector<SweepRun> &runs);
  Status write(const SweepRun &run);

  const std::string &name() const { return path; }

private:
  Status lock();
  Status readLines(const Json &about, const std::vector<std::string> &same,
                   std::vector<SweepRun> &runs, bool &any) const;

  std::string path;
  JsonLog log;
  int locked = -1;
};

/// A line of the file.
Json jsonOf(const SweepRun &run);
/// What it says of a run; false where it is no such line.
bool readResult(const Json &json, RunResult &result);

/// A row for each epoch: options, curves, and the digest of the run's weights.
std::string csvOf(const std::vector<SweepRun> &runs);

} // namespace mn

#endif // MNISTRT_SWEEP_RESULTS_H
