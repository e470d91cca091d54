//===- profile.h - what 'profile' is made of --------------------*- C++ -*-===//

#ifndef MNISTRT_COMMANDS_PROFILE_H
#define MNISTRT_COMMANDS_PROFILE_H

#include "commands/options.h"
#include "core/choices.h"
#include "core/executor.h"
#include "formats/json.h"
#include "reports/timeline.h"

namespace mn {

/// One run of a plan in Chrome's trace event format, which Perfetto reads too:
/// a track for each stream, an event for each step, in microseconds since the
/// beginning of the run.
Json traceOf(const Model &model, const Plan &plan,
             const std::vector<StepTime> &times);
/// "conv_3.grad sums"; what belongs to no step has its kernel's name.
std::string nameOf(const Plan &plan, const TimedLaunch &launch);
/// The same with an event for each kernel, and inside of it one for what it
/// waits. A stream has as many tracks as kernels that are there at a time.
Json traceOf(const Model &model, const Plan &plan, const Timeline &timeline);

/// To a file or, for "-", to standard output.
Status writeTrace(const std::string &path, const Json &trace);

/// The options that need standard output for themselves; the table then goes to
/// standard error.
Choices stdoutOptions(const Options &options);

/// The plan that is asked for, with inputs.
Status setUp(const Model &model, const Options &options, Ranks *ranks,
             std::unique_ptr<Executor> &executor, int &number);

/// Whether a program can do what '--timeline' asks for.
Status checkTimeline(const Model &model, const Options &options);
/// 'profile --timeline'.
Status timelineOn(const Model &model, const Options &options, Ranks *ranks,
                  std::unique_ptr<Executor> &executor);

} // namespace mn

#endif // MNISTRT_COMMANDS_PROFILE_H
