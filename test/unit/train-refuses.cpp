//===- train-refuses.cpp - runs that end before their first step ----------===//

#include "train-run.h"
#include <functional>

namespace {

using test::Folder;
using trainrun::options;
using trainrun::Trained;

TEST(Trainer, RefusesBeforeTheFirstStep) {
  Folder folder;
  const std::string there = folder / "checkpoint";
  mn::Options first = options();
  first.train.checkpoint = there;
  first.train.epochs = 1;
  ASSERT_TRUE(Trained(first).status.ok());
  struct {
    const char *expected;
    mn::Code code;
    std::function<void(mn::Options &)> change;
  } cases[] = {
      {"expected '--data=DIR'", mn::Code::usage,
       [](mn::Options &o) { o.data = ""; }},
      {"expected '--epochs' to be at most 281474976710656, got",
       mn::Code::usage, [](mn::Options &o) { o.train.epochs = INT64_MAX; }},
      {"expected '--batch' to be one of 16, got 5", mn::Code::usage,
       [](mn::Options &o) { o.batch = 5; }},
      {"expected '--init' to be", mn::Code::usage,
       [](mn::Options &o) { o.train.init = "x"; }},
      {"expected '--schedule' to be constant, step,", mn::Code::usage,
       [](mn::Options &o) { o.train.schedule = "x"; }},
      {"got '--beta1'", mn::Code::usage,
       [](mn::Options &o) { o.train.beta1 = .5; }},
      {"expected '--checkpoint=DIR' with '--resume'", mn::Code::usage,
       [](mn::Options &o) { o.train.resume = true; }},
      {"cannot write", mn::Code::badData,
       [](mn::Options &o) { o.train.save = "/nowhere/x.onnx"; }},
      {"expected '--save' and '--best' to be different files", mn::Code::usage,
       [&](mn::Options &o) {
         o.train.save = folder / "a", o.train.best = folder / "./a";
       }},
      {"expected '--log' and '--checkpoint' to be different", mn::Code::usage,
       [&](mn::Options &o) {
         o.train.checkpoint = folder.path;
         o.train.log = folder / "checkpoint.safetensors";
       }},
      {"got a folder", mn::Code::badData,
       [](mn::Options &o) { o.train.best = "/tmp"; }},
      {"partial ones are dropped", mn::Code::badData,
       [](mn::Options &o) { o.limit = 15, o.train.dropLast = true; }},
      {"expected '--drop-last' no, as in the checkpoint, got yes",
       mn::Code::badData,
       [&](mn::Options &o) {
         o.train.checkpoint = there, o.train.resume = true;
         o.train.dropLast = true, o.given = {"drop-last"};
       }},
      {"expected one output on standard output, got '--log=-' and '--json'",
       mn::Code::usage,
       [](mn::Options &o) { o.train.log = "-", o.json = true; }},
      {"expected a file or folder for '--best', got '-'", mn::Code::usage,
       [](mn::Options &o) { o.train.best = "-"; }},
      {"training rows of 500, as in the checkpoint, got 400", mn::Code::badData,
       [&](mn::Options &o) {
         o.train.checkpoint = there, o.train.resume = true;
         o.limit = 400, o.given = {"limit"};
       }}};
  for (const auto &test : cases) {
    mn::Options changed = options();
    test.change(changed);
    const Trained run(changed);
    EXPECT_EQ(run.status.code, test.code) << test.expected;
    EXPECT_NE(run.status.message.find(test.expected), std::string::npos)
        << test.expected << "\n"
        << run.status.message;
    EXPECT_EQ(run.out, "") << test.expected;
  }
  first.train.resume = true;
  const Trained other(first, trainmodel::renamed("other"));
  EXPECT_NE(other.status.message.find(
                "expected a checkpoint of model 'other', got one of "
                "'softmax'"),
            std::string::npos)
      << other.status.message;
}

} // namespace
