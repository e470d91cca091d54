//===- trainer_report.cpp - what a report and a log say of a training -----===//

#include "reports/html_report.h"
#include "train/test_results.h"
#include "train/trainer.h"
#include <algorithm>

namespace mn {

namespace {

/// As many as a curve needs.
constexpr int64_t maxRates = 256;

Json epochsOf(const History &history) {
  Json epochs = Json::array();
  for (const EpochResult &result : history.results()) {
    Json epoch = {{"epoch", result.epoch}, {"train_loss", result.trainLoss}};
    if (result.trainAccuracy >= 0)
      epoch["train_accuracy"] = result.trainAccuracy;
    const Evaluation &evaluation = result.evaluation;
    if (evaluation.done())
      epoch["loss"] = evaluation.loss;
    if (evaluation.done() && evaluation.accuracy >= 0)
      epoch["accuracy"] = evaluation.accuracy;
    epochs.push_back(epoch);
  }
  return epochs;
}

} // namespace

/// Epochs and the rates at them.
Json Trainer::ratesNow() const {
  Json rates = Json::array();
  const int64_t count = std::min(maxRates, std::max<int64_t>(step, 1));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = count == 1 ? 0 : i * (step - 1) / (count - 1);
    rates.push_back(
        {static_cast<double>(at) / double(stepsPerEpoch), rate.at(at)});
  }
  return rates;
}

/// Of what is trained, as it is in `block`.
std::vector<Histogram> Trainer::weightHistograms() const {
  std::vector<Histogram> found;
  for (int i = 0; i < tables.parameterCount; ++i) {
    const auto &[tensor, role, order] = tables.parameters[i];
    if (role != Role::parameter || tensor.type != Type::f32)
      continue;
    const auto *numbers =
        reinterpret_cast<const float *>(block.data() + tensor.offset);
    found.push_back(histogramOf("weights/" + std::string(tensor.name),
                                {numbers, countOf(tensor)}));
  }
  return found;
}

/// After the last step; only the first rank has a file to write.
Status Trainer::writeReport() {
  if (train.report.empty())
    return Status::success();
  const Recipe &compiled = *tables.recipe;
  Json points = Json::array();
  for (const HistoryPoint &point : history.means())
    points.push_back({point.epoch, point.loss});
  Json training = {{"device", executor->deviceName()},
                   {"loss", compiled.loss},
                   {"optimizer", compiled.optimizer},
                   {"schedule", schedule.text()},
                   {"batch", model.batch},
                   {"rows", data.rows(trainSet)},
                   {"epochs", epochsOf(history)},
                   {"points", points},
                   {"rates", ratesNow()}};
  if (!data.classNames().empty())
    training["classes"] = data.classNames();
  if (evaluates(data.judge()))
    training["judge"] = nameOf(data.judge());
  const DataSetNumber set = evaluates(testSet) ? testSet : data.judge();
  if (evaluates(set)) {
    training["set"] = nameOf(set);
    training["set_rows"] = data.rows(set);
    // Where the best weights were tested last, those are still there.
    MN_TRY(executor->writeParameters(0, block.data(), block.size()));
    MN_TRY(addTestResults(tables, *executor, model.batch, data[set],
                          options.transform, training));
  }
  return mn::writeReport(tables, train.report, nullptr, training);
}

/// "weight-decay" as a key: "weight_decay".
static std::string snakeCase(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// What a log begins with.
void Trainer::logStart() {
  const Recipe &compiled = *tables.recipe;
  const auto [trained, elements] = model.trained();
  Json event = {{"event", "start"},
                {"model", tables.name},
                {"compiler", tables.compiler},
                {"command", tables.command},
                {"target", tables.target},
                {"device", executor->deviceName()},
                {"device_bytes", executor->deviceBytes()},
                {"loss_kind", compiled.loss},
                {"optimizer", compiled.optimizer},
                {"tensors", std::max(compiled.tensors, trained)},
                {"trained_tensors", trained},
                {"trained_numbers", elements},
                {"schedule", schedule.text()}};
  for (const RecipeNumber &number : recipeNumbers)
    if (usesNumber(compiled, number))
      event[snakeCase(number.flag + 2)] = recipe.numbers[number.column];
  event["data"] = options.data;
  if (!data.classNames().empty())
    event["classes"] = data.classNames();
  if (!classWeights.empty())
    event["class_weights"] = classWeights;
  event["rows"] = data.rows(trainSet);
  if (data.has(validationSet))
    event["validation_rows"] = data.rows(validationSet);
  event["test_rows"] = data.rows(testSet);
  event["batch"] = model.batch;
  event["accumulate"] = model.batchesOfStep;
  event["ranks"] = ranks.place().count;
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
