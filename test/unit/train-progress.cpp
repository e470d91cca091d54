//===- train-progress.cpp - how far the training is -----------------------===//

#include "reports/progress.h"
#include "terminal-screen.h"
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using mn::Progress;
using mn::TrainState;
using test::Pipe;

const TrainState state = {.epoch = 3,
                          .epochs = 5,
                          .step = 469,
                          .steps = 938,
                          .loss = 0.12345,
                          .accuracy = 0.98125,
                          .imagesPerSecond = 1234567,
                          .secondsLeft = 12.4};

TEST(Progress, LineFitsTheTerminal) {
  EXPECT_EQ(mn::progressLine(state, 120, false),
            "epoch 3/5  [==============>               ]  469/938  loss 0.1235"
            "  98.12 %  1.23M images/s  0:12 left");
  EXPECT_EQ(mn::progressLine(state, 80, false),
            "epoch 3/5  [====>    ]  469/938  loss 0.1235  98.12 %  1.23M "
            "images/s  0:12 left");
  EXPECT_EQ(mn::progressLine(state, 65, false),
            "epoch 3/5  loss 0.1235  98.12 %  1.23M images/s  0:12 left");
  EXPECT_EQ(mn::progressLine(state, 40, false),
            "epoch 3/5  loss 0.1235  98.12 %");
  EXPECT_EQ(mn::progressLine(state, 12, false), "epoch 3/5");
  EXPECT_EQ(mn::progressLine(state, 5, false), "epoch");
  for (int width = 0; width < 200; ++width)
    EXPECT_LE(mn::progressLine(state, width, false).size(), size_t(width));
}

TEST(Progress, WhatIsNotKnownIsNotSaid) {
  EXPECT_EQ(mn::progressLine({.loss = 2}, 60, false),
            "epoch 1/1  [                             ]  0/1  loss 2.0000");
}

TEST(Progress, Report) {
  EXPECT_EQ(mn::reportLine(state),
            "epoch 3/5, step 469/938: loss 0.1235, accuracy 98.12 %, 1.23M "
            "images/s, 0:12 left");
}

TEST(Progress, Durations) {
  EXPECT_EQ(mn::durationText(0.4), "0:00");
  EXPECT_EQ(mn::durationText(59.6), "1:00");
  EXPECT_EQ(mn::durationText(3723), "1:02:03");
  EXPECT_EQ(mn::durationText(176523), "2 d 01:02:03");
  EXPECT_EQ(mn::durationText(1e300), "1000 d 00:00:00");
}

TEST(Progress, Rates) {
  EXPECT_EQ(mn::rateText(950), "950");
  EXPECT_EQ(mn::rateText(999.7), "1.00k");
  EXPECT_EQ(mn::rateText(83210), "83.2k");
  EXPECT_EQ(mn::rateText(832100), "832k");
  EXPECT_EQ(mn::rateText(1240000), "1.24M");
}

TEST(Progress, DrawsAtMostTenTimesASecond) {
  Pipe pipe;
  Progress progress({.file = pipe.ends[1], .terminal = true, .width = 90});
  progress.update(state, 0);
  EXPECT_EQ(pipe.take(), "\r" + mn::progressLine(state, 89, false) + "\x1b[K");
  TrainState later = state;
  later.step = 900;
  progress.update(later, 0.05);
  EXPECT_EQ(pipe.take(), "");
  progress.update(later, 0.11);
  EXPECT_EQ(pipe.take(), "\r" + mn::progressLine(later, 89, false) + "\x1b[K");
}

TEST(Progress, LinesStayAboveTheLiveOne) {
  Pipe pipe;
  Progress progress({.file = pipe.ends[1], .terminal = true, .width = 60});
  progress.update(state, 0);
  pipe.take();
  progress.print("saved");
  EXPECT_EQ(pipe.take(),
            "\r\x1b[Ksaved\n" + mn::progressLine(state, 59, false));
  progress.clear();
  EXPECT_EQ(pipe.take(), "\r\x1b[K");
  progress.clear();
  EXPECT_EQ(pipe.take(), "");
}

TEST(Progress, PlainLinesInAPipe) {
  Pipe pipe;
  {
    Progress progress(Progress::detect(pipe.ends[1]));
    progress.update(state, 0);
    EXPECT_EQ(pipe.take(), "");
    progress.report(state);
    EXPECT_EQ(pipe.take(), mn::reportLine(state) + "\n");
    progress.print("saved");
    EXPECT_EQ(pipe.take(), "saved\n");
  }
  EXPECT_EQ(pipe.take(), "");
}

TEST(Progress, ColoursTakeNoRoom) {
  std::string line = mn::progressLine(state, 80, true);
  EXPECT_NE(line.find("\x1b[32m"), std::string::npos);
  for (const char *code : {"\x1b[32m", "\x1b[0m"})
    line.erase(line.find(code), std::string(code).size());
  EXPECT_EQ(line, mn::progressLine(state, 80, false));
}

} // namespace
