//===- train-run.h - a run of a small model ---------------------*- C++ -*-===//

#ifndef TEST_UNIT_TRAIN_RUN_H
#define TEST_UNIT_TRAIN_RUN_H

#include "train-folder.h"
#include "train-model.h"
#include "train/trainer.h"
#include <gtest/gtest.h>

namespace trainrun {

inline mn::Options options() {
  mn::Options options;
  options.data = "digits";
  options.limit = 500; // 31 batches and a partial one
  options.train.testLimit = 200;
  options.train.epochs = 3;
  return options;
}

inline mn::Status trainOn(const mn::Model &model, const mn::Options &options) {
  return mn::Trainer(model, options)
      .run([&](std::unique_ptr<mn::Executor> &executor) {
        return mn::Executor::open(model, {}, executor);
      });
}

/// A run, what it printed, and the last digest in it.
struct Trained {
  mn::Status status;
  std::string out, digest;

  explicit Trained(const mn::Options &options,
                   const mn::Model &model = trainmodel::model()) {
    testing::internal::CaptureStdout();
    status = trainOn(model, options);
    out = testing::internal::GetCapturedStdout();
    const size_t at = out.rfind("digest ");
    digest = at == std::string::npos ? "" : out.substr(at + 7, 16);
  }
};

} // namespace trainrun

#endif // TEST_UNIT_TRAIN_RUN_H
