//===- sweep_run.cpp - one training of a sweep ----------------------------===//

#include "sweep/sweep_run.h"
#include "core/digest.h"
#include "train/schedule.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace mn {

std::string trainCommand(const Options &options) {
  std::string command = commandText(textsOf(options));
  if (options.train.init != TrainOptions().init)
    command += std::string(command.empty() ? "" : " ") +
               "--init=" + options.train.init;
  return command;
}

std::string chosenText(const OptionTexts &chosen) {
  std::string result;
  for (const Flag *flag : axisFlags())
    if (const auto found = chosen.find(flag->name); found != chosen.end())
      result +=
          (result.empty() ? "--" : " --") + found->first + "=" + found->second;
  return result;
}

static std::string idOf(Options options) {
  options.data.clear(); // the same data may be elsewhere
  const std::string command = trainCommand(options);
  Digest digest;
  digest.add(command.data(), command.size());
  return digest.text();
}

Status makeRuns(const Options &base, const std::vector<OptionTexts> &chosen,
                std::vector<SweepRun> &runs) {
  std::set<std::string> ids;
  for (const OptionTexts &texts : chosen) {
    SweepRun run;
    run.options = base;
    for (const Flag *flag : axisFlags())
      if (const auto found = texts.find(flag->name); found != texts.end())
        MN_TRY(setOption(*flag, found->second, run.options));
    // "cosine" is "cosine,lr-min=0".
    Schedule schedule;
    MN_TRY(Schedule::parse(run.options.train.schedule, schedule));
    run.options.train.schedule = schedule.text();
    run.chosen = texts;
    run.id = idOf(run.options);
    if (!ids.insert(run.id).second)
      continue;
    run.number = static_cast<int64_t>(runs.size()) + 1;
    runs.push_back(std::move(run));
  }
  return Status::success();
}

Score scoreOf(const RunResult &result, int64_t epoch) {
  Score score;
  if (epoch < 1 || epoch > result.count())
    return score;
  const EpochResult &found = result.epochs[static_cast<size_t>(epoch) - 1];
  const Evaluation &evaluation = found.evaluation;
  score.accuracy =
      evaluation.done() ? evaluation.accuracy : found.trainAccuracy;
  score.loss = evaluation.done() ? evaluation.loss : found.trainLoss;
  score.known = std::isfinite(score.loss);
  return score;
}

bool isBetter(const Score &a, const Score &b) {
  if (a.known != b.known)
    return a.known;
  if (!a.known)
    return false;
  if (a.accuracy != b.accuracy)
    return a.accuracy > b.accuracy;
  return a.loss < b.loss;
}

template <typename F>
static std::vector<SweepRun *> rankedBy(std::vector<SweepRun *> runs,
                                        const F &scoreOfRun) {
  std::sort(runs.begin(), runs.end(), [&](SweepRun *a, SweepRun *b) {
    const Score left = scoreOfRun(*a), right = scoreOfRun(*b);
    if (isBetter(left, right) || isBetter(right, left))
      return isBetter(left, right);
    return a->number < b->number;
  });
  return runs;
}

std::vector<SweepRun *> ranked(std::vector<SweepRun *> runs, int64_t epoch) {
  // One that failed later has its score all the same, as it had before.
  return rankedBy(std::move(runs), [&](const SweepRun &run) {
    return scoreOf(run.result, epoch);
  });
}

std::vector<SweepRun *> ranked(std::vector<SweepRun *> runs) {
  return rankedBy(std::move(runs), [&](const SweepRun &run) {
    return run.failed() ? Score() : scoreOf(run.result, run.result.count());
  });
}

size_t survivors(size_t runs, int64_t factor) {
  return std::max<size_t>(runs / static_cast<size_t>(factor), 1);
}

std::vector<int64_t> rungsOf(int64_t epochs, int64_t factor, size_t runs) {
  std::vector<int64_t> rungs = {epochs};
  // The first rung has an epoch at least, and more than one run goes on to it.
  int64_t divisor = 1;
  for (size_t left = runs; left > 1 && divisor <= epochs / factor;
       left = survivors(left, factor)) {
    divisor *= factor;
    rungs.insert(rungs.begin(), (epochs + divisor - 1) / divisor);
  }
  return rungs;
}

} // namespace mn
