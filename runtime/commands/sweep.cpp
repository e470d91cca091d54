//===- sweep.cpp - app sweep ----------------------------------------------===//
//
// The options; sweep/sweeper.h does the work.
//
//===----------------------------------------------------------------------===//

#include "sweep/sweeper.h"

namespace mn {

namespace {

using S = SweepOptions;
using T = TrainOptions;

Status runSweep(const Model &model, const Options &options) {
  return Sweeper(model, options).run();
}

const std::vector<Flag> runsFlags = {
    {"list", "FILE",
     "train the runs of FILE, a JSON object of options a line, instead of the "
     "product of VALUES",
     &S::list},
    {"random", "N",
     "draw N runs; X..Y is then a range, of which lr, weight-decay, epsilon "
     "and clip-* are drawn by their logarithm",
     &S::random, 1},
    {"random-seed", "N", "seed of what is drawn (default 1)", &S::randomSeed},
    {"halving", "N",
     "successive halving: compare runs after a part of their epochs, and train "
     "the best Nth of them N times as long, until the last epoch",
     &S::halving, 2},
};

const std::vector<Flag> dataFlags = {
    {"data", "DIR", "the data to train and test on, as of 'train'",
     &Options::data},
    {"limit", "N", "train on only the first N rows", &Options::limit, 1},
    {"test-limit", "N", "test on only the first N rows", &T::testLimit, 1},
    {"class-weights", "LIST",
     "how much a row of each class counts, as of 'train'", &T::classWeights},
    {"no-shuffle", nullptr, "train on the rows in their order", &T::noShuffle},
    {"drop-last", nullptr, "skip the last batch of an epoch if it is not full",
     &T::dropLast},
    {"device-data", "BYTES",
     "keep at most this much data on each device, and stream more",
     &T::deviceData},
};

const std::vector<Flag> outputFlags = {
    {"out", "DIR",
     "write results.jsonl, results.csv and models to DIR; a sweep that was "
     "stopped continues there",
     &S::out},
    {"keep", "N", "save the N best models as ONNX (default 1)", &S::keep},
    {"jobs", "N",
     "train N runs at a time on each GPU (default: as many as it gains from)",
     &S::jobs, 1, "cuda"},
    {"jobs", "N", "train N runs at a time (default: one on each core)",
     &S::jobs, 1, "cpu"},
    {"devices", "LIST", "the GPUs to train on, as 0,1 or all (default 0)",
     &T::devices, 0, "cuda"},
    {"json", nullptr,
     "print a summary as JSON at the end; progress goes to standard error",
     &Options::json},
};

} // namespace

extern "C" const Command *mn_sweep_command() {
  static const Command command = {
      "sweep",
      "train the model with many combinations of options",
      nullptr,
      nullptr,
      false,
      with(with(sweepFlags(), runsFlags),
           with(with(dataFlags, transformFlags), outputFlags)),
      runSweep};
  return &command;
}

} // namespace mn
