//===- timeline.cpp - app profile --timeline ------------------------------===//

#include "commands/profile.h"
#include "core/array.h"
#include "core/random_inputs.h"
#include "core/ranks.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace mn {

std::string nameOf(const Plan &plan, const TimedLaunch &launch) {
  if (launch.step < 0)
    return launch.kernel;
  return plan.steps[launch.step].name +
         (launch.part.empty() ? "" : " " + launch.part.substr(1));
}

namespace {

/// The numbers of the steps that run in libraries, which record nothing.
std::vector<int> unrecorded(const Plan &plan) {
  std::vector<int> steps;
  for (int i = 0; i < plan.stepCount; ++i)
    if (std::strcmp(plan.steps[i].implementation, "kernel") != 0)
      steps.push_back(i + 1);
  return steps;
}

void printRows(std::FILE *file, const Plan &plan, const Timeline &timeline) {
  std::vector<std::vector<std::string>> rows = {
      {">step", "name", ">stream", ">blocks", ">SMs", ">start", ">ready",
       ">end", ">us", ">a block", ">alone", ">idle before"}};
  const auto number = [](double us) { return text("%.2f", us); };
  for (const auto &[launch, t] : timeline.rows())
    rows.push_back({launch.step < 0 ? "" : std::to_string(launch.step + 1),
                    nameOf(plan, launch), std::to_string(launch.stream),
                    std::to_string(launch.blocks),
                    text("%.0f", t.multiprocessors), number(t.start),
                    number(t.ready), number(t.end), number(t.took),
                    number(t.block), number(t.alone), number(t.idleBefore)});
  std::fputs(table(rows, columnsOf(fileno(file))).c_str(), file);
}

void printShares(std::FILE *file, const Timeline &timeline) {
  const RunTimes run = timeline.run();
  std::vector<std::vector<std::string>> rows = {{"computing", ">us", ">share"}};
  for (const auto &[what, us] :
       {std::pair("one kernel", run.alone), std::pair("several", run.several),
        std::pair("none", run.idle), std::pair("the whole run", run.whole)})
    rows.push_back({what, text("%.2f", us),
                    text("%.1f %%", run.whole > 0 ? 100 * us / run.whole : 0)});
  std::fputs(table(rows, columnsOf(fileno(file))).c_str(), file);
}

void print(std::FILE *file, const Model &model, const Plan &plan,
           const Executor &executor, const TimedRuns &runs,
           const Timeline &timeline) {
  const int columns = columnsOf(fileno(file));
  const auto line = [&](const std::string &text) {
    std::fprintf(file, "%s\n", wrapped(text, columns, 4).c_str());
  };
  line(text("%s, plan %s, batch %lld, on %s; medians of %lld runs, in "
            "microseconds",
            modelText(model).c_str(), plan.name,
            static_cast<long long>(plan.batch), executor.deviceName().c_str(),
            static_cast<long long>(timeline.count())));
  printRows(file, plan, timeline);
  std::fputs("\n", file);
  printShares(file, timeline);
  line(text("%.2f us a run one after another, %.2f while no times are written",
            runs.recordedMicroseconds, runs.microseconds));
  std::string steps;
  for (int step : unrecorded(plan))
    steps += (steps.empty() ? "" : ", ") + std::to_string(step);
  if (!steps.empty())
    line("not shown, since libraries write no times: step " + steps);
}

Json jsonOf(const Model &model, const Plan &plan, const Executor &executor,
            const TimedRuns &runs, const Timeline &timeline) {
  Json kernels = Json::array();
  for (const auto &[launch, t] : timeline.rows()) {
    const bool isStep = launch.step >= 0;
    kernels.push_back({{"step", isStep ? Json(launch.step + 1) : Json()},
                       {"name", nameOf(plan, launch)},
                       {"kernel", launch.kernel + launch.part},
                       {"ops", isStep ? plan.steps[launch.step].ops : ""},
                       {"stream", launch.stream},
                       {"blocks", launch.blocks},
                       {"multiprocessors", int64_t(t.multiprocessors)},
                       {"start_us", t.start},
                       {"ready_us", t.ready},
                       {"last_ready_us", t.lastReady},
                       {"first_end_us", t.firstEnd},
                       {"end_us", t.end},
                       {"us", t.took},
                       {"block_us", t.block},
                       {"longest_block_us", t.longestBlock},
                       {"alone_us", t.alone},
                       {"idle_before_us", t.idleBefore}});
  }
  const RunTimes run = timeline.run();
  return {{"model", model.name},
          {"plan", plan.name},
          {"batch", plan.batch},
          {"device", executor.deviceName()},
          {"runs", timeline.count()},
          {"run_us", run.whole},
          {"alone_us", run.alone},
          {"several_us", run.several},
          {"idle_us", run.idle},
          {"recorded_run_us", runs.recordedMicroseconds},
          {"unrecorded_run_us", runs.microseconds},
          {"unrecorded_steps", unrecorded(plan)},
          {"kernels", kernels}};
}

bool takesBatches(const Plan &plan) {
  return std::any_of(plan.inputs, plan.inputs + plan.inputCount,
                     [](const Tensor &input) {
                       return std::strcmp(input.name, names::labels) == 0;
                     });
}

/// As many rows as MNIST has, or 64 MB of them, but enough for two graphs.
int64_t rowsFor(const Plan &plan, int64_t ranks) {
  constexpr int64_t most = 60000, bytes = 64 << 20;
  const int64_t row = int64_t(countOf(plan.inputs[0])) / plan.batch;
  return std::max(2 * batchesPerGraph * plan.batch * ranks,
                  std::min(most, bytes / std::max<int64_t>(row, 1)));
}

Status measure(Executor &executor, const Model &model, int plan,
               const Options &options, int64_t ranks, TimedRuns &runs,
               Timeline &timeline) {
  RandomSamples random; // which the device has copied
  const Plan &tables = model.plans[plan];
  if (takesBatches(tables)) {
    MN_TRY(makeSamples(model, plan, rowsFor(tables, ranks), random));
    MN_TRY(executor.load(trainSet, random.samples));
    runs.set = trainSet;
    runs.shuffle = isOfKind(tables.name, kinds::train);
  }
  runs.count = options.repeat > 0 ? options.repeat : 320;
  runs.take = [&](const std::vector<BlockTimes> &times) {
    return timeline.add(times);
  };
  return executor.timeline(plan, runs);
}

} // namespace

Status checkTimeline(const Model &model, const Options &options) {
  for (const auto &[name, value] : {std::pair("--trace", options.trace),
                                    std::pair("--report", options.report)})
    if (!value.empty())
      return Status::error(
          Code::usage, text("expected '--timeline' or '%s', got both", name));
  if (model.timestamps)
    return Status::success();
  const bool gpu = std::strcmp(model.target, "cuda") == 0;
  return Status::error(
      Code::usage,
      gpu ? "expected a program compiled with mnistc --timestamps for "
            "'--timeline', got one without"
          : "expected a program for a GPU for '--timeline', got one for a CPU, "
            "whose steps run one after another: 'profile' shows when");
}

Status timelineOn(const Model &model, const Options &options, Ranks *ranks,
                  std::unique_ptr<Executor> &executor) {
  int number = 0;
  const Status ready = setUp(model, options, ranks, executor, number);
  MN_TRY(ranks ? ranks->agree(ready) : ready);
  if (ranks)
    MN_TRY(executor->join());
  const Plan &plan = model.plans[number];
  TimedRuns runs;
  Timeline timeline(runs);
  MN_TRY(measure(*executor, model, number, options,
                 ranks ? ranks->place().count : 1, runs, timeline));
  if (ranks && !ranks->isFirst())
    return Status::success();
  MN_TRY(writeTrace(options.timeline, traceOf(model, plan, timeline)));
  if (options.json)
    printJson(jsonOf(model, plan, *executor, runs, timeline));
  else
    print(stdoutOptions(options).empty() ? stdout : stderr, model, plan,
          *executor, runs, timeline);
  return Status::success();
}

} // namespace mn
