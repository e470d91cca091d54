//===- train.cpp - app train ----------------------------------------------===//
//
// The options; train/trainer.h does the work.
//
//===----------------------------------------------------------------------===//

#include "core/array.h"
#include "ranks/launch.h"
#include "ranks/open_ranks.h"
#include "ranks/thread_ranks.h"
#include "train/rate_finder.h"
#include "train/run_options.h"
#include "train/trainer.h"
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace mn {

namespace {

using T = TrainOptions;

/// A thread a GPU.
Status trainOnDevices(const Model &model, const Options &options) {
  Launch launch;
  MN_TRY(findLaunch(launch));
  if (launch.place.count > 1)
    return Status::error(
        Code::usage,
        text("expected '--devices' or a launcher, since %s gives each of its "
             "%d processes a GPU, got both",
             launch.launcher, launch.place.count));
  std::vector<int64_t> devices;
  MN_TRY(readDevices(options.train.devices, devices));
  const size_t count = devices.size();
  if (count > 1 && !isDataParallel(model))
    return Status::error(Code::usage,
                         text("expected a program compiled with "
                              "'--data-parallel' to train on %zu GPUs, got one "
                              "without",
                              count));
  setUpRanks();
  const auto ranks = makeThreadRanks(
      static_cast<int>(count), static_cast<double>(options.train.timeout));
  const auto signals = std::make_shared<StopSignals>();
  std::vector<Status> ends(count);
  std::vector<std::thread> threads;
  // The others wait for the one that has something to say.
  const auto sayIfFirst = [](const Status &end) {
    if (!end.message.empty())
      sayNow(end);
  };
  for (size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      Options own = options;
      own.device = devices[i];
      ranks[i]->giveUp = sayIfFirst;
      Trainer trainer(model, own, *ranks[i]);
      trainer.stopAt(signals);
      ends[i] = trainer.run([&, i](std::unique_ptr<Executor> &executor) {
        return openExecutor(model, own, executor, ranks[i].get());
      });
      if (ends[i].code == Code::rankLost)
        sayIfFirst(ends[i]);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &end : ends)
    if (!end.message.empty())
      return end;
  return ends.front();
}

Status runTraining(const Model &model, const Options &options) {
  if (options.train.lrFind && !options.train.devices.empty())
    return Status::error(Code::usage,
                         "expected one of '--lr-find' and '--devices', got "
                         "both; '--device' chooses a GPU");
  if (!options.train.devices.empty())
    return trainOnDevices(model, options);
  return withRanks(model, options.train.timeout, [&](Ranks *ranks) {
    const auto open = [&](std::unique_ptr<Executor> &executor) {
      return openExecutor(model, options, executor, ranks);
    };
    if (!ranks)
      return options.train.lrFind ? findRate(model, options, open)
                                  : Trainer(model, options).run(open);
    if (options.train.lrFind)
      return ranks->agree(Status::error(
          Code::usage, text("expected one rank for '--lr-find', got %d",
                            ranks->place().count)));
    Trainer trainer(model, options, *ranks);
    const Status status = trainer.run(open);
    sayNow(status);
    return Status::error(status.code, "");
  });
}

const std::vector<Flag> runFlags = {
    {"data", "DIR",
     "the data to train and test on: a folder with MNIST's or CIFAR's files, "
     "with train_x.npy, "
     "train_y.npy, test_x.npy and test_y.npy, or with train/CLASS/*.png and "
     "test/CLASS/*.png; X.npy,Y.npy; or 'digits', which is synthetic",
     &Options::data},
    {"limit", "N", "train on only the first N rows", &Options::limit, 1},
    {"test-limit", "N", "test on only the first N rows", &T::testLimit, 1},
    {"epochs", "N", "number of passes over the data (default 5)", &T::epochs,
     1},
    {"batch", "N", "use the plan of batch size N (default: the largest)",
     &Options::batch, 1},
    {"seed", "N", "seed of shuffling, dropout and --init (default 1)",
     &T::seed},
    {"validation", "X",
     "keep this part of the training rows aside (0 to 1, such as 0.1), and "
     "evaluate epochs on it; the test set is then for the end",
     &T::validation},
    {"augment", "LIST",
     "change pictures at random before each step: some of shift:2 (pixels), "
     "rotate:10 (degrees), scale:0.1, flip",
     &T::augment},
    {"class-weights", "LIST",
     "how much a row of each class counts: balanced (as much as all rows of "
     "any "
     "other class together) or numbers such as 1,2,0.5; of a program compiled "
     "with --class-weights",
     &T::classWeights},
    {"no-shuffle", nullptr, "train on the rows in their order", &T::noShuffle},
    {"drop-last", nullptr, "skip the last batch of an epoch if it is not full",
     &T::dropLast},
};

const std::vector<Flag> recipeFlags = {
    {"lr", "X", "learning rate", &T::lr},
    {"momentum", "X", "momentum (momentum, nesterov)", &T::momentum},
    {"dampening", "X", "dampening of momentum, as in PyTorch", &T::dampening},
    {"weight-decay", "X",
     "weight decay; decoupled with adamw, else added to the gradients",
     &T::weightDecay},
    {"beta1", "X", "decay of the mean gradient (adam, adamw)", &T::beta1},
    {"beta2", "X", "decay of the mean squared gradient (adam, adamw, rmsprop)",
     &T::beta2},
    {"epsilon", "X", "added to the denominator (adam, adamw, rmsprop, adagrad)",
     &T::epsilon},
    {"clip-norm", "X", "maximum norm of all gradients together", &T::clipNorm,
     1e-300},
    {"clip-value", "X", "maximum absolute value of a gradient's elements",
     &T::clipValue, 1e-300},
    {"schedule", "NAME[,OPTION=X]...",
     "learning rate schedule: constant; step,gamma=0.1,every=1; "
     "cosine,lr-min=0; one-cycle,pct-start=0.3,div=25,final-div=1e4; each with "
     "warm-up=STEPS",
     &T::schedule},
};

/// What a resumed run does not take from its checkpoint.
const std::vector<Flag> startFlags = {
    {"lr-find", nullptr,
     "try a hundred learning rates, a step each, and print one to begin with; "
     "nothing is kept",
     &T::lrFind},
    {"init", "KIND",
     "initial weights: file (default; those of the model), he, xavier, torch "
     "or keras",
     &T::init},
    {"device-data", "BYTES",
     "keep at most this much data on the GPU, and stream more (default: what "
     "is free)",
     &T::deviceData, 0, "cuda"},
    {"device-data", "BYTES",
     "read at most this much data without threads that fill batches of it "
     "(default: all)",
     &T::deviceData, 0, "cpu"},
    {"devices", "LIST",
     "GPUs to train on together: 0,1 or all; with --data-parallel", &T::devices,
     0, "cuda"},
    {"early-stop", "N",
     "stop when no epoch was better than the best for N epochs", &T::earlyStop,
     1},
    {"max-time", "TIME", "stop after a time, such as 90s, 1.5m or 2h",
     &T::maxTime},
};

const std::vector<Flag> outputFlags = {
    {"save", "FILE", "save the trained model as ONNX at the end", &T::save},
    {"best", "FILE",
     "save the model after the epoch with the best result on the validation "
     "or test set",
     &T::best},
    {"checkpoint", "DIR", "write a checkpoint to DIR after each epoch",
     &T::checkpoint},
    {"checkpoint-every", "N", "also write a checkpoint every N steps",
     &T::checkpointEvery, 1},
    {"resume", nullptr,
     "continue from the checkpoint, if there is one, with its options",
     &T::resume},
    {"log", "FILE", "log events as JSON lines; - is standard output", &T::log},
    {"tensorboard", "DIR", "write TensorBoard event files", &T::tensorboard},
    {"plot", "FILE", "plot loss and accuracy as SVG; - is standard output",
     &T::plot},
    {"report", "FILE",
     "write a page (HTML) with curves, mistakes and what runs, at the end; - "
     "is "
     "standard output",
     &T::report},
    {"csv", "FILE", "write a table with a row for each epoch", &T::csv},
    {"report-every", "N", "report every N steps (default: every 5 seconds)",
     &T::reportEvery, 1},
    {"json", nullptr,
     "print a summary as JSON at the end; progress goes to standard error",
     &Options::json},
    {"check-nan", nullptr,
     "check the results of every step, and stop at the first NaN or infinity; "
     "slow",
     &Options::checkNan},
};

} // namespace

Status readDevices(const std::string &list, std::vector<int64_t> &devices) {
  int count = 0;
  MN_TRY(countDevices(count));
  if (list == "all") {
    for (int i = 0; i < count; ++i)
      devices.push_back(i);
    return Status::success();
  }
  std::stringstream rest(list);
  for (std::string word; std::getline(rest, word, ',');) {
    int64_t number = -1;
    const char *end = word.data() + word.size();
    const auto result = std::from_chars(word.data(), end, number);
    const bool good = result.ec == std::errc() && result.ptr == end &&
                      number >= 0 && number < count;
    if (!good || std::count(devices.begin(), devices.end(), number) != 0)
      return Status::error(Code::usage,
                           text("expected '--devices' to be all, or different "
                                "numbers below %d joined by commas, got '%s'",
                                count, list.c_str()));
    devices.push_back(number);
  }
  return Status::success();
}

extern "C" const Command *mn_train_command();

const std::vector<Flag> &runOptions() {
  static const std::vector<Flag> flags =
      with(with(runFlags, transformFlags), recipeFlags);
  return flags;
}

const Flag *trainFlag(std::string_view name) {
  for (const Flag &flag : mn_train_command()->flags)
    if (flag.name == name)
      return &flag;
  return nullptr;
}

extern "C" const Command *mn_train_command() {
  static const Command command = {
      "train",
      "train the model on labelled data",
      nullptr,
      nullptr,
      false,
      with(with(with(runOptions(), startFlags), rankFlags),
           with(outputFlags, deviceFlags)),
      runTraining};
  return &command;
}

} // namespace mn
