//===- train-trainer.cpp - whole runs of a small model --------------------===//

#include "train-run.h"
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using test::contentOf;
using test::Folder;
using trainrun::options;
using trainrun::Trained;
using trainrun::trainOn;

const Trained &plainRun() {
  static const Trained run(options());
  return run;
}

TEST(Trainer, LearnsAndSaysHow) {
  const Trained &run = plainRun();
  ASSERT_TRUE(run.status.ok()) << run.status.message;
  EXPECT_NE(run.out.find("epoch 3/3: train loss"), std::string::npos)
      << run.out;
  const size_t at = run.out.rfind("accuracy ");
  EXPECT_GT(std::strtod(run.out.c_str() + at + 9, nullptr), 70) << run.out;
}

TEST(Trainer, SaysWhereTheDataLies) {
  const struct {
    int64_t deviceData;
    const char *said;
  } cases[] = {{-1, " of device memory, including the data\n"},
               {0, " of device memory, with the data streamed\n"},
               {100, " of device memory, with the data streamed\n"}};
  for (const auto &test : cases) {
    mn::Options changed = options();
    changed.train.deviceData = test.deviceData;
    changed.train.epochs = 1;
    const Trained run(changed);
    EXPECT_NE(run.out.find(test.said), std::string::npos)
        << test.deviceData << "\n"
        << run.out;
  }
}

TEST(Trainer, EveryWayOfFeedingGivesTheSameBits) {
  struct {
    const char *name;
    void (*change)(mn::Options &);
    bool same;
  } cases[] = {
      {"again", [](mn::Options &) {}, true},
      {"streamed", [](mn::Options &o) { o.train.deviceData = 0; }, true},
      {"train set alone on the device",
       [](mn::Options &o) { o.train.deviceData = 500 * 788; }, true},
      {"looking for NaN", [](mn::Options &o) { o.checkNan = true; }, true},
      {"reporting", [](mn::Options &o) { o.train.reportEvery = 3; }, true},
      {"other seed", [](mn::Options &o) { o.train.seed = 2; }, false},
      {"no shuffle", [](mn::Options &o) { o.train.noShuffle = true; }, false},
      {"drop last", [](mn::Options &o) { o.train.dropLast = true; }, false},
      {"new weights", [](mn::Options &o) { o.train.init = "he"; }, false},
      {"cosine", [](mn::Options &o) { o.train.schedule = "cosine"; }, false},
      {"rate", [](mn::Options &o) { o.train.lr = 0.01; }, false}};
  for (const auto &test : cases) {
    mn::Options changed = options();
    test.change(changed);
    const Trained run(changed);
    ASSERT_TRUE(run.status.ok()) << test.name << ": " << run.status.message;
    EXPECT_EQ(run.digest == plainRun().digest, test.same) << test.name << "\n"
                                                          << run.out;
  }
}

TEST(Trainer, ReportsComeAfterAsManyStepsAsAsked) {
  // Of 3 epochs of 32 steps; in the later ones the first is due after 1 or 2.
  mn::Options changed = options();
  changed.train.reportEvery = 3;
  const Trained run(changed);
  size_t reports = 0;
  for (int step = 1; step <= 96; ++step) {
    const std::string line = "epoch " + std::to_string((step + 31) / 32) +
                             "/3, step " + std::to_string((step - 1) % 32 + 1) +
                             "/32:";
    const bool found = run.out.find(line) != std::string::npos;
    EXPECT_EQ(found, step % 3 == 0) << line << "\n" << run.out;
    reports += found;
  }
  EXPECT_EQ(reports, 32u);
}

TEST(Trainer, AResumedRunEndsWithTheSameBits) {
  for (int every : {0, 5, 16, 31}) {
    Folder folder;
    mn::Options half = options();
    half.train.checkpoint = folder / "checkpoint";
    half.train.checkpointEvery = every;
    half.train.epochs = 2;
    ASSERT_TRUE(Trained(half).status.ok());
    // All else is as in the checkpoint.
    mn::Options rest;
    rest.train.checkpoint = half.train.checkpoint;
    rest.train.resume = true;
    rest.train.epochs = 3;
    rest.given = {"epochs"};
    const Trained run(rest);
    ASSERT_TRUE(run.status.ok()) << run.status.message;
    EXPECT_NE(run.out.find("resumed at step 64 of 96"), std::string::npos)
        << run.out;
    EXPECT_EQ(run.digest, plainRun().digest);
  }
}

/// Runs in a child process until it is killed; the exit code or -1.
int runAndKill(const mn::Options &options, int microseconds, int signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!std::freopen("/dev/null", "w", stdout))
      ::_exit(99);
    ::_exit(static_cast<int>(trainOn(trainmodel::model(), options).code));
  }
  int status = 0;
  for (int waited = 0; waited < microseconds; waited += 500) {
    if (::waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    ::usleep(500);
  }
  ::kill(child, signal);
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Trainer, AKilledRunEndsWithTheSameBits) {
  std::mt19937 random(1);
  Folder folder;
  mn::Options killed = options();
  killed.train.checkpoint = folder / "checkpoint";
  killed.train.checkpointEvery = 4;
  killed.train.resume = true;
  killed.train.save = folder / "killed.onnx";
  killed.train.epochs = 20;
  int kills = 0;
  for (int code = -1; code != 0 && kills < 200; ++kills) {
    code = runAndKill(killed, 5000 + static_cast<int>(random() % 30000),
                      kills % 4 == 3 ? SIGTERM : SIGKILL);
    ASSERT_TRUE(code == -1 || code == 0 || code == 143) << code;
  }
  const Trained last(killed); // nothing is left to do
  ASSERT_TRUE(last.status.ok()) << last.status.message;
  EXPECT_GT(kills, 3);
  mn::Options whole = options();
  whole.train.epochs = 20;
  whole.train.save = folder / "whole.onnx";
  ASSERT_TRUE(Trained(whole).status.ok());
  EXPECT_EQ(contentOf(killed.train.save), contentOf(whole.train.save));
  EXPECT_GT(contentOf(whole.train.save).size(), 31360u);
}

TEST(Trainer, SaysWhatTheCommandLineOverrides) {
  Folder folder;
  mn::Options first = options();
  first.train.checkpoint = folder / "checkpoint";
  first.train.epochs = 1;
  first.train.schedule = "cosine";
  ASSERT_TRUE(Trained(first).status.ok());
  mn::Options more;
  more.train.checkpoint = first.train.checkpoint;
  more.train.resume = true;
  more.train.epochs = 3, more.train.lr = 0.02, more.train.seed = 5;
  more.given = {"epochs", "lr", "seed"};
  const Trained run(more);
  ASSERT_TRUE(run.status.ok()) << run.status.message;
  for (const char *said :
       {"resumed at step 32 of 96", "--data=digits --limit=500",
        "overridden: --epochs=3 (1 in the checkpoint)",
        "overridden: --seed=5 (1 in the checkpoint)", "overridden: --lr=0.02 (",
        "the schedule is now that of a run of 3 epochs", "epoch 3/3:"})
    EXPECT_NE(run.out.find(said), std::string::npos) << said << "\n" << run.out;
  // What was overridden is kept for the next time.
  more.given = {};
  const Trained last(more);
  EXPECT_NE(last.out.find("--epochs=3 --batch=16 --seed=5 "), std::string::npos)
      << last.out;
  EXPECT_EQ(last.out.find("overridden"), std::string::npos) << last.out;
}

TEST(Trainer, StopsWhereItIsAskedTo) {
  Folder folder;
  mn::Options asked = options();
  asked.train.epochs = 100000;
  asked.train.checkpoint = folder / "checkpoint";
  asked.train.save = folder / "model.onnx";
  asked.train.log = folder / "log.jsonl";
  EXPECT_EQ(runAndKill(asked, 300000, SIGINT), 130);
  EXPECT_FALSE(contentOf(asked.train.save).empty());
  const std::string log = contentOf(asked.train.log);
  EXPECT_NE(log.find("\"reason\":\"signal\""), std::string::npos);
  EXPECT_NE(log.find("interrupted at step"), std::string::npos) << log;
}

TEST(Trainer, StopsAtALossThatIsNotFinite) {
  Folder folder;
  mn::Options bad = options();
  bad.train.lr = 3e38;
  bad.train.save = folder / "model.onnx";
  const Trained run(bad);
  EXPECT_EQ(run.status.code, mn::Code::numeric);
  EXPECT_NE(run.status.message.find("(epoch 1)"), std::string::npos)
      << run.status.message;
  EXPECT_TRUE(contentOf(bad.train.save).empty());
  bad.checkNan = true;
  const Trained named(bad);
  EXPECT_EQ(named.status.code, mn::Code::numeric);
  EXPECT_NE(named.status.message.find("(kernel: "), std::string::npos)
      << named.status.message;
  EXPECT_NE(named.status.message.find("of epoch 1"), std::string::npos);
}

} // namespace
