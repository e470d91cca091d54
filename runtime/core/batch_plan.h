//===- batch_plan.h - where a plan takes its batches from -------*- C++ -*-===//
//
// Read from the tables of a model, for the executors.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_BATCH_PLAN_H
#define MNISTRT_CORE_BATCH_PLAN_H

#include "core/executor.h"
#include "mnistrt/batch.h"
#include <optional>

namespace mn {

/// The inputs of a plan that trains or tests, and the states that say which
/// batch is next: offsets into the arena.
struct BatchPlan {
  const char *name = "";
  size_t inputs = 0, labels = 0, valid = 0;
  std::optional<size_t> globalValid; ///< of a data-parallel program
  size_t seed = 0, epoch = 0, number = 0;
  int64_t rows = 0, inputElements = 0, targetElements = 0;
  int64_t parts = 1; ///< batches that an update has
  Type targetType = Type::i32;

  /// The pointers and sizes of a batch that is where `ctx` says.
  void place(const Context &ctx, Batch &batch) const;
};

/// How many batches an update has; 1 where a plan does not train.
int64_t partsOf(const Model &model, const Plan &plan);

/// What keeps a plan from taking batches is an error.
Status findBatchPlan(const Model &model, int plan, BatchPlan &found);

/// Whether a data set can be loaded, as set `set`.
Status checkSamples(int set, const Samples &samples);

/// Whether the rows of a loaded data set are what the plan takes.
Status checkRows(const BatchPlan &plan, const Samples &samples);

/// The part of a batch that a data set and the rank say; its pointers are the
/// caller's.
Batch batchOf(const Samples &samples, bool shuffle,
              const RankPlace &place = {});

/// The row that `sample` becomes, where rows are changed.
void augmentRow(const Batch &batch, int64_t sample, float *to);

/// Whether [offset, offset + bytes) is inside the parameters.
Status checkParameterRange(const Model &model, size_t offset, size_t bytes);

} // namespace mn

#endif // MNISTRT_CORE_BATCH_PLAN_H
