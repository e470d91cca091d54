//===- sweep_display.cpp - how far a sweep is -----------------------------===//

#include "sweep/sweep_display.h"
#include "core/array.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include <algorithm>
#include <set>

namespace mn {

namespace {

/// Of the best, while the sweep runs.
constexpr size_t bestLines = 5;

std::string percent(double accuracy) {
  return accuracy < 0 ? "" : text("%.2f %%", 100 * accuracy);
}

std::string epochText(int64_t epoch, int64_t epochs) {
  return text("%lld/%lld", static_cast<long long>(epoch),
              static_cast<long long>(epochs));
}

} // namespace

std::string sweepLine(const SweepState &state) {
  std::string line = text("%zu of %zu runs, %zu at a time", state.done,
                          state.runs, state.jobs);
  if (state.imagesPerSecond > 0)
    line += ", " + rateText(state.imagesPerSecond) + " images/s";
  if (state.secondsLeft >= 0)
    line += ", " + durationText(state.secondsLeft) + " left";
  return line;
}

std::string scoreText(const RunResult &result) {
  const Score score = scoreOf(result, result.count());
  if (result.epochs.empty())
    return "no epoch";
  return text("%s loss %.4f", nameOf(result.epochs.back().evaluation.set),
              score.loss) +
         (score.accuracy < 0 ? "" : ", accuracy " + percent(score.accuracy));
}

SweepTable::SweepTable(const std::vector<SweepRun> &runs) {
  for (const Flag *flag : axisFlags()) {
    std::set<std::string> values;
    for (const SweepRun &run : runs) {
      const auto found = run.chosen.find(flag->name);
      values.insert(found == run.chosen.end() ? "" : found->second);
    }
    if (values.size() > 1)
      columns.push_back(flag);
  }
}

std::vector<std::string> SweepTable::heads() const {
  std::vector<std::string> heads = {">run"};
  for (const Flag *flag : columns)
    heads.push_back(flag->name);
  for (const char *head : {">epoch", ">loss", ">accuracy"})
    heads.push_back(head);
  return heads;
}

std::vector<std::string> SweepTable::optionsOf(const SweepRun &run) const {
  std::vector<std::string> cells = {std::to_string(run.number)};
  for (const Flag *flag : columns) {
    const auto found = run.chosen.find(flag->name);
    cells.push_back(found == run.chosen.end() ? "" : found->second);
  }
  return cells;
}

static void addScore(std::vector<std::string> &cells, const SweepRun &run) {
  const RunResult &result = run.result;
  const Score score = scoreOf(result, result.count());
  cells.push_back(epochText(result.count(), run.options.train.epochs));
  cells.push_back(run.failed()  ? "failed"
                  : score.known ? text("%.4f", score.loss)
                                : "");
  cells.push_back(run.failed() ? "" : percent(score.accuracy));
}

std::string SweepTable::live(const SweepState &state, int width,
                             int height) const {
  std::vector<std::vector<std::string>> rows = {heads()};
  rows.front().push_back("");
  const size_t room = static_cast<size_t>(std::max(height, 4)) - 3;
  for (size_t i = 0; i < std::min({state.best.size(), bestLines, room / 2});
       ++i) {
    rows.push_back(optionsOf(*state.best[i]));
    addScore(rows.back(), *state.best[i]);
    rows.back().push_back("best");
  }
  for (const auto &[run, now] : state.running) {
    if (rows.size() > room)
      break;
    rows.push_back(optionsOf(*run));
    const bool known = now.rows > 0;
    rows.back().push_back(
        epochText(known ? now.epoch : 0, run->options.train.epochs));
    rows.back().push_back(known ? text("%.4f", now.loss) : "");
    rows.back().push_back(known ? percent(now.accuracy) : "");
    rows.back().push_back("trains");
  }
  // The last column stays free: some terminals wrap as soon as it is written.
  return shortened(sweepLine(state), static_cast<size_t>(width - 1)) + "\n" +
         table(rows, width - 1);
}

std::string SweepTable::ranking(const std::vector<SweepRun *> &ranked,
                                size_t count, int width) const {
  std::vector<std::vector<std::string>> rows = {heads()};
  rows.front().insert(rows.front().end(), {"digest"});
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) {
    rows.push_back(optionsOf(*ranked[i]));
    addScore(rows.back(), *ranked[i]);
    rows.back().push_back(ranked[i]->result.digest);
  }
  return table(rows, width);
}

void SweepDisplay::draw(const SweepTable &table, const SweepState &state) {
  if (block.terminal())
    block.draw(table.live(state, block.width(), block.height()));
}

} // namespace mn
