//===- test_results.h - what a model makes of a test set --------*- C++ -*-===//

#ifndef MNISTRT_TRAIN_TEST_RESULTS_H
#define MNISTRT_TRAIN_TEST_RESULTS_H

#include "core/executor.h"
#include "formats/json.h"
#include "train/train_data.h"

namespace mn {

/// Runs the plan that infers on `data`, with the weights that the executor has.
/// Adds to `results` what of which class is taken for what, and the worst
/// mistakes, with their pictures where rows are pictures. Nothing where the
/// first output is no classifier's.
Status addTestResults(const Model &model, Executor &executor, int64_t batch,
                      const TrainData &data, const Transform &transform,
                      Json &results);

} // namespace mn

#endif // MNISTRT_TRAIN_TEST_RESULTS_H
