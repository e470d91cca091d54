//===- train_model.h - the tables of a model that trains --------*- C++ -*-===//
//
// Which plans train and evaluate, where the states are that the host writes and
// reads, and what the data must look like.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_TRAIN_MODEL_H
#define MNISTRT_TRAIN_TRAIN_MODEL_H

#include "core/executor.h"
#include "ranks/open_ranks.h"
#include "train/rank_checks.h"
#include <string_view>

namespace mn {

/// What a plan adds up, and the trainer zeroes.
struct Metrics {
  double lossSum = 0; ///< of all rows
  int64_t correct = 0, seen = 0;
  int64_t badStep = -1; ///< the first whose loss is not finite

  double loss() const { return seen ? lossSum / static_cast<double>(seen) : 0; }
};

struct TrainModel {
  const Model *model = nullptr;
  int trainPlan = -1, evalPlan = -1;
  int64_t batch = 0;
  int64_t batchesOfStep = 1; ///< at most: an update's
  const Tensor *input = nullptr, *labels = nullptr;
  int64_t inputElements = 0, targetElements = 0; ///< of a row
  bool classTargets = true;
  int64_t classes = 0; ///< 0: not known

  /// `batch`: which plan, or 0 for the largest. Errors: no plan that trains,
  /// more than one input, a state that is missing.
  static Status create(const Model &model, int64_t batch, TrainModel &result);

  /// Whether it was compiled for several ranks.
  bool dataParallel() const { return isDataParallel(*model); }
  /// Of an update, on each rank, at most.
  int64_t rowsOfStep() const { return batch * batchesOfStep; }
  const Plan &plan() const { return model->plans[trainPlan]; }
  /// Null where the model has none of that name.
  const Parameter *find(std::string_view name) const;
  /// A parameter's moving mean, if the program keeps one: what is saved.
  const Parameter *averageOf(const Parameter &parameter) const;

  /// How many tensors are trained, of how many elements.
  struct Trained {
    int tensors = 0;
    int64_t elements = 0;
  };
  Trained trained() const;

  /// The initial values of the parameter block.
  std::vector<char> initialBlock() const;
  /// A state of 64 bits in a copy of the block.
  int64_t whole(const std::vector<char> &block, const char *state) const;
  void setWhole(std::vector<char> &block, const char *state,
                int64_t value) const;
  /// A state of as many floats.
  void setFloats(std::vector<char> &block, const char *state,
                 const std::vector<float> &values) const;
  /// Error (numeric): a weight or a number of the optimizer that is NaN, or
  /// infinite where the model's own is not.
  Status checkNumbers(const std::vector<char> &block) const;
  /// Of the weights: parameters and buffers, in the order of the table.
  std::string digest(const std::vector<char> &block) const;
  /// Of each of them.
  std::vector<RunPart> parts(const std::vector<char> &block) const;

  /// A state of 64 bits on the device.
  Status write(Executor &executor, const char *state, int64_t value) const;
  /// Before an epoch: batch 0, and nothing counted.
  Status writeStart(Executor &executor, int64_t epoch) const;
  Status readMetrics(Executor &executor, Metrics &metrics) const;
  Metrics metricsOf(const std::vector<char> &block) const;
  void setMetrics(std::vector<char> &block, const Metrics &metrics) const;
  /// Which labels there are, where targets are classes.
  InputRange labelRange() const;
  /// The part of rows that are right, of 0 to 1, or -1 where there are no
  /// classes.
  double accuracy(const Metrics &metrics) const;

private:
  Status choosePlans(int64_t wanted);
  Status findInputs();
  void findClasses();
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAIN_MODEL_H
