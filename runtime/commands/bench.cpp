//===- bench.cpp - app bench ----------------------------------------------===//
//
// Latency is what a caller waits for: inputs copied in, outputs copied out.
// Throughput has two batches under way. The device's time is only that of the
// plan.
//
//===----------------------------------------------------------------------===//

#include "commands/options.h"
#include "core/clock.h"
#include "formats/json.h"
#include "inference/runner.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace mn {

namespace {

double microsecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
      .count();
}

struct Figures {
  std::vector<double> latencies; ///< microseconds
  double rowsPerSecond = 0;
  double device = 0; ///< microseconds a run
};

struct Limit {
  const Options &options;
  bool reached(int64_t runs, double microseconds) const {
    return options.repeat > 0
               ? runs >= options.repeat
               : microseconds >= 1e6 * options.seconds && runs >= 10;
  }
};

Status measureLatency(Executor &executor, int plan, const Limit &limit,
                      Figures &figures) {
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    MN_TRY(executor.submit(plan, 0));
    MN_TRY(executor.wait(0));
    figures.latencies.push_back(microsecondsSince(start));
  } while (!limit.reached(static_cast<int64_t>(figures.latencies.size()),
                          microsecondsSince(begin)));
  return Status::success();
}

Status measureThroughput(Executor &executor, int plan, int64_t batch,
                         const Limit &limit, Figures &figures) {
  const auto begin = Clock::now();
  int64_t runs = 0;
  MN_TRY(executor.submit(plan, 0));
  do {
    ++runs;
    MN_TRY(executor.submit(plan, runs % 2));
    MN_TRY(executor.wait((runs - 1) % 2));
  } while (!limit.reached(runs, microsecondsSince(begin)));
  MN_TRY(executor.wait(runs % 2));
  figures.rowsPerSecond =
      static_cast<double>((runs + 1) * std::max<int64_t>(batch, 1)) * 1e6 /
      microsecondsSince(begin);
  return Status::success();
}

Status measure(Executor &executor, int number, const Plan &plan,
               const Options &options, Figures &figures) {
  MN_TRY(executor.prepare(number));
  for (int64_t i = 0; i < options.warmup; ++i) {
    MN_TRY(executor.submit(number, 0));
    MN_TRY(executor.wait(0));
  }
  const Limit limit{options};
  MN_TRY(measureLatency(executor, number, limit, figures));
  MN_TRY(measureThroughput(executor, number, plan.batch, limit, figures));
  const int runs =
      static_cast<int>(std::min<size_t>(figures.latencies.size(), 1000));
  double microseconds;
  MN_TRY(executor.time(number, runs, microseconds));
  figures.device = microseconds / runs;
  return Status::success();
}

Json jsonOf(const Plan &plan, const Figures &figures) {
  const auto part = [&](double q) { return quantile(figures.latencies, q); };
  return {{"plan", plan.name},
          {"batch", plan.batch},
          {"runs", figures.latencies.size()},
          {"latency_us",
           {{"p10", part(.1)},
            {"median", part(.5)},
            {"p90", part(.9)},
            {"p99", part(.99)}}},
          {"device_us", figures.device},
          {"rows_per_second", figures.rowsPerSecond}};
}

std::vector<std::string> rowOf(const Plan &plan, const Figures &figures) {
  const auto part = [&](double q) {
    return text("%.1f", quantile(figures.latencies, q));
  };
  return {plan.name,
          std::to_string(plan.batch),
          part(.5),
          part(.1),
          part(.9),
          part(.99),
          text("%.1f", figures.device),
          text("%.0f", figures.rowsPerSecond)};
}

} // namespace

Status bench(const Model &model, const Options &options) {
  std::unique_ptr<Executor> executor;
  MN_TRY(openExecutor(model, options, executor));
  int any;
  MN_TRY(Runner(model, *executor).choosePlan(1, options.batch, any));
  std::vector<std::vector<std::string>> rows = {{"plan", ">batch", ">median us",
                                                 ">p10", ">p90", ">p99",
                                                 ">device us", ">rows/s"}};
  Json json = {{"model", model.name},
               {"device", executor->deviceName()},
               {"plans", Json::array()}};
  for (int i = 0; i < model.planCount; ++i) {
    const Plan &plan = model.plans[i];
    if (!isInference(plan) || (options.batch && plan.batch != options.batch))
      continue;
    Figures figures;
    MN_TRY(measure(*executor, i, plan, options, figures));
    json["plans"].push_back(jsonOf(plan, figures));
    rows.push_back(rowOf(plan, figures));
  }
  if (options.json) {
    printJson(json);
    return Status::success();
  }
  const int columns = columnsOf(STDOUT_FILENO);
  const std::string title = modelText(model) + " on " + executor->deviceName();
  std::printf("%s\n%s", wrapped(title, columns, 4).c_str(),
              table(rows, columns).c_str());
  return Status::success();
}

} // namespace mn
