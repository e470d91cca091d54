//===- plan.cpp - plans whose steps are launches, and their order ---------===//

#include "plan.h"
#include "mnistrt/cuda/launch.h"

using namespace fake;

namespace test {

static void runStep(mn::Context &ctx) {
  const float *input = ctx.at<float>(PlanModel::inputs);
  void *arguments[] = {&ctx.arena, &ctx.workspace, &input};
  const std::string kernel = "step" + std::to_string(ctx.step);
  mn::launch(ctx, kernel.c_str(), {140, 64, 1, 96 << 10}, arguments);
}

static void packAndRun(mn::Context &ctx) {
  void *arguments[] = {&ctx.arena, &ctx.workspace};
  const std::string kernel = "step" + std::to_string(ctx.step);
  if (ctx.part != mn::StepPart::others)
    mn::launch(ctx, kernel.c_str(), {2, 64}, arguments, mn::filtersSuffix);
  if (ctx.part != mn::StepPart::packing)
    runStep(ctx);
}

PlanModel::PlanModel(std::vector<StepShape> given, const char *name)
    : shapes(std::move(given)) {
  static constexpr int64_t one[] = {1}, matrix[] = {rows, elements};
  static const mn::Tensor in[] = {
      {"x", mn::Type::f32, 2, matrix, inputs},
      {mn::names::labels, mn::Type::i32, 1, matrix, labels},
      {mn::names::valid, mn::Type::i32, 0, nullptr, valid}};
  static const mn::Tensor out[] = {{"y", mn::Type::f32, 2, matrix, outputs}};
  static const auto state = [](const char *of, size_t at) {
    return mn::Parameter{{of, mn::Type::i64, 0, nullptr, at}, mn::Role::state};
  };
  static const mn::Parameter parameters[] = {
      {{"w", mn::Type::f32, 1, one, weight}, mn::Role::parameter},
      state(mn::names::seed, seed),
      state(mn::names::epoch, epoch),
      state(mn::names::batch, batch)};
  static constexpr float initial[] = {0.5f};
  names.reserve(shapes.size());
  for (const StepShape &shape : shapes) {
    names.push_back("step" + std::to_string(names.size()));
    mn::Step step = {names.back().c_str(),
                     "relu",
                     "",
                     shape.implementation,
                     "[4, 6]",
                     0,
                     0,
                     shape.run          ? shape.run
                     : shape.packsEarly ? packAndRun
                                        : runStep};
    step.packsEarly = shape.packsEarly;
    step.packing = shape.packing;
    step.stream = shape.stream;
    step.after = shape.after.data();
    step.afterCount = int(shape.after.size());
    steps.push_back(step);
  }
  plan = {name, rows,         arenaBytes,       0, in, 3, out,
          1,    steps.data(), int(steps.size())};
  model.version = mn::modelVersion;
  model.name = "fake";
  model.codes = &code;
  model.codeCount = 1;
  model.plans = &plan;
  model.planCount = 1;
  model.parameters = parameters;
  model.parameterCount = 4;
  model.parameterBytes = parameterBytes;
  model.initial = reinterpret_cast<const unsigned char *>(initial);
  model.initialBytes = sizeof initial;
}

std::vector<StepShape> randomShape(std::mt19937 &random) {
  std::vector<StepShape> shapes(2 + random() % 9);
  const unsigned streams = 1 + random() % 4;
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].stream = int(random() % streams);
    shapes[i].packsEarly = random() % 3 == 0;
    for (size_t k = 0; k < i; ++k) {
      if (shapes[k].stream != shapes[i].stream && random() % 3 == 0)
        shapes[i].after.push_back(int(k));
      if (shapes[k].packsEarly && random() % 3 == 0)
        shapes[i].packing = int(k);
    }
  }
  return shapes;
}

std::string text(const std::vector<StepShape> &shapes) {
  std::string made;
  for (const StepShape &shape : shapes) {
    made += (made.empty() ? "" : " ") + std::to_string(shape.stream) +
            (shape.packsEarly ? "p(" : "(");
    for (int step : shape.after)
      made += " " + std::to_string(step);
    if (shape.packing >= 0)
      made += " over " + std::to_string(shape.packing);
    made += ")";
  }
  return made;
}

std::unique_ptr<mn::Executor> open(const PlanModel &made, bool graph) {
  driver() = {};
  std::unique_ptr<mn::Executor> executor;
  const mn::Status status =
      mn::Executor::open(made.model, {.graph = graph}, executor);
  EXPECT_TRUE(status.ok()) << status.message;
  driver().log.clear();
  return executor;
}

std::vector<std::vector<bool>> doneBefore(const std::vector<Entry> &log) {
  std::vector<std::vector<bool>> done(log.size(),
                                      std::vector<bool>(log.size(), false));
  const auto follow = [&](size_t i, size_t earlier) {
    for (size_t k = 0; k < log.size(); ++k)
      done[i][k] = done[i][k] || done[earlier][k];
    done[i][earlier] = true;
  };
  std::map<int, size_t> last, recorded; // of a stream; of an event
  for (size_t i = 0; i < log.size(); ++i) {
    const Entry &entry = log[i];
    if (entry.what == What::synchronize)
      continue;
    if (last.count(entry.stream))
      follow(i, last[entry.stream]);
    if (entry.what == What::wait && recorded.count(entry.event))
      follow(i, recorded[entry.event]);
    if (entry.what == What::record)
      recorded[entry.event] = i;
    last[entry.stream] = i;
  }
  return done;
}

/// A kernel that overlaps follows a kernel; records do not part them, and waits
/// need not. The first copy of a submission need not overlap the last copy of
/// the one before.
static void checkOverlaps(const std::vector<Entry> &log,
                          const std::string &what) {
  std::map<int, What> last;
  std::set<int> waits; // streams, since then
  for (size_t i = 0; i < log.size(); ++i) {
    const Entry &entry = log[i];
    if (entry.what == What::launch) {
      const bool mayOverlap =
          last.count(entry.stream) && last[entry.stream] == What::launch;
      if (mayOverlap && entry.kernel == "mn_transfer" && !entry.overlaps)
        continue;
      if (mayOverlap && waits.count(entry.stream) && !entry.overlaps)
        continue;
      EXPECT_EQ(entry.overlaps, mayOverlap)
          << what << ": entry " << i << ", " << entry.kernel;
    }
    if (entry.what == What::wait) {
      waits.insert(entry.stream);
    } else if (entry.what != What::record && entry.what != What::synchronize) {
      last[entry.stream] = entry.what;
      waits.erase(entry.stream);
    }
  }
}

void checkOrder(const PlanModel &made, const std::vector<Entry> &log, int runs,
                const std::string &what) {
  const auto done = doneBefore(log);
  std::vector<size_t> launches;
  std::map<std::string, std::vector<size_t>> packing; // of each run
  for (size_t i = 0; i < log.size(); ++i)
    if (log[i].what == What::launch && log[i].kernel.starts_with("step")) {
      if (log[i].kernel.ends_with(mn::filtersSuffix))
        packing[log[i].kernel].push_back(i);
      else
        launches.push_back(i);
    }
  const size_t steps = made.shapes.size();
  ASSERT_EQ(launches.size(), steps * size_t(runs)) << what;
  const auto expectAfter = [&](size_t later, size_t earlier) {
    EXPECT_TRUE(done[later][earlier])
        << what << ": entry " << later << " (" << log[later].kernel
        << ") may begin before entry " << earlier << " (" << log[earlier].kernel
        << ") has ended";
  };
  for (size_t i = 0; i < launches.size(); ++i) {
    const size_t run = i / steps, step = i % steps;
    EXPECT_EQ(log[launches[i]].kernel, "step" + std::to_string(step)) << what;
    for (int earlier : made.shapes[step].after)
      expectAfter(launches[i], launches[run * steps + size_t(earlier)]);
    for (size_t before = 0; before < run * steps; ++before)
      expectAfter(launches[i], launches[before]);
    if (const int over = made.shapes[step].packing; over >= 0) {
      const auto &packs =
          packing["step" + std::to_string(over) + mn::filtersSuffix];
      ASSERT_EQ(packs.size(), size_t(runs)) << what;
      expectAfter(launches[i], packs[run]);
    }
    if (made.shapes[step].packsEarly) {
      const auto &packs = packing[log[launches[i]].kernel + mn::filtersSuffix];
      ASSERT_EQ(packs.size(), size_t(runs)) << what;
      expectAfter(launches[i], packs[run]);
      for (size_t before = 0; before < run * steps; ++before)
        expectAfter(packs[run], launches[before]);
    }
    // What feeds a run and what takes from it is not part of it.
    const size_t first = launches[run * steps],
                 end = launches[run * steps + steps - 1];
    for (size_t k = 0; k < log.size(); ++k) {
      const bool other =
          log[k].what == What::copy ||
          (log[k].what == What::launch && !log[k].kernel.starts_with("step"));
      if (other && k < first)
        expectAfter(launches[i], k);
      if (other && k > end)
        expectAfter(k, launches[i]);
    }
  }
  checkOverlaps(log, what);
}

} // namespace test
