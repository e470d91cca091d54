//===- batch.h - the next rows of a data set --------------------*- C++ -*-===//
//
// Which rows a batch has and what numbers a plan sees, for the kernel of
// cuda/kernels/batch.cuh and its twin in runtime/cpu/batches.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_BATCH_H
#define MNISTRT_BATCH_H

#include "mnistrt/augment.h"
#include "mnistrt/shuffle.h"

namespace mn {

/// A data set, a plan's inputs, and the states that say which batch is next.
struct Batch {
  // The data set.
  const void *inputs = nullptr;      ///< uint8 where `bytes`, else float
  const uint32_t *targets = nullptr; ///< int32 or float: copied as they are
  int64_t count = 0, inputElements = 0, targetElements = 0;
  float scale = 1, mean = 0, deviation = 1;
  bool bytes = false, invert = false, shuffle = false;
  Augment augment; ///< of rows that are trained on
  // The plan.
  float *toInputs = nullptr;
  uint32_t *toTargets = nullptr;
  int32_t *toValid = nullptr;
  int32_t *toGlobalValid = nullptr; ///< null: the plan asks only for its own
  int64_t rows = 0;
  /// Which of several ranks this is: row r of a rank's batch is row r ranks +
  /// rank of a batch of all.
  int64_t rank = 0, ranks = 1;
  int64_t parts = 1; ///< batches that an update has, where it has several
  // The states `mn.seed`, `mn.epoch` and `mn.batch`; of a batch that is copied
  // before its turn, what `mn.batch` was so many batches before.
  const int64_t *seed = nullptr, *epoch = nullptr, *number = nullptr;
  int64_t ahead = 0;
  int64_t *toNumber = nullptr; ///< where that is kept for those after this

  MN_FN int64_t numberInEpoch() const { return *number + ahead; }
  /// How many rows from `first` on the data has, up to `most`.
  MN_FN int64_t left(int64_t first, int64_t most) const {
    const int64_t rest = count - first;
    return rest < 0 ? 0 : rest < most ? rest : most;
  }
  /// How many rows the data has left for this update of all ranks.
  MN_FN int32_t globalValid() const {
    const int64_t all = rows * ranks * parts;
    return int32_t(left(numberInEpoch() / parts * all, all));
  }
  /// Of this batch of all ranks, this rank's.
  MN_FN int32_t valid() const {
    const int64_t all = rows * ranks;
    return int32_t((left(numberInEpoch() * all, all) - rank + ranks - 1) /
                   ranks);
  }

  /// The sample that row `row` is, or -1 where there is none left.
  MN_FN int64_t sampleOf(int64_t row) const {
    if (row >= valid())
      return -1;
    const uint64_t place =
        uint64_t((numberInEpoch() * rows + row) * ranks + rank);
    return shuffle ? int64_t(shuffled(place, uint64_t(count), uint64_t(*seed),
                                      uint64_t(*epoch)))
                   : int64_t(place);
  }

  MN_FN PictureMap mapOf(int64_t sample) const {
    return augment.mapOf(uint64_t(*seed), uint64_t(*epoch), uint64_t(sample));
  }
  /// Element `i` of the row that `sample` becomes.
  MN_FN float augmented(const PictureMap &map, int64_t sample,
                        int64_t i) const {
    const int64_t first = sample * inputElements;
    const auto at = [&](int64_t j) {
      return bytes ? float(static_cast<const uint8_t *>(inputs)[first + j])
                   : static_cast<const float *>(inputs)[first + j];
    };
    // Black, also where pixels are inverted.
    return normalized(augment.element(map, i, invert ? 255.0f : 0.0f, at));
  }

  MN_FN float normalized(float x) const {
    const float y = invert ? 255.0f - x : x;
#ifdef __CUDA_ARCH__
    // Nothing fused: the host, which streams data, comes to the same bits.
    return __fdiv_rn(__fsub_rn(__fmul_rn(scale, y), mean), deviation);
#else
    return (scale * y - mean) / deviation;
#endif
  }
};

} // namespace mn

#endif // MNISTRT_BATCH_H
