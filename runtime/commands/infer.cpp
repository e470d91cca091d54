//===- infer.cpp - app infer ----------------------------------------------===//

#include "commands/options.h"
#include "core/printable.h"
#include "data/sample_set.h"
#include "formats/atomic_file.h"
#include "formats/files.h"
#include "inference/classify.h"
#include "inference/runner.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace mn {

namespace {

/// Puts `more` behind the rows of `rows`.
Status append(Array &rows, const Array &more, bool batched) {
  if (rows.shape.empty() && rows.bytes.empty()) {
    rows = more;
    return Status::success();
  }
  if (!batched)
    return Status::error(Code::usage,
                         "expected one file for input '" + more.name +
                             "', which has no batch dimension, got "
                             "several");
  rows.shape[0] += more.shape[0];
  rows.bytes.insert(rows.bytes.end(), more.bytes.begin(), more.bytes.end());
  return Status::success();
}

int findInput(const Plan &plan, const std::string &name) {
  for (int i = 0; i < plan.inputCount; ++i)
    if (name == plan.inputs[i].name)
      return i;
  return -1;
}

std::string namesOf(const Plan &plan) {
  std::string names;
  for (int i = 0; i < plan.inputCount; ++i)
    names += (i ? ", '" : "'") + std::string(plan.inputs[i].name) + "'";
  return names;
}

/// A file, or the inputs of a data set.
Status readInput(const std::string &path, const Options &options,
                 Array &array) {
  if (!isSampleSource(path))
    return readArray(path, array);
  Split split;
  MN_TRY(parseSplit(options.split, split));
  SampleSet set;
  MN_TRY(readSamples(path, split, options.limit, set));
  array = std::move(set.inputs);
  return Status::success();
}

/// Which input each argument is for: NAME=FILE says it; else all files are for
/// the one input, or the inputs are taken in their order.
Status readInputs(const Plan &plan, const Options &options,
                  std::vector<Array> &inputs) {
  inputs.assign(static_cast<size_t>(plan.inputCount), {});
  std::vector<bool> given(inputs.size());
  int next = 0;
  for (const std::string &argument : options.arguments) {
    const size_t sign = argument.find('=');
    int number = sign == std::string::npos
                     ? -1
                     : findInput(plan, argument.substr(0, sign));
    std::string path = argument;
    if (number >= 0)
      path = argument.substr(sign + 1);
    else
      number = plan.inputCount == 1 ? 0 : next++;
    if (number >= plan.inputCount)
      return Status::error(Code::usage,
                           text("expected %d inputs (%s), got more",
                                plan.inputCount, namesOf(plan).c_str()));
    Array array, fitted;
    MN_TRY(readInput(path, options, array));
    const Rows rows(plan, plan.inputs[number]);
    Status status = fitArray(array, rows, options.transform, fitted);
    if (!status.ok()) {
      status.message = "'" + path + "': " + status.message;
      return status;
    }
    MN_TRY(append(inputs[static_cast<size_t>(number)], fitted, rows.batched));
    given[static_cast<size_t>(number)] = true;
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i])
      return Status::error(
          Code::usage, text("expected a file for each of the inputs %s, got "
                            "none for '%s'",
                            namesOf(plan).c_str(), plan.inputs[i].name));
  return Status::success();
}

void printClasses(const Array &output, Scores scores, int64_t top) {
  const int64_t rows = output.shape[0];
  const int64_t classes =
      rows ? static_cast<int64_t>(output.count()) / rows : 0;
  if (scores == Scores::automatic)
    scores = scoresOf(output.type, output.bytes.data(), rows, classes);
  std::vector<double> logs;
  std::vector<size_t> order(static_cast<size_t>(classes));
  for (int64_t row = 0; row < rows; ++row) {
    logProbabilities(scores, output.type, output.bytes.data(), row, classes,
                     logs);
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return logs[a] != logs[b] ? logs[a] > logs[b] : a < b;
    });
    std::printf("%lld:", static_cast<long long>(row));
    for (int64_t i = 0; i < std::min(top, classes); ++i) {
      const size_t best = order[static_cast<size_t>(i)];
      std::printf("%s %zu (%.2f %%)", i ? "," : "", best,
                  100 * std::exp(logs[best]));
    }
    std::printf("\n");
  }
}

void printNumbers(const Array &output) {
  constexpr size_t most = 64;
  std::printf("%s %s:", printable(output.name).c_str(),
              shapeText(output.shape).c_str());
  const size_t count = output.count();
  for (size_t i = 0; i < std::min(count, most); ++i)
    std::printf(" %.9g", numberAt(output.type, output.bytes.data(), i));
  std::printf(count > most ? " ...\n" : "\n");
}

} // namespace

Status infer(const Model &model, const Options &options) {
  Scores scores;
  MN_TRY(parseScores(options.scores, scores));
  std::unique_ptr<Executor> executor;
  MN_TRY(openExecutor(model, options, executor));
  Runner runner(model, *executor);
  runner.checkNumbers = options.checkNan;
  int plan;
  MN_TRY(runner.choosePlan(1, options.batch, plan));
  std::vector<Array> inputs, outputs;
  MN_TRY(readInputs(model.plans[plan], options, inputs));
  MN_TRY(runner.run(options.batch, inputs, outputs, plan));
  if (!options.output.empty() && !outputs.empty()) {
    const Array &first = outputs.front();
    const std::vector<char> file =
        npyOf(first.type, first.shape, first.bytes.data(), first.bytes.size());
    MN_TRY(writeAtomically(options.output, {file.data(), file.size()}));
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (isClassifier(model.plans[plan], model.plans[plan].outputs[i]) &&
        outputs.size() == 1)
      printClasses(outputs[i], scores, options.top);
    else
      printNumbers(outputs[i]);
  return Status::success();
}

} // namespace mn
