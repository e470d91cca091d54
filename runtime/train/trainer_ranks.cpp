//===- trainer_ranks.cpp - what several ranks do together -----------------===//
//
// Ranks decide alike because they know the same: sums of what each has counted,
// and the times of the first one.
//
//===----------------------------------------------------------------------===//

#include "core/digest.h"
#include "train/trainer.h"
#include <cmath>

namespace mn {

Status Trainer::checkRanks() const {
  if (!ranks.several() || model.dataParallel())
    return Status::success();
  return Status::error(
      Code::usage,
      text("expected a program compiled with '--data-parallel', since it was "
           "started as %d ranks, got one without",
           ranks.place().count));
}

/// Before anything that ranks add up: that it is one training.
Status Trainer::startTogether() {
  if (!ranks.several())
    return Status::success();
  Digest program;
  for (const char *text : {tables.compiler, tables.command, tables.arch})
    program.add(text, std::char_traits<char>::length(text));
  program.add(tables.constants, tables.constantBytes);
  program.add(tables.onnx, tables.onnxBytes);
  MN_TRY(checkEqual(ranks,
                    {{"the program", program.text()},
                     {"the options", commandText(textsOf(options))},
                     {"the training data", data.digest()},
                     {"the step to begin with", std::to_string(step)}},
                    Code::usage, ""));
  MN_TRY(checkEqual(ranks, model.parts(block), Code::usage,
                    " before the first step"));
  ranks.step = step;
  return executor->join();
}

Status Trainer::shareSums(Metrics &metrics) {
  double sums[] = {metrics.lossSum, static_cast<double>(metrics.correct),
                   static_cast<double>(metrics.seen)};
  MN_TRY(ranks.reduce(Reduction::sum, sums, std::size(sums)));
  metrics.lossSum = sums[0];
  metrics.correct = static_cast<int64_t>(sums[1]);
  metrics.seen = static_cast<int64_t>(sums[2]);
  return Status::success();
}

/// After a segment: what all have counted, and whether some rank was asked to
/// stop.
Status Trainer::share(Metrics &metrics, double &seconds) {
  stopSignal = signals->received();
  timeIsOver = secondsSince(started) >= maxSeconds;
  if (!ranks.several())
    return Status::success();
  MN_TRY(shareSums(metrics));
  const bool bad = metrics.badStep >= 0;
  double most[] = {static_cast<double>(stopSignal),
                   bad ? -static_cast<double>(metrics.badStep) : -HUGE_VAL,
                   ranks.isFirst() ? seconds : 0,
                   ranks.isFirst() && timeIsOver ? 1.0 : 0.0};
  MN_TRY(ranks.reduce(Reduction::max, most, std::size(most)));
  stopSignal = static_cast<int>(most[0]);
  metrics.badStep = std::isinf(most[1]) ? -1 : static_cast<int64_t>(-most[1]);
  seconds = most[2];
  timeIsOver = most[3] != 0;
  return Status::success();
}

/// Equal gradients make equal updates, unless memory or a library fails.
Status Trainer::checkWeights() const {
  return checkEqual(
      ranks, model.parts(block), Code::numeric,
      text(" after epoch %lld", static_cast<long long>(step / stepsPerEpoch)));
}

/// The position of a checkpoint, which other ranks may have written: each step
/// takes a batch from each rank.
void Trainer::moveToRanks(const Checkpoint &found) {
  const int64_t before = model.rowsOfStep() * found.ranks;
  const int64_t stepsBefore = stepsOf(data.rows(trainSet), before);
  if (found.ranks != ranks.place().count && stepsBefore > 0) {
    const int64_t done = found.step % stepsBefore * before / rowsOfStep();
    step = found.step / stepsBefore * stepsPerEpoch +
           std::min(done, stepsPerEpoch - 1);
    model.setWhole(block, names::step, step);
    model.setWhole(block, names::batch, stepOfEpoch() * model.batchesOfStep);
  }
  // The first rank goes on with what all had counted.
  if (!ranks.isFirst())
    model.setMetrics(block, {});
}

} // namespace mn
