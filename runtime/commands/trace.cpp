//===- trace.cpp - a run as a timeline ------------------------------------===//

#include "commands/profile.h"
#include "core/array.h"
#include <algorithm>
#include <cmath>

namespace mn {

/// An event that names a process or a thread ("M": metadata).
static Json nameEvent(const char *kind, int thread, const std::string &name) {
  return {{"name", kind},
          {"ph", "M"},
          {"pid", 1},
          {"tid", thread},
          {"args", {{"name", name}}}};
}

Json traceOf(const Model &model, const Plan &plan,
             const std::vector<StepTime> &times) {
  Json events = Json::array();
  events.push_back(
      nameEvent("process_name", 0, text("%s %s", model.name, plan.name)));
  for (int stream = 0; stream < streamCount(plan); ++stream)
    events.push_back(
        nameEvent("thread_name", stream, text("stream %d", stream)));
  for (int i = 0; i < plan.stepCount; ++i) {
    const Step &step = plan.steps[i];
    events.push_back({{"name", step.name},
                      {"cat", step.implementation},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", step.stream},
                      {"ts", times[i].startMicroseconds},
                      {"dur", times[i].microseconds},
                      {"args",
                       {{"step", i + 1},
                        {"ops", step.ops},
                        {"nodes", step.nodes},
                        {"shape", step.shape}}}});
  }
  return {{"displayTimeUnit", "ns"}, {"traceEvents", events}};
}

namespace {

using Row = Timeline::Row;

/// Kernels of a stream, none of which starts before the one before has ended.
struct Track {
  int stream;
  std::vector<const Row *> rows;
};

/// Events of a track may not overlap, but the kernels of a stream do: the next
/// one waits while one computes.
std::vector<Track> tracksOf(const std::vector<Row> &rows) {
  std::vector<const Row *> sorted;
  for (const Row &row : rows)
    sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), [](const Row *a, const Row *b) {
    return std::pair(a->times.start, a->times.end) <
           std::pair(b->times.start, b->times.end);
  });
  std::vector<Track> tracks;
  for (const Row *row : sorted) {
    const auto track =
        std::find_if(tracks.begin(), tracks.end(), [&](const Track &t) {
          return t.stream == row->launch.stream &&
                 t.rows.back()->times.end <= row->times.start;
        });
    if (track != tracks.end())
      track->rows.push_back(row);
    else
      tracks.push_back({row->launch.stream, {row}});
  }
  std::sort(tracks.begin(), tracks.end(), [](const Track &a, const Track &b) {
    return std::pair(a.stream, a.rows.front()->times.start) <
           std::pair(b.stream, b.rows.front()->times.start);
  });
  return tracks;
}

/// What a clock says: whole nanoseconds.
double between(double from, double to) {
  return std::round((to - from) * 1e3) / 1e3;
}

Json spanEvent(const std::string &name, const char *kind, size_t track,
               double from, double to) {
  return {{"name", name},
          {"cat", kind},
          {"ph", "X"},
          {"pid", 1},
          {"tid", track},
          {"ts", from},
          {"dur", between(from, to)}};
}

} // namespace

Json traceOf(const Model &model, const Plan &plan, const Timeline &timeline) {
  Json events = Json::array();
  events.push_back(
      nameEvent("process_name", 0, text("%s %s", model.name, plan.name)));
  const std::vector<Row> rows = timeline.rows();
  const std::vector<Track> tracks = tracksOf(rows);
  for (size_t i = 0; i < tracks.size(); ++i)
    events.push_back(
        nameEvent("thread_name", int(i), text("stream %d", tracks[i].stream)));
  for (size_t i = 0; i < tracks.size(); ++i)
    for (const Row *row : tracks[i].rows) {
      const auto &[launch, t] = *row;
      const bool isStep = launch.step >= 0;
      Json event = spanEvent(nameOf(plan, launch), "kernel", i, t.start, t.end);
      event["args"] = {{"step", isStep ? Json(launch.step + 1) : Json()},
                       {"kernel", launch.kernel + launch.part},
                       {"ops", isStep ? plan.steps[launch.step].ops : ""},
                       {"blocks", launch.blocks},
                       {"multiprocessors", int64_t(t.multiprocessors)},
                       {"wait_us", between(t.start, t.ready)},
                       {"us", t.took},
                       {"alone_us", t.alone},
                       {"idle_before_us", t.idleBefore}};
      events.push_back(event);
      if (t.ready > t.start)
        events.push_back(spanEvent("waits", "wait", i, t.start, t.ready));
    }
  const RunTimes run = timeline.run();
  return {{"displayTimeUnit", "ns"},
          {"otherData",
           {{"model", model.name},
            {"plan", plan.name},
            {"runs", timeline.count()},
            {"run_us", run.whole},
            {"alone_us", run.alone},
            {"several_us", run.several},
            {"idle_us", run.idle}}},
          {"traceEvents", events}};
}

} // namespace mn
