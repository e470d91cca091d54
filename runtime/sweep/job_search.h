//===- job_search.h - how many trainings at a time --------------*- C++ -*-===//
//
// A small network leaves most of a GPU idle, so several train faster together,
// up to a number that depends on the network and the GPU. It is found while
// they train: twice as many, for as long as together they see more rows a
// second.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_SWEEP_JOB_SEARCH_H
#define MNISTRT_SWEEP_JOB_SEARCH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mn {

class JobSearch {
public:
  /// Always `jobs`.
  static JobSearch fixed(int64_t jobs) { return JobSearch(jobs, jobs, true); }
  static JobSearch upTo(int64_t most) { return JobSearch(1, most, most <= 1); }

  /// How many there should be now.
  int64_t jobs() const { return now; }
  bool done() const { return ended; }
  /// Rows a second of all together, measured with `jobs` of them.
  void measured(double rate);
  /// No more than `most` are possible.
  void limit(int64_t most);

private:
  JobSearch(int64_t now, int64_t most, bool ended)
      : now(now), most(most), ended(ended) {}

  int64_t now, most;
  bool ended;
  int64_t best = 1;
  double bestRate = 0;
};

/// Rows a second over some time, from segments that began before it or end
/// after it, too.
class Throughput {
public:
  /// `end`: on any clock, in seconds.
  void add(size_t job, double end, double seconds, double rows);
  /// Whether each of `jobs` has had a segment that ended after `time`.
  bool allAfter(double time, size_t jobs) const;
  double between(double begin, double end) const;
  void clear() { segments.clear(); }

private:
  struct Segment {
    size_t job;
    double begin, end, rows;
  };
  std::vector<Segment> segments;
};

} // namespace mn

#endif // MNISTRT_SWEEP_JOB_SEARCH_H
