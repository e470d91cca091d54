//===- verify.cpp - app verify --------------------------------------------===//
//
// Runs ONNX's test data sets: test_data_set_N/input_M.pb and output_M.pb. The
// rule is NumPy's allclose, with NaN equal to NaN.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "formats/files.h"
#include "formats/json.h"
#include "inference/runner.h"
#include "mnistrt/printable.h"
#include "reports/report.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace mn {

namespace fs = std::filesystem;

namespace {

struct Difference {
  std::string name;
  double absolute = 0, relative = 0; ///< the worst of each
  size_t wrong = 0, count = 0, worst = 0;
  double expected = 0, found = 0; ///< at the worst element
};

/// input_0.pb, input_1.pb, ... in this order.
Status readParts(const fs::path &folder, const char *prefix,
                 std::vector<Array> &arrays) {
  for (int i = 0;; ++i) {
    const fs::path path = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(path))
      return Status::success();
    arrays.emplace_back();
    MN_TRY(readArray(path.string(), arrays.back()));
  }
}

bool isExact(Type type) { return type != Type::f32 && type != Type::f64; }

/// Whether two numbers agree; the worst ones are kept.
void compareElement(double expected, double found, double rtol, double atol,
                    size_t i, Difference &difference) {
  if (expected == found || (std::isnan(expected) && std::isnan(found)))
    return;
  double absolute = std::fabs(expected - found);
  if (std::isnan(absolute))
    absolute = INFINITY;
  const bool wrong = !(absolute <= atol + rtol * std::fabs(expected));
  difference.wrong += wrong;
  difference.relative =
      std::max(difference.relative,
               expected != 0 ? absolute / std::fabs(expected) : INFINITY);
  if (absolute > difference.absolute) {
    difference.absolute = absolute;
    difference.worst = i, difference.expected = expected,
    difference.found = found;
  }
}

Status compare(const Array &expected, const Array &found,
               const Options &options, Difference &difference) {
  difference.name = found.name;
  difference.count = found.count();
  if (expected.type != found.type || expected.shape != found.shape)
    return Status::error(
        Code::numeric,
        text("expected %s %s for output '%s', got %s %s", nameOf(expected.type),
             shapeText(expected.shape).c_str(), found.name.c_str(),
             nameOf(found.type), shapeText(found.shape).c_str()));
  if (isExact(found.type)) {
    // Whole numbers may not fit a double: the bytes decide, not the numbers.
    const size_t size = bytesOf(found.type);
    for (size_t i = 0; i < difference.count; ++i)
      if (std::memcmp(&expected.bytes[i * size], &found.bytes[i * size],
                      size)) {
        const double wanted = numberAt(found.type, expected.bytes.data(), i);
        const double got = numberAt(found.type, found.bytes.data(), i);
        compareElement(wanted, got, -1, 0, i, difference);
        difference.wrong += wanted == got;
      }
    return Status::success();
  }
  for (size_t i = 0; i < difference.count; ++i)
    compareElement(numberAt(found.type, expected.bytes.data(), i),
                   numberAt(found.type, found.bytes.data(), i), options.rtol,
                   options.atol, i, difference);
  return Status::success();
}

Status checkBound(const Bound &bound, const Array &file) {
  if (file.type == bound.tensor.type &&
      file.bytes.size() == bytesOf(bound.tensor) &&
      (file.bytes.empty() ||
       std::memcmp(file.bytes.data(), bound.value, file.bytes.size()) == 0))
    return Status::success();
  return badData("expected the value of input '%s' that the model was compiled "
                 "with, got another",
                 bound.tensor.name);
}

/// Takes from `files` those of bound inputs, and puts the others into the
/// plan's order: by their names, and those without in the order that they have.
Status matchInputs(const Model &model, const Plan &plan,
                   std::vector<Array> files, std::vector<Array> &inputs) {
  std::vector<Array *> byInput(static_cast<size_t>(plan.inputCount));
  std::vector<Array *> rest;
  for (Array &file : files) {
    bool matched = false;
    for (int i = 0; i < model.boundCount && !matched; ++i)
      if ((matched = file.name == model.bounds[i].tensor.name))
        MN_TRY(checkBound(model.bounds[i], file));
    for (int i = 0; i < plan.inputCount && !matched; ++i)
      if (!byInput[i] && (matched = file.name == plan.inputs[i].name))
        byInput[i] = &file;
    if (!matched)
      rest.push_back(&file);
  }
  size_t next = 0;
  for (Array *&file : byInput)
    if (!file && next < rest.size())
      file = rest[next++];
  if (next < rest.size() ||
      std::find(byInput.begin(), byInput.end(), nullptr) != byInput.end())
    return badData("expected files for %d inputs, got %zu files",
                   plan.inputCount, files.size());
  for (int i = 0; i < plan.inputCount; ++i) {
    const Rows rows(plan, plan.inputs[i]);
    if (rows.batched) {
      inputs.emplace_back();
      MN_TRY(fitArray(*byInput[i], rows, {}, inputs.back()));
      continue;
    }
    inputs.push_back(*byInput[i]);
    int64_t count;
    MN_TRY(countRows(*byInput[i], rows, count));
  }
  return Status::success();
}

/// The outputs of a model come by name where the files have them.
const Array &outputFor(const Array &file, size_t number,
                       const std::vector<Array> &outputs) {
  for (const Array &output : outputs)
    if (!file.name.empty() && output.name == file.name)
      return output;
  return outputs[number];
}

Status verifySet(const Model &model, Executor &executor, const fs::path &folder,
                 const Options &options, std::vector<Difference> &differences) {
  std::vector<Array> files, expected, inputs, outputs;
  MN_TRY(readParts(folder, "input_", files));
  MN_TRY(readParts(folder, "output_", expected));
  if (expected.empty())
    return badData("expected 'output_0.pb' in '%s', got none",
                   folder.string().c_str());
  Runner runner(model, executor);
  int plan;
  MN_TRY(runner.choosePlan(1, options.batch, plan));
  MN_TRY(matchInputs(model, model.plans[plan], std::move(files), inputs));
  MN_TRY(runner.run(options.batch, inputs, outputs, plan));
  if (expected.size() > outputs.size())
    return badData("expected %zu outputs, as many as files, got %zu",
                   expected.size(), outputs.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    differences.emplace_back();
    MN_TRY(compare(expected[i], outputFor(expected[i], i, outputs), options,
                   differences.back()));
  }
  return Status::success();
}

std::vector<fs::path> findSets(const fs::path &folder) {
  std::vector<fs::path> sets;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().rfind("test_data_set_", 0) == 0 &&
        entry.is_directory())
      sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end());
  if (sets.empty() && fs::exists(folder / "output_0.pb"))
    sets.push_back(folder);
  return sets;
}

Json jsonOf(const std::string &set, const Difference &d) {
  return {{"set", set},
          {"output", d.name},
          {"elements", d.count},
          {"wrong", d.wrong},
          {"worst_absolute", d.absolute},
          {"worst_relative", d.relative}};
}

void print(const std::string &set, const Difference &d) {
  std::printf("%s: %s: %s, worst error %.3g absolute, %.3g relative",
              printable(set).c_str(), printable(d.name).c_str(),
              d.wrong ? "wrong" : "ok", d.absolute, d.relative);
  if (d.wrong)
    std::printf(
        "; %zu of %zu elements wrong, element %zu expected %.9g, got %.9g",
        d.wrong, d.count, d.worst, d.expected, d.found);
  std::printf("\n");
}

} // namespace

Status verify(const Model &model, const Options &options) {
  const fs::path folder = options.arguments.front();
  const std::vector<fs::path> sets = findSets(folder);
  if (sets.empty())
    return badData("expected folders 'test_data_set_*' in '%s', got none",
                   folder.string().c_str());
  std::unique_ptr<Executor> executor;
  MN_TRY(openExecutor(model, options, executor));
  size_t wrong = 0, number = 0;
  Json json = Json::array();
  for (const fs::path &set : sets) {
    std::vector<Difference> differences;
    Status status = verifySet(model, *executor, set, options, differences);
    if (!status.ok()) {
      status.message = "'" + set.string() + "': " + status.message;
      return status;
    }
    for (const Difference &difference : differences) {
      if (options.json)
        json.push_back(jsonOf(set.filename().string(), difference));
      else
        print(set.filename().string(), difference);
      ++number;
      wrong += difference.wrong > 0;
    }
  }
  if (options.json)
    printJson(json);
  if (wrong)
    return Status::error(
        Code::numeric, text("expected every output within %g + %g |expected|, "
                            "got %zu of %zu that are not",
                            options.atol, options.rtol, wrong, number));
  return Status::success();
}

} // namespace mn
