//===- train_session.cpp - training whose loop is the caller's ------------===//

#include "train/train_session.h"
#include "core/array.h"
#include "inference/inputs.h"
#include "train/initialize.h"
#include "train/saver.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace mn {

namespace {

/// Rows of the recipe that are written at a time.
constexpr int64_t rowsAhead = recipeRows / 4;

/// "lr" of "--lr".
const char *nameOf(const RecipeNumber &number) { return number.flag + 2; }

size_t rowBytes(const Tensor &tensor, int64_t elements) {
  return static_cast<size_t>(elements) * bytesOf(tensor.type);
}

} // namespace

//===----------------------------------------------------------------------===//
// Beginning
//===----------------------------------------------------------------------===//

Status TrainSession::begin(const Model &model, Executor &executor,
                           const Begin &begin,
                           std::shared_ptr<TrainSession> &session) {
  const auto made = std::make_shared<TrainSession>(executor);
  MN_TRY(TrainModel::create(model, begin.batch, made->model));
  if (made->model.dataParallel())
    return usageError("expected a model compiled without '--data-parallel', to "
                      "train in a session, got one with it");
  MN_TRY(chooseRecipe(*model.recipe, made->given, made->recipe));
  std::vector<char> block = made->model.initialBlock();
  MN_TRY(begin.checkpoint.empty() ? made->beginNew(begin, block)
                                  : made->resume(begin.checkpoint, block));
  MN_TRY(made->renewRing());
  MN_TRY(executor.prepare(made->model.trainPlan));
  MN_TRY(executor.writeParameters(0, block.data(), block.size()));
  session = made;
  return Status::success();
}

Status TrainSession::beginNew(const Begin &begin, std::vector<char> &block) {
  Initialization kind;
  if (!parseInitialization(begin.init, kind).ok())
    return usageError(
        "expected init to be file, he, xavier, torch or keras, got '" +
        begin.init + "'");
  MN_TRY(initialize(model, kind, begin.seed, block));
  model.setWhole(block, names::badStep, -1);
  model.setWhole(block, names::seed, begin.seed);
  Status status = model.checkNumbers(block);
  if (!status.ok()) // the file's, not what training made of them
    status.code = Code::badData;
  return status;
}

std::vector<RunFact> TrainSession::facts() const {
  return {recipeFact(*model.model->recipe),
          {"batch", "a batch of", std::to_string(model.batch)}};
}

Status TrainSession::resume(const std::string &folder,
                            std::vector<char> &block) {
  const CheckpointFile file(model, folder);
  OptionTexts options;
  MN_TRY(file.readOptions(model.model->name, facts(), options));
  for (const RecipeNumber &number : recipeNumbers) {
    const std::string &value = options[nameOf(number)];
    double found = 0;
    const char *end = value.data() + value.size();
    if (value.empty())
      continue;
    if (std::from_chars(value.data(), end, found).ptr != end)
      return badData("'%s': expected a number for '%s', got '%s'",
                     file.name().c_str(), nameOf(number), value.c_str());
    Status status = set(nameOf(number), found);
    if (!status.ok())
      return badData("'%s': %s", file.name().c_str(), status.message.c_str());
  }
  Checkpoint found;
  MN_TRY(file.read(facts(), block, found));
  if (const Status status = model.checkNumbers(block); !status.ok())
    return badData("'%s': %s", file.name().c_str(), status.message.c_str());
  steps = lookedAt = found.step;
  last = model.metricsOf(block);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The optimizer's numbers
//===----------------------------------------------------------------------===//

const char *TrainSession::numberName(int number) const {
  for (const RecipeNumber &each : recipeNumbers)
    if (usesNumber(*model.model->recipe, each) && number-- == 0)
      return nameOf(each);
  return nullptr;
}

Status TrainSession::findNumber(const std::string &name,
                                const RecipeNumber *&found) const {
  std::string known;
  for (const RecipeNumber &each : recipeNumbers) {
    if (!usesNumber(*model.model->recipe, each))
      continue;
    known += (known.empty() ? "" : ", ") + std::string(nameOf(each));
    if (name == nameOf(each)) {
      found = &each;
      return Status::success();
    }
  }
  return usageError("expected a number of the optimizer (" + known +
                    "), got '" + name + "'");
}

Status TrainSession::get(const std::string &name, double &value) const {
  const RecipeNumber *found = nullptr;
  MN_TRY(findNumber(name, found));
  value = recipe.numbers[found->column];
  return Status::success();
}

Status TrainSession::set(const std::string &name, double value) {
  const RecipeNumber *found = nullptr;
  MN_TRY(findNumber(name, found));
  const bool clips = found->column == RecipeColumn::clip;
  if (!std::isfinite(value) || value < 0 || (clips && value == 0))
    return usageError(text("expected '%s' to be %s, got %g", name.c_str(),
                           clips ? "positive" : "0 or more", value));
  TrainOptions options = given;
  options.*found->option = value;
  MN_TRY(chooseRecipe(*model.model->recipe, options, recipe));
  given = options;
  return renewRing();
}

/// What the next steps read is written again.
Status TrainSession::renewRing() {
  const Parameter *rows = model.find(names::recipe);
  LearningRate rate;
  MN_TRY(LearningRate::create({}, recipe.numbers[RecipeColumn::lr], /*steps=*/1,
                              /*stepsPerEpoch=*/1, rate));
  if (rows)
    ring.emplace(rows->tensor.offset, recipe, rate);
  written = steps;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status TrainSession::checkRows(int64_t count) const {
  const int64_t most = model.rowsOfStep();
  if (dropsPartial(*model.model->recipe) && count != most)
    return usageError(
        text("expected %lld rows, since the model normalizes by the "
             "statistics of a batch, got %lld",
             static_cast<long long>(most), static_cast<long long>(count)));
  return count >= 1 && count <= most
             ? Status::success()
             : usageError(text("expected 1 to %lld rows, got %lld",
                               static_cast<long long>(most),
                               static_cast<long long>(count)));
}

/// Rows beyond those given are zeros, and do not count.
Status TrainSession::fill(int plan, const TrainRows &rows) {
  MN_TRY(executor.prepare(plan));
  MN_TRY(executor.wait(slot));
  const auto copy = [&](int number, const void *from, size_t row) {
    auto *to = static_cast<char *>(executor.input(plan, number, slot));
    const size_t bytes = row * static_cast<size_t>(rows.count);
    std::memcpy(to, from, bytes);
    std::memset(to + bytes, 0, row * static_cast<size_t>(model.batch) - bytes);
  };
  copy(0, rows.inputs, rowBytes(*model.input, model.inputElements));
  copy(1, rows.targets, rowBytes(*model.labels, model.targetElements));
  const int64_t counts[] = {rows.count, rows.ofStep};
  for (int i = 2; i < model.model->plans[plan].inputCount; ++i) {
    const auto count = static_cast<int32_t>(counts[i - 2]);
    std::memcpy(executor.input(plan, i, slot), &count, sizeof count);
  }
  return Status::success();
}

/// Classes that the model has not are refused before anything runs.
static Status checkTargets(const TrainModel &model, const void *targets,
                           int64_t count) {
  if (!model.classTargets)
    return Status::success();
  return checkRange(*model.labels, model.labelRange(), targets,
                    static_cast<size_t>(count * model.targetElements));
}

/// Those from row `first` on, up to a batch.
TrainRows TrainSession::batchOf(const TrainRows &rows, int64_t first) const {
  const auto from = [&](const void *all, size_t row) {
    return static_cast<const char *>(all) + static_cast<size_t>(first) * row;
  };
  TrainRows batch = rows;
  batch.count = std::min(model.batch, rows.count - first);
  batch.ofStep = rows.count;
  batch.inputs = from(rows.inputs, rowBytes(*model.input, model.inputElements));
  batch.targets =
      from(rows.targets, rowBytes(*model.labels, model.targetElements));
  return batch;
}

Status TrainSession::runOnHost(const TrainRows &rows) {
  MN_TRY(checkTargets(model, rows.targets, rows.count));
  return submitAll(model.trainPlan, rows);
}

/// Batch by batch.
Status TrainSession::submitAll(int plan, const TrainRows &rows) {
  for (int64_t first = 0; first < rows.count; first += model.batch) {
    MN_TRY(fill(plan, batchOf(rows, first)));
    MN_TRY(executor.submit(plan, slot));
    slot = 1 - slot;
  }
  return Status::success();
}

Status TrainSession::runOnDevice(const TrainRows &rows) {
  const size_t row = rowBytes(*model.labels, model.targetElements);
  MN_TRY(executor.beginAfter(rows.stream));
  std::vector<char> classes(
      model.classTargets ? static_cast<size_t>(rows.count) * row : 0);
  TrainRows all = rows;
  if (model.classTargets) {
    MN_TRY(executor.readOnDevice(rows.targets, classes.data(), classes.size()));
    MN_TRY(checkTargets(model, classes.data(), rows.count));
    all.targets = classes.data();
  }
  for (int64_t first = 0; first < rows.count; first += model.batch)
    MN_TRY(runBatchOnDevice(batchOf(all, first)));
  return executor.endBefore(rows.stream);
}

/// Classes are on the host, once they were checked there.
Status TrainSession::runBatchOnDevice(const TrainRows &batch) {
  const auto count = static_cast<size_t>(batch.count);
  const size_t inputs = count * rowBytes(*model.input, model.inputElements);
  const size_t targets = count * rowBytes(*model.labels, model.targetElements);
  const int32_t rows[] = {static_cast<int32_t>(batch.count),
                          static_cast<int32_t>(batch.ofStep)};
  std::vector<CallerRows> given = {
      {batch.inputs, inputs}, {batch.targets, targets, 0, model.classTargets}};
  for (int i = 2; i < model.plan().inputCount; ++i)
    given.push_back({&rows[i - 2], sizeof rows[0], 0, true});
  return executor.runOnDevice(model.trainPlan, given, {});
}

Status TrainSession::step(const TrainRows &rows, double *loss) {
  MN_TRY(checkRows(rows.count));
  if (loss && lookedAt != steps)
    MN_TRY(look());
  if (ring && steps == written) {
    MN_TRY(ring->write(executor, steps, rowsAhead));
    written = steps + rowsAhead;
  }
  MN_TRY(rows.onDevice ? runOnDevice(rows) : runOnHost(rows));
  ++steps;
  if (!loss)
    return Status::success();
  const Metrics before = last;
  MN_TRY(look());
  *loss =
      Metrics{last.lossSum - before.lossSum, 0, last.seen - before.seen}.loss();
  return Status::success();
}

Status TrainSession::look() {
  MN_TRY(readMetrics(last));
  lookedAt = steps;
  return Status::success();
}

Status TrainSession::readMetrics(Metrics &metrics) {
  MN_TRY(model.readMetrics(executor, metrics));
  if (metrics.badStep < 0)
    return Status::success();
  return Status::error(Code::numeric,
                       text("expected a finite loss, got NaN or infinity at "
                            "step %lld",
                            static_cast<long long>(metrics.badStep + 1)));
}

Status TrainSession::takeMetrics(Metrics &metrics) {
  MN_TRY(readMetrics(metrics));
  MN_TRY(model.writeStart(executor, ++periods));
  last = {};
  lookedAt = steps;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Evaluation, and what is written
//===----------------------------------------------------------------------===//

Status TrainSession::writeMetrics(const Metrics &metrics) {
  MN_TRY(model.writeStart(executor, periods));
  int64_t bits;
  std::memcpy(&bits, &metrics.lossSum, sizeof bits);
  MN_TRY(model.write(executor, names::lossSum, bits));
  MN_TRY(model.write(executor, names::correct, metrics.correct));
  MN_TRY(model.write(executor, names::seen, metrics.seen));
  return model.write(executor, names::badStep, metrics.badStep);
}

Status TrainSession::evaluate(const TrainRows &rows, Metrics &metrics) {
  if (model.evalPlan < 0)
    return usageError("expected a model with a plan that evaluates, got none");
  MN_TRY(checkTargets(model, rows.targets, rows.count));
  Metrics kept;
  MN_TRY(model.readMetrics(executor, kept));
  MN_TRY(model.writeStart(executor, periods));
  const Status status = runEvaluation(rows, metrics);
  const Status restored = writeMetrics(kept);
  return status.ok() ? restored : status;
}

Status TrainSession::runEvaluation(const TrainRows &rows, Metrics &metrics) {
  MN_TRY(submitAll(model.evalPlan, rows));
  return model.readMetrics(executor, metrics);
}

Status TrainSession::readBlock(std::vector<char> &block) const {
  block.resize(model.model->parameterBytes);
  return executor.readParameters(0, block.data(), block.size());
}

Status TrainSession::digest(std::string &text) const {
  std::vector<char> block;
  MN_TRY(readBlock(block));
  text = model.digest(block);
  return Status::success();
}

Status TrainSession::save(const std::string &path) const {
  std::vector<char> block;
  MN_TRY(readBlock(block));
  MN_TRY(model.checkNumbers(block));
  return Saver(model).save(path, block);
}

Status TrainSession::writeCheckpoint(const std::string &folder) const {
  std::vector<char> block;
  MN_TRY(readBlock(block));
  MN_TRY(model.checkNumbers(block));
  Checkpoint checkpoint;
  checkpoint.step = steps;
  for (const RecipeNumber &number : recipeNumbers)
    if (usesNumber(*model.model->recipe, number))
      checkpoint.options[nameOf(number)] =
          text("%.17g", recipe.numbers[number.column]);
  return CheckpointFile(model, folder).write(block, facts(), checkpoint);
}

} // namespace mn
