//===- batches.h - data sets in the memory of a CPU program -----*- C++ -*-===//

#ifndef MNISTRT_CPU_BATCHES_H
#define MNISTRT_CPU_BATCHES_H

#include "core/batch_plan.h"
#include <optional>
#include <vector>

namespace mn {

/// A data set where it is in memory.
class DataSet {
public:
  explicit DataSet(const Samples &samples);
  DataSet(const DataSet &) = delete;
  DataSet &operator=(const DataSet &) = delete;

  const Samples &samples() const { return kept; }
  size_t bytes() const { return size; }

  /// Writes the rows that come next to where `plan` reads them.
  void nextBatch(const BatchPlan &plan, char *arena, bool shuffle,
                 const RankPlace &place) const;

private:
  void fillRow(const Batch &batch, int64_t sample, float *to) const;

  Samples kept;
  size_t size;
  std::vector<float> ofByte; ///< what a plan sees of each u8
};

} // namespace mn

#endif // MNISTRT_CPU_BATCHES_H
