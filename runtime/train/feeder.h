//===- feeder.h - runs batches of data through a plan -----------*- C++ -*-===//
//
// Three ways with the same results, bit for bit: from data on the device; from
// host memory, where the device has no room, through the two slots of the
// plan's inputs, one filled by threads while the other computes; and step by
// step, looking for NaN.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_FEEDER_H
#define MNISTRT_TRAIN_FEEDER_H

#include "mnistrt/batch.h"
#include "train/train_data.h"

namespace mn {

/// Batches [first, first + count) of an epoch.
struct BatchRange {
  int plan, set;
  bool shuffle;
  int64_t seed, epoch;
  int64_t first, count;
};

/// What all data may take on the device, where so many bytes are free there, or
/// -1 for the host's memory, in which data is already: what was asked for, if
/// that is not below 0.
int64_t roomForData(int64_t asked, int64_t freeBytes);

class Feeder {
public:
  /// `room`: of all data on the device together.
  Feeder(const TrainModel &model, Executor &executor, int64_t room)
      : model(model), executor(executor), room(room) {}

  /// Looks at what every step computes; to be said before `load`.
  bool checkNumbers = false;
  /// Who shares the rows of each batch; null: nobody.
  Ranks *ranks = nullptr;

  /// `data` must live on. What the device has no memory for is streamed.
  Status load(int set, const TrainData &data);
  /// Likewise, where the executor has loaded it already, or `onDevice` is
  /// false.
  void use(int set, const TrainData &data, bool onDevice);
  bool onDevice(int set) const { return resident[set]; }

  /// That no file changed from which rows are still read.
  Status check() const;

  /// Does not wait, other than for a slot.
  Status run(const BatchRange &range);

private:
  Status stream(const BatchRange &range);
  Status trace(const BatchRange &range, int64_t batch);
  void fill(const BatchRange &range, int64_t batch, int slot);

  const TrainModel &model;
  Executor &executor;
  int64_t room;
  bool resident[dataSets] = {};
  const TrainData *sets[dataSets] = {};
  int slot = 0;
};

/// Fills a batch on the host, with up to `threads` threads.
void fillBatch(const Batch &batch, Type inputType, int threads);

} // namespace mn

#endif // MNISTRT_TRAIN_FEEDER_H
