//===- trainer.h - trains a model -------------------------------*- C++ -*-===//
//
// All that can fail is tried before the first step: data, files, memory. Then
// batches are enqueued a segment at a time, some 75 ms of work, without looking
// at them; between segments the trainer reads the metrics, reports, and sees
// whether it was asked to stop.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_TRAINER_H
#define MNISTRT_TRAIN_TRAINER_H

#include "commands/options.h"
#include "core/opening.h"
#include "reports/reporter.h"
#include "train/checkpoint.h"
#include "train/feeder.h"
#include "train/recipe.h"
#include "train/saver.h"
#include "train/signals.h"
#include <chrono>
#include <functional>

namespace mn {

class Trainer {
public:
  /// Opens the device; tests open another one.
  using Open = std::function<Status(std::unique_ptr<Executor> &)>;

  Trainer(const Model &model, const Options &options);

  Status run(const Open &open);

private:
  using Clock = std::chrono::steady_clock;

  // Before the first step; trainer_setup.cpp.
  Status setUp(const Open &open);
  Status resumeOptions();
  void completeOptions();
  Status checkOptions() const;
  Status findTestSet();
  void startOpening(const Open &open);
  Status readData();
  Status checkOutputs() const;
  Status checkFiles();
  Status openDevice();
  Status begin();
  Status asBadData(const std::string &source) const;
  Status resume();
  Status checkStates() const;
  RunFact recipeFact() const;
  std::vector<RunFact> facts() const;
  void announce();
  void announceResumed();
  void logStart();

  // The loop.
  Status loop();
  Status trainSegment();
  Status enqueue(int64_t count);
  int64_t segmentSteps() const;
  void adaptSegment(int64_t count, double seconds);
  void look(const Metrics &metrics, int64_t count, double seconds);
  void addPoint(const Metrics &metrics);
  void reportWindow(const Metrics &metrics, Clock::time_point now);
  Status endEpoch();
  Status evaluate(EpochResult &result);
  Status keepBest(const EpochResult &result);
  Status badLoss(const Metrics &metrics) const;

  // What is written on the way and at the end.
  Status readBlock();
  void writeCheckpoint();
  Status finish();
  Status stopped() const;
  Json summary(const char *reason) const;

  int64_t epoch() const { return step / stepsPerEpoch; }
  int64_t batchOfEpoch() const { return step % stepsPerEpoch; }
  int64_t steps() const { return stepsPerEpoch * train.epochs; }

  const Model &tables;
  Options options; ///< with those of a checkpoint
  const TrainOptions &train;
  TrainModel model;
  Schedule schedule;
  RecipeValues recipe = {};
  LearningRate rate;
  TrainData data[2];
  std::vector<std::string> classNames; ///< of folders of pictures
  bool tests = false;
  int64_t stepsPerEpoch = 1;

  std::unique_ptr<Executor> executor;
  std::future<Status> opening; ///< of the executor; its destructor waits
  std::unique_ptr<Feeder> feeder;
  std::unique_ptr<RecipeRing> ring;
  std::unique_ptr<CheckpointFile> checkpoint;
  std::unique_ptr<StopSignals> signals;
  Saver saver;
  Reporter reporter;
  History history;
  Status checkpointFailure; ///< of the last one
  EpochResult lastEpoch;    ///< 0: none in this process

  std::vector<char> block; ///< the parameter block, as last read or written
  int64_t step = 0;        ///< that were done, in total
  int64_t firstStep = 0;   ///< of this process
  bool resumed = false;
  OptionTexts kept; ///< of the checkpoint
  std::vector<std::string> overridden;
  int64_t segment = 1; ///< steps
  std::string best;    ///< the best test result so far, as a number

  // Since the epoch, this process, or the last report began.
  Metrics last;            ///< of the epoch, at the last look
  Metrics windowFrom;      ///< of the epoch, at the last report
  Metrics pointFrom;       ///< of the epoch, at TensorBoard's last point
  double pointSeconds = 0; ///< when that was
  Clock::time_point started, windowBegin;
  int64_t windowSteps = 0, epochSteps = 0;
  double epochSeconds = 0, trainSeconds = 0;
};

} // namespace mn

#endif // MNISTRT_TRAIN_TRAINER_H
