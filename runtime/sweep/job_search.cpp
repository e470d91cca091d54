//===- job_search.cpp - how many trainings at a time ----------------------===//

#include "sweep/job_search.h"
#include <algorithm>
#include <set>

namespace mn {

/// Less is not worth the memory, nor surely more than noise.
constexpr double gain = 1.1;

void JobSearch::measured(double rate) {
  if (ended)
    return;
  if (rate < gain * bestRate) {
    now = best;
    ended = true;
    return;
  }
  best = now;
  bestRate = rate;
  now = std::min(2 * now, most);
  ended = now == best;
}

void JobSearch::limit(int64_t most) {
  this->most = std::min(this->most, std::max<int64_t>(most, 1));
  if (now < this->most)
    return;
  now = this->most;
  ended = true;
}

void Throughput::add(size_t job, double end, double seconds, double rows) {
  segments.push_back({job, end - seconds, end, rows});
}

bool Throughput::allAfter(double time, size_t jobs) const {
  std::set<size_t> found;
  for (const Segment &segment : segments)
    if (segment.end >= time)
      found.insert(segment.job);
  return found.size() >= jobs;
}

double Throughput::between(double begin, double end) const {
  double rows = 0;
  for (const Segment &segment : segments) {
    const double common =
        std::min(end, segment.end) - std::max(begin, segment.begin);
    const double whole = segment.end - segment.begin;
    if (common > 0 && whole > 0)
      rows += segment.rows * common / whole;
  }
  return end > begin ? rows / (end - begin) : 0;
}

} // namespace mn
