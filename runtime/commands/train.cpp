//===- train.cpp - app train ----------------------------------------------===//
//
// The options; train/trainer.h does the work.
//
//===----------------------------------------------------------------------===//

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
     "what to train and test on: a folder with MNIST's files, with "
     "train_x.npy, "
     "train_y.npy, test_x.npy and test_y.npy, or with train/CLASS/*.png and "
     "test/CLASS/*.png; X.npy,Y.npy; or 'digits', which are generated",
     &Options::data},
    {"limit", "N", "train on the first N rows alone", &Options::limit, 1},
    {"test-limit", "N", "test on the first N rows alone", &T::testLimit, 1},
    {"epochs", "N", "how often to go through the data (default 5)", &T::epochs,
     1},
    {"batch", "N", "use the plan of this batch size (default: the largest)",
     &Options::batch, 1},
    {"seed", "N", "of shuffling, dropout and --init (default 1)", &T::seed},
    {"no-shuffle", nullptr, "keep the order of the data", &T::noShuffle},
    {"drop-last", nullptr, "leave out a last batch that is not full",
     &T::dropLast},
    {"device-data", "BYTES",
     "most data to keep on the device; more is streamed (default: what is free "
     "on a GPU, or 8 GiB)",
     &T::deviceData},
};

const std::vector<Flag> recipeFlags = {
    {"lr", "X", "learning rate", &T::lr},
    {"momentum", "X", "of momentum and nesterov", &T::momentum},
    {"dampening", "X", "of momentum, in PyTorch's convention", &T::dampening},
    {"weight-decay", "X", "added to gradients; with adamw, to the weights",
     &T::weightDecay},
    {"beta1", "X", "of adam and adamw", &T::beta1},
    {"beta2", "X", "of adam, adamw and rmsprop", &T::beta2},
    {"epsilon", "X", "of adam, adamw, rmsprop and adagrad", &T::epsilon},
    {"clip", "X", "most of a gradient's norm or values", &T::clip, 1e-300},
    {"schedule", "NAME[,OPTION=X]...",
     "of the learning rate: constant; step,gamma=0.1,every=1; "
     "cosine,lr-min=0; one-cycle,pct-start=0.3,div=25,final-div=1e4; each with "
     "warm-up=STEPS",
     &T::schedule},
    {"init", "KIND",
     "begin with new weights: he, xavier, torch or keras (default: file, the "
     "model's own)",
     &T::init},
};

const std::vector<Flag> outputFlags = {
    {"save", "FILE", "write the model with its new weights, as ONNX", &T::save},
    {"best", "FILE", "the same after the epoch with the best test result",
     &T::best},
    {"checkpoint", "DIR", "after each epoch write all that is needed to go on",
     &T::checkpoint},
    {"checkpoint-every", "STEPS", "write a checkpoint this often as well",
     &T::checkpointEvery, 1},
    {"resume", nullptr, "go on from the checkpoint, if there is one",
     &T::resume},
    {"log", "FILE", "write events as JSON lines", &T::log},
    {"tensorboard", "DIR", "write TensorBoard's event files", &T::tensorboard},
    {"plot", "FILE", "draw loss and accuracy as an SVG file", &T::plot},
    {"report-every", "STEPS", "report this often (default: every 5 seconds)",
     &T::reportEvery, 1},
    {"check-nan", nullptr,
     "look at what every step of every batch computes, and stop at the first "
     "NaN or infinity; slow",
     &Options::checkNan},
};

} // namespace

extern "C" const Command *mn_train_command() {
  static const Command command = {
      "train",
      "train the model on labelled data",
      nullptr,
      nullptr,
      false,
      with(with(runFlags, transformFlags),
           with(recipeFlags, with(outputFlags, deviceFlags))),
      runTraining};
  return &command;
}

} // namespace mn
