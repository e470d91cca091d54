//===- trainer_setup.cpp - all that comes before the first step -----------===//
//
// In the order in which a mistake is cheapest to find: options, data, files,
// the device, the checkpoint.
//
//===----------------------------------------------------------------------===//

#include "core/choices.h"
#include "reports/html_report.h"
#include "reports/report.h"
#include "train/class_weights.h"
#include "train/initialize.h"
#include "train/trainer.h"
#include <algorithm>
#include <filesystem>
#include <map>
#include <unistd.h>

namespace mn {

namespace {

long long asLong(int64_t number) { return number; }

/// The options that need standard output for themselves; progress then goes to
/// standard error.
Choices stdoutOptions(const Options &options) {
  Choices result;
  if (options.train.log == "-")
    result.push_back("--log=-");
  if (options.train.plot == "-")
    result.push_back("--plot=-");
  if (options.train.report == "-")
    result.push_back("--report=-");
  if (options.json)
    result.push_back("--json");
  return result;
}

} // namespace

/// Ranks but the first write nothing.
static Options optionsOf(const Options &all, const Ranks *ranks) {
  Options options = all;
  if (!ranks || ranks->isFirst())
    return options;
  TrainOptions &train = options.train;
  for (std::string *file :
       {&train.save, &train.best, &train.log, &train.tensorboard, &train.plot,
        &train.csv, &train.report})
    file->clear();
  options.json = false;
  return options;
}

Trainer::Trainer(const Model &model, const Options &options,
                 const SharedTraining *shared, Ranks *ranks)
    : tables(model), options(optionsOf(options, ranks)),
      train(this->options.train), shared(shared), ranks(ranks ? *ranks : alone),
      saver(this->model),
      reporter(train, std::string("training ") + model.name,
               shared || !this->ranks.isFirst() ? -1
               : stdoutOptions(options).empty() ? STDOUT_FILENO
                                                : STDERR_FILENO,
               shared ? shared->listener : nullptr),
      keepsBest(!options.train.best.empty()) {
  if (!shared)
    return;
  data = shared->data;
  executor = shared->executor;
  signals = shared->signals;
}

/// "90", "90s", "1.5m" or "2h".
static Status readMaxTime(const std::string &text, double &seconds) {
  if (text.empty())
    return Status::success();
  const char *begin = text.c_str();
  char *end = nullptr;
  seconds = std::strtod(begin, &end);
  const std::string unit = end;
  const double factor = unit.empty() || unit == "s" ? 1
                        : unit == "m"               ? 60
                        : unit == "h"               ? 3600
                                                    : 0;
  seconds *= factor;
  if (end != begin && factor > 0 && seconds > 0 && std::isfinite(seconds))
    return Status::success();
  return usageError(
      "expected '--max-time' to be a time such as 90s, 1.5m or 2h, "
      "got '" +
      text + "'");
}

Status Trainer::setUp(const Open &open) {
  MN_TRY(resumeOptions());
  MN_TRY(TrainModel::create(tables, options.batch, model));
  MN_TRY(checkRanks());
  MN_TRY(checkOptions());
  MN_TRY(readMaxTime(train.maxTime, maxSeconds));
  MN_TRY(chooseRecipe(*tables.recipe, train, recipe));
  MN_TRY(Schedule::parse(train.schedule, schedule));
  MN_TRY(findTestSet());
  startOpening(open);
  MN_TRY(readData());
  MN_TRY(readClassWeights(train.classWeights, model, data[trainSet],
                          classWeights));
  MN_TRY(LearningRate::create(schedule, recipe.numbers[RecipeColumn::lr],
                              steps(), stepsPerEpoch, rate));
  completeOptions();
  MN_TRY(checkFiles());
  MN_TRY(openDevice());
  return begin();
}

/// Takes the options that the command line does not give from the checkpoint.
Status Trainer::resumeOptions() {
  if (!train.resume)
    return Status::success();
  if (train.checkpoint.empty())
    return usageError("expected '--checkpoint=DIR' with '--resume', got none");
  const CheckpointFile file(model, train.checkpoint);
  if (!file.exists())
    return Status::success();
  resumed = true;
  MN_TRY(file.readOptions(tables.name, {recipeFact(*tables.recipe)}, kept));
  // "cosine" is "cosine,lr-min=0", as the checkpoint says it.
  MN_TRY(Schedule::parse(train.schedule, schedule));
  options.train.schedule = schedule.text();
  Status status = takeOptions(kept, options, overridden);
  if (!status.ok())
    status.message = "'" + file.name() + "': " + status.message;
  return status;
}

/// What was chosen for the user becomes as if the user had said it, so that a
/// checkpoint has it.
void Trainer::completeOptions() {
  options.batch = model.batch;
  options.train.schedule = schedule.text();
  if (train.classWeights.empty())
    options.train.classWeights = weightsList(classWeights);
  for (const RecipeNumber &number : recipeNumbers)
    if (usesNumber(*tables.recipe, number))
      options.train.*number.option = recipe.numbers[number.column];
}

Status Trainer::checkOptions() const {
  if (options.data.empty())
    return usageError("expected '--data=DIR' or '--data=digits', got none");
  if (train.checkpointEvery > 0 && train.checkpoint.empty())
    return usageError(
        "expected '--checkpoint=DIR' with '--checkpoint-every', got "
        "none");
  if (const Choices several = stdoutOptions(options); several.size() > 1)
    return usageError("expected one output on standard output, got '" +
                      several[0] + "' and '" + several[1] + "'");
  const std::pair<const char *, const std::string &> files[] = {
      {"--save", train.save},
      {"--best", train.best},
      {"--checkpoint", train.checkpoint},
      {"--csv", train.csv},
      {"--tensorboard", train.tensorboard}};
  for (const auto &[name, path] : files)
    if (path == "-")
      return usageError(
          text("expected a file or folder for '%s', got '-'", name));
  if (train.validation && !(*train.validation > 0 && *train.validation < 1))
    return usageError(
        text("expected '--validation' to be between 0 and 1, got %g",
             *train.validation));
  Initialization kind;
  return parseInitialization(train.init, kind);
}

Status Trainer::findTestSet() {
  if (shared) {
    return Status::success();
  }
  MN_TRY(hasTestSet(options.data, hasTest));
  const char *option = train.validation      ? "--validation"
                       : !train.best.empty() ? "--best"
                       : train.earlyStop > 0 ? "--early-stop"
                                             : nullptr;
  if (option && model.evalPlan < 0)
    return usageError(
        text("expected a program that evaluates, for '%s', got one "
             "without an 'eval' plan",
             option));
  if (option && !train.validation && !hasTest)
    return badData("expected '--validation' or a test set for '%s' in '%s', "
                   "got neither",
                   option, options.data.c_str());
  hasTest = hasTest && model.evalPlan >= 0;
  return Status::success();
}

/// A GPU starts while data is read. What is wrong with it is said after what is
/// wrong with data and files, as if it had been opened then.
void Trainer::startOpening(const Open &open) {
  if (shared)
    return;
  opening = mn::startOpening([this, open] {
    std::unique_ptr<Executor> opened;
    MN_TRY(open(opened));
    executor = std::move(opened);
    // Before the data is loaded, which gets what the plans leave.
    MN_TRY(executor->prepare(model.trainPlan));
    return train.validation || hasTest ? executor->prepare(model.evalPlan)
                                       : Status::success();
  });
}

int64_t Trainer::stepsOf(int64_t rows, int64_t most) const {
  const bool drops = train.dropLast || dropsPartial(*tables.recipe);
  return drops ? rows / most : (rows + most - 1) / most;
}

Status Trainer::readData() {
  if (!shared)
    MN_TRY(data.read(options, model, hasTest));
  const int64_t rows = data.rows(trainSet);
  stepsPerEpoch = stepsOf(rows, rowsOfStep());
  if (stepsPerEpoch > 0) {
    // A double counts the steps, where the schedule asks.
    constexpr int64_t maxSteps = int64_t(1) << 53;
    if (train.epochs <= maxSteps / stepsPerEpoch)
      return Status::success();
    return usageError("expected '--epochs' to be at most " +
                      std::to_string(maxSteps / stepsPerEpoch) + ", got " +
                      std::to_string(train.epochs));
  }
  return badData("expected at least one batch of %lld rows in '%s', since "
                 "partial ones are dropped, got %lld rows",
                 asLong(rowsOfStep()), options.data.c_str(), asLong(rows));
}

/// Where a file is, whatever the path is called.
static std::string placeOf(const std::string &path) {
  std::error_code error;
  const std::filesystem::path place =
      std::filesystem::weakly_canonical(path, error);
  return error ? path : place.string();
}

/// No two outputs may be the same file.
Status Trainer::checkOutputs() const {
  const std::pair<const char *, std::string> outputs[] = {
      {"--save", train.save},
      {"--best", train.best},
      {"--log", train.log},
      {"--plot", train.plot},
      {"--csv", train.csv},
      {"--report", train.report},
      {"--checkpoint", train.checkpoint.empty()
                           ? ""
                           : CheckpointFile(model, train.checkpoint).name()}};
  std::map<std::string, const char *> places;
  for (const auto &[option, path] : outputs) {
    if (path.empty())
      continue;
    const auto [place, isNew] = places.emplace(placeOf(path), option);
    if (!isNew)
      return usageError(
          text("expected '%s' and '%s' to be different files, got "
               "'%s' for both",
               place->second, option, path.c_str()));
  }
  return Status::success();
}

Status Trainer::checkFiles() {
  saver.classNames = data.classNames();
  MN_TRY(checkOutputs());
  for (const std::string *path : {&train.save, &train.best})
    if (!path->empty())
      MN_TRY(saver.check(*path));
  if (!train.report.empty())
    MN_TRY(checkReport(tables, train.report));
  if (!train.checkpoint.empty()) {
    checkpoint = std::make_unique<CheckpointFile>(model, train.checkpoint);
    if (!shared && ranks.isFirst())
      MN_TRY(checkpoint->checkWritable());
  }
  return reporter.open(train.resume);
}

Status Trainer::openDevice() {
  if (shared) {
    feeder = std::make_unique<Feeder>(model, *executor, 0);
    for (const DataSetNumber set : allSets)
      if (data.has(set))
        feeder->use(set, data[set], shared->resident[set]);
  } else {
    MN_TRY(opening.get());
    int64_t freeBytes = 0;
    MN_TRY(executor->freeBytes(freeBytes));
    feeder = std::make_unique<Feeder>(model, *executor,
                                      roomForData(train.deviceData, freeBytes));
    feeder->checkNumbers = options.checkNan;
    for (const DataSetNumber set : allSets)
      if (data.has(set))
        MN_TRY(feeder->load(set, data[set]));
  }
  feeder->ranks = &ranks;
  if (const Parameter *rows = model.find(names::recipe))
    ring = std::make_unique<RecipeRing>(rows->tensor.offset, recipe, rate);
  return Status::success();
}

/// Fills the parameter block.
Status Trainer::begin() {
  block = model.initialBlock();
  if (resumed) {
    MN_TRY(resume());
  } else {
    Initialization kind;
    MN_TRY(parseInitialization(train.init, kind));
    MN_TRY(initialize(model, kind, train.seed, block));
    model.setWhole(block, names::badStep, -1);
    MN_TRY(asBadData("'" + std::string(tables.name) + "'"));
  }
  model.setFloats(block, names::classWeights, classWeights);
  model.setWhole(block, names::seed, train.seed);
  model.setWhole(block, names::rank, ranks.place().rank);
  model.setWhole(block, names::ranks, ranks.place().count);
  firstStep = step;
  MN_TRY(executor->writeParameters(0, block.data(), block.size()));
  announce();
  logStart();
  return Status::success();
}

/// A number that is not finite is an error of the block's source.
Status Trainer::asBadData(const std::string &source) const {
  const Status status = model.checkNumbers(block);
  return status.ok()
             ? status
             : badData("%s: %s", source.c_str(), status.message.c_str());
}

Status Trainer::resume() {
  Checkpoint found;
  MN_TRY(checkpoint->read(facts(), block, found));
  MN_TRY(asBadData("'" + checkpoint->name() + "'"));
  step = found.step;
  best = found.best;
  moveToRanks(found);
  if (step > steps())
    return usageError(text("expected '--epochs' of %lld or more, since the "
                           "checkpoint is at step %lld of epoch %lld, got %lld",
                           asLong((step + stepsPerEpoch - 1) / stepsPerEpoch),
                           asLong((step - 1) % stepsPerEpoch + 1),
                           asLong((step - 1) / stepsPerEpoch + 1),
                           asLong(train.epochs)));
  MN_TRY(checkStates());
  last = windowFrom = pointFrom = model.metricsOf(block);
  const Status status = history.parse(found.history);
  return status.ok() ? status
                     : badData("'%s': %s", checkpoint->name().c_str(),
                               status.message.c_str());
}

/// That the states of a checkpoint, which say where the next batch is, are of
/// this data set: plans trust them. An epoch begins with new ones.
Status Trainer::checkStates() const {
  if (stepOfEpoch() == 0)
    return Status::success();
  const int64_t rows = data.rows(trainSet);
  const struct {
    const char *name;
    int64_t min, max;
  } states[] = {{names::batch, stepOfEpoch() * model.batchesOfStep,
                 stepOfEpoch() * model.batchesOfStep},
                {names::part, 0, 0},
                {names::epoch, epoch(), epoch()},
                {names::seen, 0, rows},
                {names::correct, 0, rows * model.targetElements}};
  for (const auto &[name, min, max] : states)
    if (const int64_t found = model.whole(block, name);
        found < min || found > max)
      return badData("'%s': expected '%s' from %lld to %lld, got %lld",
                     checkpoint->name().c_str(), name, asLong(min), asLong(max),
                     asLong(found));
  return Status::success();
}

/// A number of steps gives the position in an epoch only if these are the same.
std::vector<RunFact> Trainer::facts() const {
  return {recipeFact(*tables.recipe),
          {"batch", "'--batch'", std::to_string(model.batch)},
          {"drop-last", "'--drop-last'", train.dropLast ? "yes" : "no"},
          {"rows", "a number of training rows of",
           std::to_string(data.rows(trainSet))},
          {"data", "training data of digest", data.digest()}};
}

void Trainer::announce() {
  const Recipe &compiled = *tables.recipe;
  reporter.say(text("%s on %s: %s, %s, batch %lld, schedule %s", tables.name,
                    executor->deviceName().c_str(), compiled.loss,
                    compiled.optimizer, asLong(model.batch),
                    schedule.text().c_str()));
  std::string rows = text("%lld training rows, ", asLong(data.rows(trainSet)));
  if (data.has(validationSet))
    rows += text("%lld to validate with, ", asLong(data.rows(validationSet)));
  reporter.say(rows + text("%lld test rows, %lld steps per epoch; %s of device "
                           "memory, %s",
                           asLong(data.rows(testSet)), asLong(stepsPerEpoch),
                           bytesText(double(executor->deviceBytes())).c_str(),
                           feeder->onDevice(0) ? "including the data"
                                               : "with the data streamed"));
  const auto [trained, elements] = model.trained();
  if (ranks.several())
    reporter.say(text("%d ranks, %lld rows per step", ranks.place().count,
                      asLong(rowsOfStep())));
  if (model.batchesOfStep > 1)
    reporter.say(text("%lld batches per step, whose gradients are added up: "
                      "%lld rows",
                      asLong(model.batchesOfStep), asLong(rowsOfStep())));
  reporter.say(text("%d of %d tensors train, %lld numbers", trained,
                    std::max(compiled.tensors, trained), asLong(elements)));
  if (!classWeights.empty())
    reporter.say("class weights " + weightsText(classWeights));
  if (!data.classNames().empty())
    reporter.say("classes " + classesText(data.classNames()));
  announceResumed();
  for (const std::string &file : saver.externalFiles())
    reporter.say("note: a saved model needs '" + file + "' in its folder");
  if (train.save.empty() && train.best.empty() && train.checkpoint.empty())
    reporter.say("note: the weights are not saved without '--save=FILE'");
}

void Trainer::announceResumed() {
  if (!train.resume)
    return;
  if (!resumed) {
    reporter.say("no checkpoint in '" + train.checkpoint +
                 "': training from scratch");
    return;
  }
  reporter.say(text(
      "resumed at step %lld of %lld%s", asLong(step), asLong(steps()),
      step == steps() ? ": nothing is left to train; '--epochs=N' trains on"
                      : ""));
  reporter.say("options of the checkpoint: " + commandText(kept));
  for (const std::string &option : overridden)
    reporter.say("overridden: " + option);
  const bool planned = schedule.kind == Schedule::Kind::cosine ||
                       schedule.kind == Schedule::Kind::oneCycle;
  if (planned && kept["epochs"] != std::to_string(train.epochs))
    reporter.say(text("note: the schedule is now that of a run of %lld epochs",
                      asLong(train.epochs)));
}

} // namespace mn
