//===- test_results.cpp - what a model makes of a test set ----------------===//

#include "train/test_results.h"
#include "inference/class_statistics.h"
#include "inference/classify.h"
#include "inference/row_pictures.h"
#include "inference/runner.h"

namespace mn {

namespace {

/// As many as are looked at, and no larger than a page should carry.
constexpr int64_t maxMistakes = 24, maxSide = 96;
/// More classes make no table that can be read.
constexpr int64_t maxClasses = 100;

std::string base64(const std::vector<char> &bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                               "uvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t at) {
      return at < bytes.size() ? static_cast<uint8_t>(bytes[at]) : 0u;
    };
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (size_t j = 0; j < 4; ++j)
      text += i + j > bytes.size() ? '=' : digits[three >> (18 - 6 * j) & 63];
  }
  return text;
}

Json confusionOf(const ClassStatistics &statistics) {
  Json rows = Json::array();
  for (size_t label = 0; label < statistics.classes(); ++label) {
    Json row = Json::array();
    for (size_t guess = 0; guess < statistics.classes(); ++guess)
      row.push_back(statistics.confused(label, guess));
    rows.push_back(row);
  }
  return rows;
}

/// With the picture of each, where rows are pictures that a page can carry.
Status addWorst(const ClassStatistics &statistics, const Array &inputs,
                Json &results) {
  const std::optional<PictureShape> shape = pictureShapeOf(inputs);
  const bool shows =
      shape && shape->height <= maxSide && shape->width <= maxSide;
  Json rows = Json::array();
  for (const JudgedRow &judged : statistics.worst()) {
    Json row = {{"row", judged.row},
                {"label", judged.label},
                {"predicted", judged.guess},
                {"probability", judged.probability}};
    if (shows) {
      std::vector<char> file;
      MN_TRY(pictureOf(inputs, *shape, judged.row, file));
      row["image"] = "data:image/png;base64," + base64(file);
    }
    rows.push_back(row);
  }
  results["worst"] = rows;
  return Status::success();
}

size_t labelOf(const Samples &samples, int64_t row) {
  int32_t label;
  std::memcpy(&label, static_cast<const char *>(samples.targets) + 4 * row, 4);
  return static_cast<size_t>(label);
}

} // namespace

Status addTestResults(const Model &model, Executor &executor, int64_t batch,
                      const TrainData &data, const Transform &transform,
                      Json &results) {
  Runner runner(model, executor);
  int number;
  MN_TRY(runner.choosePlan(INT64_MAX, batch, number));
  const Plan &plan = model.plans[number];
  const Samples &samples = data.samples();
  if (plan.inputCount != 1 || plan.outputCount < 1 ||
      samples.targetType != Type::i32 || samples.targetElements != 1 ||
      !isClassifier(plan, plan.outputs[0]))
    return Status::success();
  const Tensor &output = plan.outputs[0];
  const auto classes = static_cast<int64_t>(Rows(plan, output).rowCount);
  if (classes > maxClasses)
    return Status::success();
  const Rows input(plan, plan.inputs[0]);
  Scores scores = Scores::automatic;
  ClassStatistics statistics(static_cast<size_t>(classes), 1, maxMistakes);
  std::vector<double> logs;
  MN_TRY(runner.run(
      number, samples.count,
      [&](int64_t first, int64_t count, int slot) {
        return fillRows(data.inputs(), input, transform, first, count,
                        plan.batch, executor.input(number, 0, slot));
      },
      [&](int64_t first, int64_t count, int slot) {
        const void *rows = executor.output(number, 0, slot);
        if (scores == Scores::automatic)
          scores = scoresOf(output.type, rows, count, classes);
        for (int64_t row = 0; row < count; ++row) {
          logProbabilities(scores, output.type, rows, row, classes, logs);
          statistics.add(first + row, labelOf(samples, first + row), logs);
        }
        return Status::success();
      }));
  results["confusion"] = confusionOf(statistics);
  return addWorst(statistics, data.inputs(), results);
}

} // namespace mn
