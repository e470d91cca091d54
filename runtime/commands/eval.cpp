//===- eval.cpp - app eval ------------------------------------------------===//

#include "commands/options.h"
#include "core/printable.h"
#include "data/sample_set.h"
#include "formats/json.h"
#include "inference/classify.h"
#include "inference/runner.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace mn {

namespace {

struct Score {
  double loss = 0;
  int64_t right = 0, rows = 0;
};

/// Adds the rows of one batch of results.
Status addRows(const Tensor &output, const void *data, const int32_t *labels,
               int64_t count, int64_t classes, Scores &scores, Score &score) {
  if (scores == Scores::automatic)
    scores = scoresOf(output.type, data, count, classes);
  std::vector<double> logs;
  for (int64_t row = 0; row < count; ++row) {
    logProbabilities(scores, output.type, data, row, classes, logs);
    score.loss -= logs[labels[row]];
    score.right += std::max_element(logs.begin(), logs.end()) - logs.begin() ==
                   labels[row];
    ++score.rows;
  }
  return Status::success();
}

Status checkClassifier(const Plan &plan) {
  if (plan.inputCount != 1)
    return Status::error(Code::usage, text("expected a model of one input, got "
                                           "one of %d",
                                           plan.inputCount));
  if (plan.outputCount < 1 || !isClassifier(plan, plan.outputs[0]))
    return Status::error(Code::usage,
                         "expected a first output of one row of scores "
                         "for each image, got another");
  return Status::success();
}

/// That the labels are classes of the model, and count them as it does.
Status checkLabels(const SampleSet &data, const Tensor &output,
                   int64_t classes) {
  const auto *labels =
      reinterpret_cast<const int32_t *>(data.targets.bytes.data());
  for (int64_t row = 0; row < data.count(); ++row)
    if (labels[row] < 0 || labels[row] >= classes)
      return badData("'%s': expected labels below %lld, as many classes as "
                     "output '%s' has, got %d in row %lld",
                     data.source.c_str(), static_cast<long long>(classes),
                     output.name, labels[row], static_cast<long long>(row));
  const auto found = static_cast<int64_t>(data.classNames.size());
  if (found > 0 && found != classes && !data.numberedByTraining)
    return badData("'%s': expected a folder for each of the %lld classes of "
                   "output '%s', or a folder 'train' that numbers them, got "
                   "%lld folders",
                   data.source.c_str(), static_cast<long long>(classes),
                   output.name, static_cast<long long>(found));
  return Status::success();
}

void print(const Score &score, Scores scores, const Plan &plan, double seconds,
           const Options &options, const std::vector<std::string> &classNames) {
  const double rows = static_cast<double>(score.rows);
  const double loss = score.loss / rows;
  const double accuracy = static_cast<double>(score.right) / rows;
  if (options.json) {
    Json json = {{"split", options.split},
                 {"images", score.rows},
                 {"batch", plan.batch},
                 {"scores", nameOf(scores)},
                 {"loss", loss},
                 {"correct", score.right},
                 {"accuracy", accuracy},
                 {"seconds", seconds},
                 {"images_per_second", rows / seconds}};
    if (!classNames.empty())
      json["classes"] = classNames;
    printJson(json);
    return;
  }
  if (!classNames.empty())
    std::printf("classes %s\n", printable(classesText(classNames)).c_str());
  std::printf("loss %.6f   accuracy %.2f %% (%lld of %lld)   %.0f images/s\n",
              loss, 100 * accuracy, static_cast<long long>(score.right),
              static_cast<long long>(score.rows), rows / seconds);
}

} // namespace

Status eval(const Model &model, const Options &options) {
  Scores scores;
  MN_TRY(parseScores(options.scores, scores));
  if (options.data.empty())
    return Status::error(Code::usage, "expected '--data=DIR', got none");
  Split split;
  MN_TRY(parseSplit(options.split, split));
  SampleSet data;
  MN_TRY(readSamples(options.data, split, options.limit, data));
  if (!data.classes() || data.targets.shape.size() != 1)
    return badData("expected one class for each row of '%s', got %s of shape "
                   "%s",
                   data.source.c_str(), nameOf(data.targets.type),
                   shapeText(data.targets.shape).c_str());
  std::unique_ptr<Executor> executor;
  MN_TRY(openExecutor(model, options, executor));
  Runner runner(model, *executor);
  runner.checkNumbers = options.checkNan;

  // The largest plan: fewest launches for each image.
  int number;
  MN_TRY(runner.choosePlan(INT64_MAX, options.batch, number));
  const Plan &plan = model.plans[number];
  MN_TRY(checkClassifier(plan));
  const Rows input(plan, plan.inputs[0]), output(plan, plan.outputs[0]);
  int64_t rows;
  MN_TRY(countRows(data.inputs, input, rows));
  if (rows != data.count() || rows == 0)
    return badData(
        "expected an input of images, one a row, got '%s' of shape %s",
        plan.inputs[0].name, shapeText(plan.inputs[0]).c_str());
  MN_TRY(checkLabels(data, plan.outputs[0],
                     static_cast<int64_t>(output.rowCount)));
  MN_TRY(executor->prepare(number));
  Score score;
  const auto *labels =
      reinterpret_cast<const int32_t *>(data.targets.bytes.data());
  const auto begin = std::chrono::steady_clock::now();
  MN_TRY(runner.run(
      number, rows,
      [&](int64_t first, int64_t count, int slot) {
        return fillRows(data.inputs, input, options.transform, first, count,
                        plan.batch, executor->input(number, 0, slot));
      },
      [&](int64_t first, int64_t count, int slot) {
        return addRows(plan.outputs[0], executor->output(number, 0, slot),
                       labels + first, count,
                       static_cast<int64_t>(output.rowCount), scores, score);
      }));
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  print(score, scores, plan, seconds.count(), options, data.classNames);
  return Status::success();
}

} // namespace mn
