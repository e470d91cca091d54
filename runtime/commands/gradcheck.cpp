//===- gradcheck.cpp - app gradcheck --------------------------------------===//
//
// For a program whose plan returns the loss and the gradient of each parameter:
// compares the gradients with central finite differences, or writes them to
// files, for comparing targets. Inputs are random, by a seed.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "core/random_inputs.h"
#include "formats/atomic_file.h"
#include "formats/files.h"
#include "formats/json.h"
#include "mnistrt/philox.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mn {

namespace {

constexpr const char *gradientPrefix = "gradient of ";

/// One element of a gradient, as the plan and as differences say.
struct Element {
  size_t index = 0;
  double found = 0, expected = 0;
  double error = HUGE_VAL; ///< relative
  bool kink = false;       ///< no derivative there; between those of both sides
};

/// A parameter and its gradient, output number `output`.
struct Row {
  const Parameter *parameter;
  int output;
  std::vector<Element> elements;

  const Element *worst() const {
    const auto it = std::max_element(
        elements.begin(), elements.end(),
        [](const Element &a, const Element &b) { return a.error < b.error; });
    return it == elements.end() ? nullptr : &*it;
  }
};

class Gradcheck {
public:
  Gradcheck(const Model &model, const Options &options)
      : model(model), options(options) {}
  Status run();

private:
  Status findRows();
  Status fill();
  Status dump();
  Status check();
  Status compute(double &loss);
  Status evaluate(double &loss);
  Status lossAt(const Row &row, size_t element, double value, double &loss);
  Status slope(const Row &row, Element &element, double base);
  Status kinkAt(const Row &row, Element &element, double base, double value);
  std::vector<size_t> choose(const Row &row, size_t number) const;
  double gradientAt(const Row &row, size_t element) const {
    const Tensor &tensor = model.plans[0].outputs[row.output];
    return numberAt(tensor.type, executor->output(0, row.output, 0), element);
  }
  Status report() const;
  void print() const;

  const Model &model;
  const Options &options;
  std::unique_ptr<Executor> executor;
  std::vector<Row> rows;
  double largest = 0; ///< of the gradient of the row that is checked
};

Status Gradcheck::findRows() {
  if (model.planCount != 1 || model.plans[0].outputCount == 0)
    return Status::error(Code::usage,
                         "expected a program made by 'mnistc gradcheck', got "
                         "another");
  const Plan &plan = model.plans[0];
  for (int i = 0; i < model.parameterCount; ++i) {
    const Parameter &parameter = model.parameters[i];
    const std::string name =
        std::string(gradientPrefix) + parameter.tensor.name;
    for (int j = 0; j < plan.outputCount; ++j)
      if (name == plan.outputs[j].name)
        rows.push_back({&parameter, j, {}});
  }
  if (rows.empty())
    return Status::error(Code::usage,
                         "expected a plan that returns gradients, got none");
  return Status::success();
}

Status Gradcheck::fill() {
  const Plan &plan = model.plans[0];
  MN_TRY(fillInputs(*executor, plan, 0,
                    {.seed = options.train.seed,
                     .rows = options.limit ? options.limit : plan.batch,
                     .classes = options.classes}));
  for (int i = 0; i < model.parameterCount; ++i)
    if (model.parameters[i].tensor.name == std::string(names::seed))
      MN_TRY(executor->writeParameters(model.parameters[i].tensor.offset,
                                       &options.train.seed,
                                       sizeof options.train.seed));
  return Status::success();
}

Status Gradcheck::compute(double &loss) {
  MN_TRY(executor->submit(0, 0));
  MN_TRY(executor->wait(0));
  loss = numberAt(model.plans[0].outputs[0].type, executor->output(0, 0, 0), 0);
  return Status::success();
}

/// Where the gradients are checked, it has to be finite; beside that it need
/// not.
Status Gradcheck::evaluate(double &loss) {
  MN_TRY(compute(loss));
  if (std::isfinite(loss))
    return Status::success();
  return Status::error(Code::numeric,
                       text("expected a finite loss, got %g", loss));
}

Status Gradcheck::lossAt(const Row &row, size_t element, double value,
                         double &loss) {
  MN_TRY(executor->writeParameters(row.parameter->tensor.offset +
                                       element * sizeof value,
                                   &value, sizeof value));
  return compute(loss);
}

/// The largest elements of the gradient, and as many random ones.
std::vector<size_t> Gradcheck::choose(const Row &row, size_t number) const {
  const size_t count = countOf(row.parameter->tensor);
  const size_t wanted = std::min(count, static_cast<size_t>(options.samples));
  std::vector<size_t> all(count);
  for (size_t i = 0; i < count; ++i)
    all[i] = i;
  if (wanted == count)
    return all;
  const size_t large = (wanted + 1) / 2;
  std::partial_sort(all.begin(), all.begin() + large, all.end(),
                    [&](size_t a, size_t b) {
                      const double x = std::fabs(gradientAt(row, a));
                      const double y = std::fabs(gradientAt(row, b));
                      return x != y ? x > y : a < b;
                    });
  const Random random = {static_cast<uint64_t>(options.train.seed),
                         static_cast<uint32_t>(number)};
  for (size_t i = large; i < wanted; ++i)
    std::swap(all[i], all[i + random.bits(1, i) % (count - i)]);
  all.resize(wanted);
  return all;
}

/// Whether the slopes on both sides differ and the gradient is between them: a
/// maximum of two equal numbers, a relu of 0.
Status Gradcheck::kinkAt(const Row &row, Element &element, double base,
                         double value) {
  const double h = 1e-7 * std::max(1.0, std::fabs(value));
  double above, below;
  MN_TRY(lossAt(row, element.index, value + h, above));
  MN_TRY(lossAt(row, element.index, value - h, below));
  const double right = (above - base) / h, left = (base - below) / h;
  const double slack = 1e-4 * std::max(std::fabs(right), std::fabs(left));
  const double low = std::min(left, right), high = std::max(left, right);
  element.kink = high - low > 2 * slack && element.found > low - slack &&
                 element.found < high + slack;
  if (element.kink)
    element.error = 0;
  return Status::success();
}

/// Compares one element. Steps are tried until one agrees: a long one may cross
/// a kink, or leave where the loss is finite (such a slope agrees with none), a
/// short one is lost in rounding.
Status Gradcheck::slope(const Row &row, Element &element, double base) {
  double value;
  const size_t at = row.parameter->tensor.offset + element.index * sizeof value;
  MN_TRY(executor->readParameters(at, &value, sizeof value));
  for (const double length : {1e-5, 1e-6, 1e-4, 1e-7}) {
    const double h = length * std::max(1.0, std::fabs(value));
    double above, below;
    MN_TRY(lossAt(row, element.index, value + h, above));
    MN_TRY(lossAt(row, element.index, value - h, below));
    const double expected = (above - below) / (2 * h);
    // What rounding makes of a difference is no error, nor is that of an
    // element far below the others.
    const double noise = 64 * 2.3e-16 * std::fabs(base) / h;
    const double scale =
        std::max({std::fabs(expected), std::fabs(element.found),
                  noise / options.tolerance, 1e-4 * largest, 1e-300});
    const double error = std::fabs(expected - element.found) / scale;
    if (error < element.error || std::isnan(element.found)) {
      element.error = std::isnan(error) ? HUGE_VAL : error;
      element.expected = expected;
    }
    if (element.error <= options.tolerance)
      break;
  }
  if (element.error > options.tolerance)
    MN_TRY(kinkAt(row, element, base, value));
  return executor->writeParameters(at, &value, sizeof value);
}

Status Gradcheck::check() {
  double base;
  for (size_t number = 0; number < rows.size(); ++number) {
    Row &row = rows[number];
    const Tensor &tensor = row.parameter->tensor;
    if (tensor.type != Type::f64)
      return Status::error(
          Code::usage, text("expected parameters of double to check, got %s "
                            "of %s; see --dump",
                            tensor.name, nameOf(tensor.type)));
    MN_TRY(evaluate(base));
    largest = 0;
    for (size_t i = 0; i < countOf(tensor); ++i)
      largest = std::max(largest, std::fabs(gradientAt(row, i)));
    for (size_t index : choose(row, number)) {
      row.elements.emplace_back();
      row.elements.back().index = index;
      row.elements.back().found = gradientAt(row, index);
    }
    for (Element &element : row.elements)
      MN_TRY(slope(row, element, base));
  }
  return Status::success();
}

Status Gradcheck::dump() {
  double loss;
  MN_TRY(evaluate(loss));
  const Plan &plan = model.plans[0];
  Json index = Json::array();
  const auto write = [&](const char *kind, int number, const Tensor &tensor,
                         const void *data) {
    const std::string file = text("%s-%d.npy", kind, number);
    index.push_back({{"file", file}, {"tensor", tensor.name}});
    const std::vector<char> bytes =
        npyOf(tensor.type, {tensor.shape, tensor.shape + tensor.rank}, data,
              bytesOf(tensor));
    return writeAtomically(options.dump + "/" + file,
                           {bytes.data(), bytes.size()});
  };
  for (int i = 0; i < plan.inputCount; ++i)
    MN_TRY(write("input", i, plan.inputs[i], executor->input(0, i, 0)));
  for (int i = 0; i < plan.outputCount; ++i)
    MN_TRY(write("output", i, plan.outputs[i], executor->output(0, i, 0)));
  return writeAtomically(options.dump + "/index.json", jsonText(index) + "\n");
}

void Gradcheck::print() const {
  if (options.json) {
    for (const Row &row : rows) {
      const Element none, *worst = row.worst() ? row.worst() : &none;
      const auto kinks = std::count_if(row.elements.begin(), row.elements.end(),
                                       [](const Element &e) { return e.kink; });
      printJson({{"tensor", row.parameter->tensor.name},
                 {"checked", row.elements.size()},
                 {"kinks", kinks},
                 {"error", worst->error},
                 {"element", worst->index},
                 {"found", worst->found},
                 {"expected", worst->expected}});
    }
    return;
  }
  std::vector<std::vector<std::string>> cells = {
      {"tensor", ">checked", ">worst error", ""}};
  for (const Row &row : rows) {
    const Element *worst = row.worst();
    const double error = worst ? worst->error : 0;
    cells.push_back({row.parameter->tensor.name,
                     std::to_string(row.elements.size()), text("%.1e", error),
                     error <= options.tolerance ? "ok" : "WRONG"});
  }
  std::fputs(table(cells, columnsOf(STDOUT_FILENO)).c_str(), stdout);
}

Status Gradcheck::report() const {
  print();
  size_t wrong = 0;
  const Row *first = nullptr;
  for (const Row &row : rows)
    if (const Element *worst = row.worst();
        worst && !(worst->error <= options.tolerance)) {
      first = first ? first : &row;
      ++wrong;
    }
  if (wrong == 0)
    return Status::success();
  const Element &worst = *first->worst();
  return Status::error(
      Code::numeric,
      text("expected gradients that agree with differences, got %zu of %zu "
           "wrong; element %zu of '%s' is %.17g, expected %.17g",
           wrong, rows.size(), worst.index, first->parameter->tensor.name,
           worst.found, worst.expected));
}

Status Gradcheck::run() {
  MN_TRY(openExecutor(model, options, executor));
  MN_TRY(findRows());
  MN_TRY(executor->prepare(0));
  MN_TRY(fill());
  if (!options.dump.empty())
    return dump();
  MN_TRY(check());
  return report();
}

Status gradcheck(const Model &model, const Options &options) {
  return Gradcheck(model, options).run();
}

} // namespace

extern "C" const Command *mn_gradcheck_command() {
  static const Command command = {
      "gradcheck",
      "compare gradients with finite differences",
      nullptr,
      nullptr,
      false,
      with({{"samples", "N", "elements to check of each tensor (default 8)",
             &Options::samples, 1},
            {"tolerance", "X", "relative error allowed (default 1e-5)",
             &Options::tolerance},
            {"classes", "N", "integer inputs are below N (default 2)",
             &Options::classes, 1},
            {"limit", "N",
             "only the first N rows of the batch count (default: "
             "all)",
             &Options::limit, 1},
            {"seed", "N", "of inputs, samples and dropout (default 1)",
             &TrainOptions::seed},
            {"dump", "DIR",
             "write inputs, loss and gradients as .npy files instead",
             &Options::dump},
            {"json", nullptr, "print JSON", &Options::json}},
           deviceFlags),
      gradcheck};
  return &command;
}

} // namespace mn
