//===- infer.cpp - app infer ----------------------------------------------===//

#include "commands/options.h"
#include "core/opening.h"
#include "data/image_folder.h"
#include "data/sample_set.h"
#include "formats/atomic_file.h"
#include "formats/files.h"
#include "formats/json.h"
#include "inference/classify.h"
#include "inference/runner.h"
#include "mnistrt/printable.h"
#include "reports/terminal.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace mn {

namespace {

/// Appends the rows of `more` to `rows`.
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
  std::vector<char> &bytes = rows.bytes.edit();
  bytes.insert(bytes.end(), more.bytes.begin(), more.bytes.end());
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

/// A file, or the inputs of a data set; `files`: of pictures, one a row.
Status readInput(const std::string &path, const Options &options, Colors colors,
                 Array &array, std::vector<std::string> &files) {
  if (!isSampleSource(path)) {
    MN_TRY(readArray(path, array, colors));
    if (array.pixels &&
        array.shape.size() != 3 + size_t(colors != Colors::grey))
      files.push_back(path);
    return Status::success();
  }
  Split split;
  MN_TRY(parseSplit(options.split, split));
  SampleSet set;
  MN_TRY(readSamples(path, split, options.limit, colors, set));
  array = std::move(set.inputs);
  files.insert(files.end(), set.files.begin(), set.files.end());
  return Status::success();
}

/// An argument and what was read there.
struct NamedArray {
  std::string path;
  Array array;
};

/// The rows of all files for an input. Bytes stay bytes where the same becomes
/// of all of them.
Status joinFiles(const Plan &plan, int number, const Options &options,
                 std::vector<NamedArray> files, Array &input,
                 std::optional<Pixels> &pixels) {
  const Rows rows(plan, plan.inputs[number]);
  const auto pixelsIn = [&](const NamedArray &file) {
    return pixelsOf(file.array, rows, options.transform);
  };
  pixels = pixelsIn(files[0]);
  for (const NamedArray &file : files)
    if (pixelsIn(file) != pixels)
      pixels.reset();
  for (NamedArray &file : files) {
    Array fitted;
    Status status = pixels
                        ? fitPixels(std::move(file.array), rows, fitted)
                        : fitArray(file.array, rows, options.transform, fitted);
    if (!status.ok()) {
      status.message = "'" + file.path + "': " + status.message;
      return status;
    }
    MN_TRY(append(input, fitted, rows.batched));
  }
  return Status::success();
}

/// What a plan is run on.
struct Inputs {
  std::vector<Array> arrays;
  std::vector<std::optional<Pixels>> pixels;
  std::vector<std::string> files; ///< one a row; empty: rows have numbers
};

/// The pictures of a folder that holds nothing else; else the path itself.
std::vector<std::string> expanded(const std::string &path) {
  std::vector<std::string> files =
      hasPictures(path) ? std::vector<std::string>() : picturesIn(path);
  if (files.empty())
    files.push_back(path);
  return files;
}

/// Which input each argument is for: NAME=FILE says it; else all files are for
/// the one input, or the inputs are taken in their order.
Status readInputs(const Plan &plan, const Options &options, Inputs &inputs) {
  std::vector<std::vector<NamedArray>> files(
      static_cast<size_t>(plan.inputCount));
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
    for (const std::string &file : expanded(path)) {
      Array array;
      MN_TRY(readInput(file, options, colorsOf(plan.inputs[number]), array,
                       inputs.files));
      files[static_cast<size_t>(number)].push_back({file, std::move(array)});
    }
  }
  if (plan.inputCount != 1)
    inputs.files.clear();
  inputs.arrays.assign(files.size(), {});
  inputs.pixels.assign(files.size(), {});
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty())
      return Status::error(
          Code::usage, text("expected a file for each of the inputs %s, got "
                            "none for '%s'",
                            namesOf(plan).c_str(), plan.inputs[i].name));
    MN_TRY(joinFiles(plan, static_cast<int>(i), options, std::move(files[i]),
                     inputs.arrays[i], inputs.pixels[i]));
  }
  return Status::success();
}

/// A class and its probability.
struct Guess {
  size_t number;
  double probability;
};

/// For each row, the most probable classes.
std::vector<std::vector<Guess>> classesOf(const Array &output, Scores scores,
                                          int64_t top) {
  const int64_t rows = output.shape[0];
  const int64_t classes =
      rows ? static_cast<int64_t>(output.count()) / rows : 0;
  if (scores == Scores::automatic)
    scores = chooseScores(output.name.c_str(), output.type, output.bytes.data(),
                          rows, classes);
  std::vector<double> logs;
  std::vector<size_t> order(static_cast<size_t>(classes));
  std::vector<std::vector<Guess>> result;
  for (int64_t row = 0; row < rows; ++row) {
    logProbabilities(scores, output.type, output.bytes.data(), row, classes,
                     logs);
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return logs[a] != logs[b] ? logs[a] > logs[b] : a < b;
    });
    std::vector<Guess> &best = result.emplace_back();
    for (int64_t i = 0; i < std::min(top, classes); ++i)
      best.push_back({order[static_cast<size_t>(i)],
                      std::exp(logs[order[static_cast<size_t>(i)]])});
  }
  return result;
}

/// Whether classes say more of the outputs than their numbers.
bool showsClasses(const Plan &plan) {
  return plan.outputCount == 1 && isClassifier(plan, plan.outputs[0]);
}

/// "3", or "3 'cat'" where the model has names.
std::string classText(const Model &model, size_t number) {
  const std::string text = std::to_string(number);
  return number < static_cast<size_t>(model.classCount)
             ? text + " '" + printable(model.classNames[number]) + "'"
             : text;
}

/// `files`: of the rows; other rows have numbers.
void printClasses(std::FILE *file, const Model &model,
                  const std::vector<std::string> &files,
                  const std::vector<std::vector<Guess>> &rows) {
  for (size_t row = 0; row < rows.size(); ++row) {
    std::string line = files.size() == rows.size() ? printable(files[row])
                                                   : std::to_string(row);
    line += ":";
    for (const Guess &guess : rows[row])
      line +=
          text("%s %s (%.2f %%)", &guess == rows[row].data() ? "" : ",",
               classText(model, guess.number).c_str(), 100 * guess.probability);
    std::fprintf(file, "%s\n", line.c_str());
  }
}

void printNumbers(std::FILE *file, const Array &output) {
  constexpr size_t max = 64;
  std::string line = printable(output.name) + " " + nameOf(output.type) + " " +
                     shapeText(output.shape) + ":";
  const size_t count = output.count();
  for (size_t i = 0; i < std::min(count, max); ++i)
    line += text(" %.9g", numberAt(output.type, output.bytes.data(), i));
  if (count > max)
    line += " ...";
  std::fprintf(file, "%s\n", wrapped(line, columnsOf(fileno(file)), 4).c_str());
}

/// An element, as exact as its type.
Json jsonElement(const Array &array, size_t i) {
  if (array.type == Type::i64) {
    int64_t value;
    std::memcpy(&value, &array.bytes[i * sizeof value], sizeof value);
    return value;
  }
  const double value = numberAt(array.type, array.bytes.data(), i);
  if (array.type == Type::b8)
    return value != 0;
  if (array.type == Type::f32 || array.type == Type::f64)
    return value;
  return static_cast<int64_t>(value);
}

/// Arrays in arrays, as many deep as there are dimensions.
Json jsonValues(const Array &array, size_t dimension, size_t &next) {
  if (dimension == array.shape.size())
    return jsonElement(array, next++);
  Json values = Json::array();
  for (int64_t i = 0; i < array.shape[dimension]; ++i)
    values.push_back(jsonValues(array, dimension + 1, next));
  return values;
}

Json jsonOf(const Model &model, const Plan &plan,
            const std::vector<std::string> &files,
            const std::vector<Array> &outputs, Scores scores, int64_t top) {
  Json all = Json::array();
  for (const Array &output : outputs) {
    size_t next = 0;
    all.push_back({{"name", output.name},
                   {"type", nameOf(output.type)},
                   {"shape", output.shape},
                   {"values", jsonValues(output, 0, next)}});
  }
  Json json = {{"model", model.name}, {"batch", plan.batch}, {"outputs", all}};
  if (!files.empty() && !outputs.empty() && !outputs[0].shape.empty() &&
      static_cast<int64_t>(files.size()) == outputs[0].shape[0])
    json["files"] = files;
  if (!showsClasses(plan))
    return json;
  json["classes"] = Json::array();
  for (const std::vector<Guess> &row : classesOf(outputs[0], scores, top)) {
    Json guesses = Json::array();
    for (const Guess &guess : row) {
      Json one = {{"class", guess.number}, {"probability", guess.probability}};
      if (guess.number < static_cast<size_t>(model.classCount))
        one["name"] = model.classNames[guess.number];
      guesses.push_back(one);
    }
    json["classes"].push_back(guesses);
  }
  return json;
}

/// "y.npy", or of several outputs "y.0.npy", "y.1.npy", ...
std::string outputPath(const std::string &path, size_t number, size_t count) {
  if (count == 1)
    return path;
  const std::string ending = ".npy";
  const bool ends = path.size() > ending.size() && path.ends_with(ending);
  const std::string stem =
      ends ? path.substr(0, path.size() - ending.size()) : path;
  return stem + "." + std::to_string(number) + (ends ? ending : "");
}

Status writeOutputs(const std::string &path,
                    const std::vector<Array> &outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array &output = outputs[i];
    const std::vector<char> file = npyOf(
        output.type, output.shape, output.bytes.data(), output.bytes.size());
    if (path == "-") {
      std::fwrite(file.data(), 1, file.size(), stdout);
      continue;
    }
    const std::string to = outputPath(path, i, outputs.size());
    MN_TRY(writeAtomically(to, {file.data(), file.size()}));
    if (outputs.size() > 1)
      std::fprintf(stderr, "wrote '%s': output '%s', %s %s\n", to.c_str(),
                   output.name.c_str(), nameOf(output.type),
                   shapeText(output.shape).c_str());
  }
  return Status::success();
}

Status checkOutput(const Model &model, const Options &options) {
  if (options.output != "-")
    return Status::success();
  if (options.json)
    return Status::error(Code::usage, "expected one output on standard output, "
                                      "got '--json' and '--output=-'");
  for (int i = 0; i < model.planCount; ++i)
    if (isInference(model.plans[i]) && model.plans[i].outputCount > 1)
      return Status::error(
          Code::usage, text("expected a file for '--output' of a model of %d "
                            "outputs, got '-'",
                            model.plans[i].outputCount));
  return Status::success();
}

} // namespace

Status infer(const Model &model, const Options &options) {
  Scores scores;
  MN_TRY(parseScores(options.scores, scores));
  MN_TRY(checkOutput(model, options));
  std::unique_ptr<Executor> executor;
  std::future<Status> opening =
      startOpening([&] { return openExecutor(model, options, executor); });
  int plan;
  Inputs inputs;
  std::vector<Array> outputs;
  Status read = choosePlan(model, kinds::infer, 1, options.batch, plan);
  if (read.ok())
    read = readInputs(model.plans[plan], options, inputs);
  // A device that cannot be used is said first.
  MN_TRY(opening.get());
  MN_TRY(read);
  Runner runner(model, *executor);
  runner.checkNumbers = options.checkNan;
  runner.pixels = std::move(inputs.pixels);
  MN_TRY(runner.run(options.batch, inputs.arrays, outputs, plan));
  for (const Array &array : inputs.arrays)
    MN_TRY(array.bytes.check());
  if (!options.output.empty())
    MN_TRY(writeOutputs(options.output, outputs));
  if (options.json) {
    printJson(jsonOf(model, model.plans[plan], inputs.files, outputs, scores,
                     options.top));
    return Status::success();
  }
  std::FILE *file = options.output == "-" ? stderr : stdout;
  if (showsClasses(model.plans[plan]))
    printClasses(file, model, inputs.files,
                 classesOf(outputs[0], scores, options.top));
  else
    for (const Array &output : outputs)
      printNumbers(file, output);
  return Status::success();
}

} // namespace mn
