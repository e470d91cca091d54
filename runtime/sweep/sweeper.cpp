//===- sweeper.cpp - trains the runs of a sweep ---------------------------===//

#include "sweep/sweeper.h"
#include "core/array.h"
#include "formats/atomic_file.h"
#include <algorithm>
#include <csignal>
#include <filesystem>

namespace mn {

namespace {

constexpr auto tick = std::chrono::milliseconds(25);
constexpr double redrawSeconds = 0.1;
/// Of a measurement: some segments of a training.
constexpr double windowSeconds = 0.3;
constexpr size_t printedRuns = 10;

} // namespace

std::string Sweeper::modelFile(const SweepRun &run) const {
  return options.sweep.out + "/models/" + run.result.digest + ".onnx";
}

std::string Sweeper::checkpointFolder(const SweepRun &run) const {
  return options.sweep.out + "/unfinished/" + run.id;
}

size_t Sweeper::doneRuns() const {
  return static_cast<size_t>(
      std::count_if(runs.begin(), runs.end(), [](const SweepRun &run) {
        return run.finished() || run.failed() || run.result.dropped;
      }));
}

Status Sweeper::run() {
  // Once it writes, it ends where it can be taken up again.
  signals = std::make_shared<StopSignals>();
  MN_TRY(setUp());
  Status status = trainRungs();
  display.clear();
  const Status written = finish();
  if (!status.ok())
    return status;
  MN_TRY(written);
  if (options.json)
    printJson(summary());
  else
    printBest();
  if (const int signal = signals->received())
    return Status::error(
        signal == SIGINT ? Code::interrupted : Code::terminated,
        text("%s after %zu of %zu runs; the same command continues",
             signal == SIGINT ? "interrupted" : "terminated", doneRuns(),
             runs.size()));
  return std::any_of(runs.begin(), runs.end(),
                     [](SweepRun &run) { return !run.failed(); })
             ? status
             : Status::error(Code::numeric, "expected a run that does not "
                                            "fail, got none; the first: " +
                                                runs.front().result.failure);
}

//===----------------------------------------------------------------------===//
// Rungs
//===----------------------------------------------------------------------===//

Status Sweeper::trainRungs() {
  std::vector<SweepRun *> alive;
  for (SweepRun &run : runs)
    alive.push_back(&run);
  if (rungs.empty())
    return trainUpTo(alive, 0);
  for (const int64_t epoch : rungs) {
    MN_TRY(trainUpTo(alive, epoch));
    if (signals->received())
      return Status::success();
    if (epoch != rungs.back())
      MN_TRY(halve(alive, epoch));
  }
  return Status::success();
}

/// Until each has been trained for so many epochs; 0: all of its own.
Status Sweeper::trainUpTo(const std::vector<SweepRun *> &alive, int64_t epoch) {
  for (SweepRun *run : alive)
    if (!run->failed() &&
        run->result.count() < (epoch ? epoch : run->options.train.epochs))
      queue.push_back(run);
  if (queue.empty())
    return Status::success();
  MN_TRY(openDevices());
  pauseEpoch = epoch;
  std::unique_lock lock(mutex);
  for (;;) {
    startWorkers();
    const bool trains =
        std::any_of(workers.begin(), workers.end(),
                    [](const auto &worker) { return worker->running; });
    if (!trains && (queue.empty() || stopping()))
      break;
    changed.wait_for(lock, tick);
    measure();
    draw(false);
  }
  lock.unlock();
  for (const std::unique_ptr<Worker> &worker : workers)
    if (worker->thread.joinable())
      worker->thread.join();
  queue.clear();
  return failure;
}

/// Drops the worse part of the runs that got to a rung.
Status Sweeper::halve(std::vector<SweepRun *> &alive, int64_t epoch) {
  alive = ranked(std::move(alive), epoch);
  const size_t kept = survivors(alive.size(), options.sweep.halving);
  for (size_t i = kept; i < alive.size(); ++i) {
    SweepRun &run = *alive[i];
    // One that another sweep trained to its end keeps what it has.
    if (run.failed() || run.finished() || run.result.dropped)
      continue;
    run.result.dropped = true;
    MN_TRY(results.write(run));
    std::error_code ignored;
    std::filesystem::remove_all(checkpointFolder(run), ignored);
  }
  display.say(text("epoch %lld: %zu of %zu runs go on",
                   static_cast<long long>(epoch), kept, alive.size()));
  alive.resize(kept);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

size_t Sweeper::wantedWorkers() const {
  return static_cast<size_t>(search.jobs()) * devices.size();
}

void Sweeper::startWorkers() {
  for (size_t i = 0; i < wantedWorkers(); ++i) {
    const auto running = static_cast<size_t>(
        std::count_if(workers.begin(), workers.end(), [](const auto &worker) {
          return worker->running && !worker->run;
        }));
    // Those that run without a run are about to take one.
    if (queue.size() <= running || stopping())
      return;
    if (i == workers.size())
      workers.push_back(std::make_unique<Worker>(*this, i));
    Worker &worker = *workers[i];
    if (worker.running)
      continue;
    if (worker.thread.joinable())
      worker.thread.join();
    worker.running = true;
    worker.seen = false;
    worker.thread = std::thread([this, &worker] { work(worker); });
  }
}

void Sweeper::Worker::live(const TrainState &now) {
  const std::lock_guard lock(sweeper.mutex);
  state = now;
  seen = true;
  const double seconds =
      now.imagesPerSecond > 0
          ? static_cast<double>(now.rows) / now.imagesPerSecond
          : 0;
  sweeper.throughput.add(number, sweeper.now(), seconds,
                         static_cast<double>(now.rows));
}

void Sweeper::work(Worker &worker) {
  Status status;
  try {
    status = trainAll(worker);
  } catch (const std::bad_alloc &) {
    status = Status::error(Code::outOfMemory, "out of memory");
  } catch (const std::exception &error) {
    status = Status::error(Code::badData, error.what());
  }
  const std::lock_guard lock(mutex);
  worker.running = false;
  worker.run = nullptr;
  if (!status.ok() && failure.ok()) {
    failure = std::move(status);
    signals->stop(); // the others
  }
  changed.notify_all();
}

Status Sweeper::trainAll(Worker &worker) {
  const Status opened = openWorker(worker);
  if (opened.code == Code::outOfMemory && worker.number >= devices.size() &&
      options.sweep.jobs == 0) {
    // There is room for those before.
    const std::lock_guard lock(mutex);
    search.limit(static_cast<int64_t>(worker.number / devices.size()));
    return Status::success();
  }
  MN_TRY(opened);
  while (SweepRun *run = next(worker))
    MN_TRY(train(worker, *run));
  return Status::success();
}

Status Sweeper::openWorker(Worker &worker) {
  if (worker.executor)
    return Status::success();
  const std::shared_ptr<Executor> &first =
      devices[worker.number % devices.size()].first;
  if (worker.number < devices.size()) {
    worker.executor = first;
    return Status::success();
  }
  std::unique_ptr<Executor> opened;
  MN_TRY(first->share(opened));
  MN_TRY(opened->prepare(model.trainPlan));
  if (data.judge() != trainSet)
    MN_TRY(opened->prepare(model.evalPlan));
  worker.executor = std::move(opened);
  return Status::success();
}

SweepRun *Sweeper::next(Worker &worker) {
  const std::lock_guard lock(mutex);
  worker.run = nullptr;
  if (queue.empty() || stopping() || worker.number >= wantedWorkers())
    return nullptr;
  worker.run = queue.front();
  worker.state = {};
  queue.pop_front();
  return worker.run;
}

Status Sweeper::train(Worker &worker, SweepRun &run) {
  const Device &device = devices[worker.number % devices.size()];
  SharedTraining shared;
  shared.data = data;
  shared.executor = worker.executor;
  std::copy_n(device.resident, dataSets, shared.resident);
  shared.signals = signals;
  shared.listener = &worker;
  shared.pauseEpoch = pauseEpoch;
  Options own = run.options;
  own.train.checkpoint = checkpointFolder(run);
  own.train.resume = true; // where there is one, which decides nothing
  for (const Flag &flag : runOptions())
    own.given.push_back(flag.name);
  const double begin = now();
  Trainer trainer(tables, own, shared);
  const Status status = trainer.run();
  return record(worker, run, trainer, status, now() - begin);
}

Status Sweeper::record(Worker &worker, SweepRun &run, Trainer &trainer,
                       const Status &status, double seconds) {
  const std::lock_guard lock(mutex);
  if (status.code == Code::interrupted || status.code == Code::terminated)
    return Status::success(); // it has a checkpoint
  if (!status.ok() && status.code != Code::numeric)
    return status;
  RunResult &result = run.result;
  epochsDone +=
      static_cast<int64_t>(trainer.results().results().size()) - result.count();
  result.epochs = trainer.results().results();
  result.digest = status.ok() ? trainer.digest() : "";
  result.failure = status.message;
  result.device = worker.executor->deviceName();
  result.seconds += seconds;
  result.dropped = false;
  SweepRun *worse = nullptr;
  if (run.finished() && !run.failed())
    MN_TRY(keep(run, trainer, worse));
  // What is written has its model, whenever the process is killed.
  MN_TRY(results.write(run));
  if (worse)
    removeModel(*worse);
  if (run.finished() || run.failed()) {
    std::error_code ignored;
    std::filesystem::remove_all(checkpointFolder(run), ignored);
  }
  say(run);
  return Status::success();
}

/// Saves the model of a run that is among the best so far. `worse`: the one
/// that no longer is.
Status Sweeper::keep(SweepRun &run, Trainer &trainer, SweepRun *&worse) {
  std::vector<SweepRun *> candidates = best;
  candidates.push_back(&run);
  candidates = ranked(std::move(candidates));
  if (candidates.size() > static_cast<size_t>(options.sweep.keep)) {
    worse = candidates.back();
    candidates.pop_back();
  }
  if (worse == &run) {
    worse = nullptr;
    return Status::success();
  }
  MN_TRY(trainer.save(modelFile(run)));
  best = std::move(candidates);
  return Status::success();
}

/// And what a killed process left of it.
void Sweeper::removeModel(const SweepRun &run) const {
  for (const SweepRun *other : best)
    if (other->result.digest == run.result.digest)
      return;
  std::error_code ignored;
  for (const char *end : {"", ".tmp"})
    if (!run.result.digest.empty())
      std::filesystem::remove(modelFile(run) + end, ignored);
}

//===----------------------------------------------------------------------===//
// How many at a time, and how far
//===----------------------------------------------------------------------===//

/// Begins a window when all workers train, and takes its rate when each has
/// said how far it was at its end.
void Sweeper::measure() {
  const auto training = static_cast<size_t>(
      std::count_if(workers.begin(), workers.end(), [](const auto &worker) {
        return worker->running && worker->seen;
      }));
  const double time = now();
  if (windowBegin < 0) {
    // A search needs all of them; a rate to show, only those that there are.
    if (training > 0 && (search.done() || training == wantedWorkers())) {
      windowBegin = time;
      throughput.clear();
    }
    return;
  }
  const double end = windowBegin + windowSeconds;
  // One that is between two runs says nothing for a while.
  const bool over =
      throughput.allAfter(end, training) || time > end + 2 * windowSeconds;
  if (time < end || !over)
    return;
  recentRate = throughput.between(windowBegin, end);
  windowBegin = -1;
  if (!search.done() && !queue.empty())
    search.measured(recentRate);
}

void Sweeper::draw(bool force) {
  if (!display.terminal() || (!force && now() - drawn < redrawSeconds))
    return;
  drawn = now();
  SweepState state;
  state.done = doneRuns();
  state.runs = runs.size();
  state.imagesPerSecond = recentRate;
  int64_t left = 0;
  for (const SweepRun &run : runs)
    if (!run.failed() && !run.result.dropped)
      left += run.options.train.epochs - run.result.count();
  if (epochsDone > 0 && rungs.empty())
    state.secondsLeft =
        now() / static_cast<double>(epochsDone) * static_cast<double>(left);
  for (const std::unique_ptr<Worker> &worker : workers)
    if (worker->running && worker->run)
      state.running.push_back({worker->run, worker->state});
  state.jobs = state.running.size();
  std::vector<SweepRun *> trained;
  for (SweepRun &run : runs)
    if (!run.failed() && run.result.count() > 0)
      trained.push_back(&run);
  state.best = ranked(std::move(trained));
  display.draw(*table, state);
}

/// A line for each run that ended, where no table is drawn.
void Sweeper::say(const SweepRun &run) {
  if (display.terminal())
    return;
  const std::string chosen = chosenText(run.chosen);
  std::string line =
      text("run %lld/%zu%s%s: ", static_cast<long long>(run.number),
           runs.size(), chosen.empty() ? "" : " ", chosen.c_str());
  if (run.failed())
    line += "failed: " + run.result.failure;
  else
    line +=
        text("epoch %lld/%lld, ", static_cast<long long>(run.result.count()),
             static_cast<long long>(run.options.train.epochs)) +
        scoreText(run.result) +
        text(", digest %s, %.2f s", run.result.digest.c_str(),
             run.result.seconds);
  display.say(line);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

Status Sweeper::finish() {
  // What another '--keep' or a longer list has made worse, and what a killed
  // process left.
  std::error_code ignored;
  for (const SweepRun &run : runs) {
    removeModel(run);
    if (run.finished() || run.failed() || run.result.dropped)
      std::filesystem::remove_all(checkpointFolder(run), ignored);
  }
  std::filesystem::remove(options.sweep.out + "/unfinished", ignored);
  const std::string csv = options.sweep.out + "/results.csv";
  return writeAtomically(csv, csvOf(runs));
}

void Sweeper::printBest() {
  std::vector<SweepRun *> trained;
  for (SweepRun &run : runs)
    if (run.finished() && !run.failed())
      trained.push_back(&run);
  if (!trained.empty())
    display.print(table->ranking(ranked(std::move(trained)), printedRuns,
                                 display.width()));
  for (const SweepRun *run : best)
    display.say(text("saved '%s', run %lld", modelFile(*run).c_str(),
                     static_cast<long long>(run->number)));
  display.say("results in '" + results.name() + "' and '" + options.sweep.out +
              "/results.csv'");
}

Json Sweeper::summary() const {
  size_t finished = 0, failed = 0, dropped = 0;
  for (const SweepRun &run : runs) {
    finished += run.finished() && !run.failed();
    failed += run.failed();
    dropped += run.result.dropped;
  }
  Json kept = Json::array();
  for (SweepRun *run : best) {
    kept.push_back(jsonOf(*run));
    kept.back().erase("event");
    kept.back()["model"] = modelFile(*run);
  }
  return {{"model", tables.name},
          {"target", tables.target},
          {"runs", runs.size()},
          {"finished", finished},
          {"failed", failed},
          {"dropped", dropped},
          {"jobs", search.jobs()},
          {"seconds", now()},
          {"best", kept},
          {"results", results.name()},
          {"csv", options.sweep.out + "/results.csv"}};
}

} // namespace mn
