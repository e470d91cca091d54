//===- command-line.cpp - what options say and programs print -------------===//

#include "commands/options.h"
#include "commands/profile.h"
#include "core/choices.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include "train/run_options.h"
#include <gtest/gtest.h>
#include <sstream>

namespace {

TEST(Choices, DistanceCountsEdits) {
  const struct {
    const char *a, *b;
    size_t distance;
  } cases[] = {
      {"", "", 0},           {"", "abc", 3},           {"epochs", "epoch", 1},
      {"train", "trian", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
      {"seed", "speed", 1}};
  for (const auto &test : cases) {
    EXPECT_EQ(mn::editDistance(test.a, test.b), test.distance) << test.a;
    EXPECT_EQ(mn::editDistance(test.b, test.a), test.distance) << test.b;
  }
}

TEST(Choices, TheNearestIsSuggested) {
  const mn::Choices names = {"epochs", "schedule",   "no-shuffle",
                             "lr",     "checkpoint", "checkpoint-every"};
  const struct {
    const char *word, *nearest;
  } cases[] = {{"epoch", "epochs"},
               {"shedule", "schedule"},
               {"chekpoint", "checkpoint"},
               {"no-shufle", "no-shuffle"},
               {"check", "checkpoint"},
               {"rl", ""},
               {"banana", ""},
               {"", ""},
               {"checkpoint-evry", "checkpoint-every"}};
  for (const auto &test : cases)
    EXPECT_EQ(mn::nearest(test.word, names), test.nearest) << test.word;
  EXPECT_EQ(mn::nearest(std::string(100000, 'e'), names), "");
  EXPECT_EQ(mn::didYouMean("epoch", names, "--"), "; did you mean '--epochs'?");
  size_t number;
  EXPECT_EQ(mn::choose("--split", "tests", {"test", "train"}, number).message,
            "expected '--split' to be test or train, got 'tests'; did you mean "
            "'test'?");
  EXPECT_TRUE(mn::choose("--split", "train", {"test", "train"}, number).ok());
  EXPECT_EQ(number, 1u);
}

TEST(Terminal, TextIsBrokenAtBlanks) {
  EXPECT_EQ(mn::wrapped("one two three four", 9, 2),
            "one two\n  three\n  four");
  EXPECT_EQ(mn::wrapped("accuracy 93.5 %; rest", 13), "accuracy\n93.5 %; rest");
  EXPECT_EQ(mn::wrapped("one two", 0), "one two");
  EXPECT_EQ(mn::wrapped("unbreakable word", 4), "unbreakable\nword");
  EXPECT_EQ(mn::shortened("größer", 6), "größer");
  EXPECT_EQ(mn::shortened("größere", 6), "grö...");
  EXPECT_EQ(mn::textWidth("größer"), 6u);
}

TEST(Terminal, TablesFit) {
  const std::vector<std::vector<std::string>> rows = {
      {">step", "name", "shape", ">us", "ops", "nodes"},
      {"1", std::string(30, 'n'), "[64, 128]", "123456.78",
       std::string(40, 'o'), std::string(300, 'x')},
      {"2", "größe", "[64]", "1.00", "add", ""}};
  const std::string whole = mn::table(rows, 0);
  EXPECT_NE(whole.find(std::string(300, 'x')), std::string::npos);
  for (int width : {200, 80, 60, 40}) {
    std::istringstream lines(mn::table(rows, width));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(mn::textWidth(line), size_t(width)) << line;
    const std::string text = mn::table(rows, width);
    EXPECT_NE(text.find("123456.78"), std::string::npos) << text;
    EXPECT_EQ(text.find("left out") != std::string::npos, width < 80) << text;
  }
}

TEST(Trace, HasATrackForEachStream) {
  mn::Step steps[3] = {};
  const int streams[] = {0, 2, 1};
  std::vector<mn::StepTime> times;
  for (int i = 0; i < 3; ++i) {
    steps[i].name = "step", steps[i].ops = "add", steps[i].nodes = "n";
    steps[i].shape = "[1]", steps[i].implementation = "kernel";
    steps[i].stream = streams[i];
    times.push_back({1, double(i)});
  }
  mn::Plan plan = {};
  plan.name = "train_8", plan.steps = steps, plan.stepCount = 3;
  mn::Model model = {};
  model.name = "m";
  const mn::Json trace = mn::traceOf(model, plan, times);
  std::vector<int> tracks, named;
  for (const mn::Json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      tracks.push_back(event["tid"]);
    else if (event["name"] == "thread_name")
      named.push_back(event["tid"]);
  EXPECT_EQ(tracks, std::vector<int>({0, 2, 1}));
  EXPECT_EQ(named, std::vector<int>({0, 1, 2}));
}

TEST(RunOptions, AreTakenWhereTheCommandLineIsSilent) {
  mn::Options first;
  first.data = "digits", first.limit = 600, first.train.epochs = 7;
  first.train.lr = 0.1, first.train.noShuffle = true;
  first.transform.scale = 1.0 / 3;
  const mn::OptionTexts kept = mn::textsOf(first);
  EXPECT_EQ(mn::commandText(kept),
            "--data=digits --limit=600 --epochs=7 --no-shuffle "
            "--scale=0.3333333333333333 --lr=0.1");
  mn::Options later;
  later.given = {"epochs", "seed"};
  later.train.epochs = 9;
  std::vector<std::string> overridden;
  ASSERT_TRUE(mn::takeOptions(kept, later, overridden).ok());
  EXPECT_EQ(overridden, std::vector<std::string>({"--epochs=9 (7 in the "
                                                  "checkpoint)"}));
  later.train.epochs = 7;
  EXPECT_EQ(mn::textsOf(later), kept);
  EXPECT_EQ(later.transform.scale, 1.0 / 3);
}

TEST(RunOptions, OfADamagedCheckpointAreRefused) {
  const struct {
    const char *name, *text;
  } cases[] = {{"epochs", "x"}, {"epochs", "-1"},    {"epochs", ""},
               {"seed", "1.5"}, {"lr", "nan"},       {"lr", "-1"},
               {"std", "0"},    {"no-shuffle", "1"}, {"limit", "-3"}};
  for (const auto &test : cases) {
    mn::OptionTexts kept = mn::textsOf({});
    kept[test.name] = test.text;
    mn::Options options;
    std::vector<std::string> overridden;
    const mn::Status status = mn::takeOptions(kept, options, overridden);
    EXPECT_EQ(status.code, mn::Code::badData) << test.name << test.text;
    EXPECT_NE(status.message.find(test.name), std::string::npos);
  }
}

} // namespace
