//===- sweeper.h - trains the runs of a sweep -------------------*- C++ -*-===//
//
// A worker is a thread with an executor of its own, which trains one run after
// another. Workers share the data sets, and on a GPU the context, kernels and
// constants; runs know nothing of each other, so that each ends with the bits
// that 'train' gives it. The main thread starts workers, looks for how many
// there should be, and draws.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_SWEEP_SWEEPER_H
#define MNISTRT_SWEEP_SWEEPER_H

#include "core/clock.h"
#include "sweep/job_search.h"
#include "sweep/results.h"
#include "sweep/sweep_display.h"
#include "train/trainer.h"
#include <condition_variable>
#include <deque>
#include <thread>

namespace mn {

class Sweeper {
public:
  Sweeper(const Model &model, const Options &options);
  Sweeper(const Sweeper &) = delete;
  Sweeper &operator=(const Sweeper &) = delete;

  Status run();

private:
  /// What the workers on a device share.
  struct Device {
    int64_t number = 0;
    std::shared_ptr<Executor> first; ///< of its first worker
    bool resident[dataSets] = {};
  };

  struct Worker final : RunListener {
    Worker(Sweeper &sweeper, size_t number)
        : sweeper(sweeper), number(number) {}
    void live(const TrainState &state) override;
    void epoch(const EpochReport &) override {}

    Sweeper &sweeper;
    const size_t number; ///< its device is that modulo their number
    std::shared_ptr<Executor> executor;
    std::thread thread;
    bool running = false; ///< the thread
    bool seen = false;    ///< has it trained since it began?
    SweepRun *run = nullptr;
    TrainState state; ///< of the run
  };

  // Before the first run; sweeper_setup.cpp.
  Status setUp();
  Status checkOptions() const;
  Status findRuns();
  Status checkRun(const SweepRun &run) const;
  Status readData();
  Status openResults();
  Status findBest();
  Status chooseDevices();
  Status openDevices();
  Status openDevice(Device &device);
  Status chooseJobs();
  Json about() const;

  // The runs.
  Status trainRungs();
  Status trainUpTo(const std::vector<SweepRun *> &alive, int64_t epoch);
  Status halve(std::vector<SweepRun *> &alive, int64_t epoch);
  void startWorkers();
  size_t wantedWorkers() const;
  void measure();
  void draw(bool force);

  // In a worker's thread.
  void work(Worker &worker);
  Status trainAll(Worker &worker);
  Status openWorker(Worker &worker);
  SweepRun *next(Worker &worker);
  Status train(Worker &worker, SweepRun &run);
  Status record(Worker &worker, SweepRun &run, Trainer &trainer,
                const Status &status, double seconds);
  Status keep(SweepRun &run, Trainer &trainer, SweepRun *&worse);
  void removeModel(const SweepRun &run) const;

  // At the end.
  Status finish();
  void say(const SweepRun &run);
  void printBest();
  Json summary() const;

  std::string modelFile(const SweepRun &run) const;
  std::string checkpointFolder(const SweepRun &run) const;
  bool stopping() const { return !failure.ok() || signals->received() != 0; }
  size_t doneRuns() const;
  double now() const {
    return std::chrono::duration<double>(Clock::now() - started).count();
  }

  const Model &tables;
  const Options &options; ///< of 'sweep'
  TrainModel model;       ///< of the first run's batch
  std::vector<SweepRun> runs;
  std::vector<int64_t> rungs; ///< epochs; empty without halving
  TrainSets data;
  std::vector<Device> devices;
  ResultsFile results;
  SweepDisplay display;
  std::unique_ptr<SweepTable> table;
  std::shared_ptr<StopSignals> signals;
  Clock::time_point started = Clock::now();

  // Of all threads.
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Worker>> workers;
  std::deque<SweepRun *> queue;
  std::vector<SweepRun *> best; ///< whose models are kept
  int64_t pauseEpoch = 0;
  Status failure; ///< that ends the sweep
  JobSearch search = JobSearch::fixed(1);
  Throughput throughput;
  double windowBegin = -1; ///< of a measurement; below 0: none
  double recentRate = 0;   ///< rows a second
  int64_t epochsDone = 0;  ///< in this process
  double drawn = -1;
};

} // namespace mn

#endif // MNISTRT_SWEEP_SWEEPER_H
