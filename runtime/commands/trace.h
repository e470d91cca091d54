//===- trace.h - a run as a timeline ----------------------------*- C++ -*-===//

#ifndef MNISTRT_COMMANDS_TRACE_H
#define MNISTRT_COMMANDS_TRACE_H

#include "core/executor.h"
#include "formats/json.h"

namespace mn {

/// One run of a plan in Chrome's trace event format, which Perfetto reads too:
/// a track for each stream, an event for each step, in microseconds since the
/// beginning of the run.
Json traceOf(const Model &model, const Plan &plan,
             const std::vector<StepTime> &times);

} // namespace mn

#endif // MNISTRT_COMMANDS_TRACE_H
