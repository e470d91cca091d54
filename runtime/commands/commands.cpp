//===- commands.cpp - the table of commands -------------------------------===//

#include "commands/options.h"
#include "core/executor.h"
#include <algorithm>
#include <string_view>

namespace mn {

/// Defined by mnistrt_train. Weak: only programs whose model trains ask the
/// linker for it.
extern "C" __attribute__((weak, visibility("hidden"))) const Command *
mn_train_command();
/// Likewise of mnistrt_sweep.
extern "C" __attribute__((weak, visibility("hidden"))) const Command *
mn_sweep_command();
/// Likewise of mnistrt_gradcheck.
extern "C" __attribute__((weak, visibility("hidden"))) const Command *
mn_gradcheck_command();

std::vector<Flag> with(std::vector<Flag> flags, const std::vector<Flag> &more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

const std::vector<Flag> deviceFlags = {
    {"device", "N", "GPU to run on (default 0)", &Options::device, 0, "cuda"},
    {"no-graph", nullptr, "launch kernels one by one, not as a CUDA graph",
     &Options::noGraph, 0, "cuda"},
};

const std::vector<Flag> transformFlags = {
    {"scale", "X", "multiply inputs by X (default: 1/255 for pixels, else 1)",
     &Transform::scale, -1e300},
    {"mean", "X", "then subtract X (default 0)", &Transform::mean, -1e300},
    {"std", "X", "then divide by X (default 1)", &Transform::deviation, 1e-30},
    {"invert", nullptr, "invert pixels: 255 - x", &Transform::invert},
};

const std::vector<Flag> rankFlags = {
    {"timeout", "SECONDS",
     "how long ranks of a data-parallel training wait for each other (default "
     "20)",
     &TrainOptions::timeout, 1},
};

namespace {

const std::vector<Flag> scoreFlags = {
    {"check-nan", nullptr,
     "stop at the first step that computes NaN or infinity",
     &Options::checkNan},
    {"batch", "N", "use the plan of batch size N", &Options::batch, 1},
    {"scores", "KIND",
     "what the outputs are: auto (default), logits, log-probabilities or "
     "probabilities",
     &Options::scores},
};

const std::vector<Flag> setFlags = {
    {"split", "NAME", "which part of the data set: test (default) or train",
     &Options::split},
    {"limit", "N", "use only the first N rows", &Options::limit, 1},
};

const Flag json = {"json", nullptr, "print the results as JSON",
                   &Options::json};

} // namespace

std::vector<Command> commandsOf(const Model &model) {
  std::vector<Command> all = {
      {"infer", "compute the outputs for some inputs", "INPUT",
       "a .npy, .png, .pb (ONNX tensor) or IDX file; NAME=FILE where the model "
       "has several inputs; a folder of .png files; or a data set: a folder, "
       "or "
       "'digits'",
       true,
       with(with({{"output", "FILE",
                   "write the output to a .npy file, - is standard output; "
                   "several outputs to FILE.0.npy, FILE.1.npy, ...",
                   &Options::output},
                  json,
                  {"top", "N", "classes to print for each row (default 3)",
                   &Options::top, 1}},
                 setFlags),
            with(with(transformFlags, scoreFlags), deviceFlags)),
       infer},
      {"eval", "compute loss and accuracy, or the errors of values", nullptr,
       nullptr, false,
       with(
           with({{"data", "DIR",
                  "a folder with MNIST's or CIFAR's files, with test_x.npy and "
                  "test_y.npy, or with test/CLASS/*.png; X.npy,Y.npy; or "
                  "'digits', which is synthetic",
                  &Options::data},
                 {"targets", "KIND",
                  "what rows are compared with: class, values, or auto "
                  "(default), by which integers are classes",
                  &Options::targets},
                 {"details", nullptr,
                  "also print recall and precision of each class, the "
                  "confusion matrix, and how well probabilities can be "
                  "believed",
                  &Options::details},
                 {"top", "N",
                  "count also rows whose class is among the N most probable "
                  "(default 3)",
                  &Options::top, 1},
                 {"wrong", "DIR",
                  "write the rows that are most wrong as pictures",
                  &Options::wrong},
                 {"wrong-limit", "N", "at most so many pictures (default 25)",
                  &Options::wrongLimit, 1},
                 json},
                setFlags),
           with(with(transformFlags, scoreFlags), deviceFlags)),
       eval},
      {"verify", "compare outputs with those of ONNX test data", "DIR",
       "a folder of test_data_set_* folders, or one of them", false,
       with(
           {{"rtol", "X", "relative tolerance (default 0.001)", &Options::rtol},
            {"atol", "X", "absolute tolerance (default 1e-7)", &Options::atol},
            {"batch", "N", "use the plan of batch size N", &Options::batch, 1},
            json},
           deviceFlags),
       verify},
      {"bench", "measure latency and throughput of each plan", nullptr, nullptr,
       false,
       with(
           {{"batch", "N", "only the plan of batch size N", &Options::batch, 1},
            {"warmup", "N", "runs before measuring (default 10)",
             &Options::warmup},
            {"repeat", "N", "runs to measure (default: for --seconds)",
             &Options::repeat, 1},
            {"seconds", "X", "seconds to measure each figure for (default 1)",
             &Options::seconds},
            json},
           deviceFlags),
       bench},
      {"profile", "measure the time of each step", nullptr, nullptr, false,
       with(
           {{"batch", "N", "the plan of batch size N (default: the largest)",
             &Options::batch, 1},
            {"plan", "NAME",
             "infer (default), eval or train; weights do not change",
             &Options::plan},
            {"repeat", "N",
             "number of runs; times are their medians (default 20, of a "
             "timeline 320)",
             &Options::repeat, 1},
            {"trace", "FILE",
             "write a trace for Perfetto or chrome://tracing, with a track for "
             "each stream; - is standard output",
             &Options::trace},
            {"timeline", "FILE",
             "measure instead each kernel in the plan as it runs, beside "
             "others, of a program compiled with mnistc --timestamps, and "
             "write a trace of it; - is standard output",
             &Options::timeline},
            {"report", "FILE",
             "write a page (HTML) that shows the plan and these times; - is "
             "standard output",
             &Options::report},
            json},
           with(rankFlags, deviceFlags)),
       profile},
      {"info",
       "describe the model, its plans and their steps",
       nullptr,
       nullptr,
       false,
       {json},
       info},
      {"completion",
       "print a shell's completion of this command line",
       "SHELL",
       "bash, zsh or fish; in bash: source <(PROGRAM completion bash)",
       false,
       {},
       completion},
  };
  if (mn_train_command)
    all.insert(all.begin() + 2, *mn_train_command());
  if (mn_sweep_command)
    all.insert(all.begin() + 3, *mn_sweep_command());
  if (mn_gradcheck_command)
    all.push_back(*mn_gradcheck_command());
  const std::string_view target = model.target;
  for (Command &command : all)
    std::erase_if(command.flags, [&](const Flag &flag) {
      return flag.target && flag.target != target;
    });
  return all;
}

Status openExecutor(const Model &model, const Options &options,
                    std::unique_ptr<Executor> &executor, Ranks *ranks) {
  ExecutorOptions open;
  open.ranks = ranks;
  const bool given = std::find(options.given.begin(), options.given.end(),
                               "device") != options.given.end();
  // The ranks of a host have a GPU each; threads were given theirs.
  open.device = ranks && !given && options.train.devices.empty()
                    ? ranks->place().localRank
                    : static_cast<int>(options.device);
  open.graph = !options.noGraph;
  return Executor::open(model, open, executor);
}

} // namespace mn
