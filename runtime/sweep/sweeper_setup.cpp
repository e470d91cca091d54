//===- sweeper_setup.cpp - all that comes before the first run ------------===//
//
// As of one training: options, data, files, and then the device.
//
//===----------------------------------------------------------------------===//

#include "core/array.h"
#include "reports/report.h"
#include "sweep/sweeper.h"
#include "train/class_weights.h"
#include "train/initialize.h"
#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace mn {

namespace {

/// More at a time are no faster, since a GPU has fewer queues.
constexpr int64_t maxJobs = 64;
/// For the graphs of each, and for what others do with the GPU.
constexpr int64_t leftFree = int64_t(512) << 20;

} // namespace

Sweeper::Sweeper(const Model &model, const Options &options)
    : tables(model), options(options), results(options.sweep.out),
      display(options.json ? STDERR_FILENO : STDOUT_FILENO) {}

Status Sweeper::setUp() {
  MN_TRY(checkOptions());
  MN_TRY(findRuns());
  MN_TRY(chooseDevices());
  MN_TRY(readData());
  return openResults();
}

Status Sweeper::checkOptions() const {
  const SweepOptions &sweep = options.sweep;
  if (options.data.empty())
    return usageError("expected '--data=DIR' or '--data=digits', got none");
  if (sweep.out.empty())
    return usageError(
        "expected '--out=DIR', a folder for the results, got none");
  if (!sweep.list.empty() && sweep.random > 0)
    return usageError("expected one of '--list' and '--random', got both");
  return Status::success();
}

Status Sweeper::findRuns() {
  const SweepOptions &sweep = options.sweep;
  std::vector<Axis> axes;
  MN_TRY(readAxes(options, axes));
  std::vector<OptionTexts> chosen;
  if (sweep.random > 0) {
    if (sweep.random > maxRuns)
      return usageError(text("expected '--random' to be at most %lld, got %lld",
                             static_cast<long long>(maxRuns),
                             static_cast<long long>(sweep.random)));
    chosen = drawRuns(axes, sweep.random, sweep.randomSeed);
  } else {
    MN_TRY(productOf(axes, chosen));
  }
  if (!sweep.list.empty()) {
    for (const Axis &axis : axes)
      if (axis.values.size() > 1)
        return usageError(text("expected one value of '--%s' for all runs of "
                               "'--list', got %zu",
                               axis.flag->name, axis.values.size()));
    const OptionTexts common = chosen.front();
    chosen.clear();
    MN_TRY(readRunList(sweep.list, chosen));
    for (OptionTexts &run : chosen)
      run.insert(common.begin(), common.end());
  }
  Options base = options;
  base.json = false;
  base.sweep = {};
  base.train.devices.clear();
  base.given.clear();
  MN_TRY(makeRuns(base, chosen, runs));
  for (const SweepRun &run : runs)
    MN_TRY(checkRun(run));
  MN_TRY(TrainModel::create(tables, runs.front().options.batch, model));
  if (sweep.halving > 0) {
    for (const SweepRun &run : runs)
      if (run.options.train.epochs != runs.front().options.train.epochs)
        return usageError(
            "expected one '--epochs' with '--halving', got several");
    rungs =
        rungsOf(runs.front().options.train.epochs, sweep.halving, runs.size());
  }
  table = std::make_unique<SweepTable>(runs);
  if (const size_t same = chosen.size() - runs.size())
    display.say(text("note: %zu runs are the same as others", same));
  return Status::success();
}

/// What would end a run before its first step.
Status Sweeper::checkRun(const SweepRun &run) const {
  TrainModel found;
  RecipeValues recipe;
  Initialization kind;
  MN_TRY(TrainModel::create(tables, run.options.batch, found));
  MN_TRY(chooseRecipe(*tables.recipe, run.options.train, recipe));
  return parseInitialization(run.options.train.init, kind);
}

Status Sweeper::readData() {
  bool has = false;
  MN_TRY(hasTestSet(options.data, has));
  MN_TRY(data.read(runs.front().options, model, has && model.evalPlan >= 0));
  std::vector<float> weights;
  return readClassWeights(options.train.classWeights, model, data[trainSet],
                          weights);
}

/// What must be the same in a sweep that continues.
static const std::vector<std::string> sameKeys = {
    "model",   "compiler",    "target",     "command",
    "weights", "data_digest", "test_digest"};

Json Sweeper::about() const {
  return {{"event", "sweep"},
          {"model", tables.name},
          {"compiler", tables.compiler},
          {"target", tables.target},
          {"command", tables.command},
          {"weights", model.digest(model.initialBlock())},
          {"data", options.data},
          {"rows", data.rows(trainSet)},
          {"validation_rows", data.rows(validationSet)},
          {"test_rows", data.rows(testSet)},
          {"data_digest", data.digest()},
          {"test_digest", data.has(testSet) ? data[testSet].digest() : ""}};
}

Status Sweeper::openResults() {
  MN_TRY(results.open(about(), sameKeys, runs));
  if (options.sweep.keep > 0) {
    std::error_code error;
    std::filesystem::create_directories(options.sweep.out + "/models", error);
    if (error)
      return badData("cannot make the folder '%s/models': %s",
                     options.sweep.out.c_str(), error.message().c_str());
    Saver saver(model);
    MN_TRY(saver.check(options.sweep.out + "/models/model.onnx"));
    for (const std::string &file : saver.externalFiles())
      display.say("note: a saved model needs '" + file + "' in its folder");
  }
  return findBest();
}

/// Of an earlier process. A run whose model should be there, and is not, is
/// trained again.
Status Sweeper::findBest() {
  std::vector<SweepRun *> finished;
  for (SweepRun &run : runs)
    if (run.finished() && !run.failed())
      finished.push_back(&run);
  finished = ranked(finished);
  const size_t wanted = static_cast<size_t>(options.sweep.keep);
  if (finished.size() > wanted)
    finished.resize(wanted);
  for (SweepRun *run : finished) {
    std::error_code error;
    if (std::filesystem::exists(modelFile(*run), error))
      best.push_back(run);
    else
      run->result = {};
  }
  return Status::success();
}

/// The first one, unless others were asked for.
Status Sweeper::chooseDevices() {
  std::vector<int64_t> numbers;
  if (!options.train.devices.empty())
    MN_TRY(readDevices(options.train.devices, numbers));
  if (numbers.empty())
    numbers.push_back(0); // where there is none, to open it is an error
  for (int64_t number : numbers)
    devices.push_back({number, nullptr, {false, false}});
  return Status::success();
}

/// When there is something to train.
Status Sweeper::openDevices() {
  if (devices.front().first)
    return Status::success();
  for (Device &device : devices)
    MN_TRY(openDevice(device));
  MN_TRY(chooseJobs());
  display.say(
      text("%s on %s: %zu runs, %zu of them done; %s of device memory "
           "for one%s",
           tables.name, devices.front().first->deviceName().c_str(),
           runs.size(), doneRuns(),
           bytesText(double(devices.front().first->deviceBytes())).c_str(),
           devices.front().resident[0] ? ", including the data"
                                       : ", with the data streamed"));
  return Status::success();
}

Status Sweeper::openDevice(Device &device) {
  ExecutorOptions open;
  open.device = static_cast<int>(device.number);
  open.shared = true;
  const int64_t jobs = options.sweep.jobs;
  if (const int64_t useful = usefulExecutors())
    open.threads = static_cast<int>(std::max<int64_t>(
        useful / std::min(jobs > 0 ? jobs : useful, int64_t(runs.size())), 1));
  std::unique_ptr<Executor> opened;
  MN_TRY(Executor::open(tables, open, opened));
  MN_TRY(opened->prepare(model.trainPlan));
  if (data.judge() != trainSet)
    MN_TRY(opened->prepare(model.evalPlan));
  int64_t freeBytes = 0;
  MN_TRY(opened->freeBytes(freeBytes));
  Feeder feeder(model, *opened,
                roomForData(options.train.deviceData, freeBytes));
  for (const DataSetNumber set : allSets)
    if (data.has(set)) {
      MN_TRY(feeder.load(set, data[set]));
      device.resident[set] = feeder.onDevice(set);
    }
  device.first = std::move(opened);
  return Status::success();
}

/// As many as there are runs and memory for, until it is known what is gained.
Status Sweeper::chooseJobs() {
  const auto count = static_cast<int64_t>(devices.size());
  int64_t most = (static_cast<int64_t>(runs.size()) + count - 1) / count;
  if (options.sweep.jobs > 0) {
    search = JobSearch::fixed(std::min(options.sweep.jobs, most));
    return Status::success();
  }
  if (const int64_t useful = usefulExecutors()) {
    search = JobSearch::fixed(std::min(useful, most));
    return Status::success();
  }
  most = std::min(most, maxJobs);
  for (const Device &device : devices) {
    int64_t freeBytes = 0;
    MN_TRY(device.first->freeBytes(freeBytes));
    most = std::min(most, 1 + std::max<int64_t>(freeBytes - leftFree, 0) /
                                  static_cast<int64_t>(deviceBytes(tables)));
  }
  search = JobSearch::upTo(most);
  return Status::success();
}

} // namespace mn
