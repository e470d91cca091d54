//===- trainer_setup.cpp - all that comes before the first step -----------===//
//
// In the order in which a mistake is cheapest to find: options, data, files,
// the device, the checkpoint.
//
//===----------------------------------------------------------------------===//

#include "reports/report.h"
#include "train/initialize.h"
#include "train/trainer.h"
#include <filesystem>
#include <map>

namespace mn {

namespace {

Status usage(std::string message) {
  return Status::error(Code::usage, std::move(message));
}

long long asLong(int64_t number) { return number; }

std::string exact(double number) {
  std::string shortest = text("%.15g", number);
  return std::strtod(shortest.c_str(), nullptr) == number
             ? shortest
             : text("%.17g", number);
}

} // namespace

Trainer::Trainer(const Model &model, const Options &options)
    : tables(model), options(options), train(options.train), saver(this->model),
      reporter(options.train, std::string("training ") + model.name) {}

Status Trainer::setUp(const Open &open) {
  MN_TRY(TrainModel::create(tables, options.batch, model));
  MN_TRY(checkOptions());
  MN_TRY(chooseRecipe(*tables.recipe, train, recipe));
  MN_TRY(Schedule::parse(train.schedule, schedule));
  MN_TRY(readData());
  MN_TRY(LearningRate::create(schedule, recipe.numbers[RecipeColumn::lr],
                              steps(), stepsPerEpoch, rate));
  MN_TRY(checkFiles());
  MN_TRY(openDevice(open));
  return begin();
}

Status Trainer::checkOptions() const {
  if (options.data.empty())
    return usage("expected '--data=DIR' or '--data=digits', got none");
  if (train.resume && train.checkpoint.empty())
    return usage("expected '--checkpoint=DIR' to resume from, got none");
  if (train.checkpointEvery > 0 && train.checkpoint.empty())
    return usage("expected '--checkpoint=DIR' with '--checkpoint-every', got "
                 "none");
  Initialization kind;
  return parseInitialization(train.init, kind);
}

Status Trainer::readData() {
  bool has = false;
  MN_TRY(hasTestSet(options.data, has));
  tests = has && model.evalPlan >= 0;
  if (!tests && !train.best.empty())
    return has ? usage("expected a program that evaluates, for '--best', got "
                       "one without an 'eval' plan")
               : badData("expected a test set for '--best' in '%s', got none",
                         options.data.c_str());
  for (int i = 0; i < 1 + tests; ++i) {
    SampleSet set;
    MN_TRY(readSamples(options.data, i ? Split::test : Split::train,
                       i ? train.testLimit : options.limit, set));
    classNames = set.classNames;
    MN_TRY(data[i].create(std::move(set), model, options.transform));
  }
  const int64_t rows = data[0].samples().count;
  const bool drops = train.dropLast || dropsPartial(*tables.recipe);
  stepsPerEpoch =
      drops ? rows / model.batch : (rows + model.batch - 1) / model.batch;
  if (stepsPerEpoch > 0) {
    // A double counts the steps, where the schedule asks.
    constexpr int64_t mostSteps = int64_t(1) << 53;
    if (train.epochs <= mostSteps / stepsPerEpoch)
      return Status::success();
    return usage("expected '--epochs' to be at most " +
                 std::to_string(mostSteps / stepsPerEpoch) + ", got " +
                 std::to_string(train.epochs));
  }
  return badData("expected at least one batch of %lld rows in '%s', since "
                 "partial ones are dropped, got %lld rows",
                 asLong(model.batch), options.data.c_str(), asLong(rows));
}

/// Where a file is, whatever the path is called.
static std::string placeOf(const std::string &path) {
  std::error_code error;
  const std::filesystem::path place =
      std::filesystem::weakly_canonical(path, error);
  return error ? path : place.string();
}

/// What one output writes, another must not write over.
Status Trainer::checkOutputs() const {
  const std::pair<const char *, std::string> outputs[] = {
      {"--save", train.save},
      {"--best", train.best},
      {"--log", train.log},
      {"--plot", train.plot},
      {"--checkpoint", train.checkpoint.empty()
                           ? ""
                           : CheckpointFile(model, train.checkpoint).name()}};
  std::map<std::string, const char *> places;
  for (const auto &[option, path] : outputs) {
    if (path.empty())
      continue;
    const auto [place, isNew] = places.emplace(placeOf(path), option);
    if (!isNew)
      return usage(text("expected '%s' and '%s' to be different files, got "
                        "'%s' for both",
                        place->second, option, path.c_str()));
  }
  return Status::success();
}

Status Trainer::checkFiles() {
  MN_TRY(checkOutputs());
  for (const std::string *path : {&train.save, &train.best})
    if (!path->empty())
      MN_TRY(saver.check(*path));
  if (!train.checkpoint.empty()) {
    checkpoint = std::make_unique<CheckpointFile>(model, train.checkpoint);
    MN_TRY(checkpoint->checkWritable());
  }
  return reporter.open(train.resume);
}

Status Trainer::openDevice(const Open &open) {
  MN_TRY(open(executor));
  // Before the data, which gets what the plans leave.
  MN_TRY(executor->prepare(model.trainPlan));
  if (tests)
    MN_TRY(executor->prepare(model.evalPlan));
  int64_t freeBytes = 0;
  MN_TRY(executor->freeBytes(freeBytes));
  feeder = std::make_unique<Feeder>(model, *executor,
                                    roomForData(train.deviceData, freeBytes));
  feeder->checkNumbers = options.checkNan;
  for (int i = 0; i < 1 + tests; ++i)
    MN_TRY(feeder->load(i, data[i]));
  if (const Parameter *rows = model.find(names::recipe))
    ring = std::make_unique<RecipeRing>(rows->tensor.offset, recipe, rate);
  return Status::success();
}

/// Fills the parameter block.
Status Trainer::begin() {
  block = model.initialBlock();
  const bool resumed = train.resume && checkpoint->exists();
  if (resumed) {
    MN_TRY(resume());
  } else {
    Initialization kind;
    MN_TRY(parseInitialization(train.init, kind));
    MN_TRY(initialize(model, kind, train.seed, block));
    model.setWhole(block, names::seed, train.seed);
    model.setWhole(block, names::badStep, -1);
    MN_TRY(asBadData("'" + std::string(tables.name) + "'"));
  }
  firstStep = step;
  MN_TRY(executor->writeParameters(0, block.data(), block.size()));
  announce(resumed);
  return Status::success();
}

/// What is not a number came with the block's source: its fault is in that.
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
  if (step > steps())
    return badData("'%s': expected at most %lld steps, as many as %lld epochs "
                   "have, got %lld",
                   checkpoint->name().c_str(), asLong(steps()),
                   asLong(train.epochs), asLong(step));
  MN_TRY(checkStates());
  last = windowFrom = model.metricsOf(block);
  const Status status = history.parse(found.history);
  return status.ok() ? status
                     : badData("'%s': %s", checkpoint->name().c_str(),
                               status.message.c_str());
}

/// That the states of a checkpoint, which say where the next batch is, are of
/// this data set: plans trust them. An epoch begins with new ones.
Status Trainer::checkStates() const {
  if (batchOfEpoch() == 0)
    return Status::success();
  const int64_t rows = data[0].samples().count;
  const struct {
    const char *name;
    int64_t least, most;
  } states[] = {{names::batch, batchOfEpoch(), batchOfEpoch()},
                {names::epoch, epoch(), epoch()},
                {names::seen, 0, rows},
                {names::correct, 0, rows * model.targetElements}};
  for (const auto &[name, least, most] : states)
    if (const int64_t found = model.whole(block, name);
        found < least || found > most)
      return badData("'%s': expected '%s' from %lld to %lld, got %lld",
                     checkpoint->name().c_str(), name, asLong(least),
                     asLong(most), asLong(found));
  return Status::success();
}

std::vector<RunFact> Trainer::facts() const {
  const Recipe &compiled = *tables.recipe;
  const auto yes = [](bool is) { return std::string(is ? "yes" : "no"); };
  std::vector<RunFact> facts = {
      {"recipe", "the recipe",
       text("'%s, %s (%s), clip %s'", compiled.loss, compiled.optimizer,
            compiled.convention, compiled.clip)},
      {"batch", "'--batch'", std::to_string(model.batch)},
      {"seed", "'--seed'", std::to_string(train.seed)},
      {"schedule", "'--schedule'", schedule.text()},
      {"no-shuffle", "'--no-shuffle'", yes(train.noShuffle)},
      {"drop-last", "'--drop-last'", yes(train.dropLast)},
      {"rows", "a number of training rows of",
       std::to_string(data[0].samples().count)},
      {"data", "training data of digest", data[0].digest()}};
  // The other schedules do not ask when the run ends.
  if (schedule.kind == Schedule::Kind::cosine ||
      schedule.kind == Schedule::Kind::oneCycle)
    facts.push_back({"epochs", "'--epochs'", std::to_string(train.epochs)});
  for (const RecipeNumber &number : recipeNumbers)
    if (usesNumber(compiled, number.column))
      facts.push_back({number.flag + 2, text("'%s'", number.flag),
                       exact(recipe.numbers[number.column])});
  return facts;
}

void Trainer::announce(bool resumed) {
  const Recipe &compiled = *tables.recipe;
  const int64_t rows = data[0].samples().count;
  const int64_t testRows = tests ? data[1].samples().count : 0;
  reporter.say(text("%s on %s: %s, %s, batch %lld, schedule %s", tables.name,
                    executor->deviceName().c_str(), compiled.loss,
                    compiled.optimizer, asLong(model.batch),
                    schedule.text().c_str()));
  reporter.say(text("%lld rows to train on, %lld to test on, %lld steps an "
                    "epoch; %s on the device, %s",
                    asLong(rows), asLong(testRows), asLong(stepsPerEpoch),
                    bytesText(double(executor->deviceBytes())).c_str(),
                    feeder->onDevice(0) ? "with the data"
                                        : "data streamed from the host"));
  if (!classNames.empty())
    reporter.say("classes " + classesText(classNames));
  if (train.resume)
    reporter.say(resumed ? text("resumed at step %lld of %lld", asLong(step),
                                asLong(steps()))
                         : text("no checkpoint in '%s': starting afresh",
                                train.checkpoint.c_str()));
  for (const std::string &file : saver.externalFiles())
    reporter.say("note: a saved model reads '" + file + "' beside it");
  if (train.save.empty() && train.best.empty() && train.checkpoint.empty())
    reporter.say("note: nothing is kept without '--save=FILE'");
  Json event = {{"event", "start"},
                {"model", tables.name},
                {"compiler", tables.compiler},
                {"command", tables.command},
                {"target", tables.target},
                {"device", executor->deviceName()},
                {"device_bytes", executor->deviceBytes()},
                {"loss_kind", compiled.loss},
                {"optimizer", compiled.optimizer},
                {"schedule", schedule.text()}};
  for (const RecipeNumber &number : recipeNumbers)
    if (usesNumber(compiled, number.column))
      event[number.flag + 2] = recipe.numbers[number.column];
  event["data"] = options.data;
  if (!classNames.empty())
    event["classes"] = classNames;
  event["rows"] = rows;
  event["test_rows"] = testRows;
  event["batch"] = model.batch;
  event["epochs"] = train.epochs;
  event["steps_per_epoch"] = stepsPerEpoch;
  event["seed"] = train.seed;
  event["shuffle"] = !train.noShuffle;
  event["resumed"] = resumed;
  event["step"] = step;
  event["digest"] = model.digest(block);
  reporter.event(event);
}

} // namespace mn
