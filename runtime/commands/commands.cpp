//===- commands.cpp - the table of commands -------------------------------===//

#include "commands/options.h"
#include "core/executor.h"

namespace mn {

/// Defined by mnistrt_train. Weak, so that it is not linked for its own sake:
/// programs whose model trains ask the linker for it.
extern "C" __attribute__((weak, visibility("hidden"))) const Command *
mn_train_command();
/// Likewise of mnistrt_gradcheck.
extern "C" __attribute__((weak, visibility("hidden"))) const Command *
mn_gradcheck_command();

std::vector<Flag> with(std::vector<Flag> flags, const std::vector<Flag> &more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

const std::vector<Flag> deviceFlags = {
    {"device", "N", "GPU to run on", &Options::device},
    {"no-graph", nullptr, "launch kernels one by one, not as a CUDA graph",
     &Options::noGraph},
};

const std::vector<Flag> transformFlags = {
    {"scale", "X", "multiply by this (default: 1/255 for pixels, else 1)",
     &Transform::scale, -1e300},
    {"mean", "X", "then subtract this", &Transform::mean, -1e300},
    {"std", "X", "then divide by this", &Transform::deviation, 1e-30},
    {"invert", nullptr, "pixels are dark on light", &Transform::invert},
};

namespace {

const std::vector<Flag> scoreFlags = {
    {"check-nan", nullptr, "stop at the first step that gives NaN or infinity",
     &Options::checkNan},
    {"batch", "N", "use the plan of this batch size", &Options::batch, 1},
    {"scores", "KIND",
     "what the results are: auto, logits, log-probabilities, probabilities",
     &Options::scores},
};

const std::vector<Flag> setFlags = {
    {"split", "NAME", "which part of a data set: test or train",
     &Options::split},
    {"limit", "N", "take the first N rows alone (default: all)",
     &Options::limit, 1},
};

const Flag json = {"json", nullptr, "print JSON", &Options::json};

} // namespace

static std::vector<Command> allCommands() {
  std::vector<Command> all = {
      {"infer", "compute the results for some inputs", "INPUT",
       "a .npy, .png, .pb (ONNX tensor) or IDX file; NAME=FILE where the model "
       "has several inputs; or a data set: a folder, or 'digits'",
       true,
       with(with({{"output", "FILE", "write the first output to a .npy file",
                   &Options::output},
                  {"top", "N", "classes to print", &Options::top, 1}},
                 setFlags),
            with(with(transformFlags, scoreFlags), deviceFlags)),
       infer},
      {"eval", "loss and accuracy on a set of labelled images", nullptr,
       nullptr, false,
       with(with({{"data", "DIR",
                   "a folder with MNIST's files, with test_x.npy and "
                   "test_y.npy, or with test/CLASS/*.png; X.npy,Y.npy; or "
                   "'digits', which are generated",
                   &Options::data},
                  json},
                 setFlags),
            with(with(transformFlags, scoreFlags), deviceFlags)),
       eval},
      {"verify", "compare with the results in an ONNX test folder", "DIR",
       "a folder of test_data_set_* folders, or one of them", false,
       with(
           {{"rtol", "X", "relative tolerance (default 0.001)", &Options::rtol},
            {"atol", "X", "absolute tolerance (default 1e-7)", &Options::atol},
            {"batch", "N", "use the plan of this batch size", &Options::batch,
             1},
            json},
           deviceFlags),
       verify},
      {"bench", "latency and throughput of each plan", nullptr, nullptr, false,
       with({{"batch", "N", "only the plan of this batch size", &Options::batch,
              1},
             {"warmup", "N", "runs before measuring (default 10)",
              &Options::warmup},
             {"repeat", "N", "runs to measure (default: for --seconds)",
              &Options::repeat, 1},
             {"seconds", "X", "time to measure each figure for (default 1)",
              &Options::seconds},
             json},
            deviceFlags),
       bench},
      {"profile", "the time of every step", nullptr, nullptr, false,
       with({{"batch", "N", "the plan of this batch size", &Options::batch, 1},
             {"plan", "NAME",
              "infer (default), eval or train; parameters stay as they are",
              &Options::plan},
             {"repeat", "N", "runs to take the median of (default 20)",
              &Options::repeat, 1},
             {"trace", "FILE", "write a trace for chrome://tracing or Perfetto",
              &Options::trace},
             json},
            deviceFlags),
       profile},
      {"info",
       "what the program was made from, and its steps",
       nullptr,
       nullptr,
       false,
       {json},
       info},
  };
  if (mn_train_command)
    all.insert(all.begin() + 2, *mn_train_command());
  if (mn_gradcheck_command)
    all.push_back(*mn_gradcheck_command());
  return all;
}

const std::vector<Command> &commands() {
  static const std::vector<Command> all = allCommands();
  return all;
}

Status openExecutor(const Model &model, const Options &options,
                    std::unique_ptr<Executor> &executor) {
  ExecutorOptions open;
  open.device = static_cast<int>(options.device);
  open.graph = !options.noGraph;
  return Executor::open(model, open, executor);
}

} // namespace mn
