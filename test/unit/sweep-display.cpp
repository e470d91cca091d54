//===- sweep-display.cpp - what a terminal shows of a sweep ---------------===//

#include "reports/terminal.h"
#include "sweep/sweep_display.h"
#include "terminal-screen.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace {

using test::Pipe;
using test::screenOf;

mn::Progress::Options terminal(int file) {
  return {.file = file, .terminal = true, .color = false, .width = 40};
}

TEST(LiveBlock, IsDrawnOverItself) {
  Pipe pipe;
  std::string all;
  {
    mn::LiveBlock block(terminal(pipe.ends[1]));
    block.draw("one\ntwo\nthree\n");
    EXPECT_EQ(screenOf(all += pipe.take()), "one\ntwo\nthree\n");
    block.draw("1\nsecond\n");
    EXPECT_EQ(screenOf(all += pipe.take()), "1\nsecond\n");
    block.draw("1\nsecond\n"); // nothing new
    EXPECT_EQ(pipe.take(), "");
    block.print("a line that stays");
    EXPECT_EQ(screenOf(all += pipe.take()), "a line that stays\n1\nsecond\n");
    block.write("more\nof them\n");
    EXPECT_EQ(screenOf(all += pipe.take()),
              "a line that stays\nmore\nof them\n1\nsecond\n");
  }
  EXPECT_EQ(screenOf(all += pipe.take()), "a line that stays\nmore\nof them\n");
}

TEST(LiveBlock, OnlyTerminalsAreDrawnOn) {
  Pipe pipe;
  mn::LiveBlock block({.file = pipe.ends[1]});
  block.draw("one\n");
  EXPECT_EQ(pipe.take(), "");
  block.print("control \x1b[2J characters");
  EXPECT_EQ(pipe.take(), "control \\x1b[2J characters\n");
}

mn::SweepState stateOf(std::vector<mn::SweepRun> &runs) {
  mn::SweepState state;
  state.done = 2, state.runs = runs.size(), state.jobs = 2;
  state.imagesPerSecond = 123456, state.secondsLeft = 75;
  state.best = {&runs[1], &runs[0]};
  mn::TrainState now;
  now.rows = 5, now.epoch = 2, now.loss = 0.5, now.accuracy = 0.75;
  state.running = {{&runs[2], now}, {&runs[3], {}}};
  return state;
}

std::vector<mn::SweepRun> fourRuns() {
  std::vector<mn::SweepRun> runs;
  EXPECT_TRUE(mn::makeRuns({},
                           {{{"lr", "0.1"}, {"seed", "1"}, {"epochs", "3"}},
                            {{"lr", "0.01"}, {"seed", "1"}, {"epochs", "3"}},
                            {{"lr", "0.1"}, {"seed", "2"}, {"epochs", "3"}},
                            {{"lr", "0.01"}, {"seed", "2"}, {"epochs", "3"}}},
                           runs)
                  .ok());
  for (size_t i : {0, 1})
    runs[i].result.epochs.assign(
        3, {3, 1, 0.5, {mn::testSet, 0.25, 0.9 + 0.01 * double(i)}});
  return runs;
}

TEST(SweepDisplay, ShowsTheBestAndWhatTrains) {
  std::vector<mn::SweepRun> runs = fourRuns();
  const mn::SweepState state = stateOf(runs);
  const mn::SweepTable table(runs);
  EXPECT_EQ(table.live(state, 80, 24),
            "2 of 4 runs, 2 at a time, 123k images/s, 1:15 left\n"
            "run  lr    seed  epoch    loss  accuracy  \n"
            "  2  0.01  1       3/3  0.2500   91.00 %  best\n"
            "  1  0.1   1       3/3  0.2500   90.00 %  best\n"
            "  3  0.1   2       2/3  0.5000   75.00 %  trains\n"
            "  4  0.01  2       0/3                    trains\n");
  EXPECT_EQ(table.ranking(state.best, 1, 0).substr(0, 29),
            "run  lr    seed  epoch    los");
}

TEST(SweepDisplay, FitsTheTerminal) {
  std::vector<mn::SweepRun> runs = fourRuns();
  const mn::SweepState state = stateOf(runs);
  const mn::SweepTable table(runs);
  for (int height = 4; height < 12; ++height) {
    const std::string shown = table.live(state, 200, height);
    EXPECT_LT(std::count(shown.begin(), shown.end(), '\n'), height) << shown;
  }
  for (int width = 50; width < 90; ++width) {
    const std::string shown = table.live(state, width, 24);
    for (size_t begin = 0; begin < shown.size();) {
      const size_t end = shown.find('\n', begin);
      EXPECT_LT(mn::textWidth(shown.substr(begin, end - begin)), size_t(width))
          << shown;
      begin = end + 1;
    }
  }
}

} // namespace
