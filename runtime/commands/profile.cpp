//===- profile.cpp - app profile ------------------------------------------===//

#include "commands/profile.h"
#include "core/random_inputs.h"
#include "core/recipe_rows.h"
#include "formats/atomic_file.h"
#include "inference/runner.h"
#include "ranks/open_ranks.h"
#include "reports/html_report.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace mn {

Status writeTrace(const std::string &path, const Json &trace) {
  if (path != "-")
    return writeAtomically(path, jsonText(trace) + "\n");
  printJson(trace);
  return Status::success();
}

Choices stdoutOptions(const Options &options) {
  Choices result;
  if (options.json)
    result.push_back("--json");
  for (const auto &[name, path] : {std::pair("--trace", options.trace),
                                   std::pair("--timeline", options.timeline),
                                   std::pair("--report", options.report)})
    if (path == "-")
      result.push_back(std::string(name) + "=-");
  return result;
}

static Status checkOutputs(const Model &model, const Options &options,
                           const Ranks *ranks) {
  if (const Choices several = stdoutOptions(options); several.size() > 1)
    return Status::error(Code::usage, "expected one output on standard output, "
                                      "got '" +
                                          several[0] + "' and '" + several[1] +
                                          "'");
  const bool writes = !ranks || ranks->isFirst();
  return writes && !options.report.empty() ? checkReport(model, options.report)
                                           : Status::success();
}

Status setUp(const Model &model, const Options &options, Ranks *ranks,
             std::unique_ptr<Executor> &executor, int &number) {
  size_t kind;
  MN_TRY(checkOutputs(model, options, ranks));
  MN_TRY(choose("--plan", options.plan,
                {kinds::infer, kinds::eval, kinds::train}, kind));
  MN_TRY(openExecutor(model, options, executor, ranks));
  Runner runner(model, *executor);
  runner.kind = options.plan;
  MN_TRY(runner.choosePlan(INT64_MAX, options.batch, number));
  MN_TRY(writeCompiledRecipe(model, *executor));
  const Plan &plan = model.plans[number];
  return fillInputs(*executor, plan, number, {.rows = plan.batch});
}

namespace {

std::string rate(double amount, double microseconds) {
  return amount > 0 && microseconds > 0
             ? text("%.1f", amount / microseconds / 1e3)
             : "";
}

/// In microseconds: medians of the steps, each timed separately; when they
/// began, in the last run; their sum; and of the plan as it runs, in one graph
/// and concurrently.
struct Times {
  std::vector<double> steps, starts;
  double total = 0, whole = 0;
  int64_t runs = 0;
  /// With several ranks, what their sums take, and what of it is hidden.
  int ranks = 1;
  double sums = 0, hidden = 0;
};

void printTable(std::FILE *file, const Plan &plan, const Times &times) {
  const std::vector<double> &medians = times.steps;
  const double total = times.total, whole = times.whole;
  std::vector<std::vector<std::string>> rows = {{">step", "name", "on", "shape",
                                                 ">us", ">share", ">GFLOP/s",
                                                 ">GB/s", "ops"}};
  double flops = 0, bytes = 0;
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    flops += step.flops, bytes += step.bytes;
    rows.push_back(
        {std::to_string(i + 1), step.name, wayOf(step), step.shape,
         text("%.2f", medians[i]), text("%.1f %%", 100 * medians[i] / total),
         rate(step.flops, medians[i]), rate(step.bytes, medians[i]), step.ops});
  }
  rows.push_back({"", "sum of steps", "", "", text("%.2f", total), "",
                  rate(flops, total), rate(bytes, total), ""});
  rows.push_back({"", "whole plan", "", "", text("%.2f", whole), "",
                  rate(flops, whole), rate(bytes, whole), ""});
  std::fputs(table(rows, columnsOf(fileno(file))).c_str(), file);
}

Json jsonOf(const Model &model, const Plan &plan, const Executor &executor,
            const Times &times) {
  Json libraries = Json::object();
  for (const auto &[name, version] : executor.libraryVersions())
    libraries[name] = version;
  Json steps = Json::array();
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    steps.push_back({{"name", step.name},
                     {"implementation", step.implementation},
                     {"mma", step.mma},
                     {"schedule", step.schedule},
                     {"ops", step.ops},
                     {"nodes", step.nodes},
                     {"shape", step.shape},
                     {"start_us", times.starts[i]},
                     {"us", times.steps[i]},
                     {"flops", step.flops},
                     {"bytes", step.bytes}});
  }
  Json all = {{"model", model.name},
              {"plan", plan.name},
              {"device", executor.deviceName()},
              {"threads", usefulExecutors()},
              {"libraries", libraries},
              {"runs", times.runs},
              {"steps_us", times.total},
              {"plan_us", times.whole},
              {"steps", steps}};
  if (times.ranks > 1) {
    all["ranks"] = times.ranks;
    all["sums_us"] = times.sums;
    all["hidden_us"] = times.hidden;
  }
  return all;
}

/// `last`: the steps of the last run, in their order.
Status measure(Executor &executor, int plan, int64_t repeat,
               std::vector<StepTime> &last, Times &times) {
  MN_TRY(executor.profile(plan, last)); // the first run warms caches
  std::vector<std::vector<double>> all(last.size());
  std::vector<double> whole;
  for (int64_t run = 0; run < repeat; ++run) {
    MN_TRY(executor.profile(plan, last));
    for (size_t i = 0; i < all.size(); ++i)
      all[i].push_back(last[i].microseconds);
    double microseconds = 0;
    MN_TRY(executor.time(plan, 1, microseconds));
    whole.push_back(microseconds);
  }
  for (const std::vector<double> &step : all) {
    times.steps.push_back(quantile(step, 0.5));
    times.total += times.steps.back();
  }
  for (const StepTime &step : last)
    times.starts.push_back(step.startMicroseconds);
  times.whole = quantile(whole, 0.5);
  times.runs = repeat;
  return Status::success();
}

/// Before ranks have joined, the time of a plan without sums over them.
Status measureAlone(Executor &executor, int plan, int64_t repeat,
                    double &alone) {
  std::vector<double> whole;
  for (int64_t run = 0; run < repeat; ++run)
    MN_TRY(executor.time(plan, 1, whole.emplace_back()));
  alone = quantile(whole, 0.5);
  return executor.join();
}

bool isCollective(const Step &step) {
  return std::strcmp(step.implementation, "nccl") == 0 ||
         std::strcmp(step.implementation, "mpi") == 0;
}

void addSums(const Plan &plan, double alone, int ranks, Times &times) {
  times.ranks = ranks;
  for (int i = 0; i < plan.stepCount; ++i)
    times.sums += isCollective(plan.steps[i]) ? times.steps[size_t(i)] : 0;
  times.hidden = times.sums - std::clamp(times.whole - alone, 0.0, times.sums);
}

void print(std::FILE *file, const Model &model, const Plan &plan,
           const Executor &executor, const Times &times) {
  const std::string title = text(
      "%s, plan %s, batch %lld, on %s; medians of %lld runs",
      modelText(model).c_str(), plan.name, static_cast<long long>(plan.batch),
      executor.deviceName().c_str(), static_cast<long long>(times.runs));
  std::fprintf(file, "%s\n",
               wrapped(title, columnsOf(fileno(file)), 4).c_str());
  printTable(file, plan, times);
  if (times.ranks > 1)
    std::fprintf(file, "sums over %d ranks: %.2f us, %.2f of them hidden\n",
                 times.ranks, times.sums, times.hidden);
}

Status profileOn(const Model &model, const Options &options, Ranks *ranks,
                 std::unique_ptr<Executor> &executor) {
  int number = 0;
  const Status ready = setUp(model, options, ranks, executor, number);
  MN_TRY(ranks ? ranks->agree(ready) : ready);
  const Plan &plan = model.plans[number];
  const int64_t repeat = options.repeat > 0 ? options.repeat : 20;
  std::vector<StepTime> last;
  Times times;
  double alone = 0;
  if (ranks)
    MN_TRY(measureAlone(*executor, number, repeat, alone));
  MN_TRY(measure(*executor, number, repeat, last, times));
  if (ranks)
    addSums(plan, alone, ranks->place().count, times);
  if (ranks && !ranks->isFirst())
    return Status::success();
  if (!options.trace.empty())
    MN_TRY(writeTrace(options.trace, traceOf(model, plan, last)));
  const Json measured = jsonOf(model, plan, *executor, times);
  if (!options.report.empty())
    MN_TRY(writeReport(model, options.report, measured, nullptr));
  if (options.json)
    printJson(measured);
  else
    print(stdoutOptions(options).empty() ? stdout : stderr, model, plan,
          *executor, times);
  return Status::success();
}

} // namespace

Status profile(const Model &model, const Options &options) {
  const bool timeline = !options.timeline.empty();
  if (timeline)
    MN_TRY(checkTimeline(model, options));
  return withRanks(model, options.train.timeout, [&](Ranks *ranks) {
    std::unique_ptr<Executor> executor;
    const Status status =
        (timeline ? timelineOn : profileOn)(model, options, ranks, executor);
    if (!ranks || status.ok())
      return status;
    ranks->fail(status.code);
    sayNow(status);
    return Status::error(status.code, "");
  });
}

} // namespace mn
