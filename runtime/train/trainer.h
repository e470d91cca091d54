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
#include "core/clock.h"
#include "core/opening.h"
#include "reports/reporter.h"
#include "train/checkpoint.h"
#include "train/feeder.h"
#include "train/recipe.h"
#include "train/saver.h"
#include "train/signals.h"
#include "train/train_sets.h"
#include <chrono>
#include <cmath>
#include <functional>

namespace mn {

/// What a training has in common with others of its process. It ends with the
/// same bits as without them.
struct SharedTraining {
  TrainSets data;
  /// Of the calling thread; `resident`: the sets that it has loaded.
  std::shared_ptr<Executor> executor;
  bool resident[dataSets] = {};
  std::shared_ptr<const StopSignals> signals;
  RunListener *listener = nullptr; ///< is told instead of the terminal
  /// Ends after this epoch, with a checkpoint from which it can be continued;
  /// 0: after the last.
  int64_t pauseEpoch = 0;
  /// A checkpoint after an epoch, if the last one is as old; the caller has
  /// made sure that one can be written.
  double checkpointSeconds = 60;
};

class Trainer {
public:
  /// Opens the device; tests open another one.
  using Open = std::function<Status(std::unique_ptr<Executor> &)>;

  Trainer(const Model &model, const Options &options)
      : Trainer(model, options, nullptr, nullptr) {}
  Trainer(const Model &model, const Options &options,
          const SharedTraining &shared)
      : Trainer(model, options, &shared, nullptr) {}
  /// One of several ranks; only the first writes files and says something.
  Trainer(const Model &model, const Options &options, Ranks &ranks)
      : Trainer(model, options, nullptr, &ranks) {}

  /// To be called before: signals that others handle.
  void stopAt(std::shared_ptr<const StopSignals> given) {
    signals = std::move(given);
  }
  Status run(const Open &open);
  /// Of a training that shares the device.
  Status run() { return run(nullptr); }

  // After a run.
  const History &results() const { return history; }
  std::string digest() const { return model.digest(block); }
  /// The model as ONNX.
  Status save(const std::string &path) { return saver.save(path, block); }

private:
  Trainer(const Model &model, const Options &options,
          const SharedTraining *shared, Ranks *ranks);

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
  std::vector<RunFact> facts() const;
  void announce();
  void announceResumed();
  void logStart(); // trainer_report.cpp

  // What ranks do together; trainer_ranks.cpp.
  Status checkRanks() const;
  Status startTogether();
  Status share(Metrics &metrics, double &seconds);
  Status shareSums(Metrics &metrics);
  Status checkWeights() const;
  void moveToRanks(const Checkpoint &found);
  /// Rows of a batch, and of a step, of all ranks.
  int64_t globalBatch() const { return model.batch * ranks.place().count; }
  int64_t rowsOfStep() const { return globalBatch() * model.batchesOfStep; }
  /// How many steps so many rows are, where each has `most`.
  int64_t stepsOf(int64_t rows, int64_t most) const;

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
  Status evaluate(DataSetNumber set, Evaluation &result);
  bool isPatienceOver() const;
  bool ends() const;
  Status keepBest(const EpochResult &result);
  Status badLoss(const Metrics &metrics) const;

  // What is written on the way and at the end.
  Status readBlock();
  bool checkpointIsDue() const;
  void writeCheckpoint();
  Status finish();
  Status testAtTheEnd();
  void announceEnd();
  void announceSpeed();
  Json ratesNow() const; // trainer_report.cpp
  Status writeReport();
  std::vector<Histogram> weightHistograms() const;
  Status stopped() const;
  void report(const Status &status);
  Json summary(const char *reason) const;

  int64_t epoch() const { return step / stepsPerEpoch; }
  int64_t stepOfEpoch() const { return step % stepsPerEpoch; }
  int64_t batchesOfEpoch() const;
  /// Of each rank, before a step of the training.
  int64_t batchesBefore(int64_t step) const;
  int64_t steps() const { return stepsPerEpoch * train.epochs; }
  /// Whether the program can evaluate on a set, and has one.
  bool evaluates(DataSetNumber set) const {
    return set != trainSet && data.has(set) && model.evalPlan >= 0;
  }
  int64_t stepsNow() const; ///< up to which this process trains

  const Model &tables;
  Options options; ///< with those of a checkpoint
  const TrainOptions &train;
  TrainModel model;
  Schedule schedule;
  RecipeValues recipe = {};
  std::vector<float> classWeights; ///< none: classes are not weighed
  LearningRate rate;
  const SharedTraining *shared; ///< null: none
  Ranks alone;
  Ranks &ranks;
  TrainSets data;
  bool hasTest = false; ///< a test set that can be evaluated
  double maxSeconds = HUGE_VAL;
  int64_t stepsPerEpoch = 1;

  std::shared_ptr<Executor> executor;
  std::future<Status> opening; ///< of the executor; its destructor waits
  std::unique_ptr<Feeder> feeder;
  std::unique_ptr<RecipeRing> ring;
  std::unique_ptr<CheckpointFile> checkpoint;
  std::shared_ptr<const StopSignals> signals;
  Saver saver;
  Reporter reporter;
  History history;
  Status checkpointFailure;    ///< of the last one
  int64_t checkpointStep = -1; ///< of the last one
  Clock::time_point checkpointTime;
  EpochResult lastEpoch; ///< 0: none in this process

  std::vector<char> block; ///< the parameter block, as last read or written
  int64_t step = 0;        ///< that were done, in total
  int64_t firstStep = 0;   ///< of this process
  bool resumed = false;
  OptionTexts kept; ///< of the checkpoint
  std::vector<std::string> overridden;
  int64_t segment = 1; ///< steps
  std::string best;    ///< the best test result so far, as a number
  int stopSignal = 0;  ///< that some rank has received
  bool timeIsOver = false, patienceIsOver = false;
  /// Of the last weights, and of those of `--best`.
  Evaluation lastTest, bestTest;
  std::vector<char> bestBlock; ///< kept to be tested at the end
  const bool keepsBest;        ///< whether the first rank has '--best'

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
