//===- timeline.cpp - what happens in a run of a plan, and when -----------===//

#include "reports/timeline.h"
#include "reports/report.h"
#include <algorithm>
#include <limits>
#include <set>
#include <span>

namespace mn {

namespace {

using Blocks = std::span<const BlockTimes>;

Status checkTimes(const TimedLaunch &launch, Blocks blocks) {
  const auto wrong = [](const BlockTimes &b) {
    return b.end == 0 || b.start > b.ready || b.ready > b.end;
  };
  const auto count = std::count_if(blocks.begin(), blocks.end(), wrong);
  if (count == 0)
    return Status::success();
  return Status::error(
      Code::noDevice, "expected the times of " + std::to_string(blocks.size()) +
                          " blocks of kernel '" + launch.kernel + launch.part +
                          "', got those of " +
                          std::to_string(int64_t(blocks.size()) - count));
}

// Until medians are told, times are whole nanoseconds: they are exact.

/// Since `begin`.
LaunchTimes timesOf(Blocks blocks, uint64_t begin) {
  const auto since = [&](uint64_t time) { return double(time - begin); };
  LaunchTimes t;
  t.start = t.ready = t.firstEnd = std::numeric_limits<double>::infinity();
  std::vector<double> took;
  std::set<uint32_t> multiprocessors;
  for (const BlockTimes &b : blocks) {
    t.start = std::min(t.start, since(b.start));
    t.ready = std::min(t.ready, since(b.ready));
    t.lastReady = std::max(t.lastReady, since(b.ready));
    t.firstEnd = std::min(t.firstEnd, since(b.end));
    t.end = std::max(t.end, since(b.end));
    took.push_back(since(b.end) - since(b.ready));
    multiprocessors.insert(b.multiprocessor);
  }
  t.took = t.end - t.ready;
  t.block = quantile(took, 0.5);
  t.longestBlock = quantile(took, 1);
  t.multiprocessors = double(multiprocessors.size());
  return t;
}

/// A kernel begins to compute, or ends.
struct Change {
  double time;
  bool begins;
  size_t launch;
  bool operator<(const Change &other) const {
    return time != other.time ? time < other.time : begins < other.begins;
  }
};

/// Who computes alone, and before whom none does, until the run's `end`. What
/// is left of it then is before the first kernel of the next run, which is like
/// this one's.
RunTimes share(std::vector<LaunchTimes> &launches, double end) {
  std::vector<Change> changes;
  for (size_t i = 0; i < launches.size(); ++i)
    // A clock may stand still meanwhile.
    if (launches[i].end > launches[i].ready) {
      changes.push_back({std::min(launches[i].ready, end), true, i});
      changes.push_back({std::min(launches[i].end, end), false, i});
    }
  std::sort(changes.begin(), changes.end());
  RunTimes run;
  run.whole = end;
  std::set<size_t> computing;
  double now = 0;
  for (const Change &change : changes) {
    const double took = change.time - now;
    now = change.time;
    if (computing.size() > 1) {
      run.several += took;
    } else if (computing.size() == 1) {
      run.alone += took;
      launches[*computing.begin()].alone += took;
    } else {
      run.idle += took;
      launches[change.launch].idleBefore += took;
    }
    if (change.begins)
      computing.insert(change.launch);
    else
      computing.erase(change.launch);
  }
  run.idle += end - now;
  if (!changes.empty())
    launches[changes.front().launch].idleBefore += end - now;
  return run;
}

void shift(LaunchTimes &times, double by) {
  for (double LaunchTimes::*time :
       {&LaunchTimes::start, &LaunchTimes::ready, &LaunchTimes::lastReady,
        &LaunchTimes::firstEnd, &LaunchTimes::end})
    times.*time += by;
}

template <typename Times>
double median(const std::vector<Times> &samples, double Times::*which) {
  std::vector<double> numbers;
  for (const Times &sample : samples)
    numbers.push_back(sample.*which);
  return quantile(std::move(numbers), 0.5);
}

double firstReady(const std::vector<LaunchTimes> &times) {
  return std::min_element(times.begin(), times.end(),
                          [](const LaunchTimes &a, const LaunchTimes &b) {
                            return a.ready < b.ready;
                          })
      ->ready;
}

double lastEnd(const std::vector<LaunchTimes> &times) {
  return std::max_element(times.begin(), times.end(),
                          [](const LaunchTimes &a, const LaunchTimes &b) {
                            return a.end < b.end;
                          })
      ->end;
}

} // namespace

size_t Timeline::firstOf(int turn) const {
  return size_t(std::find_if(runs.launches.begin(), runs.launches.end(),
                             [&](const TimedLaunch &launch) {
                               return launch.turn >= turn;
                             }) -
                runs.launches.begin());
}

void Timeline::addTurn(std::vector<LaunchTimes> times, double end) {
  const double begin = firstReady(times);
  for (LaunchTimes &each : times)
    shift(each, -begin);
  whole.push_back(share(times, end - begin));
  samples.resize(times.size());
  for (size_t i = 0; i < times.size(); ++i)
    samples[i].push_back(times[i]);
}

Status Timeline::add(const std::vector<BlockTimes> &times) {
  uint64_t begin = std::numeric_limits<uint64_t>::max();
  for (const BlockTimes &block : times)
    begin = std::min(begin, block.start);
  std::vector<LaunchTimes> all;
  size_t first = 0;
  for (const TimedLaunch &launch : runs.launches) {
    const Blocks blocks = Blocks(times).subspan(first, launch.blocks);
    MN_TRY(checkTimes(launch, blocks));
    all.push_back(timesOf(blocks, begin));
    first += launch.blocks;
  }
  const auto turn = [&](int number) {
    return std::vector<LaunchTimes>(all.begin() + ptrdiff_t(firstOf(number)),
                                    all.begin() +
                                        ptrdiff_t(firstOf(number + 1)));
  };
  const bool follow = runs.turns > 2;
  const int one = follow ? 1 : 0, end = follow ? runs.turns - 1 : 1;
  const auto launchOf = [&](size_t i) {
    TimedLaunch launch = runs.launches[i];
    launch.turn = 0;
    return launch;
  };
  if (launches.empty())
    for (size_t i = firstOf(one); i < firstOf(one + 1); ++i)
      launches.push_back(launchOf(i));
  for (int number = one; number < end; ++number) {
    const std::vector<LaunchTimes> its = turn(number);
    addTurn(its, follow ? firstReady(turn(number + 1)) : lastEnd(its));
  }
  return Status::success();
}

std::vector<Timeline::Row> Timeline::rows() const {
  std::vector<Row> rows;
  for (size_t i = 0; i < samples.size(); ++i) {
    Row row = {launches[i], {}};
    for (double LaunchTimes::*which :
         {&LaunchTimes::start, &LaunchTimes::ready, &LaunchTimes::lastReady,
          &LaunchTimes::firstEnd, &LaunchTimes::end, &LaunchTimes::took,
          &LaunchTimes::block, &LaunchTimes::longestBlock, &LaunchTimes::alone,
          &LaunchTimes::idleBefore})
      row.times.*which = median(samples[i], which) / 1e3;
    row.times.multiprocessors =
        median(samples[i], &LaunchTimes::multiprocessors);
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
    return std::pair(a.times.ready, a.times.end) <
           std::pair(b.times.ready, b.times.end);
  });
  return rows;
}

RunTimes Timeline::run() const {
  RunTimes run;
  for (double RunTimes::*which : {&RunTimes::whole, &RunTimes::alone,
                                  &RunTimes::several, &RunTimes::idle})
    run.*which = median(whole, which) / 1e3;
  return run;
}

} // namespace mn
