//===- trace.cpp - a run as a timeline ------------------------------------===//

#include "commands/trace.h"
#include "core/array.h"

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

} // namespace mn
