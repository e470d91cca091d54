//===- sweep-runs.cpp - which runs are better, and how many at a time -----===//

#include "sweep/job_search.h"
#include "sweep/results.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

using mn::SweepRun;
using Rungs = std::vector<int64_t>;

TEST(SweepHalving, RungsAreFactorsApart) {
  EXPECT_EQ(mn::rungsOf(9, 3, 27), Rungs({1, 3, 9}));
  EXPECT_EQ(mn::rungsOf(27, 3, 100), Rungs({1, 3, 9, 27}));
  EXPECT_EQ(mn::rungsOf(8, 2, 8), Rungs({1, 2, 4, 8}));
  // The first has an epoch at least, and the others what is nearest above.
  EXPECT_EQ(mn::rungsOf(5, 3, 27), Rungs({2, 5}));
  EXPECT_EQ(mn::rungsOf(10, 3, 27), Rungs({2, 4, 10}));
  EXPECT_EQ(mn::rungsOf(2, 3, 27), Rungs({2}));
  EXPECT_EQ(mn::rungsOf(1, 2, 5), Rungs({1}));
  // No more of them than there are runs to drop.
  EXPECT_EQ(mn::rungsOf(27, 3, 4), Rungs({9, 27}));
  EXPECT_EQ(mn::rungsOf(27, 3, 1), Rungs({27}));
  EXPECT_EQ(mn::survivors(27, 3), 9u);
  EXPECT_EQ(mn::survivors(8, 3), 2u);
  EXPECT_EQ(mn::survivors(2, 3), 1u);
}

/// A run of epochs with these test accuracies, and losses.
SweepRun runOf(int64_t number, std::vector<double> accuracies,
               double loss = 1) {
  SweepRun run;
  run.number = number;
  run.options.train.epochs = int64_t(accuracies.size());
  for (double accuracy : accuracies)
    run.result.epochs.push_back(
        {run.result.count() + 1, loss, 0.5, {mn::testSet, loss, accuracy}});
  return run;
}

std::vector<int64_t> numbers(const std::vector<SweepRun *> &runs) {
  std::vector<int64_t> found;
  for (const SweepRun *run : runs)
    found.push_back(run->number);
  return found;
}

TEST(SweepRanking, AccuracyThenLossThenNumber) {
  std::vector<SweepRun> runs = {
      runOf(1, {0.8, 0.5}),    runOf(2, {0.5, 0.9}, 2), runOf(3, {0.5, 0.9}, 1),
      runOf(4, {0.5, 0.9}, 1), runOf(5, {0.7, 0.95}),   runOf(6, {0.9})};
  runs[4].result.failure = "a loss that is not finite";
  const double nan = std::nan("");
  runs.push_back(runOf(7, {0.99, 0.99}, nan));
  std::vector<SweepRun *> all;
  for (SweepRun &run : runs)
    all.push_back(&run);
  EXPECT_EQ(numbers(mn::ranked(all)), Rungs({3, 4, 6, 2, 1, 5, 7}));
  // As they were after the first epoch, also the one that failed since.
  EXPECT_EQ(numbers(mn::ranked(all, 1)), Rungs({6, 1, 5, 3, 4, 2, 7}));
  EXPECT_EQ(numbers(mn::ranked(all, 2)), Rungs({5, 3, 4, 2, 1, 6, 7}));
}

TEST(SweepRanking, LossesWhereThereAreNoClasses) {
  SweepRun a = runOf(1, {-1}, 0.5), b = runOf(2, {-1}, 0.25);
  EXPECT_EQ(numbers(mn::ranked({&a, &b})), Rungs({2, 1}));
  for (SweepRun *run : {&a, &b}) // and where nothing is tested
    run->result.epochs[0].evaluation.set = mn::trainSet;
  EXPECT_EQ(numbers(mn::ranked({&a, &b})), Rungs({2, 1}));
}

TEST(SweepResults, LinesReadBackTheSame) {
  SweepRun run = runOf(3, {0.1 + 0.2, -1}, 1.0 / 3);
  run.result.digest = "0123456789abcdef";
  run.result.device = "a \"device\"";
  run.result.seconds = 0.1;
  run.result.epochs[1].trainLoss = INFINITY;
  run.result.epochs[1].evaluation.loss = NAN;
  run.result.epochs[0].evaluation.set = mn::validationSet;
  run.chosen = {{"lr", "1e-05"}, {"schedule", "cosine,lr-min=0"}};
  for (const char *failure : {"", "expected a finite loss"})
    for (bool dropped : {false, true}) {
      run.result.failure = failure;
      run.result.dropped = dropped && !*failure;
      run.options.train.epochs = dropped ? 9 : 2;
      const std::string line = mn::jsonText(mn::jsonOf(run));
      SweepRun read = run;
      read.result = {};
      ASSERT_TRUE(mn::readResult(mn::Json::parse(line), read.result)) << line;
      EXPECT_EQ(mn::jsonText(mn::jsonOf(read)), line);
      EXPECT_EQ(read.result.dropped, run.result.dropped);
    }
  const mn::Json json = mn::jsonOf(run);
  EXPECT_EQ(json.at("options").dump(),
            "{\"lr\":1e-05,\"schedule\":\"cosine,lr-min=0\"}");
}

TEST(SweepResults, RowsHaveAllOptions) {
  std::vector<SweepRun> runs = {runOf(1, {0.5}), runOf(2, {-1})};
  runs[0].chosen = {{"lr", "0.1"}, {"schedule", "cosine,lr-min=0"}};
  runs[1].chosen = {{"seed", "4"}};
  runs[0].result.digest = "d";
  runs.push_back(runs[1]);
  runs[2].number = 3;
  runs[2].result = {};
  runs[2].result.failure = "a loss";
  EXPECT_EQ(mn::csvOf(runs),
            "run,state,lr,schedule,seed,epoch,train_loss,train_accuracy,"
            "test_loss,test_accuracy,digest\n"
            "1,finished,0.1,\"cosine,lr-min=0\",,1,1.0,0.5,1.0,0.5,d\n"
            "2,finished,,,4,1,1.0,0.5,1.0,,\n"
            "3,failed,,,4,,,,,,\n");
}

TEST(SweepJobs, GrowWhileSomethingIsGained) {
  // Rows a second of 1, 2, 4, ... at a time.
  const struct {
    int64_t most;
    std::vector<double> rates;
    int64_t found;
  } cases[] = {{64, {100, 200, 390, 500, 505}, 8},
               {64, {100, 105}, 1},
               {64, {100, 90}, 1},
               {4, {100, 200, 400}, 4},
               {6, {100, 200, 400, 500}, 6},
               {1, {}, 1},
               {64, {0, 0}, 2}};
  for (const auto &test : cases) {
    mn::JobSearch search = mn::JobSearch::upTo(test.most);
    for (double rate : test.rates) {
      EXPECT_FALSE(search.done()) << rate;
      search.measured(rate);
    }
    if (test.rates.empty() || test.rates[0] > 0) {
      EXPECT_TRUE(search.done()) << test.found;
    }
    if (search.done()) {
      EXPECT_EQ(search.jobs(), test.found);
    }
  }
  mn::JobSearch fixed = mn::JobSearch::fixed(7);
  fixed.measured(1);
  EXPECT_EQ(fixed.jobs(), 7);
}

TEST(SweepJobs, NoMoreThanFit) {
  mn::JobSearch search = mn::JobSearch::upTo(64);
  search.measured(100);
  search.measured(200);
  EXPECT_EQ(search.jobs(), 4);
  search.limit(3);
  EXPECT_EQ(search.jobs(), 3);
  EXPECT_TRUE(search.done());
  search.limit(0);
  EXPECT_EQ(search.jobs(), 1);
}

TEST(SweepJobs, ThroughputCountsPartsOfSegments) {
  mn::Throughput seen;
  seen.add(0, 1.0, 1.0, 100); // from 0 to 1
  seen.add(0, 2.0, 1.0, 100);
  seen.add(1, 1.5, 0.5, 10); // from 1 to 1.5
  EXPECT_DOUBLE_EQ(seen.between(0.5, 1.5), 50 + 50 + 10);
  EXPECT_DOUBLE_EQ(seen.between(1, 2), 110);
  EXPECT_DOUBLE_EQ(seen.between(5, 6), 0);
  EXPECT_TRUE(seen.allAfter(1.5, 2));
  EXPECT_FALSE(seen.allAfter(1.6, 2));
  EXPECT_TRUE(seen.allAfter(1.6, 1));
  seen.clear();
  EXPECT_FALSE(seen.allAfter(0, 1));
}

} // namespace
