//===- train.cpp - app train ----------------------------------------------===//
//
// The options; train/trainer.h does the work.
//
//===----------------------------------------------------------------------===//

#include "train/run_options.h"
#include "train/trainer.h"

namespace mn {

namespace {

using T = TrainOptions;

Status runTraining(const Model &model, const Options &options) {
  return Trainer(model, options).run([&](std::unique_ptr<Executor> &executor) {
    return openExecutor(model, options, executor);
  });
}

const std::vector<Flag> runFlags = {
    {"data", "DIR",
     "the data to train and test on: a folder with MNIST's files, with "
     "train_x.npy, "
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
    {"init", "KIND",
     "initial weights: file (default; those of the model), he, xavier, torch "
     "or keras",
     &T::init},
    {"device-data", "BYTES",
     "keep at most this much data on the GPU, and stream more (default: what "
     "is free)",
     &T::deviceData, 0, "cuda"},
    {"device-data", "BYTES",
     "keep at most this much data ready in memory, and stream more (default: 8 "
     "GiB)",
     &T::deviceData, 0, "cpu"},
};

const std::vector<Flag> outputFlags = {
    {"save", "FILE", "save the trained model as ONNX at the end", &T::save},
    {"best", "FILE", "save the model after the epoch with the best test result",
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

const std::vector<Flag> &runOptions() {
  static const std::vector<Flag> flags =
      with(with(runFlags, transformFlags), recipeFlags);
  return flags;
}

extern "C" const Command *mn_train_command() {
  static const Command command = {
      "train",
      "train the model on labelled data",
      nullptr,
      nullptr,
      false,
      with(with(runOptions(), startFlags), with(outputFlags, deviceFlags)),
      runTraining};
  return &command;
}

} // namespace mn
