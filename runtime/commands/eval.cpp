//===- eval.cpp - app eval ------------------------------------------------===//

#include "commands/eval_output.h"
#include "commands/options.h"
#include "core/choices.h"
#include "core/opening.h"
#include "data/sample_set.h"
#include "formats/json.h"
#include "inference/classify.h"
#include "inference/runner.h"
#include "mnistrt/printable.h"
#include "reports/terminal.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace mn {

namespace {

/// What the rows of an output are compared with.
enum class Against {
  classes, ///< one score for each
  yesOrNo, ///< one score, for class 1
  values,
};

/// Of values.
struct Errors {
  double squares = 0, distance = 0;
  int64_t rows = 0, numbers = 0;
};

/// The rows of one batch, with the targets of a data set.
class Comparison {
public:
  Comparison(const Plan &plan, Against against, Scores scores,
             const SampleSet &data, const Options &options)
      : output(plan.outputs[0]), against(against), scores(scores), data(data),
        width(static_cast<int64_t>(Rows(plan, output).rowCount)),
        statistics(against == Against::classes   ? size_t(width)
                   : against == Against::yesOrNo ? 2
                                                 : 0,
                   options.top,
                   options.wrong.empty() ? 0 : options.wrongLimit) {}

  Status add(const void *rows, int64_t first, int64_t count);
  Scores chosen() const { return scores; }

  const ClassStatistics &classes() const { return statistics; }

  Errors errors;

private:
  Status checkScores(const void *rows, int64_t count);
  void addClasses(const void *rows, int64_t first, int64_t count);
  void addYesOrNo(const void *rows, int64_t first, int64_t count);
  void addValues(const void *rows, int64_t first, int64_t count);
  size_t label(int64_t row) const;
  double number(const void *rows, int64_t i) const {
    return numberAt(output.type, rows, static_cast<size_t>(i));
  }

  const Tensor &output;
  Against against;
  Scores scores;
  bool isGuessed = false;
  const SampleSet &data;
  int64_t width; ///< numbers of a row
  ClassStatistics statistics;
};

size_t Comparison::label(int64_t row) const {
  int32_t value;
  std::memcpy(&value, data.targets.bytes.data() + 4 * row, 4);
  return static_cast<size_t>(value);
}

void Comparison::addClasses(const void *rows, int64_t first, int64_t count) {
  std::vector<double> logs;
  for (int64_t row = 0; row < count; ++row) {
    logProbabilities(scores, output.type, rows, row, width, logs);
    statistics.add(first + row, label(first + row), logs);
  }
}

/// The score is of class 1: with logits, -log p is log(1 + exp(z)) for class 0,
/// and that less z for class 1.
void Comparison::addYesOrNo(const void *rows, int64_t first, int64_t count) {
  const auto logOf = [](double p) { return std::max(std::log(p), -100.0); };
  for (int64_t row = 0; row < count; ++row) {
    const double z = number(rows, row);
    const double zero = std::fmax(z, 0) + std::log1p(std::exp(-std::fabs(z)));
    if (scores == Scores::logits)
      statistics.add(first + row, label(first + row), {-zero, -(zero - z)});
    else
      statistics.add(first + row, label(first + row), {logOf(1 - z), logOf(z)});
  }
}

void Comparison::addValues(const void *rows, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count * width; ++i) {
    const double difference =
        number(rows, i) - numberAt(data.targets.type, data.targets.bytes.data(),
                                   static_cast<size_t>(first * width + i));
    errors.squares += difference * difference;
    errors.distance += std::fabs(difference);
  }
  errors.numbers += count * width;
  errors.rows += count;
}

/// What the scores are, the first batch says where no option does.
Status Comparison::checkScores(const void *rows, int64_t count) {
  if (scores == Scores::automatic) {
    isGuessed = true;
    scores = chooseScores(output.name, output.type, rows, count, width);
  }
  return isGuessed ? mn::checkScores(output.name, scores, output.type, rows,
                                     count, width)
                   : Status::success();
}

Status Comparison::add(const void *rows, int64_t first, int64_t count) {
  if (against != Against::values)
    MN_TRY(checkScores(rows, count));
  if (against == Against::classes)
    addClasses(rows, first, count);
  else if (against == Against::yesOrNo)
    addYesOrNo(rows, first, count);
  else
    addValues(rows, first, count);
  return Status::success();
}

/// Checks that the labels are classes of the model, numbered as in the model.
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
  const auto got = static_cast<int64_t>(data.classNames.size());
  if (got > 0 && got != classes && !data.numberedByTraining)
    return badData("'%s': expected a folder for each of the %lld classes of "
                   "output '%s', or a folder 'train' that numbers them, got "
                   "%lld folders",
                   data.source.c_str(), static_cast<long long>(classes),
                   output.name, static_cast<long long>(got));
  return Status::success();
}

/// Decides by the option, the targets and the output.
Status chooseComparison(const Plan &plan, const Options &options,
                        const SampleSet &data, Against &against) {
  if (plan.inputCount != 1)
    return usageError(
        text("expected a model of one input, got one of %d", plan.inputCount));
  const bool floats =
      plan.outputCount > 0 &&
      (plan.outputs[0].type == Type::f32 || plan.outputs[0].type == Type::f64);
  if (!floats || !Rows(plan, plan.outputs[0]).batched)
    return usageError(
        "expected a first output of a row of floats for each row of "
        "the input, got another");
  const Tensor &output = plan.outputs[0];
  const auto width = static_cast<int64_t>(Rows(plan, output).rowCount);
  const auto targets = static_cast<int64_t>(data.targets.count()) /
                       std::max<int64_t>(data.count(), 1);
  if (options.targets == "class" && !data.classes())
    return badData("'%s': expected classes, which are integers, got values",
                   data.source.c_str());
  if (options.targets == "values" || !data.classes()) {
    against = Against::values;
    if (targets == width)
      return Status::success();
    return badData("'%s': expected %lld targets per row, as output '%s' has, "
                   "got %lld%s",
                   data.source.c_str(), static_cast<long long>(width),
                   output.name, static_cast<long long>(targets),
                   data.classes() ? "" : "; classes are integers, one per row");
  }
  if (targets != 1)
    return badData("'%s': expected one class per row, got %lld; "
                   "--targets=values compares numbers",
                   data.source.c_str(), static_cast<long long>(targets));
  if (width != 1 && !isClassifier(plan, output))
    return usageError(
        text("expected a first output of one row of scores for each "
             "row of the input, got '%s' of shape %s; "
             "--targets=values compares numbers",
             output.name, shapeText(output).c_str()));
  against = width == 1 ? Against::yesOrNo : Against::classes;
  if (width == 1 && options.scores == "log-probabilities")
    return usageError(
        "expected '--scores' to be auto, logits or probabilities for "
        "one score per row, got 'log-probabilities'");
  return checkLabels(data, output, std::max<int64_t>(width, 2));
}

/// The data's names, or those that the model was trained with.
std::vector<std::string> namesOf(const Model &model, const SampleSet &data) {
  return data.classNames.empty()
             ? std::vector<std::string>(model.classNames,
                                        model.classNames + model.classCount)
             : data.classNames;
}

/// Of a model without inputs, which is refused later, as of others.
Colors colorsOf(const Model &model) {
  const Plan &plan = model.plans[0];
  return plan.inputCount == 0 ? Colors::grey : mn::colorsOf(plan.inputs[0]);
}

void printValues(const Errors &errors, const Plan &plan, double seconds,
                 const Options &options) {
  const double mse = errors.squares / static_cast<double>(errors.numbers);
  const double mae = errors.distance / static_cast<double>(errors.numbers);
  const double rate = static_cast<double>(errors.rows) / seconds;
  if (options.json)
    printJson({{"split", options.split},
               {"rows", errors.rows},
               {"batch", plan.batch},
               {"mse", mse},
               {"mae", mae},
               {"seconds", seconds},
               {"rows_per_second", rate}});
  else
    std::printf("mse %.6g   mae %.6g   (%lld rows)   %.0f rows/s\n", mse, mae,
                static_cast<long long>(errors.rows), rate);
}

void print(const ClassStatistics &found, Scores scores, const Plan &plan,
           double seconds, const Options &options,
           const std::vector<std::string> &classNames) {
  const double rows = static_cast<double>(found.rows());
  const double loss = found.loss() / rows;
  const double accuracy = static_cast<double>(found.right()) / rows;
  if (options.json) {
    Json json = {{"split", options.split},
                 {"images", found.rows()},
                 {"batch", plan.batch},
                 {"scores", nameOf(scores)},
                 {"loss", loss},
                 {"correct", found.right()},
                 {"accuracy", accuracy},
                 {"seconds", seconds},
                 {"images_per_second", rows / seconds}};
    if (!classNames.empty())
      json["classes"] = classNames;
    addDetails(json, found, options.top);
    printJson(json);
    return;
  }
  if (!classNames.empty())
    std::printf("classes %s\n", printable(classesText(classNames)).c_str());
  std::printf("loss %.6f   accuracy %.2f %% (%lld of %lld)   %.0f images/s\n",
              loss, 100 * accuracy, static_cast<long long>(found.right()),
              static_cast<long long>(found.rows()), rows / seconds);
  if (options.details)
    std::fputs(
        detailsText(found, options.top, classNames, columnsOf(1)).c_str(),
        stdout);
}

} // namespace

Status eval(const Model &model, const Options &options) {
  Scores scores;
  MN_TRY(parseScores(options.scores, scores));
  if (options.data.empty())
    return usageError("expected '--data=DIR', got none");
  size_t kind;
  MN_TRY(
      choose("--targets", options.targets, {"auto", "class", "values"}, kind));
  Split split;
  MN_TRY(parseSplit(options.split, split));
  std::unique_ptr<Executor> executor;
  std::future<Status> opening =
      startOpening([&] { return openExecutor(model, options, executor); });
  SampleSet data;
  MN_TRY(
      readSamples(options.data, split, options.limit, colorsOf(model), data));
  MN_TRY(opening.get());
  Runner runner(model, *executor);
  runner.checkNumbers = options.checkNan;

  // The largest plan: fewest launches for each image.
  int number;
  MN_TRY(runner.choosePlan(INT64_MAX, options.batch, number));
  const Plan &plan = model.plans[number];
  Against against;
  MN_TRY(chooseComparison(plan, options, data, against));
  if (against == Against::values && (options.details || !options.wrong.empty()))
    return usageError(
        "expected classes for '--details' and '--wrong', got values");
  if (!options.wrong.empty())
    MN_TRY(checkWrongFolder(options.wrong, data));
  const Rows input(plan, plan.inputs[0]);
  int64_t rows;
  MN_TRY(countRows(data.inputs, input, rows));
  if (rows != data.count() || rows == 0)
    return badData(
        "expected an input of images, one a row, got '%s' of shape %s",
        plan.inputs[0].name, shapeText(plan.inputs[0]).c_str());
  const std::optional<Pixels> pixels =
      pixelsOf(data.inputs, input, options.transform);
  if (pixels)
    MN_TRY(executor->givePixels(number, 0, *pixels));
  MN_TRY(executor->prepare(number));
  Comparison comparison(plan, against, scores, data, options);
  const auto begin = std::chrono::steady_clock::now();
  MN_TRY(runner.run(
      number, rows,
      [&](int64_t first, int64_t count, int slot) {
        void *to = executor->input(number, 0, slot);
        return pixels ? fillPixels(data.inputs, input, first, count, plan.batch,
                                   to)
                      : fillRows(data.inputs, input, options.transform, first,
                                 count, plan.batch, to);
      },
      [&](int64_t first, int64_t count, int slot) {
        return comparison.add(executor->output(number, 0, slot), first, count);
      }));
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  MN_TRY(data.inputs.bytes.check());
  if (against == Against::values)
    printValues(comparison.errors, plan, seconds.count(), options);
  else
    print(comparison.classes(), comparison.chosen(), plan, seconds.count(),
          options, namesOf(model, data));
  return options.wrong.empty()
             ? Status::success()
             : writeWrongPictures(options.wrong, data,
                                  comparison.classes().worst());
}

} // namespace mn
