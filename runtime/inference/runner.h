//===- runner.h -------------------------------------------------*- C++ -*-===//
//
// Any number of rows through plans of fixed sizes.
//
// Chooses a plan, cuts rows into batches, and fills one slot while the other
// computes.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_INFERENCE_RUNNER_H
#define MNISTRT_INFERENCE_RUNNER_H

#include "core/executor.h"
#include "inference/inputs.h"
#include <functional>

namespace mn {

/// The plan of a kind (infer, eval or train) for `rows` rows: the smallest that
/// takes them at once, else the largest. `batch`: that one and no other, if not
/// 0.
Status choosePlan(const Model &model, const std::string &kind, int64_t rows,
                  int64_t batch, int &plan);

class Runner {
public:
  Runner(const Model &model, Executor &executor)
      : model(model), executor(executor) {}

  /// Of the plans to choose from.
  std::string kind = kinds::infer;
  /// After every step looks for NaN and infinity in what it wrote.
  bool checkNumbers = false;
  /// What becomes of the inputs of arrays that are bytes, for inputs of floats;
  /// none of others.
  std::vector<std::optional<Pixels>> pixels;

  Status choosePlan(int64_t rows, int64_t batch, int &plan) const {
    return mn::choosePlan(model, kind, rows, batch, plan);
  }

  /// `fill` writes rows [first, first + count) into the inputs of a slot, up to
  /// the plan's batch; `take` reads the same rows from its outputs.
  using Part = std::function<Status(int64_t first, int64_t count, int slot)>;
  Status run(int plan, int64_t rows, const Part &fill, const Part &take);

  /// Whole arrays, already fit for the plan's inputs, in their order.
  Status run(int64_t batch, const std::vector<Array> &inputs,
             std::vector<Array> &outputs, int &plan);

private:
  Status submit(int plan, int slot);

  const Model &model;
  Executor &executor;
};

/// One run of a plan on the inputs of slot 0, step by step; an error for the
/// first number that is not finite names its step.
Status traceForNan(Executor &executor, const Model &model, int plan);

/// Whether a plan computes results from inputs only.
bool isInference(const Plan &plan);

} // namespace mn

#endif // MNISTRT_INFERENCE_RUNNER_H
