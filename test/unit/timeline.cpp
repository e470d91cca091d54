//===- timeline.cpp - what happens in a run, from the times of blocks -----===//

#include "reports/timeline.h"
#include "commands/profile.h"
#include <gtest/gtest.h>

using mn::BlockTimes;
using mn::LaunchTimes;
using mn::TimedLaunch;

namespace {

/// Kernels a (of two blocks), b beside it on another stream, and c after both,
/// in each of so many turns.
struct Runs : mn::TimedRuns {
  explicit Runs(int count) {
    turns = count;
    for (int turn = 0; turn < count; ++turn) {
      launches.push_back({"infer_a", "", 0, turn, 0, 2});
      launches.push_back({"mn_next_batch", "", -1, turn, 1, 1});
      launches.push_back({"train_c", "_sums", 2, turn, 0, 1});
    }
  }
};

/// Nanoseconds of those of one turn, which begins at `at`; the last takes
/// `longer`.
std::vector<BlockTimes> turnAt(uint64_t at, uint64_t longer = 0) {
  return {{at - 2000, at, at + 4000, 7},
          {at - 1000, at + 500, at + 5000, 8},
          {at + 1000, at + 3000, at + 7000, 8},
          {at + 4000, at + 8000, at + 9000 + longer, 7}};
}

/// Turns that begin ten microseconds after each other.
std::vector<BlockTimes> timesOf(int turns, uint64_t longer = 0) {
  // More than a double has of nanoseconds.
  uint64_t at = 1800000000123456789u;
  std::vector<BlockTimes> all;
  for (int turn = 0; turn < turns; ++turn, at += 10000)
    for (const BlockTimes &block : turnAt(at, longer))
      all.push_back(block);
  return all;
}

void expectTimes(const LaunchTimes &found, const LaunchTimes &expected,
                 const char *what) {
  for (double LaunchTimes::*time :
       {&LaunchTimes::start, &LaunchTimes::ready, &LaunchTimes::lastReady,
        &LaunchTimes::firstEnd, &LaunchTimes::end, &LaunchTimes::took,
        &LaunchTimes::block, &LaunchTimes::longestBlock, &LaunchTimes::alone,
        &LaunchTimes::idleBefore, &LaunchTimes::multiprocessors})
    EXPECT_EQ(found.*time, expected.*time) << what;
}

TEST(Timeline, SaysWhenKernelsComputeAndBesideWhich) {
  const Runs runs(4);
  mn::Timeline timeline(runs);
  ASSERT_TRUE(timeline.add(timesOf(4)).ok());
  EXPECT_EQ(timeline.count(), 2) << "the first and the last are left out";
  const auto rows = timeline.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].launch, runs.launches[0]);
  EXPECT_EQ(rows[1].launch, runs.launches[1]);
  EXPECT_EQ(rows[2].launch, runs.launches[2]);
  expectTimes(rows[0].times, {-2, 0, .5, 4, 5, 5, 4.5, 4.5, 3, 1, 2}, "a");
  expectTimes(rows[1].times, {1, 3, 3, 7, 7, 4, 4, 4, 2, 0, 1}, "b");
  expectTimes(rows[2].times, {4, 8, 8, 9, 9, 1, 1, 1, 1, 1, 1}, "c");
  const mn::RunTimes run = timeline.run();
  EXPECT_EQ(run.whole, 10);
  EXPECT_EQ(run.alone, 6);
  EXPECT_EQ(run.several, 2);
  EXPECT_EQ(run.idle, 2);
}

TEST(Timeline, HasMediansOfRuns) {
  const Runs runs(3);
  mn::Timeline timeline(runs);
  for (uint64_t longer : {100, 0, 900, 400, 200})
    ASSERT_TRUE(timeline.add(timesOf(3, longer)).ok());
  EXPECT_EQ(timeline.count(), 5);
  EXPECT_EQ(timeline.rows()[2].times.end, 9.2);
  EXPECT_EQ(timeline.rows()[2].times.alone, 1.2);
  EXPECT_EQ(timeline.rows()[0].times.idleBefore, .8);
}

TEST(Timeline, WhatAKernelTakesIsNoDifferenceOfMedians) {
  const Runs runs(1);
  mn::Timeline timeline(runs);
  for (const auto &[later, longer] :
       {std::pair<uint64_t, uint64_t>(0, 2000), {1000, 0}, {2000, 0}}) {
    std::vector<BlockTimes> times = timesOf(1, later + longer);
    times[3].ready += later;
    ASSERT_TRUE(timeline.add(times).ok());
  }
  EXPECT_EQ(timeline.rows()[2].times.ready, 9);
  EXPECT_EQ(timeline.rows()[2].times.end, 11);
  EXPECT_EQ(timeline.rows()[2].times.took, 1);
}

TEST(Timeline, OneRunEndsWithItsLastKernel) {
  const Runs runs(1);
  mn::Timeline timeline(runs);
  ASSERT_TRUE(timeline.add(timesOf(1)).ok());
  EXPECT_EQ(timeline.run().whole, 9);
  EXPECT_EQ(timeline.run().idle, 1);
  EXPECT_EQ(timeline.rows()[0].times.idleBefore, 0);
}

TEST(Timeline, AClockMayStandStill) {
  const Runs runs(1);
  mn::Timeline timeline(runs);
  std::vector<BlockTimes> times = timesOf(1);
  times[2].ready = times[2].end;
  ASSERT_TRUE(timeline.add(times).ok());
  EXPECT_EQ(timeline.rows()[1].times.alone, 0);
  EXPECT_EQ(timeline.run().several, 0);
  EXPECT_EQ(timeline.run().alone, 6);
  EXPECT_EQ(timeline.run().idle, 3);
}

TEST(Timeline, BlocksThatWroteNothingAreAnError) {
  const Runs runs(4);
  for (auto lose : {+[](BlockTimes &b) { b = {}; },
                    +[](BlockTimes &b) { b.ready = b.end + 1; },
                    +[](BlockTimes &b) { b.start = b.ready + 1; }}) {
    mn::Timeline timeline(runs);
    std::vector<BlockTimes> times = timesOf(4);
    lose(times[1]);
    const mn::Status status = timeline.add(times);
    EXPECT_EQ(status.code, mn::Code::noDevice);
    EXPECT_EQ(status.message, "expected the times of 2 blocks of kernel "
                              "'infer_a', got those of 1");
  }
}

TEST(Timeline, EventsOfATrackDoNotOverlap) {
  const Runs runs(4);
  mn::Timeline timeline(runs);
  ASSERT_TRUE(timeline.add(timesOf(4)).ok());
  mn::Step steps[3] = {};
  steps[0].name = "a", steps[1].name = "b", steps[2].name = "c.grad";
  for (mn::Step &step : steps)
    step.ops = "conv";
  mn::Plan plan = {};
  plan.name = "train_8", plan.steps = steps, plan.stepCount = 3;
  mn::Model model = {};
  model.name = "m";
  const mn::Json trace = mn::traceOf(model, plan, timeline);
  EXPECT_EQ(trace["otherData"]["run_us"], 10);
  std::vector<std::string> events, tracks;
  for (const mn::Json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      events.push_back(event["name"].get<std::string>() + " " +
                       event["tid"].dump() + " " + event["ts"].dump() + " " +
                       event["dur"].dump());
    else if (event["name"] == "thread_name")
      tracks.push_back(event["args"]["name"]);
  // c waits while a computes, on the same stream.
  EXPECT_EQ(events, std::vector<std::string>(
                        {"a 0 -2.0 7.0", "waits 0 -2.0 2.0",
                         "c.grad sums 1 4.0 5.0", "waits 1 4.0 4.0",
                         "mn_next_batch 2 1.0 6.0", "waits 2 1.0 2.0"}));
  EXPECT_EQ(tracks,
            std::vector<std::string>({"stream 0", "stream 0", "stream 1"}));
}

} // namespace
